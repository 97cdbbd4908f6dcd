;;; Fibers and the places that they leave to: which fiber a continuation belongs to, who waits for it,
;;; and escapes. A place is in the continuation that runs, or in one of a fiber that waits for it; the
;;; rest of a computation never runs a second time elsewhere.

;;; Returns the tail of winders that is their fiber's own.
(define (%base winders)
  (cond ((null? winders) winders)
        ((and (null? (cdr winders)) (pair? (car winders)) (exact-integer? (caar winders))) winders)
        (else (%base (cdr winders)))))

(define (%joint base) (if (pair? base) (cdar base) #f))

;;; Sets the joint of the running fiber, unless it is an actor's main fiber.
(define (%set-joint! joint)
  (let ((base (%base (%winders))))
    (if (pair? base) (set-cdr! (car base) joint))))

;;; Says whether the running fiber is the one of a base, or one that it waits for, directly or not.
(define (%within? base)
  (let ((own (%base (%winders))))
    (or (eq? own base)
        (%awaited-at? (lambda (place) (eq? (%base-at place) base)) own '()))))

(define (%base-at place) (%base (%continuation-winders place)))

;;; Says whether `holds?` is true of a place where a fiber waits for the fiber of a base, directly or
;;; not. `seen` are the bases that the search has passed.
(define (%awaited-at? holds? base seen)
  (let ((joint (%joint base)))
    (and joint
         (not (memq base seen))
         (let try ((places ((car joint))))
           (and (pair? places)
                (or (holds? (car places))
                    (%awaited-at? holds? (%base-at (car places)) (cons base seen))
                    (try (cdr places))))))))

(define (%fiber-name base)
  (if (pair? base) (string-append "fiber " (number->string (caar base))) "the main fiber"))

(define (%fiber-id base) (if (pair? base) (caar base) 'main))

;;; Ends the running fiber; those who wait for it call `throw`, up to the fiber where `holds?` is true
;;; of the place that waits. `home` is the base of the fiber in which the caller wants to go on.
(define (%leave-fiber home holds? throw)
  (let ((base (%base (%winders))))
    (if (%awaited-at? holds? base '())
        ((cdr (%joint base)) throw)
        (raise
          (%make-condition 'wrong-fiber
            (string-append "the continuation belongs to " (%fiber-name home)
                           ", which does not wait for "
                           (%fiber-name base))
            (list (%fiber-id home) (%fiber-id base)))))))

;;; Aborts to the nearest prompt of a tag, whose handler receives the values.
(define (%leave-to tag vals)
  (let ((outside (%find-prompt tag)))
    (if (not (eq? outside (%winders))) (%travel outside))
    (%abort-to-prompt tag vals)))

;;;> Calls `receiver` with a procedure that leaves the call and returns its arguments from it.
;;;> Calling that procedure after the call has returned raises an error; in another fiber, it ends
;;;> the fibers in between, as an object that is raised does, or raises `wrong-fiber` if the call
;;;> does not wait for that fiber.
(define (call-with-escape-continuation receiver)
  (let ((winders (%winders)))
    (letrec ((escape
               (lambda vals
                 (if (%find-prompt escape)
                     (%leave-to escape vals)
                     (%escape-fiber escape (%base winders) vals)))))
      (%call-with-prompt escape (lambda () (receiver escape)) values))))

;;; Leaves the fiber by an escape that is not in its continuation.
(define (%escape-fiber escape home vals)
  (let ((base (%base (%winders)))
        (holds? (lambda (place) (%prompt-in? escape place))))
    (if (and (not (%awaited-at? holds? base '()))
             (%within? home))
        (error "an escape was called after its extent had ended")
        (%leave-fiber home holds? (lambda () (apply escape vals))))))

;;;> Returns the same as `call-with-escape-continuation`.
(define (call/ec receiver) (call-with-escape-continuation receiver))

;;;> Evaluates the body with `escape` bound to a procedure that leaves the body with its arguments
;;;> as values.
(define-syntax let/ec
  (syntax-rules ()
    ((_ escape body ...) (call-with-escape-continuation (lambda (escape) body ...)))))

;;; Runs a thunk at the base of a fiber, for which the places that `waiting` returns wait. Returns
;;; `done` and its value, `raised` and the object that it raised, or `left` and the thunk that one of
;;; those who wait must call.
(define (%run-joined waiting thunk)
  (%call/cc
    (lambda (end)
      (%set-joint! (cons waiting (lambda (throw) (end 'left throw))))
      (guard (object (#t (values 'raised object)))
        (let ((value (thunk))) (values 'done value))))))

;;; A procedure that each strand and task calls when it begins, if it is a part of the work of the
;;; fiber that starts it, or #f. The parts of a part call it as well.
(define %begins-part (make-parameter #f))

;;; Returns a thunk that does the same as a part of the work of the running fiber.
(define (%as-part thunk)
  (let ((begins! (%begins-part)))
    (if begins!
        (lambda ()
          (begins!)
          (parameterize ((%begins-part begins!)) (thunk)))
        thunk)))
