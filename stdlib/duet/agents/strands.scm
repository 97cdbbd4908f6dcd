;;; Strands: computations of one actor that run at the same time, each in a fiber and a facet of
;;; its own. When a strand ends, by itself or because another one decides, its facet stops: its
;;; assertions are retracted, its timers end, and its pending calls of tools are withdrawn. All
;;; strands end with the facet of whoever started them, and with the fiber that waits for them.

(define (%count? object) (and (exact-integer? object) (> object 0)))

;;; Suspends the fiber until a procedure returns true. Whoever changes the answer wakes the fiber.
(define (%wait-until done? reason)
  (if (not (done?))
      (begin
        (%sleep reason)
        (%wait-until done? reason))))

;;; Starts a strand in a facet inside `home`, for which the fiber `waiting`, if it is not #f, and
;;; others wait at these places; the name is for people. Its fiber calls
;;; `ended` with `done` and the value of the thunk, with `raised` and the object that it raised, or
;;; with `left` and a procedure that goes on where the strand has left to; then it stops the facet,
;;; which is returned.
(define (%start-strand home waiting name places thunk ended)
  (let ((facet (if waiting (%spawn-facet-for! home waiting) (spawn-facet! home))))
    (spawn
      (lambda ()
        (call-with-values (lambda () (%run-joined (lambda () places) thunk)) ended)
        (stop-facet! facet))
      facet
      name)
    facet))

;;; Names a strand after the procedure that starts it and its position, from 1.
(define (%strand-name procedure index)
  (string-append (symbol->string procedure) " " (number->string (+ index 1))))

;;; Runs thunks as strands of `procedure`, at most `limit` at a time, and returns what the outcome, a
;;; procedure of
;;; no arguments, returns. `(judge index state content)` receives each end and returns the outcome
;;; or #f; with an outcome, all other strands are stopped at once. If there is none, `exhausted` is
;;; it.
(define (%together procedure thunks limit judge exhausted)
  (call/cc
    (lambda (place) (%together-at (list place) procedure thunks limit judge exhausted))))

(define (%together-at places procedure thunks limit judge exhausted)
  (let ((home (current-facet))
        (self (%current-fiber))
        (running (dictionary))
        (left (map %as-part thunks))
        (started 0)
        (outcome #f))
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
          (%start-strand home self (%strand-name procedure index) places thunk
            (lambda (state content) (ended index state content))))))
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
    (else (lambda () (%raise-joined content)))))

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
  (%together 'race thunks (length thunks)
    (lambda (index state content) (%outcome state content))
    #f))

;;; Runs thunks; returns the list of their values, in their order, or raises the first failure.
(define (%collect procedure thunks limit)
  (if (null? thunks)
      '()
      (let ((results (make-vector (length thunks) #f)))
        (%together procedure thunks limit
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
  (%collect 'all-of thunks (max 1 (length thunks))))

;;;> Calls procedures of no arguments at the same time and returns the first value; the others are
;;;> then stopped, as by `race`: `(any-of thunk …)`. One that raises an object is out of the race.
;;;> If all do, raises a condition of kind `all-failed`, whose irritants are the objects, in the
;;;> order of the procedures.
(define (any-of . thunks)
  (%need-thunks 'any-of thunks)
  (let ((failures (make-vector (length thunks) #f)))
    (%together 'any-of thunks (length thunks)
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
    (%collect 'par-map
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
  (%check-time 'call-with-timeout milliseconds)
  (%check-await (elapsed milliseconds))
  (let ((late (if (pair? otherwise)
                  (car otherwise)
                  (lambda ()
                    (raise (%make-condition 'timeout
                             "call-with-timeout: the procedure did not end in time"
                             (list milliseconds)))))))
    (%together 'call-with-timeout (list thunk (lambda () (sleep milliseconds))) 2
      (lambda (index state content)
        (if (and (= index 1) (eq? state 'done)) late (%outcome state content)))
      #f)))
