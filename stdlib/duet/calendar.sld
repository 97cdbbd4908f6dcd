;;; Timers by the calendar, with the run's own clock.
(define-library (duet calendar)
  (export at cron cron-next text->time)
  (on-demand)
  (import
    (duet base)
    (only (duet dataspace) spawn spawn-facet! stop-facet! current-facet sleep current-time
      call-tool)
    (only (duet internal control) %wrong-type)
    (only (duet internal options) %check-options %option)
    (only (duet kernel) %make-condition))
  (include "calendar.scm"))
