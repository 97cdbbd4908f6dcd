;;; Attempts: calls that are made again after a failure, and states that are asked for until they are
;;; as wanted. Each waits as a strategy says.

;;; The kinds of conditions that another attempt cannot help, or must not follow: the program is
;;; wrong; the call was refused; what it needs is not there or does not fit; nobody knows whether an
;;; interrupted call had its effect.
(define %final-kinds
  '(wrong-type wrong-arity wrong-number-of-fields wrong-fiber out-of-range out-of-phase immutable
    arithmetic divide-by-zero not-a-procedure too-many-arguments undefined-variable
    assertion-failed handler-returned key-not-found missing-value no-prompt port-closed
    not-serializable not-sendable not-syntax not-text syntax-error effect-in-predicate
    already-attached not-attached not-watching unknown-role facet-stopped channel-closed refused
    bad-argument bad-arrow-style bad-caveat bad-descriptor bad-dna bad-entity bad-entry
    bad-fact-limit bad-grant bad-item bad-memory-limit bad-pattern bad-registration bad-shape
    bad-sturdyref bad-tape bad-time bad-triggers json-schema-error neuroscript-syntax
    empty-proposal no-such-proposal no-such-request no-program not-interactive route-too-long
    capability-denied policy-denied no-such-tool no-script no-answer outside-root denied
    budget-exceeded neuroscript-quota not-found interrupted
    out-of-memory too-large turn-too-large too-many-facts damaged-image damaged-state))

;;;> Returns whether `with-retry` calls a procedure again that has raised this object: a condition,
;;;> unless its kind says that the program is wrong (`wrong-type`, `out-of-range`, `key-not-found`,
;;;> `bad-descriptor`, `not-serializable`, `undefined-variable` and the like), that the call was
;;;> refused (`capability-denied`, `policy-denied`, `no-such-tool`, `bad-argument`, `outside-root`,
;;;> `denied`, `budget-exceeded`), that something is not there (`not-found`) or exceeds a limit
;;;> (`too-large`, `out-of-memory` and the like), or that a call may have had its effect
;;;> (`interrupted`).
(define (retryable? object)
  (and (condition? object) (not (memq (condition-kind object) %final-kinds))))

(define %attempt (make-parameter 1))

;;;> Returns which attempt of the innermost `with-retry` this is, counted from 1; 1 outside.
(define (current-attempt) (%attempt))

;;;> Calls a procedure of no arguments until it returns, and returns its value: `(with-retry thunk
;;;> [:attempts n] [:delay milliseconds] [:factor n] [:delay-max milliseconds] [:jitter how]
;;;> [:when retry?])`. After a failure for which `:when`, by default `retryable?`, returns true,
;;;> waits and calls it again, up to `:attempts` times in all, by default 3; then raises the last
;;;> object. The first wait takes `:delay` milliseconds, by default 250; each next one takes
;;;> `:factor` times as long, by default 2, and at most `:delay-max`, by default 30000. With
;;;> `:jitter #t`, the default, a wait takes between half of that and all of it, with `:jitter 'full`
;;;> between nothing and all of it, by `random`, so a replay waits the same; with `:jitter #f`, all.
;;;>
;;;> `:delay` may be a strategy: `(strategy attempt object)` returns how many milliseconds to wait
;;;> after this attempt, counted from 1, or `#f` to give up; `:factor` then means nothing.
;;;> `current-attempt` tells the procedure which attempt it is.
;;;>
;;;> Options that do not fit are refused before the first call. If the next attempt cannot be
;;;> prepared, because `:when` or the strategy fails or the actor may not wait, the log says so and
;;;> the failure of the procedure is raised.
(define (with-retry thunk . options)
  (%need-thunks 'with-retry (list thunk))
  (%check-options 'with-retry options '(:attempts :delay :factor :delay-max :jitter :when))
  (let ((attempts (%option options :attempts 3))
        (delay (%option options :delay 250))
        (factor (%option options :factor 2))
        (delay-max (%option options :delay-max 30000))
        (jitter (%option options :jitter #t))
        (again? (%option options :when retryable?)))
    (define (need fits? wanted object)
      (if (not fits?) (%wrong-type 'with-retry wanted object)))
    (need (%count? attempts) "a number from 1 after :attempts" attempts)
    (need (or (%wait? delay) (procedure? delay))
      "milliseconds from 0, or a procedure, after :delay" delay)
    (need (%positive? factor) "a positive number after :factor" factor)
    (need (%wait? delay-max) "milliseconds from 0 after :delay-max" delay-max)
    (need (memq jitter '(#t #f full)) "#t, #f or full after :jitter" jitter)
    (need (procedure? again?) "a procedure after :when" again?)
    (%retry thunk attempts again?
      (%scheduled 'with-retry
        (if (procedure? delay) delay (%growing (min delay delay-max) factor delay-max))
        delay-max jitter))))

(define (%positive? object) (and (real? object) (> object 0)))

;;; Whether `sleep` takes an object, if it is rounded: the longest wait is a hundred years.
(define (%wait? object) (and (real? object) (<= 0 object 3162240000000)))

;;; The strategy of waits that grow by a factor.
(define (%growing delay factor delay-max)
  (lambda (attempt object)
    (let grow ((left (- attempt 1)) (wait delay))
      (if (or (= left 0) (>= wait delay-max))
          (min wait delay-max)
          (grow (- left 1) (* wait factor))))))

;;; A strategy whose waits are limited and vary by chance, in whole milliseconds.
(define (%scheduled procedure strategy delay-max jitter)
  (lambda (attempt object)
    (let ((wait (strategy attempt object)))
      (if (not (or (not wait) (%wait? wait)))
          (%wrong-type procedure "milliseconds from 0, or #f, from the strategy" wait))
      (and wait
           (let ((share (case jitter
                          ((#t) (+ 1/2 (/ (random) 2)))
                          ((full) (random))
                          (else 1))))
             (exact (round (* share (min wait delay-max)))))))))

;;; Calls a thunk up to `attempts` times. After each failure that `again?` accepts, waits for as long
;;; as `schedule` says.
(define (%retry thunk attempts again? schedule)
  (let attempt ((number 1))
    (let ((outcome
            (guard (object ((and (< number attempts)
                                 (%prepared (lambda () (again? object))))
                            (vector object)))
              (let ((value (parameterize ((%attempt number)) (thunk)))) (lambda () value)))))
      (cond ((procedure? outcome) (outcome))
            ((%prepared
               (lambda ()
                 (let ((wait (schedule number (vector-ref outcome 0))))
                   (and wait (begin (sleep wait) #t)))))
             (attempt (+ number 1)))
            (else (raise (vector-ref outcome 0)))))))

;;; Returns what a thunk returns that prepares the next attempt after a failure; #f if it fails
;;; itself, which must not hide that failure.
(define (%prepared thunk)
  (guard (problem
           (#t
            (guard (silence (#t #f))
              (log!
                (string-append "with-retry: the next attempt could not be prepared: "
                  (if (condition? problem)
                      (condition-message problem)
                      "an object was raised that is no condition"))))
            #f))
    (thunk)))

;;;> Asks for a state until it is as wanted, and returns it: `(poll-until check done? [:state value]
;;;> [:every milliseconds] [:factor n] [:every-max milliseconds] [:attempts n])`. Calls `check` with
;;;> the last state, at first that of `:state`, by default `#f`, and then `done?` with the state that
;;;> `check` returns. Between two calls it waits `:every` milliseconds, by default 1000, each time
;;;> `:factor` times as long, by default 1, and at most `:every-max`, by default 60000. `:every` may
;;;> be a strategy, as `:delay` of `with-retry`, which receives the attempt and the state. After
;;;> `:attempts` calls, by default without a limit, or if the strategy returns `#f`, raises a
;;;> condition of kind `poll-exhausted`, whose irritants are the number of calls and the last state.
;;;> A failure of `check` is raised at once; `with-retry` inside it makes another attempt.
(define (poll-until check done? . options)
  (%need-thunks 'poll-until (list check done?))
  (%check-options 'poll-until options '(:state :every :factor :every-max :attempts))
  (let ((every (%option options :every 1000))
        (factor (%option options :factor 1))
        (every-max (%option options :every-max 60000))
        (attempts (%option options :attempts #f)))
    (define (need fits? wanted object)
      (if (not fits?) (%wrong-type 'poll-until wanted object)))
    (need (or (%wait? every) (procedure? every))
      "milliseconds from 0, or a procedure, after :every" every)
    (need (%positive? factor) "a positive number after :factor" factor)
    (need (%wait? every-max) "milliseconds from 0 after :every-max" every-max)
    (need (or (not attempts) (%count? attempts)) "a number from 1, or #f, after :attempts" attempts)
    (%poll check done? (%option options :state #f) attempts
      (%scheduled 'poll-until (if (procedure? every) every (%growing every factor every-max))
        every-max #f))))

(define (%poll check done? state attempts schedule)
  (let poll ((number 1) (state state))
    (let ((state (check state)))
      (if (done? state)
          state
          (let ((wait (and (not (eqv? number attempts)) (schedule number state))))
            (if (not wait)
                (raise (%make-condition 'poll-exhausted
                         "poll-until: the state did not become as wanted" (list number state))))
            (sleep wait)
            (poll (+ number 1) state))))))
