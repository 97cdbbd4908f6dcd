;;; A runner of tests: counts, the tests to skip or to expect to fail, and procedures that are
;;; called on events.
(define-record-type test-runner
  (%make-runner pass fail xpass xfail skip total groups skips expected
                on-test-begin on-test-end on-group-begin on-group-end on-final on-bad-count
                on-bad-end-name latest aux)
  ;;;> Returns whether an object is a test runner.
  test-runner?
  ;;;> Returns how many tests passed.
  (pass test-runner-pass-count %pass!)
  ;;;> Returns how many tests failed.
  (fail test-runner-fail-count %fail!)
  ;;;> Returns the number of tests that passed though they were expected to fail.
  (xpass test-runner-xpass-count %xpass!)
  ;;;> Returns the number of tests that failed as expected.
  (xfail test-runner-xfail-count %xfail!)
  ;;;> Returns how many tests and groups were skipped.
  (skip test-runner-skip-count %skip!)
  (total %total %total!)
  ;; The groups that have begun, innermost first.
  (groups %groups %groups!)
  ;; The skips and expectations outside all groups.
  (skips %skips %skips!)
  (expected %expected %expected!)
  ;;;> Returns the procedure that is called with the runner before a test.
  (on-test-begin test-runner-on-test-begin
    ;;;> Sets the procedure that is called with the runner before a test.
    test-runner-on-test-begin!)
  ;;;> Returns the procedure that is called with the runner after a test.
  (on-test-end test-runner-on-test-end
    ;;;> Sets the procedure that is called with the runner after a test.
    test-runner-on-test-end!)
  ;;;> Returns the procedure that is called with runner, name and count when a group begins.
  (on-group-begin test-runner-on-group-begin
    ;;;> Sets the procedure that is called with runner, name and count when a group begins.
    test-runner-on-group-begin!)
  ;;;> Returns the procedure that is called with the runner when a group ends.
  (on-group-end test-runner-on-group-end
    ;;;> Sets the procedure that is called with the runner when a group ends.
    test-runner-on-group-end!)
  ;;;> Returns the procedure that is called with the runner when the outermost group ends.
  (on-final test-runner-on-final
    ;;;> Sets the procedure that is called with the runner when the outermost group ends.
    test-runner-on-final!)
  ;;;> Returns the procedure that is called with runner, number of tests and announced number, when
  ;;;> these differ.
  (on-bad-count test-runner-on-bad-count
    ;;;> Sets the procedure that is called with runner, number of tests and announced number, when
    ;;;> these differ.
    test-runner-on-bad-count!)
  ;;;> Returns the procedure that is called with runner, name of the group and name at its end, when
  ;;;> these differ.
  (on-bad-end-name test-runner-on-bad-end-name
    ;;;> Sets the procedure that is called with runner, name of the group and name at its end, when
    ;;;> these differ.
    test-runner-on-bad-end-name!)
  (latest %latest %latest!)
  ;;;> Returns a value for the use of the runner's maker.
  (aux test-runner-aux-value
    ;;;> Sets a value for the use of the runner's maker.
    test-runner-aux-value!))

;;; A group that has begun: its name, its announced number of tests or #f, the total before it, and
;;; the skips and expectations in it.
(define-record-type group
  (%make-group name count before skips expected)
  %group?
  (name %group-name)
  (count %group-count)
  (before %group-before)
  (skips %group-skips %group-skips!)
  (expected %group-expected %group-expected!))

;;; A test: the names of its groups, outermost first, and its own; its properties; and the object
;;; that it raised, in a list, or #f. Each test has its own, because other tests may begin and end
;;; while it is evaluated.
(define-record-type test
  (%make-test names properties raised)
  %test?
  (names %test-names)
  (properties %properties %properties!)
  (raised %raised %raised!))

(define (%nothing . arguments) #f)

;;;> Makes a runner that counts and prints nothing.
(define (test-runner-null)
  (%make-runner 0
                0
                0
                0
                0
                0
                '()
                '()
                '()
                %nothing
                %nothing
                %nothing
                %nothing
                %nothing
                %nothing
                %nothing
                (%make-test '() '() #f)
                #f))

;;;> Makes a runner that prints each test with an unexpected result, and the counts at the end.
(define (test-runner-simple)
  (let ((runner (test-runner-null)))
    (test-runner-on-test-end! runner test-on-test-end-simple)
    (test-runner-on-group-begin! runner test-on-group-begin-simple)
    (test-runner-on-final! runner test-on-final-simple)
    (test-runner-on-bad-count! runner test-on-bad-count-simple)
    (test-runner-on-bad-end-name! runner test-on-bad-end-name-simple)
    runner))

;;;> Returns the procedure that makes runners; with an argument, sets it.
(define test-runner-factory
  (let ((factory (lambda () (if (%is-reported?) (%reporting-runner) (test-runner-simple)))))
    (case-lambda
      (() factory)
      ((procedure) (set! factory procedure)))))

;;;> Makes a runner by the factory.
(define (test-runner-create) ((test-runner-factory)))

;;;> Returns the current runner, or #f; with an argument, sets it.
(define test-runner-current
  (let ((current #f))
    (case-lambda
      (() current)
      ((runner) (set! current runner)))))

;;;> Returns the current runner; fails if there is none.
(define (test-runner-get)
  (or (test-runner-current) (error "test-runner-get: no test group has begun")))

;;;> Sets all counts of a runner to zero.
(define (test-runner-reset runner)
  (%groups! runner '())
  (%skips! runner '())
  (%expected! runner '())
  (test-result-clear runner)
  (for-each (lambda (set-count!) (set-count! runner 0))
            (list %pass! %fail! %xpass! %xfail! %skip! %total!)))

;;;> Returns the names of the groups that have begun, innermost first.
(define (test-runner-group-stack runner) (map %group-name (%groups runner)))

;;;> Returns the names of the groups that have begun, outermost first.
(define (test-runner-group-path runner) (reverse (test-runner-group-stack runner)))

;;;> Returns the name of the latest test.
(define (test-runner-test-name runner) (test-result-ref runner 'test-name ""))

;;;> Returns a property of the latest test, or `default`.
(define (test-result-ref runner key . default)
  (let ((entry (assq key (test-result-alist runner))))
    (cond (entry (cdr entry))
          ((pair? default) (car default))
          (else #f))))

;;;> Returns the properties of the latest test, an association list.
(define (test-result-alist runner) (%properties (%latest runner)))

;;;> Sets a property of the latest test.
(define (test-result-set! runner key value) (%note! (%latest runner) key value))

;;;> Removes a property of the latest test.
(define (test-result-remove runner key) (%forget! (%latest runner) key))

;;;> Removes all properties of the latest test.
(define (test-result-clear runner) (%properties! (%latest runner) '()))

;;; Sets a property of a test.
(define (%note! test key value)
  (%forget! test key)
  (%properties! test (cons (cons key value) (%properties test))))

(define (%forget! test key)
  (%properties! test (remove (lambda (entry) (eq? (car entry) key)) (%properties test))))

(define (%runner-of options) (if (pair? options) (car options) (test-runner-get)))

;;;> Returns the result of the latest test: `pass`, `fail`, `xpass`, `xfail`, `skip`, or #f before
;;;> the first.
(define (test-result-kind . runner) (test-result-ref (%runner-of runner) 'result-kind #f))

;;;> Returns whether the latest test passed, expected or not.
(define (test-passed? . runner)
  (if (memq (apply test-result-kind runner) '(pass xpass)) #t #f))

;;;> Does nothing: a test that begins is not shown.
(define (test-on-test-begin-simple runner) #f)

(define (%show . parts) (for-each display parts) (newline))

;;;> Prints a test with an unexpected result.
(define (test-on-test-end-simple runner)
  (let ((kind (test-result-kind runner)))
    (if (memq kind '(fail xpass))
        (begin
          (%show (if (eq? kind 'fail) "FAIL " "XPASS ") (test-runner-test-name runner))
          (for-each
            (lambda (key)
              (let ((entry (assq key (test-result-alist runner))))
                (if entry
                    (begin
                      (display "  ")
                      (display key)
                      (display ": ")
                      (write (cdr entry))
                      (newline)))))
            '(source-form expected-value actual-value expected-error actual-error))))))

;;;> Prints the name of the outermost group.
(define (test-on-group-begin-simple runner name count)
  (if (null? (%groups runner)) (%show "%%%% Starting test " name)))

;;;> Does nothing: a group that ends is not shown.
(define (test-on-group-end-simple runner) #f)

;;;> Prints the counts that are not zero.
(define (test-on-final-simple runner)
  (for-each
    (lambda (label count)
      (if (> (count runner) 0) (%show label (count runner))))
    '("# of expected passes      " "# of expected failures    " "# of unexpected successes "
      "# of unexpected failures  " "# of skipped tests        ")
    (list test-runner-pass-count test-runner-xfail-count test-runner-xpass-count
          test-runner-fail-count test-runner-skip-count)))

;;;> Prints that a group has another number of tests than announced.
(define (test-on-bad-count-simple runner actual expected)
  (%show "*** Total number of tests was " actual " but should be " expected ". ***"))

;;;> Fails because a group ends with another name than it began.
(define (test-on-bad-end-name-simple runner begin-name end-name)
  (error "test-end: the group has another name" end-name begin-name))
