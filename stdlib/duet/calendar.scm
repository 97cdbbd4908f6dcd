;;; Times are milliseconds since 1970, in UTC unless an offset says otherwise. The clock is
;;; `current-time`, whose answers the journal keeps, so a replay meets the same times.
;;;
;;; A wait for years is one timer, or one for each hundred. When it ends, the clock is asked again: a
;;; run that was stopped meanwhile continues late, and a clock may have been set.

(define %minute 60000)
(define %day 86400000)

;;; The longest wait of one timer.
(define %wait-max (* 36500 %day))

;;; Returns the number of days from 1970-01-01 to a date of the Gregorian calendar.
;;; Source: H. Hinnant, "chrono-compatible low-level date algorithms".
(define (%days-of year month day)
  (let* ((year (if (<= month 2) (- year 1) year))
         (era (floor-quotient year 400))
         (year-of-era (- year (* era 400)))
         (day-of-year (+ (quotient (+ (* 153 (+ month (if (> month 2) -3 9))) 2) 5) (- day 1)))
         (day-of-era (+ (* year-of-era 365)
                        (quotient year-of-era 4)
                        (- (quotient year-of-era 100))
                        day-of-year)))
    (+ (* era 146097) day-of-era -719468)))

;;; Returns the year, month and day of a number of days since 1970-01-01.
(define (%date-of days)
  (let* ((days (+ days 719468))
         (era (floor-quotient days 146097))
         (day-of-era (- days (* era 146097)))
         (year-of-era
           (quotient (- day-of-era (quotient day-of-era 1460) (- (quotient day-of-era 36524))
                        (quotient day-of-era 146096))
             365))
         (day-of-year (- day-of-era
                         (+ (* 365 year-of-era)
                            (quotient year-of-era 4)
                            (- (quotient year-of-era 100)))))
         (shifted (quotient (+ (* 5 day-of-year) 2) 153))
         (day (+ (- day-of-year (quotient (+ (* 153 shifted) 2) 5)) 1))
         (month (if (< shifted 10) (+ shifted 3) (- shifted 9)))
         (year (+ year-of-era (* era 400) (if (<= month 2) 1 0))))
    (values year month day)))

(define (%days-in-month year month)
  (- (if (= month 12) (%days-of (+ year 1) 1 1) (%days-of year (+ month 1) 1))
     (%days-of year month 1)))

(define (%malformed what text)
  (raise (%make-condition 'bad-time what (list text))))

;;; Returns the number that the characters from `start` to `end` write, within bounds.
(define (%number text start end lowest highest)
  (let ((number (and (<= end (string-length text))
                     (%digits? text start end)
                     (string->number (substring text start end)))))
    (if (and number (<= lowest number highest))
        number
        (%malformed "a time is written 2026-12-24T18:00:00Z, or with +01:00 in the place of Z"
                    text))))

(define (%digits? text start end)
  (or (= start end)
      (and (char<=? #\0 (string-ref text start) #\9) (%digits? text (+ start 1) end))))

;;;> Returns the milliseconds since 1970 of a time in text: `2026-12-24T18:00:00Z`, or with an offset
;;;> such as `+01:00` in the place of `Z`. `t` and `z` may be small letters, and a leap second is the
;;;> second after it. Fails with `bad-time`.
;;;> Source: RFC 3339, without fractions of seconds.
(define (text->time text)
  (if (not (string? text)) (%wrong-type 'text->time "a string" text))
  (let* ((length (string-length text))
         (year (%number text 0 4 0 9999))
         (month (%number text 5 7 1 12))
         (day (%number text 8 10 1 (%days-in-month year month)))
         (hour (%number text 11 13 0 23))
         (minute (%number text 14 16 0 59))
         (second (%number text 17 19 0 60)))
    (if (not (and (> length 19)
                  (char=? (string-ref text 4) #\-) (char=? (string-ref text 7) #\-)
                  (memv (string-ref text 10) '(#\T #\t))
                  (char=? (string-ref text 13) #\:) (char=? (string-ref text 16) #\:)))
        (%malformed "a time is written 2026-12-24T18:00:00Z" text))
    (let ((time (- (+ (* %day (%days-of year month day))
                      (* 1000 (+ (* 3600 hour) (* 60 minute) second)))
                   (* %minute (%zone text length)))))
      (if (and (= second 60) (not (= 0 (floor-remainder time %day))))
          (%malformed "a leap second is the last one of a day in UTC" text))
      time)))

;;; Returns the minutes of the offset at the end of a time.
(define (%zone text length)
  (let ((sign (string-ref text 19)))
    (cond ((and (= length 20) (memv sign '(#\Z #\z))) 0)
          ((and (= length 25) (memv sign '(#\+ #\-)) (char=? (string-ref text 22) #\:))
           (* (if (char=? sign #\-) -1 1)
              (+ (* 60 (%number text 20 22 0 23)) (%number text 23 25 0 59))))
          (else (%malformed "a time ends in Z or in an offset such as +01:00" text)))))

;;; The fields of a schedule, each a list of numbers; a day has to fit both or either of its fields.
;;; It is due often if its minute or its hour begins with `*`.
(define-record-type <schedule>
  (%make-schedule often? minutes hours days months weekdays either?)
  %schedule?
  (often? %schedule-often?)
  (minutes %schedule-minutes)
  (hours %schedule-hours)
  (days %schedule-days)
  (months %schedule-months)
  (weekdays %schedule-weekdays)
  (either? %schedule-either?))

;;; The fields of a schedule: name, bounds, and the names that stand for numbers from the lowest on.
(define %fields
  '(("minute" 0 59 ()) ("hour" 0 23 ()) ("day of the month" 1 31 ())
    ("month" 1 12 ("JAN" "FEB" "MAR" "APR" "MAY" "JUN" "JUL" "AUG" "SEP" "OCT" "NOV" "DEC"))
    ("weekday" 0 7 ("SUN" "MON" "TUE" "WED" "THU" "FRI" "SAT"))))

(define %nicknames
  '(("@yearly" . "0 0 1 1 *") ("@annually" . "0 0 1 1 *") ("@monthly" . "0 0 1 * *")
    ("@weekly" . "0 0 * * 0")
    ("@daily" . "0 0 * * *") ("@midnight" . "0 0 * * *") ("@hourly" . "0 * * * *")))

;;; Returns the words of a text, between blanks and tabs.
(define (%words text)
  (let loop ((rest (reverse (string->list text))) (word '()) (words '()))
    (define (all) (if (null? word) words (cons (list->string word) words)))
    (cond ((null? rest) (all))
          ((memv (car rest) '(#\space #\tab)) (loop (cdr rest) '() (all)))
          (else (loop (cdr rest) (cons (car rest) word) words)))))

(define (%parse-schedule text)
  (if (not (string? text)) (%wrong-type 'cron "a string of five fields" text))
  (let* ((words (%words text))
         (nickname (and (= (length words) 1) (assoc (string-downcase (car words)) %nicknames)))
         (words (if nickname (%words (cdr nickname)) words)))
    (if (and (pair? words) (char=? (string-ref (car words) 0) #\@))
        (%malformed
          (string-append "a schedule is no `" (car words)
            "`; it is @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, or has five fields")
          text))
    (if (not (= (length words) 5))
        (%malformed
          (string-append
            "a schedule has five fields, minute, hour, day of the month, month and weekday, not "
            (number->string (length words)))
          text))
    (let* ((fields (map (lambda (word field) (%parse-field word field text)) words %fields))
           (is-any (lambda (index) (char=? (string-ref (list-ref words index) 0) #\*)))
           (weekdays (list-ref fields 4))
           (weekdays (if (memv 7 weekdays) (cons 0 weekdays) weekdays)))
      (%make-schedule
        (or (is-any 0) (is-any 1))
        (list-ref fields 0) (list-ref fields 1) (list-ref fields 2) (list-ref fields 3) weekdays
        (not (or (is-any 2) (is-any 4)))))))

;;; Returns the ascending numbers of a field: `*`, `7`, `MON`, `1-5`, each with a step such as
;;; `/15`, and lists of these with commas. `5/10` counts on to the end, as `*/10` does.
(define (%parse-field word field text)
  (let ((lowest (cadr field)) (highest (caddr field)) (names (cadddr field)))
    (define (bad part why)
      (%malformed
        (string-append "the field `" word "` for the " (car field) ": `" part "` " why)
        text))
    (define (allowed)
      (string-append "is no number from " (number->string lowest) " to " (number->string highest)
        (if (null? names)
            ""
            (string-append ", nor a name from " (car names) " to " (car (reverse names))))))
    (define (named part)
      (let ((rest (member (string-upcase part) names)))
        (and rest (+ lowest (- (length names) (length rest))))))
    (define (digits part) (and (%digits? part 0 (string-length part)) (string->number part)))
    (define (number part)
      (let ((number (or (digits part) (named part))))
        (if (and number (<= lowest number highest)) number (bad part (allowed)))))
    (define (range part)
      (let ((ends (string-split part #\-)))
        (cond ((string=? part "*") (cons lowest highest))
              ((null? (cdr ends)) (let ((only (number part))) (cons only only)))
              ((null? (cddr ends))
               (let ((first (number (car ends))) (last (number (cadr ends))))
                 ;; A week that ends on Sunday: FRI-SUN.
                 (let ((last (if (and (= last 0) (= highest 7) (> first 0)) 7 last)))
                   (if (> first last) (bad part "ends before it begins") (cons first last)))))
              (else (bad part "is no range such as 1-5")))))
    (define (step part whole)
      (let ((number (digits part)))
        (if (and number (> number 0)) number (bad whole "has no step from 1 after the /"))))
    (define (numbers part)
      (let* ((halves (string-split part #\/))
             (bounds (range (car halves)))
             (by (cond ((null? (cdr halves)) 1)
                       ((null? (cddr halves)) (step (cadr halves) part))
                       (else (bad part "has more than one step"))))
             (last (if (and (pair? (cdr halves)) (not (string-contains (car halves) "-")))
                       highest
                       (cdr bounds))))
        (iota (+ 1 (quotient (- last (car bounds)) by)) (car bounds) by)))
    (let ((all (append-map numbers (string-split word #\,))))
      (filter (lambda (number) (memv number all)) (iota (+ 1 (- highest lowest)) lowest)))))

(define (%fits-day? schedule days)
  (call-with-values (lambda () (%date-of days))
    (lambda (year month day)
      (let ((by-day (memv day (%schedule-days schedule)))
            (by-weekday (memv (modulo (+ days 4) 7) (%schedule-weekdays schedule))))
        (and (memv month (%schedule-months schedule))
             (if (%schedule-either? schedule) (or by-day by-weekday) (and by-day by-weekday)))))))

;;; Returns the first time of day of a schedule that is at least `from` minutes after midnight, or
;;; #f.
(define (%minute-from schedule from)
  (let ((found
          (find (lambda (time) (>= time from))
            (append-map
              (lambda (hour)
                (map (lambda (minute) (+ (* 60 hour) minute)) (%schedule-minutes schedule)))
              (%schedule-hours schedule)))))
    found))

;;; The days in which a schedule is looked for: dates fall on all weekdays within 40 years, whatever
;;; century year has no leap day.
(define %days-max 14700)

;;;> Returns the first time of a schedule after `time`, both in milliseconds since 1970: `(cron-next
;;;> schedule time [:offset minutes] [:zone name])`; `#f` if there is none within 40 years. The
;;;> schedule and the options are those of `cron`.
(define (cron-next schedule time . options)
  (%check-options 'cron-next options '(:offset :zone))
  (if (not (string? schedule)) (%wrong-type 'cron-next "a string of five fields" schedule))
  (if (not (exact-integer? time)) (%wrong-type 'cron-next "milliseconds since 1970" time))
  (let ((parsed (%parse-schedule schedule)) (place (%place 'cron-next options)))
    (and (%next parsed 0 0) (%next-at parsed time place))))

;;; Returns where a schedule counts: the name of a zone, or milliseconds from UTC.
(define (%place who options)
  (let ((zone (%option options :zone #f)) (offset (%option options :offset #f)))
    (cond ((and zone offset) (%wrong-type who "either :offset or :zone" zone))
          ((string? zone) zone)
          (zone (%wrong-type who "the name of a zone, such as \"Europe/Berlin\", after :zone" zone))
          ((not offset) 0)
          ((and (exact-integer? offset) (< -1440 offset 1440)) (* offset %minute))
          (else (%wrong-type who "a number of minutes, less than a day, after :offset" offset)))))

(define (%next-at parsed time place)
  (if (string? place) (%next-in-zone parsed time place) (%next parsed time place)))

;;; Between two changes of the clocks a zone has one offset. A time that the clocks skip is the
;;; moment of the change; one that they repeat is its first. A schedule whose minute or hour begins
;;; with `*` goes by the clocks as they are: what they skip is not made up for, what they repeat is.
;;; Source: cron(8) of cronie, "Daylight Saving Time and other time changes".
(define (%next-in-zone parsed time zone)
  (let stretch ((at time) (time time))
    (let* ((rules (call-tool 'calendar "clock/zone" (dictionary 'zone zone 'time_ms at)))
           (shift (* 1000 (dictionary-ref rules 'offset_s)))
           (change (lambda (key)
                     (let ((offset (dictionary-ref rules key)))
                       (if offset (- (* 1000 offset) shift) 0))))
           (until (dictionary-ref rules 'until_ms))
           (repeated (and (not (%schedule-often? parsed)) (dictionary-ref rules 'since_ms)
                          (+ (dictionary-ref rules 'since_ms) (change 'before_s))))
           (found (%next parsed (if repeated (max time (- repeated 1)) time) shift)))
      (cond ((or (not until) (and found (< found until))) found)
            ((and found (not (%schedule-often? parsed)) (< found (+ until (change 'after_s))))
             until)
            (else (stretch until (- until 1)))))))

;;; Returns the first time of a schedule after `time`, at a number of milliseconds from UTC.
(define (%next schedule time shift)
  (let* ((minute (+ 1 (floor-quotient (+ time shift) %minute)))
         (first (floor-quotient minute 1440)))
    (let next ((days first) (from (floor-remainder minute 1440)))
      (let ((found (and (%fits-day? schedule days) (%minute-from schedule from))))
        (cond (found (- (* %minute (+ (* 1440 days) found)) shift))
              ((> (- days first) %days-max) #f)
              (else (next (+ days 1) 0)))))))

;;; Waits until a time.
(define (%sleep-until time)
  (let ((now (current-time)))
    (if (< now time)
        (begin
          (sleep (min (- time now) %wait-max))
          (%sleep-until time)))))

;;; Calls `run` with the current facet in a new facet, the timer, in which `thunk` is not called.
(define (%calendar-timer procedure thunk run)
  (if (not (procedure? thunk)) (%wrong-type procedure "a procedure" thunk))
  (let ((home (current-facet)) (timer (spawn-facet!)))
    (spawn (lambda () (run home) (stop-facet! timer)) timer procedure)
    timer))

;;;> Calls `thunk` in the current facet at a time: `(at time thunk)`. The time is a number of
;;;> milliseconds since 1970, or a text for `text->time`; one that has passed is now. Returns the
;;;> timer, for `cancel!`. A run that is not running at the time calls `thunk` when it continues.
(define (at time thunk)
  (let ((time (if (string? time) (text->time time) time)))
    (if (not (exact-integer? time)) (%wrong-type 'at "a time" time))
    (%calendar-timer 'at thunk
      (lambda (home)
        (%sleep-until time)
        (spawn thunk home)))))

;;;> Calls `thunk` in the current facet by a schedule: `(cron schedule thunk [:offset minutes] [:zone
;;;> name])`. The schedule has five fields, between blanks or tabs: minute, hour, day of the month, month, weekday
;;;> from 0, which is Sunday, as is 7. A field is `*`, a number, a name (`JAN` to `DEC`, `SUN` to
;;;> `SAT`, in upper or lower case), a range such as `1-5` or `MON-FRI`, each with a step such as
;;;> `/15`, or several of these with commas. If neither the day nor the weekday begins with `*`,
;;;> either is enough. `@hourly`, `@daily` or `@midnight`, `@weekly`, `@monthly`, `@yearly` or
;;;> `@annually` stand for the usual five fields. The fields are in UTC, or at an offset in minutes
;;;> from it, 60 for +01:00, or in a zone of the IANA database, such as `"Europe/Berlin"`.
;;;>
;;;> Where the clocks of a zone skip a time, `thunk` is called at the moment of the change; where they
;;;> repeat one, only the first time. A schedule whose minute or hour begins with `*` goes by the
;;;> clocks: it leaves out what they skip, and repeats what they repeat. Returns the timer, for
;;;> `cancel!`. A run that misses times calls `thunk` once when it continues. Fails with `bad-time`,
;;;> also if no day of any year fits, and with `bad-argument` if there is no such zone.
;;;> Source: crontab(5).
(define (cron schedule thunk . options)
  (%check-options 'cron options '(:offset :zone))
  (let* ((parsed (%parse-schedule schedule)) (place (%place 'cron options)))
    (if (not (%next parsed 0 0)) (%malformed "no day of any year fits the schedule" schedule))
    ;; A zone that does not exist fails here.
    (define first (%next-at parsed (current-time) place))
    (%calendar-timer 'cron thunk
      (lambda (home)
        (let again ((time first))
          (if time
              (begin
                (%sleep-until time)
                (spawn thunk home)
                (again (%next-at parsed (max time (current-time)) place)))))))))
