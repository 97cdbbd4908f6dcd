;;; Strands: computations of one actor that run at the same time, each in a fiber and a facet of
;;; its own. When a strand ends, by itself or because another one decides, its facet stops: its
;;; assertions are retracted, its timers end, and its pending calls of tools are withdrawn. All
;;; strands end with the facet of whoever started them.

(define (%count? object) (and (exact-integer? object) (> object 0)))

;;; Suspends the fiber until a procedure returns true. Whoever changes the answer wakes the fiber.
(define (%wait-until done? reason)
  (if (not (done?))
      (begin
        (%sleep reason)
        (%wait-until done? reason))))

;;; Starts a strand in a facet inside `home`, for which others wait at these places. Its fiber calls
;;; `ended` with `done` and the value of the thunk, with `raised` and the object that it raised, or
;;; with `left` and a procedure that goes on where the strand has left to; then it stops the facet,
;;; which is returned.
(define (%start-strand home places thunk ended)
  (let ((facet (spawn-facet! home)))
    (spawn
      (lambda ()
        (call-with-values (lambda () (%run-joined (lambda () places) thunk)) ended)
        (stop-facet! facet))
      facet)
    facet))

;;; Runs thunks as strands, at most `limit` at a time, and returns what the outcome, a procedure of
;;; no arguments, returns. `(judge index state content)` receives each end and returns the outcome
;;; or #f; with an outcome, all other strands are stopped at once. If there is none, `exhausted` is
;;; it.
(define (%together thunks limit judge exhausted)
  (call/cc (lambda (place) (%together-at (list place) thunks limit judge exhausted))))

(define (%together-at places thunks limit judge exhausted)
  (let ((home (current-facet)) (self (%current-fiber)) (running (dictionary))
        (left thunks) (started 0) (outcome #f))
    (define (finish! decided)
      (set! outcome decided)
      (for-each stop-facet! (dictionary-values running))
      (%wake self))
    (define (ended index state content)
      (dictionary-delete! running index)
      (if (not outcome)
          (let ((decided (judge index state content)))
            (cond (decided (finish! decided))
                  ((pair? left) (start!))
                  ((= 0 (dictionary-count running)) (finish! exhausted))))))
    (define (start!)
      (let ((thunk (car left)) (index started))
        (set! left (cdr left))
        (set! started (+ started 1))
        (dictionary-set! running index
          (%start-strand home places thunk (lambda (state content) (ended index state content))))))
    (let fill ()
      (if (and (pair? left) (< (dictionary-count running) limit))
          (begin (start!) (fill))))
    (%wait-until (lambda () outcome) "its strands have ended")
    (outcome)))

;;; Returns a procedure that does what the end of a strand means to whoever waits for it.
(define (%outcome state content)
  (case state
    ((done) (lambda () content))
    ((left) content)
    (else (lambda () (raise content)))))

(define (%check-thunks procedure thunks)
  (for-each
    (lambda (thunk) (if (not (procedure? thunk)) (%wrong-type procedure "procedures" thunk)))
    thunks))

(define (%need-thunks procedure thunks)
  (%check-thunks procedure thunks)
  (if (null? thunks) (%wrong-type procedure "at least one procedure" thunks)))

;;;> Calls procedures of no arguments at the same time and returns the value of the first that ends,
;;;> or raises the object that it raised: `(race thunk …)`. The others are stopped: their assertions
;;;> are retracted, their timers end, their pending calls of tools are withdrawn. Each runs in a
;;;> fiber and a facet of its own, which end with it. Of several that end in one turn, the one named
;;;> first wins.
(define (race . thunks)
  (%need-thunks 'race thunks)
  (%together thunks (length thunks) (lambda (index state content) (%outcome state content)) #f))

;;; Runs thunks; returns the list of their values, in their order, or raises the first failure.
(define (%collect thunks limit)
  (if (null? thunks)
      '()
      (let ((results (make-vector (length thunks) #f)))
        (%together thunks limit
          (lambda (index state content)
            (if (eq? state 'done)
                (begin (vector-set! results index content) #f)
                (%outcome state content)))
          (lambda () (vector->list results))))))

;;;> Calls procedures of no arguments at the same time and returns the list of their values, in
;;;> their order: `(all-of thunk …)`. When one raises an object, the others are stopped, as by
;;;> `race`, and the object is raised here.
(define (all-of . thunks)
  (%check-thunks 'all-of thunks)
  (%collect thunks (max 1 (length thunks))))

;;;> Calls procedures of no arguments at the same time and returns the first value; the others are
;;;> then stopped, as by `race`: `(any-of thunk …)`. One that raises an object is out of the race.
;;;> If all do, raises a condition of kind `all-failed`, whose irritants are the objects, in the
;;;> order of the procedures.
(define (any-of . thunks)
  (%need-thunks 'any-of thunks)
  (let ((failures (make-vector (length thunks) #f)))
    (%together thunks (length thunks)
      (lambda (index state content)
        (if (eq? state 'raised)
            (begin (vector-set! failures index content) #f)
            (%outcome state content)))
      (lambda ()
        (raise
          (%make-condition 'all-failed "any-of: every procedure raised an object"
            (vector->list failures)))))))

;;;> Calls a procedure for the elements of a list at the same time and returns the list of the
;;;> values, in the order of the elements: `(par-map procedure list [:limit n] [:retry n])`. At most
;;;> `:limit` calls run at a time, by default all. With `:retry`, a call that fails is made again up
;;;> to that number of times, as by `with-retry`. When a call fails for good, the others are
;;;> stopped, as by `race`, and its object is raised here.
(define (par-map procedure list . options)
  (if (not (procedure? procedure)) (%wrong-type 'par-map "a procedure" procedure))
  (if (not (list? list)) (%wrong-type 'par-map "a list" list))
  (%check-options 'par-map options '(:limit :retry))
  (let ((limit (%option options :limit (max 1 (length list)))) (retries (%option options :retry 0)))
    (if (not (%count? limit)) (%wrong-type 'par-map "a number from 1 after :limit" limit))
    (if (not (and (exact-integer? retries) (>= retries 0)))
        (%wrong-type 'par-map "a number from 0 after :retry" retries))
    (%collect
      (map (lambda (element)
             (if (= retries 0)
                 (lambda () (procedure element))
                 (lambda () (with-retry (lambda () (procedure element)) :attempts (+ retries 1)))))
           list)
      limit)))

;;;> Calls a procedure of no arguments and returns its value, if it ends within this many
;;;> milliseconds: `(call-with-timeout milliseconds thunk [otherwise])`. Else it is stopped, as by
;;;> `race`, and the value of `otherwise`, a procedure of no arguments, is returned; without it, a
;;;> condition of kind `timeout` is raised. It runs in a fiber and a facet of its own. For a wait
;;;> alone, `with-timeout` is enough.
(define (call-with-timeout milliseconds thunk . otherwise)
  (%need-thunks 'call-with-timeout (cons thunk otherwise))
  (%check-await (elapsed milliseconds))
  (let ((late (if (pair? otherwise)
                  (car otherwise)
                  (lambda ()
                    (raise (%make-condition 'timeout
                             "call-with-timeout: the procedure did not end in time"
                             (list milliseconds)))))))
    (%together (list thunk (lambda () (sleep milliseconds))) 2
      (lambda (index state content)
        (if (and (= index 1) (eq? state 'done)) late (%outcome state content)))
      #f)))

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
    capability-denied policy-denied no-such-tool outside-root denied budget-exceeded
    neuroscript-quota not-found interrupted
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
  (let ((attempts (%option options :attempts 3)) (delay (%option options :delay 250))
        (factor (%option options :factor 2)) (delay-max (%option options :delay-max 30000))
        (jitter (%option options :jitter #t)) (again? (%option options :when retryable?)))
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
      (%scheduled (if (procedure? delay) delay (%growing (min delay delay-max) factor delay-max))
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
(define (%scheduled strategy delay-max jitter)
  (lambda (attempt object)
    (let ((wait (strategy attempt object)))
      (if (not (or (not wait) (%wait? wait)))
          (%wrong-type 'with-retry "milliseconds from 0, or #f, from the strategy after :delay" wait))
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
