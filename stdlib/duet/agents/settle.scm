;;; Strands of which some may fail: what came of each is a result, not an exception.

;;;> Calls procedures of no arguments at the same time and returns what came of them, whatever fails:
;;;> `(settle thunks [:limit n] [:at-least n] [:tolerate how-many])`. At most `:limit` run at a time,
;;;> by default all. With `:at-least`, it is over as soon as that many have returned; with
;;;> `:tolerate`, as soon as more have failed: an exact integer is a number, another number the share
;;;> of all, such as `1/4`. Those that run then are stopped, as by `race`.
;;;>
;;;> The result is a dictionary. `reason` is `all` if every procedure has ended, `enough` if
;;;> `:at-least` was reached, `too-many-failures` if more failed than `:tolerate` allows, and
;;;> `too-few` if every procedure has ended and fewer than `:at-least` have returned. `outcomes` is a
;;;> list in the order of the procedures, whose elements are `(done value)`, `(failed object)` or
;;;> `(stopped)`. `values` is the list of the values, `failures` that of the failures, each a pair of
;;;> the index, from 0, and the object. `done`, `failed` and `stopped` count.
(define (settle thunks . options)
  (if (not (list? thunks)) (%wrong-type 'settle "a list of procedures" thunks))
  (%check-thunks 'settle thunks)
  (%settle 'settle thunks options))

;;;> Calls a procedure for the elements of a list at the same time and returns what came of the
;;;> calls, as `settle` does: `(par-settle procedure list [:limit n] [:at-least n] [:tolerate
;;;> how-many])`.
(define (par-settle procedure list . options)
  (if (not (procedure? procedure)) (%wrong-type 'par-settle "a procedure" procedure))
  (if (not (list? list)) (%wrong-type 'par-settle "a list" list))
  (%settle 'par-settle (map (lambda (element) (lambda () (procedure element))) list) options))

(define (%settle procedure thunks options)
  (%check-options procedure options '(:limit :at-least :tolerate))
  (let* ((count (length thunks))
         (limit (%option options :limit (max 1 count)))
         (at-least (%option options :at-least #f))
         (tolerate (%option options :tolerate #f)))
    (define (need fits? wanted object)
      (if (not fits?) (%wrong-type procedure wanted object)))
    (need (%count? limit) "a number from 1 after :limit" limit)
    (need (or (not at-least) (and (%count? at-least) (<= at-least count)))
      "a number from 1 up to that of the procedures after :at-least" at-least)
    (need (or (not tolerate) (%tolerance? tolerate))
      "a number from 0, or a share between 0 and 1, after :tolerate" tolerate)
    (%settle-all thunks limit at-least
      (cond ((not tolerate) count)
            ((exact-integer? tolerate) tolerate)
            (else (* tolerate count))))))

(define (%tolerance? object)
  (and (real? object) (>= object 0) (or (exact-integer? object) (<= object 1))))

;;; Runs the thunks until the policy decides: `failures-max` is how many may fail.
(define (%settle-all thunks limit at-least failures-max)
  (let ((outcomes (make-vector (length thunks) '(stopped))) (done 0) (failed 0))
    (define (report reason) (lambda () (%settled reason (vector->list outcomes))))
    (define (judge index state content)
      (case state
        ((done)
         (vector-set! outcomes index (list 'done content))
         (set! done (+ done 1))
         (and (eqv? done at-least) (report 'enough)))
        ((raised)
         (vector-set! outcomes index (list 'failed content))
         (set! failed (+ failed 1))
         (and (> failed failures-max) (report 'too-many-failures)))
        (else (%outcome state content))))
    (if (null? thunks)
        ((report 'all))
        (%together 'settle thunks limit judge
          (lambda () ((report (if (and at-least (< done at-least)) 'too-few 'all))))))))

(define (%settled reason outcomes)
  (define (those state)
    (let collect ((index 0) (rest outcomes))
      (cond ((null? rest) '())
            ((eq? (caar rest) state)
             (cons (cons index (cdar rest)) (collect (+ index 1) (cdr rest))))
            (else (collect (+ index 1) (cdr rest))))))
  (let ((done (those 'done)) (failed (those 'failed)))
    (dictionary 'reason reason 'outcomes outcomes
      'values (map cadr done)
      'failures (map (lambda (failure) (cons (car failure) (cadr failure))) failed)
      'done (length done) 'failed (length failed) 'stopped (length (those 'stopped)))))
