;;; The results of tests in the records of a run that `duet test` makes: a message for a test with an
;;; expected result, a reported failure with its place for another. Other runs have no such records.

;;; Whether this program's records have the results; `unknown` before the first test.
(define %reported 'unknown)

;;; Returns whether the records have the results. `exit` does not call what is called at the end, so
;;; the last message says that the program was evaluated to its end.
(define (%is-reported?)
  (if (eq? %reported 'unknown)
      (begin
        (set! %reported (eq? (car (%explain '((call "test/report" #f)))) 'allow))
        (if %reported (%at-end! (lambda () (message! (record 'test/end)))))))
  %reported)

;;; The names of the groups, outermost first, and the test.
(define (%full-name runner)
  (let ((name (test-runner-test-name runner)))
    (let loop ((names
                 (append (test-runner-group-path runner) (if (equal? name "") '() (list name))))
               (text ""))
      (cond ((null? names) text)
            ((equal? text "") (loop (cdr names) (%name-text (car names))))
            (else (loop (cdr names) (string-append text " / " (%name-text (car names)))))))))

(define (%name-text name)
  (if (string? name)
      name
      (let ((port (open-output-string)))
        (display name port)
        (get-output-string port))))

;;; Puts the result of the latest test into the records.
(define (%report runner kind tell-here)
  (if (memq kind '(fail xpass))
      (let ((failure (%make-condition 'test-failed "the test failed" (%properties runner kind))))
        (tell-here (lambda () (%report-failure (%full-name runner) failure #t))))
      (begin
        (message! (record 'test/result kind (%full-name runner)))
        (%keep-told!))))

;;; The properties of the latest test that explain its result: names, each before its value.
(define (%properties runner kind)
  (let loop ((keys '(actual-error actual-value expected-error expected-value source-form))
             (properties '()))
    (if (null? keys)
        (cons 'result-kind (cons kind properties))
        (let ((entry (assq (car keys) (test-result-alist runner))))
          (loop (cdr keys)
                (if entry (cons (car keys) (cons (cdr entry) properties)) properties))))))
;;; Makes a runner that prints nothing, because the records have the results.
(define (%reporting-runner)
  (let ((runner (test-runner-null)))
    (test-runner-on-bad-count! runner
      (lambda (runner actual expected)
        (%report-failure (%full-name runner)
          (%make-condition 'test-failed "the group has another number of tests than it announces"
            (list 'expected-number expected 'actual-number actual))
          #t)))
    (test-runner-on-bad-end-name! runner test-on-bad-end-name-simple)
    runner))
