;;; at cron cron-next text->time
(import (duet base) (duet dataspace) (duet calendar))
(define (attempt thunk)
  (guard (object ((condition? object) (condition-kind object))) (thunk)))
(define (time text) (attempt (lambda () (text->time text))))
(log! (map time '("1970-01-01T00:00:00Z" "2026-12-24T18:00:00Z" "2024-02-29T23:59:59+01:00"
                  "2000-03-01T00:00:00-05:30" "1969-12-31T23:59:59Z")))
(log! (map time '("" "2026" "2026-02-29T00:00:00Z" "2026-13-01T00:00:00Z" "2026-12-24 18:00:00Z"
                  "2026-12-24T18:00:00" "2026-12-24T18:00:00+1:00" "2026-12-24T24:00:00Z"
                  "2026-12-24T-1:00:00Z")))
;; Small letters, and leap seconds, which are the last of a day in UTC.
(log! (map time '("2026-12-24t18:00:00z" "2016-12-31T23:59:60Z" "2017-01-01T00:59:60+01:00"
                  "2016-12-31T23:58:60Z")))

;; The minutes from a time to the next one of a schedule.
(define (minutes schedule from . options)
  (attempt
    (lambda ()
      (let* ((start (text->time from)) (next (apply cron-next schedule start options)))
        (and next (quotient (- next start) 60000))))))
(log! (list 'each-minute (minutes "* * * * *" "2026-01-01T00:00:00Z")))
(log! (list 'steps (minutes "*/15 * * * *" "2026-01-01T00:20:00Z")
        (minutes "5/20 * * * *" "2026-01-01T00:20:00Z")))
(log! (list 'tomorrow (minutes "30 8 * * *" "2026-01-01T08:30:00Z")))
(log! (list 'offset (minutes "0 9 * * *" "2026-01-01T07:00:00Z" :offset 60)))
;; 2026-01-01 is a Thursday.
(log! (list 'monday (minutes "0 0 * * 1" "2026-01-01T00:00:00Z")))
(log! (list 'sunday (minutes "0 0 * * 7" "2026-01-01T00:00:00Z")
        (minutes "0 0 * * 0" "2026-01-01T00:00:00Z")))
(log! (list 'workdays (minutes "0 0 * * 1-5" "2026-01-02T00:00:00Z")))
(log! (list 'either (minutes "0 0 13 * 5" "2026-01-03T00:00:00Z")
        (minutes "0 0 5 * 5" "2026-01-03T00:00:00Z")))
(log! (list 'leap-day (minutes "0 0 29 2 *" "2026-01-01T00:00:00Z")))
(log! (list 'several (minutes "0,45 10,22 * 2,3 *" "2026-03-31T22:00:00Z")))
(log! (list 'never (minutes "0 0 30 2 *" "2026-01-01T00:00:00Z")))
(log! (map (lambda (schedule) (minutes schedule "2026-01-01T00:00:00Z"))
        '("" "* * * *" "60 * * * *" "* 24 * * *" "* * 0 * *" "* * * 13 *" "* * * * 8" "5-1 * * * *"
          "*/0 * * * *" "a * * * *" "1-2-3 * * * *" "*/2/3 * * * *" "1,, * * * *")))
;; Names in either case, tabs, runs of blanks, and nicknames.
(log! (map (lambda (schedule) (minutes schedule "2026-01-01T00:00:00Z"))
        '("0 9 * * MON-FRI" "0\t9 *  * mon" "0 0 1 jan-MAR *" "0 0 * FEB sun,wed"
          "0 0 * * fri-sun" "@hourly" "@daily" "@midnight" "@weekly" "@monthly" "@yearly"
          "@annually" "@reboot")))
;; A message names the field and what it may be.
(define (message schedule)
  (guard (object ((condition? object) (condition-message object))) (cron-next schedule 0)))
(log! (map message
        '("60 * * * *" "* * * * MON-XYZ" "* * 0 * *" "5-1 * * * *" "*/0 * * * *" "* * *")))

;; Timers.
(log! (map attempt (list (lambda () (at 0 'nothing)) (lambda () (cron "@hourly" 'nothing)))))
(define far (at "9999-12-31T23:59:59Z" (lambda () (log! "in eight thousand years"))))
(define start (current-time))
(define (passed) (- (current-time) start))
(define rounds 0)
(at (+ start 1000) (lambda () (log! (list 'at (passed)))))
(at (- start 5) (lambda () (log! (list 'past (passed)))))
(cancel! (at (+ start 2000) (lambda () (log! "never"))))
(define timer
  (cron "* * * * *"
    (lambda ()
      (set! rounds (+ rounds 1))
      (log! (list 'round rounds (modulo (current-time) 60000)))
      (if (= rounds 3) (for-each cancel! (list timer far))))))
