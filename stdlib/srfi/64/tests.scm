;;; The runner that a group made for itself, or #f.
(define %own-runner #f)

;;;> Begins a group of tests, which may announce their number. The first group makes a runner if
;;;> there is none.
(define (test-begin name . count)
  (%begin-group! name (if (pair? count) (car count) #f))
  (if #f #f))

;;; Begins a group and returns it.
(define (%begin-group! name count)
  (if (not (test-runner-current))
      (begin
        (set! %own-runner (test-runner-create))
        (test-runner-current %own-runner)))
  (let* ((runner (test-runner-current))
         (group (%make-group name count (%total runner) '() '())))
    (%judge-at-end!)
    ((test-runner-on-group-begin runner) runner name count)
    (%groups! runner (cons group (%groups runner)))
    group))

;;;> Ends the innermost group, whose name may be repeated. The end of the outermost prints the
;;;> counts, and drops a runner that the group made.
(define (test-end . name)
  (let ((runner (test-runner-get)))
    (if (null? (%groups runner)) (error "test-end: no group has begun"))
    (let ((group (car (%groups runner))))
      (if (and (pair? name) (not (equal? (car name) (%group-name group))))
          ((test-runner-on-bad-end-name runner) runner (%group-name group) (car name)))
      (%end-group! runner group)
      (%note-closed! runner))))

;;; Says in the records that the outermost group has come to its end: after that `exit` leaves out no
;;; part of a group.
(define (%note-closed! runner)
  (if (and (null? (%groups runner)) (%is-reported?)) (message! (record 'test/closed))))

(define (%end-group! runner group)
  (%check-count runner group)
  ((test-runner-on-group-end runner) runner)
  ;; It is not the innermost one if another fiber has begun a group meanwhile.
  (%groups! runner (remove (lambda (other) (eq? other group)) (%groups runner)))
  (if (null? (%groups runner))
      (begin
        ((test-runner-on-final runner) runner)
        (if (eq? runner %own-runner)
            (begin
              (set! %own-runner #f)
              (test-runner-current #f))))))

;;; Tells the runner if a group has another number of tests than it announces.
(define (%check-count runner group)
  (let ((actual (- (%total runner) (%group-before group))) (expected (%group-count group)))
    (if (and expected (not (= expected actual)))
        ((test-runner-on-bad-count runner) runner actual expected))))

;;;> Evaluates the body between the beginning and the end of a group.
(define-syntax test-group
  (syntax-rules ()
    ((_ name body ...)
     (%test-group name (lambda () body ...)))))

(define (%test-group name thunk)
  (let* ((runner (test-runner-current)) (test (and runner (%new-test! runner name))))
    (if (and runner (%any-holds? (%all runner %skips %group-skips) runner))
        (%conclude runner test 'skip (lambda (tell) (tell)))
        (let ((group #f) (is-whole #f))
          (dynamic-wind
            (lambda ()
              (set! group (%begin-group! name #f))
              (set! runner (test-runner-current)))
            (lambda ()
              (call-with-values thunk
                (lambda results
                  (set! is-whole #t)
                  (apply values results))))
            (lambda ()
              (%end-group! runner group)
              (if is-whole (%note-closed! runner))))))))

;;; Makes the test with a name the latest one.
(define (%new-test! runner name)
  (let* ((path (test-runner-group-path runner))
         (names (if (equal? name "") path (append path (list name))))
         (test (%make-test names (list (cons 'test-name name)) #f)))
    (%latest! runner test)
    test))

;;;> Like `test-group`, but the last expression is evaluated even if the body is left early, or
;;;> raises an object.
(define-syntax test-group-with-cleanup
  (syntax-rules ()
    ((_ name body ... cleanup)
     (test-group name (%with-cleanup (lambda () #f body ...) (lambda () cleanup))))))

;;; An object that nobody handles leaves no extent, so it is raised again outside of this one.
(define (%with-cleanup body cleanup)
  (guard (fault (#t (raise fault)))
    (dynamic-wind (lambda () #f) body cleanup)))

;;; The specifiers outside all groups, and those of the groups that have begun.
(define (%all runner outside in-group)
  (apply append (outside runner) (map in-group (%groups runner))))

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

;;;> Skips the tests and groups of the current group that the specifiers select.
(define (test-skip . specifiers)
  (let ((runner (test-runner-get)) (specifier (apply test-match-all specifiers)))
    (if (pair? (%groups runner))
        (let ((group (car (%groups runner))))
          (%group-skips! group (cons specifier (%group-skips group))))
        (%skips! runner (cons specifier (%skips runner))))))

;;;> Expects the tests of the current group that the specifiers select to fail.
(define (test-expect-fail . specifiers)
  (let ((runner (test-runner-get)) (specifier (apply test-match-all specifiers)))
    (if (pair? (%groups runner))
        (let ((group (car (%groups runner))))
          (%group-expected! group (cons specifier (%group-expected group))))
        (%expected! runner (cons specifier (%expected runner))))))

;;; Runs a test: `check` notes its properties and returns whether the test passes; an object that it
;;; raises fails the test. `tell-here` calls a thunk at the place of the test.
(define (%test name form tell-here check)
  (let* ((runner (test-runner-get)) (test (%new-test! runner name)))
    (%note! test 'source-form form)
    (%total! runner (+ (%total runner) 1))
    (let ((is-skipped (%any-holds? (%all runner %skips %group-skips) runner))
          (is-expected (%any-holds? (%all runner %expected %group-expected) runner)))
      ((test-runner-on-test-begin runner) runner)
      (let ((kind
              (if is-skipped
                  'skip
                  (let ((passed (guard (fault (#t (%note-raised! test fault) #f)) (check test))))
                    (cond ((and passed is-expected) 'xpass)
                          (passed 'pass)
                          (is-expected 'xfail)
                          (else 'fail))))))
        ;; Other tests may have come meanwhile.
        (%latest! runner test)
        (%conclude runner test kind tell-here)
        ((test-runner-on-test-end runner) runner)))))

;;; Counts the result of a test, or of a group that is skipped, and puts it into the records.
(define (%conclude runner test kind tell-here)
  (%note! test 'result-kind kind)
  (%count! runner kind)
  (if (and (memq kind '(fail xpass)) (not (memq runner %failed-runners)))
      (set! %failed-runners (cons runner %failed-runners)))
  (%judge-at-end!)
  (if (%is-reported?) (%report test kind tell-here)))

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

;;; Whether `%judge` is called at the end of the program.
(define %judges #f)

(define (%judge-at-end!)
  (if (not %judges)
      (begin
        (set! %judges #t)
        (%at-end! %judge))))

;;; Judges the groups that the program has not ended, and makes it end with the exit code 1 if a test
;;; had an unexpected result, unless its runner was reset since. `exit` does not call what is called
;;; at the end, so the last message says that the program was evaluated to its end.
(define (%judge)
  (let ((runner (test-runner-current)))
    (if runner
        (let loop ()
          (if (pair? (%groups runner))
              (begin
                (%check-count runner (car (%groups runner)))
                (%groups! runner (cdr (%groups runner)))
                (loop))))))
  (if (%is-reported?) (message! (record 'test/end)))
  (if (any %has-failures? %failed-runners) (%exit 1)))

(define (%has-failures? runner)
  (> (+ (test-runner-fail-count runner) (test-runner-xpass-count runner)) 0))

(define (%note-raised! test fault)
  (%raised! test (list fault))
  (%note! test 'actual-error (%described fault)))

(define (%described fault)
  (if (condition? fault)
      (list (condition-kind fault) (condition-message fault) (condition-irritants fault))
      fault))

;;;> Passes if the expression is true.
(define-syntax test-assert
  (syntax-rules ()
    ((_ name expression)
     (%test name 'expression (lambda (tell) (tell) #f)
       (lambda (test)
         (let ((value expression))
           (%note! test 'actual-value value)
           value))))
    ((_ expression) (test-assert "" expression))))

(define (%compare same? expected test value)
  (%note! test 'expected-value expected)
  (%note! test 'actual-value value)
  (same? expected value))

(define-syntax define-comparison
  (syntax-rules ()
    ((_ name same?)
     (define-syntax name
       (syntax-rules ()
         ((_ title expected expression)
          (%test title 'expression (lambda (tell) (tell) #f)
            (lambda (test) (%compare same? expected test expression))))
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
       (lambda (test)
         (%compare (lambda (a b) (<= (- a error) b (+ a error))) expected test expression))))
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
       (lambda (test)
         (%note! test 'expected-error type)
         (guard (fault (#t (%note-raised! test fault) (%is-expected? type fault)))
           (%note! test 'actual-value expression)
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
