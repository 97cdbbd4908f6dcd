;;; Calls `use` with the frame of the innermost handler that is not running; calls `none` if there
;;; is none.
(define (%with-handler use none)
  (let loop ((frames (%dynamic)) (masked 0))
    (if (null? frames)
        (none)
        (let ((kind (car (car frames))))
          (cond ((eq? kind '%mask) (loop (cdr frames) (+ masked 1)))
                ((not (or (eq? kind '%handler) (eq? kind '%guard))) (loop (cdr frames) masked))
                ((> masked 0) (loop (cdr frames) (- masked 1)))
                (else (use (car frames))))))))

;;;> Calls `thunk` with `handler` installed as the innermost exception handler.
(define (with-exception-handler handler thunk)
  (if (not (procedure? handler)) (%wrong-type 'with-exception-handler "a procedure" handler))
  (%with-frame (cons '%handler handler) thunk))

;;; Runs a thunk as one more handler.
(define (%with-mask thunk) (%with-frame '(%mask . #f) thunk))

;;;> Raises any object; the call returns the values that the handler returns.
(define (raise-continuable object) (%call-traced %raise-continuable object))

(define (%raise-continuable object)
  (%with-handler
    (lambda (frame) (%with-mask (lambda () ((cdr frame) object))))
    (lambda () (%uncaught object))))

;;;> Raises any object; it is an error if the handler returns.
(define (raise object) (%call-traced %raise object))

(define (%raise object)
  (%with-handler
    (lambda (frame)
      (%with-mask
        (lambda ()
          ((cdr frame) object)
          (raise (%make-condition 'handler-returned
                                  "an exception handler returned from a raise that cannot continue"
                                  (list object))))))
    (lambda () (%uncaught object))))

;;; Raises an object that another fiber has raised, in one that has waited for it.
(define (%raise-joined object) (%call-traced %raise object #t))

;;;> Raises a condition of kind `error` with a message and irritants.
(define (error message . irritants)
  (raise (%make-condition 'error message irritants)))

;;; The machine calls this when a primitive fails.
(define (%signal condition) (raise condition))

(define (%wrong-type procedure expected value)
  (raise (%make-condition 'wrong-type
                          (string-append (symbol->string procedure) ": expected " expected)
                          (list value))))

(define (%condition-of-kind? object kind)
  (and (condition? object) (eq? (condition-kind object) kind)))

;;;> Returns whether an object is a condition raised by the reader.
(define (read-error? object) (%condition-of-kind? object 'read-error))

;;;> Returns whether an object is a condition raised because a file cannot be opened, or because an
;;;> operation on it was not granted.
(define (file-error? object)
  (or (%condition-of-kind? object 'file-error)
      (and (%condition-of-kind? object 'capability-denied)
           (let ((irritants (condition-irritants object)))
             (and (pair? irritants)
                  (memq (car irritants)
                        '(workspace/read workspace/write workspace/delete workspace/exists))
                  #t)))))

;;; A guard is a prompt whose tag is its handler, so its place is found in the continuation that
;;; runs. The machine removes the frame when the body returns.
;;;
;;; Clauses are tried outside of the prompt; if none holds, the object is raised again at its
;;; original place, under a guard of its own. Nobody can tell whether a computation has returned to
;;; that place only to leave it for the next guard, unless there are extents to enter and to leave;
;;; so one guard passes the object on to the next where it stands, with the way back.
;;;
;;; A way back is a procedure that calls a thunk at the place where the object was raised, as if the
;;; guards that it comes through had been handlers there. Each guard adds the part of the
;;; continuation from the one inside it to itself, so that none is copied twice.
(define (%guard handle body)
  (letrec ((leave
             (case-lambda
               ((object) ((%call-with-composable leave (%leaving leave handle object #f))))
               ((object back)
                ((%call-with-composable leave (%leaving leave handle object back)))))))
    (%call-with-prompt leave body handle (cons '%guard leave))))

;;; Returns a procedure that leaves a guard in whose body an object was raised; it receives the rest
;;; of the body. The object was raised there, or in a guard that has passed it on with the way back.
(define (%leaving leave handle object back)
  (lambda (k)
    (let* ((resume (%composable-procedure k leave))
           (extents? (not (eq? (%composable-winders k) (%find-prompt leave))))
           (way (lambda (then)
                  (%guard handle
                    (lambda ()
                      (resume
                        (if back (lambda () (back (lambda () (%with-mask then)))) then)))))))
      (%leave-to leave (list object (lambda () (%pass-on object way extents?)))))))

;;; Passes an object on from a guard none of whose clauses holds.
(define (%pass-on object way extents?)
  (define (again) (way (lambda () (raise-continuable object))))
  (if extents?
      (again)
      (%with-handler
        (lambda (frame) (if (eq? (car frame) '%guard) ((cdr frame) object way) (again)))
        again)))

;;; A guard with an `else` clause never returns to the place where the object was raised. It leaves
;;; from there, where an observer finds the computation as it was.
(define (%guard-all handle body)
  (letrec ((leave
             (case-lambda
               ((object) (%leave-to leave (list object)))
               ((object back) (back (lambda () (raise-continuable object)))))))
    (%call-with-prompt leave body handle (cons '%guard leave))))

;;;> Evaluates the body; if it raises an object, evaluates the first clause that holds, with the
;;;> variable bound to the object.
(define-syntax guard
  (syntax-rules (else)
    ((_ (variable clause ... (else expression ...)) body ...)
     (%guard-all (lambda (variable) (cond clause ... (else expression ...))) (lambda () body ...)))
    ((_ (variable clause ... (#t expression ...)) body ...)
     (%guard-all (lambda (variable) (cond clause ... (#t expression ...))) (lambda () body ...)))
    ((_ (variable clause ...) body ...)
     (%guard (lambda (variable again) (cond clause ... (else (again)))) (lambda () body ...)))))
