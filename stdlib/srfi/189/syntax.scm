;;;> Evaluates the second expression if the value of the first is a Just, the third if it is the
;;;> Nothing.
(define-syntax maybe-if
  (syntax-rules ()
    ((_ maybe present absent)
     (let ((it maybe))
       (%check maybe? it)
       (if (just? it) present absent)))))

;;;> Returns the first Nothing among the expressions, or else the value of the last.
(define-syntax maybe-and
  (syntax-rules ()
    ((_) (just))
    ((_ last) (let ((it last)) (%check maybe? it) it))
    ((_ first rest ...) (let ((it first)) (maybe-if it (maybe-and rest ...) it)))))

;;;> Returns the first Just among the expressions, or else the Nothing.
(define-syntax maybe-or
  (syntax-rules ()
    ((_) (nothing))
    ((_ last) (let ((it last)) (%check maybe? it) it))
    ((_ first rest ...) (let ((it first)) (maybe-if it it (maybe-or rest ...))))))

;;;> Returns the first Left among the expressions, or else the value of the last.
(define-syntax either-and
  (syntax-rules ()
    ((_) (right))
    ((_ last) (let ((it last)) (%check either? it) it))
    ((_ first rest ...)
     (let ((it first)) (%check either? it) (if (right? it) (either-and rest ...) it)))))

;;;> Returns the first Right among the expressions, or else the value of the last.
(define-syntax either-or
  (syntax-rules ()
    ((_) (left))
    ((_ last) (let ((it last)) (%check either? it) it))
    ((_ first rest ...)
     (let ((it first)) (%check either? it) (if (right? it) it (either-or rest ...))))))

;;; Returns the values of a body, wrapped.
(define-syntax %wrapped
  (syntax-rules ()
    ((_ wrap) (wrap #t))
    ((_ wrap body ...) (call-with-values (lambda () body ...) wrap))))

;;; The clauses of `maybe-let*` and `either-let*`: `(name expression)`, `(expression)` or a name.
(define-syntax %let*
  (syntax-rules ()
    ((_ bind wrap () body ...) (%wrapped wrap (let () body ...)))
    ((_ bind wrap ((name expression) clause ...) body ...)
     (bind expression (lambda (name) (%let* bind wrap (clause ...) body ...))))
    ((_ bind wrap ((expression) clause ...) body ...)
     (bind expression (lambda ignored (%let* bind wrap (clause ...) body ...))))
    ((_ bind wrap (variable clause ...) body ...)
     (bind variable (lambda ignored (%let* bind wrap (clause ...) body ...))))))

;;; The clauses of `maybe-let*-values` and `either-let*-values`: `(formals expression)`,
;;; `(expression)` or a name.
(define-syntax %let*-values
  (syntax-rules ()
    ((_ bind wrap () body ...) (%wrapped wrap (let () body ...)))
    ((_ bind wrap ((formals expression) clause ...) body ...)
     (bind expression (lambda formals (%let*-values bind wrap (clause ...) body ...))))
    ((_ bind wrap ((expression) clause ...) body ...)
     (bind expression (lambda ignored (%let*-values bind wrap (clause ...) body ...))))
    ((_ bind wrap (variable clause ...) body ...)
     (bind variable (lambda ignored (%let*-values bind wrap (clause ...) body ...))))))

;;;> Binds names to the values of Justs, one after the other, and returns a Just of the body's
;;;> values; stops at the first Nothing.
(define-syntax maybe-let*
  (syntax-rules ()
    ((_ ()) (just #t))
    ((_ (clause ...) body ...) (%let* maybe-bind just (clause ...) body ...))))

;;;> Like `maybe-let*`, with formals for payloads of several values.
(define-syntax maybe-let*-values
  (syntax-rules ()
    ((_ ()) (just #t))
    ((_ (clause ...) body ...) (%let*-values maybe-bind just (clause ...) body ...))))

;;;> Binds names to the values of Rights, one after the other, and returns a Right of the body's
;;;> values; stops at the first Left.
(define-syntax either-let*
  (syntax-rules ()
    ((_ ()) (right #t))
    ((_ (clause ...) body ...) (%let* either-bind right (clause ...) body ...))))

;;;> Like `either-let*`, with formals for payloads of several values.
(define-syntax either-let*-values
  (syntax-rules ()
    ((_ ()) (right #t))
    ((_ (clause ...) body ...) (%let*-values either-bind right (clause ...) body ...))))

;;;> Returns a Right of the body's values, or a Left of the object that it raises, if that satisfies
;;;> a predicate.
(define-syntax either-guard
  (syntax-rules ()
    ((_ wanted? body ...) (exception->either wanted? (lambda () body ...)))))

;;; Logic of three values: Justs of true, Justs of #f, and the Nothing for an unknown truth.

(define (%truth maybe) (maybe->truth maybe))

;;;> Returns the opposite truth; the Nothing stays.
(define (tri-not maybe) (maybe-map not maybe))

;;;> Returns a Just that says whether all are known and have the same truth.
(define (tri=? first . rest)
  (just
    (and (just? first)
         (every
           (lambda (other) (and (just? other) (eq? (not (%truth first)) (not (%truth other)))))
           rest))))

;;; Returns the first that is not true, or not false, or a Just of the other truth.
(define (%first-other wanted? maybes default)
  (cond ((null? maybes) (just default))
        ((or (nothing? (car maybes)) (not (wanted? (%truth (car maybes))))) (car maybes))
        (else (%first-other wanted? (cdr maybes) default))))

;;;> Returns a Just of #t if all are true; otherwise the first that is not.
(define (tri-and . maybes) (%first-other (lambda (truth) truth) maybes #t))
;;;> Returns a Just of #f if all are false; otherwise the first that is not.
(define (tri-or . maybes) (%first-other not maybes #f))
;;;> Returns the first Just, or the Nothing.
(define (tri-merge . maybes)
  (cond ((null? maybes) %the-nothing)
        ((just? (car maybes)) (car maybes))
        (else (apply tri-merge (cdr maybes)))))
