;;; The results of tests in the records of a run that `duet test` makes: a message for a test with an
;;; expected result, a reported failure with its place for another. Other runs have no such records.

;;; Whether this program's records have the results; `unknown` before the first test.
(define %reported 'unknown)

(define (%is-reported?)
  (if (eq? %reported 'unknown)
      (set! %reported (eq? (car (%explain '((call "test/report" #f)))) 'allow)))
  %reported)

;;; The text of names of groups, outermost first, and perhaps of a test.
(define (%joined names)
  (let loop ((names names) (text ""))
    (cond ((null? names) text)
          ((equal? text "") (loop (cdr names) (%name-text (car names))))
          (else (loop (cdr names) (string-append text " / " (%name-text (car names))))))))

(define (%name-text name)
  (if (string? name)
      name
      (let ((port (open-output-string)))
        (display name port)
        (get-output-string port))))

;;; Puts the result of a test into the records: a failure with the place where an object was raised,
;;; or else with that of the test.
(define (%report test kind tell-here)
  (let ((name (%joined (%test-names test))))
    (if (memq kind '(fail xpass))
        (let ((failure (%make-condition 'test-failed "the test failed" (%told test kind))))
          (let ((cause (and (%raised test) (car (%raised test)))))
            (tell-here (lambda () (%report-failure name failure (or cause #t))))))
        (begin
          (message! (record 'test/result kind name))
          (%keep-told!)))))

;;; What explains the result of a test: names, each before a text. Values are there as `write` shows
;;; them, because not every value can leave the program, and others look alike outside.
(define (%told test kind)
  (let ((properties (%properties test)))
    (define (told key text-of)
      (let ((entry (assq key properties)))
        (if entry (list key (text-of (cdr entry))) '())))
    (define (both)
      (let ((expected (assq 'expected-value properties)) (actual (assq 'actual-value properties)))
        (if (and expected actual)
            (list 'apart (%apart (cdr expected) (cdr actual)))
            '())))
    (append (list 'result-kind kind)
            (told 'expected-value %written)
            (told 'actual-value %written)
            (told 'expected-error (lambda (type) (if (eq? type #t) #t (%written type))))
            (if (%raised test) (list 'actual-error (%raised-text (car (%raised test)))) '())
            (both))))

;;; The maximum length of a value in a report, in characters.
(define %written-max 2000)

(define (%written value) (%write-limited value %written-max))

;;; The text of an object that was raised.
(define (%raised-text object)
  (if (condition? object)
      (apply string-append (symbol->string (condition-kind object)) ": " (condition-message object)
             (map (lambda (irritant) (string-append " " (%written irritant)))
                  (condition-irritants object)))
      (%written object)))

;;; Makes a runner that prints nothing, because the records have the results.
(define (%reporting-runner)
  (let ((runner (test-runner-null)))
    (test-runner-on-bad-count! runner
      (lambda (runner actual expected)
        (%report-failure (%joined (test-runner-group-path runner))
          (%make-condition 'test-failed
            (string-append "the group has another number of tests than it announces: "
                           (%name-text actual) " in place of " (%name-text expected))
            '())
          #t)))
    (test-runner-on-bad-end-name! runner test-on-bad-end-name-simple)
    runner))
