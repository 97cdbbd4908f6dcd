;;; Reports every hour. With the argument `once` it reports at once and ends.
(import (scheme base) (scheme process-context) (scheme write) (duet calendar) (duet dataspace)
        (@NAME@))

(define (work)
  (display (report (current-time)))
  (newline))

(if (member "once" (command-line))
    (work)
    (cron "@hourly" work))
