;;; The runner that a group made for itself, or #f.
(define %own-runner #f)

;;;> Begins a group of tests, which may announce their number. The first group makes a runner if
;;;> there is none.
(define (test-begin name . count)
  (if (not (test-runner-current))
      (begin
        (set! %own-runner (test-runner-create))
        (test-runner-current %own-runner)))
  (let ((runner (test-runner-current)) (count (if (pair? count) (car count) #f)))
    ((test-runner-on-group-begin runner) runner name count)
    (%groups! runner
              (cons (%make-group name count (%total runner) (%skips runner) (%expected runner))
                    (%groups runner)))))

;;;> Ends the innermost group, whose name may be repeated. The end of the outermost prints the
;;;> counts, and drops a runner that the group made.
(define (test-end . name)
  (let ((runner (test-runner-get)))
    (if (null? (%groups runner)) (error "test-end: no group has begun"))
    (let* ((group (car (%groups runner))) (actual (- (%total runner) (%group-before group))))
      (if (and (pair? name) (not (equal? (car name) (%group-name group))))
          ((test-runner-on-bad-end-name runner) runner (%group-name group) (car name)))
      (if (and (%group-count group) (not (= (%group-count group) actual)))
          ((test-runner-on-bad-count runner) runner actual (%group-count group)))
      ((test-runner-on-group-end runner) runner)
      (%groups! runner (cdr (%groups runner)))
      (%skips! runner (%group-skips group))
      (%expected! runner (%group-expected group))
      (if (null? (%groups runner))
          (begin
            ((test-runner-on-final runner) runner)
            (if (eq? runner %own-runner)
                (begin
                  (set! %own-runner #f)
                  (test-runner-current #f))))))))

;;;> Evaluates the body between the beginning and the end of a group.
(define-syntax test-group
  (syntax-rules ()
    ((_ name body ...)
     (%test-group name (lambda () body ...)))))

(define (%test-group name thunk)
  (if (%is-chosen? (list name))
      (dynamic-wind
        (lambda () (test-begin name))
        thunk
        (lambda () (test-end name)))))

;;; Returns whether a group that is about to begin is selected.
(define (%is-chosen? names)
  (let ((runner (test-runner-current)))
    (or (not runner)
        (begin
          (%result! runner (list (cons 'test-name (car names))))
          (not (%any-holds? (%skips runner) runner))))))

;;;> Like `test-group`, but the last expression is evaluated even if the body is left early.
(define-syntax test-group-with-cleanup
  (syntax-rules ()
    ((_ name body ... cleanup)
     (test-group name (dynamic-wind (lambda () #f) (lambda () #f body ...) (lambda () cleanup))))))

;;; Calls every specifier, because some of them count.
(define (%any-holds? specifiers runner)
  (let loop ((rest specifiers) (holds #f))
    (if (null? rest)
        holds
        (loop (cdr rest) (or ((car rest) runner) holds)))))

;;; Returns the predicate of a specifier: a procedure of a runner, a name, or a count of tests from
;;; the next on.
(define (%specifier specifier)
  (cond ((procedure? specifier) specifier)
        ((string? specifier) (test-match-name specifier))
        ((integer? specifier) (test-match-nth 1 specifier))
        (else (error "expected a procedure, a name or a count" specifier))))

;;;> Makes a specifier of the test with a name.
(define (test-match-name name) (lambda (runner) (equal? name (test-runner-test-name runner))))

;;;> Makes a specifier of `count` tests, by default one, from the `first`th test on.
(define (test-match-nth first . count)
  (let ((seen 0) (last (+ first (if (pair? count) (car count) 1))))
    (lambda (runner)
      (set! seen (+ seen 1))
      (and (>= seen first) (< seen last)))))

;;;> Makes a specifier of the tests that any of the specifiers selects.
(define (test-match-any . specifiers)
  (let ((specifiers (map %specifier specifiers)))
    (lambda (runner) (%any-holds? specifiers runner))))

;;;> Makes a specifier of the tests that all of the specifiers select.
(define (test-match-all . specifiers)
  (let ((specifiers (map %specifier specifiers)))
    (lambda (runner)
      (every (lambda (answer) answer) (map (lambda (holds?) (holds? runner)) specifiers)))))

;;;> Skips the tests of the current group that the specifiers select.
(define (test-skip . specifiers)
  (let ((runner (test-runner-get)))
    (%skips! runner (cons (apply test-match-all specifiers) (%skips runner)))))

;;;> Expects the tests of the current group that the specifiers select to fail.
(define (test-expect-fail . specifiers)
  (let ((runner (test-runner-get)))
    (%expected! runner (cons (apply test-match-all specifiers) (%expected runner)))))

;;; Runs a test: `check` records its properties and returns whether the test passes; an object that
;;; it raises fails the test. `tell-here` calls a thunk at the place of the test.
(define (%test name form tell-here check)
  (let ((runner (test-runner-get)))
    (%result! runner (list (cons 'test-name name) (cons 'source-form form)))
    (%total! runner (+ (%total runner) 1))
    (let ((is-skipped (%any-holds? (%skips runner) runner))
          (is-expected (%any-holds? (%expected runner) runner)))
      ((test-runner-on-test-begin runner) runner)
      (if is-skipped
          (%finish runner 'skip tell-here)
          (let ((passed
                  (guard (fault (#t (test-result-set! runner 'actual-error (%described fault)) #f))
                    (check runner))))
            (cond ((and passed is-expected) (%finish runner 'xpass tell-here))
                  (passed (%finish runner 'pass tell-here))
                  (is-expected (%finish runner 'xfail tell-here))
                  (else (%finish runner 'fail tell-here))))))))

(define (%finish runner kind tell-here)
  (test-result-set! runner 'result-kind kind)
  (%count! runner kind)
  (if (memq kind '(fail xpass)) (%remember! runner))
  (if (%is-reported?) (%report runner kind tell-here))
  ((test-runner-on-test-end runner) runner))

;;; Counts a test under its result.
(define (%count! runner kind)
  (case kind
    ((pass) (%pass! runner (+ (test-runner-pass-count runner) 1)))
    ((fail) (%fail! runner (+ (test-runner-fail-count runner) 1)))
    ((xpass) (%xpass! runner (+ (test-runner-xpass-count runner) 1)))
    ((xfail) (%xfail! runner (+ (test-runner-xfail-count runner) 1)))
    (else (%skip! runner (+ (test-runner-skip-count runner) 1)))))

;;; The runners that counted a test with an unexpected result.
(define %failed-runners '())

;;; Makes the program end with the exit code 1, unless the runner is reset before.
(define (%remember! runner)
  (if (null? %failed-runners)
      (%at-end! (lambda () (if (any %has-failures? %failed-runners) (%exit 1)))))
  (if (not (memq runner %failed-runners)) (set! %failed-runners (cons runner %failed-runners))))

(define (%has-failures? runner)
  (> (+ (test-runner-fail-count runner) (test-runner-xpass-count runner)) 0))

(define (%described fault)
  (if (condition? fault)
      (list (condition-kind fault) (condition-message fault) (condition-irritants fault))
      fault))

;;;> Passes if the expression is true.
(define-syntax test-assert
  (syntax-rules ()
    ((_ name expression)
     (%test name 'expression (lambda (tell) (tell) #f)
       (lambda (runner)
         (let ((value expression))
           (test-result-set! runner 'actual-value value)
           value))))
    ((_ expression) (test-assert "" expression))))

(define (%compare same? expected runner value)
  (test-result-set! runner 'expected-value expected)
  (test-result-set! runner 'actual-value value)
  (same? expected value))

(define-syntax define-comparison
  (syntax-rules ()
    ((_ name same?)
     (define-syntax name
       (syntax-rules ()
         ((_ title expected expression)
          (%test title 'expression (lambda (tell) (tell) #f)
            (lambda (runner) (%compare same? expected runner expression))))
         ((_ expected expression) (name "" expected expression)))))))

;;;> Passes if the values of two expressions are `equal?`: the expected one, and the one under test.
(define-comparison test-equal equal?)
;;;> Like `test-equal`, by `eqv?`.
(define-comparison test-eqv eqv?)
;;;> Like `test-equal`, by `eq?`.
(define-comparison test-eq eq?)

;;;> Passes if the value differs from the expected one by at most `error`.
(define-syntax test-approximate
  (syntax-rules ()
    ((_ name expected expression error)
     (%test name 'expression (lambda (tell) (tell) #f)
       (lambda (runner)
         (%compare (lambda (a b) (<= (- a error) b (+ a error))) expected runner expression))))
    ((_ expected expression error) (test-approximate "" expected expression error))))

;;; Returns whether a raised object is of the kind that a test expects: any, a symbol for the kind
;;; of a condition, or a predicate.
(define (%is-expected? type fault)
  (cond ((eq? type #t) #t)
        ((symbol? type) (and (condition? fault) (eq? (condition-kind fault) type)))
        ((procedure? type) (type fault))
        (else #f)))

;;;> Passes if evaluating the expression raises an object; with a type, one of that kind, or one
;;;> that satisfies a predicate.
(define-syntax test-error
  (syntax-rules ()
    ((_ name type expression)
     (%test name 'expression (lambda (tell) (tell) #f)
       (lambda (runner)
         (test-result-set! runner 'expected-error type)
         (guard (fault (#t
                        (test-result-set! runner 'actual-error (%described fault))
                        (%is-expected? type fault)))
           (test-result-set! runner 'actual-value expression)
           #f))))
    ((_ type expression)
     (let ((it type))
       ;; A string in the place of the type is a name.
       (if (string? it) (test-error it #t expression) (test-error "" it expression))))
    ((_ expression) (test-error "" #t expression))))

;;;> Calls `thunk` with a runner, by default the current one, and runs only the tests that the
;;;> specifiers select.
(define (test-apply first . rest)
  (if (test-runner? first)
      (test-with-runner first (apply test-apply rest))
      (let* ((reversed (reverse (cons first rest)))
             (thunk (car reversed))
             (specifiers (map %specifier (cdr reversed)))
             (runner (or (test-runner-current) (test-runner-create))))
        (test-with-runner runner
          (if (pair? specifiers)
              (let ((before (%skips runner)))
                (%skips! runner
                         (cons (lambda (runner) (not (%any-holds? specifiers runner))) before))
                (thunk)
                (%skips! runner before))
              (thunk))))))

;;;> Evaluates the body with a current runner.
(define-syntax test-with-runner
  (syntax-rules ()
    ((_ runner body ...)
     (let ((new runner) (old #f))
       (dynamic-wind
         (lambda () (set! old (test-runner-current)) (test-runner-current new))
         (lambda () body ...)
         (lambda () (test-runner-current old)))))))
