;; SRFI 64: tests.
(import (scheme base) (srfi 64))
(test-runner-get)  ; raises: error

;; Each assertion passes or fails, and the runner hears of it.
(define runner (test-runner-null))
(define kinds '())
(test-runner-on-test-end!
  runner
  (lambda (runner) (set! kinds (cons (test-result-kind runner) kinds))))
(test-with-runner runner
  (test-begin "all" 9)
  (test-assert "true" (= 1 1))
  (test-assert (car '()))
  (test-equal "lists" '(1 2) (list 1 2))
  (test-eqv 2 3)
  (test-approximate 3.14 3.1415 0.01)
  (test-error (car 5))
  (test-error 'wrong-type (vector-ref 5 0))
  (test-error 'wrong-type 5)
  (test-eq 'a 'a)
  (test-end "all"))
(reverse kinds)                  ; => (pass fail pass fail pass pass pass fail pass)
(test-runner-pass-count runner)  ; => 6
(test-runner-fail-count runner)  ; => 3

;; Skips and expected failures.
(define other (test-runner-null))
(define text (open-output-string))
(test-with-runner other
  (test-begin "skips")
  (test-skip "b")
  (test-expect-fail 2)
  (test-assert "a" #f)
  (test-assert "b" #f)
  (test-assert "c" #t)
  (test-group "inner"
    (test-assert "d" #t)
    (write-string (car (test-runner-group-stack other)) text))
  (test-end))
(test-runner-pass-count other)   ; => 2
(test-runner-fail-count other)   ; => 0
(test-runner-skip-count other)   ; => 1
(test-runner-xfail-count other)  ; => 1
(test-runner-xpass-count other)  ; => 0
(get-output-string text)         ; => "inner"

;; A runner that counts other assertions than announced calls back.
(define counted #f)
(define strict (test-runner-null))
(test-runner-on-bad-count!
  strict
  (lambda (runner actual expected) (set! counted (list actual expected))))
(test-with-runner strict (test-begin "few" 3) (test-assert #t) (test-end))
counted  ; => (1 3)

;; The simple runner prints what fails, and a summary.
(define simple (test-runner-simple))
(define shown
  (let ((port (open-output-string)))
    (parameterize ((current-output-port port))
      (test-with-runner simple
        (test-begin "shown")
        (test-equal "sum" 5 (+ 1 1))
        (test-assert #t)
        (test-end)))
    (get-output-string port)))
(define (line-of text number)
  (let loop ((port (open-input-string text)) (number number))
    (let ((line (read-line port))) (if (= number 1) line (loop port (- number 1))))))
(line-of shown 1)                                 ; => "%%%% Starting test shown"
(line-of shown 2)                                 ; => "FAIL sum"
(line-of shown 3)                                 ; => "  source-form: (+ 1 1)"
(line-of shown 4)                                 ; => "  expected-value: 5"
(line-of shown 5)                                 ; => "  actual-value: 2"
(line-of shown 6)                                 ; => "# of expected passes      1"
(line-of shown 7)                                 ; => "# of unexpected failures  1"
(line-of shown 8)                                 ; => #<eof>
(test-with-runner (test-runner-null) (test-end))  ; raises: error

;; Names choose the assertions that run.
(define chosen (test-runner-null))
(test-apply chosen
  "x"
  (lambda () (test-begin "g") (test-assert "x" #t) (test-assert "y" #f) (test-end)))
(test-runner-pass-count chosen)  ; => 1
(test-runner-skip-count chosen)  ; => 1

;; A runner that somebody made stays the current one behind its groups.
(define kept (test-runner-null))
(test-with-runner kept
  (test-begin "a")
  (test-skip "y")
  (test-assert "y" #f)
  (test-end)
  (test-begin "b")
  (test-assert "y" #f)
  (test-end))
(test-runner-skip-count kept)     ; => 1
(test-runner-fail-count kept)     ; => 1
(eq? (test-runner-current) kept)  ; => #f

;; The factory of runners is a parameter.
(let ((before (test-runner-factory)))
  (test-runner-factory test-runner-null)
  (let ((now (test-runner-factory))) (test-runner-factory before) (eq? now test-runner-null)))
; => #t

;; A group that is skipped counts as one test.
(define groups (test-runner-null))
(test-with-runner groups
  (test-begin "all")
  (test-skip "g")
  (test-group "g" (test-assert #f) (test-assert #f))
  (test-assert #t)
  (test-end))
(list (test-runner-skip-count groups) (test-runner-pass-count groups))  ; => (1 1)

;; The last expression tidies up once, however the body is left.
(define tidied '())
(define (tidy name leave)
  (test-with-runner (test-runner-null)
    (test-group-with-cleanup name (leave) (set! tidied (cons name tidied)))))
(guard (fault (#t fault)) (tidy "raised" (lambda () (raise 'oops))))  ; => oops
(call/cc (lambda (k) (tidy "escaped" (lambda () (k 'gone)))))         ; => gone
(tidy "returned" (lambda () 'done))                                   ; => done
tidied  ; => ("returned" "escaped" "raised")

;; Assertions within an assertion have results of their own.
(define nested '())
(define nesting (test-runner-null))
(test-runner-on-test-end!
  nesting
  (lambda (runner)
    (set! nested (cons (list (test-runner-test-name runner) (test-result-kind runner)) nested))))
(test-with-runner nesting
  (test-begin "all")
  (test-equal "outer" 1 (begin (test-assert "inner" #f) 1))
  (test-end))
nested  ; => (("outer" pass) ("inner" fail))
