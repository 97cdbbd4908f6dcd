;;; Calls `use` with the innermost handler that is not running; calls `none` if there is none.
(define (%with-handler use none)
  (let loop ((frames (%dynamic)) (masked 0))
    (if (null? frames)
        (none)
        (let ((kind (car (car frames))))
          (cond ((eq? kind '%mask) (loop (cdr frames) (+ masked 1)))
                ((not (or (eq? kind '%handler) (eq? kind '%guard))) (loop (cdr frames) masked))
                ((> masked 0) (loop (cdr frames) (- masked 1)))
                (else (use (cdr (car frames)))))))))

;;;> Calls `thunk` with `handler` installed as the innermost exception handler.
(define (with-exception-handler handler thunk)
  (if (not (procedure? handler)) (%wrong-type 'with-exception-handler "a procedure" handler))
  (%with-frame (cons '%handler handler) thunk))

;;;> Raises any object; the call returns the values that the handler returns.
(define (raise-continuable object) (%call-traced %raise-continuable object))

(define (%raise-continuable object)
  (%with-handler
    (lambda (handler) (%with-frame '(%mask . #f) (lambda () (handler object))))
    (lambda () (%uncaught object))))

;;;> Raises any object; it is an error if the handler returns.
(define (raise object) (%call-traced %raise object))

(define (%raise object)
  (%with-handler
    (lambda (handler)
      (%with-frame '(%mask . #f)
        (lambda ()
          (handler object)
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
;;; Clauses are tried outside of the prompt; if none holds, the object is raised again at its original
;;; place, under a guard of its own.
(define (%guard handle body)
  (letrec ((leave (lambda (object) ((%call-with-composable leave (%leaving leave handle object))))))
    (%call-with-prompt leave body handle (cons '%guard leave))))

;;; Returns a procedure that leaves a guard whose body has raised an object; it receives the rest of
;;; the body.
(define (%leaving leave handle object)
  (lambda (k)
    (let* ((resume (%composable-procedure k leave))
           (again (lambda () (resume (lambda () (raise-continuable object))))))
      (%leave-to leave (list object (lambda () (%guard handle again)))))))

;;; A guard with an `else` clause never returns to the place where the object was raised.
(define (%guard-all handle body)
  (letrec ((leave (lambda (object) (%leave-to leave (list object)))))
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
