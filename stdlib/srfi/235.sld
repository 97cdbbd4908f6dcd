;;; SRFI 235: combinators.
(define-library (srfi 235)
  (export
    constantly complement swap flip on-left on-right conjoin disjoin each-of all-of any-of on
    left-section right-section apply-chain arguments-drop arguments-drop-right arguments-take
    arguments-take-right group-by begin-procedure if-procedure when-procedure unless-procedure
    value-procedure case-procedure and-procedure eager-and-procedure or-procedure eager-or-procedure
    funcall-procedure loop-procedure while-procedure until-procedure
    always never boolean identity compose)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (only (duet internal lists) every any))
  (begin
    ;;;> Makes a procedure that returns these objects, whatever its arguments.
    (define (constantly . objects) (lambda arguments (apply values objects)))
    ;;;> Makes a procedure that returns the opposite truth.
    (define (complement procedure) (lambda arguments (not (apply procedure arguments))))
    ;;;> Makes a procedure with the first two arguments exchanged.
    (define (swap procedure) (lambda (a b . rest) (apply procedure b a rest)))
    ;;;> Makes a procedure with the arguments in reverse order.
    (define (flip procedure) (lambda arguments (apply procedure (reverse arguments))))
    ;;;> Makes a procedure of two arguments that calls `procedure` with the first.
    (define (on-left procedure) (lambda (a b) (procedure a)))
    ;;;> Makes a procedure of two arguments that calls `procedure` with the second.
    (define (on-right procedure) (lambda (a b) (procedure b)))

    ;;; Returns the value of the last predicate if all hold.
    (define (%all predicates arguments)
      (or (null? predicates)
          (if (null? (cdr predicates))
              (apply (car predicates) arguments)
              (and (apply (car predicates) arguments) (%all (cdr predicates) arguments)))))
    (define (%any predicates arguments)
      (and (pair? predicates)
           (or (apply (car predicates) arguments) (%any (cdr predicates) arguments))))

    ;;;> Makes a predicate that holds if every predicate holds for every argument.
    (define (conjoin . predicates)
      (case-lambda
        (() #t)
        ((object) (%all predicates (list object)))
        (objects (every (lambda (object) (%all predicates (list object))) objects))))
    ;;;> Makes a predicate that holds if, for every argument, some predicate holds.
    (define (disjoin . predicates)
      (case-lambda
        (() #t)
        ((object) (%any predicates (list object)))
        (objects (every (lambda (object) (%any predicates (list object))) objects))))
    ;;;> Makes a procedure that calls each procedure with its arguments.
    (define (each-of . procedures)
      (lambda arguments (for-each (lambda (procedure) (apply procedure arguments)) procedures)))
    ;;;> Makes a procedure of a list that returns whether a predicate holds for all its elements.
    (define (all-of predicate) (lambda (list) (every predicate list)))
    ;;;> Makes a procedure of a list that returns whether a predicate holds for one of its elements.
    (define (any-of predicate) (lambda (list) (any predicate list)))
    ;;;> Makes a procedure that calls `procedure` with each argument and `reduce` with all results.
    (define (on reduce procedure) (lambda objects (apply reduce (map procedure objects))))
    ;;;> Makes a procedure whose first arguments are these.
    (define (left-section procedure . first) (lambda rest (apply procedure (append first rest))))
    ;;;> Makes a procedure whose last arguments are these, the last one first.
    (define (right-section procedure . last)
      (lambda rest (apply procedure (append rest (reverse last)))))
    ;;;> Makes a procedure that passes the values of each procedure to the previous one.
    (define (apply-chain . procedures)
      (cond ((null? procedures) values)
            ((null? (cdr procedures)) (car procedures))
            (else
             (let ((inner (apply apply-chain (cdr procedures))))
               (lambda arguments
                 (call-with-values (lambda () (apply inner arguments)) (car procedures)))))))
    ;;;> Like `apply-chain`.
    (define (compose . procedures) (apply apply-chain procedures))
    ;;;> Returns the argument.
    (define (identity object) object)

    ;;; Returns the first `count` elements of a list.
    (define (%take list count)
      (if (= count 0) '() (cons (car list) (%take (cdr list) (- count 1)))))
    ;;;> Makes a procedure that drops its first `count` arguments.
    (define (arguments-drop procedure count)
      (lambda arguments (apply procedure (list-tail arguments count))))
    ;;;> Makes a procedure that drops its last `count` arguments.
    (define (arguments-drop-right procedure count)
      (lambda arguments (apply procedure (%take arguments (- (length arguments) count)))))
    ;;;> Makes a procedure that keeps only its first `count` arguments.
    (define (arguments-take procedure count)
      (lambda arguments (apply procedure (%take arguments count))))
    ;;;> Makes a procedure that keeps only its last `count` arguments.
    (define (arguments-take-right procedure count)
      (lambda arguments (apply procedure (list-tail arguments (- (length arguments) count)))))

    ;;; Returns the groups with an element added to the group of its key, which may be a new one.
    (define (%grouped key element groups same?)
      (cond ((null? groups) (list (list key element)))
            ((same? key (car (car groups)))
             (cons (cons (car (car groups)) (cons element (cdr (car groups)))) (cdr groups)))
            (else (cons (car groups) (%grouped key element (cdr groups) same?)))))

    ;;;> Makes a procedure of a list that returns a list of lists of the elements with the same key,
    ;;;> by `equal?` or another equivalence.
    (define (group-by key . same?)
      (let ((same? (if (pair? same?) (car same?) equal?)))
        (lambda (list)
          (let loop ((list list) (groups '()))
            (if (null? list)
                (map (lambda (group) (reverse (cdr group))) groups)
                (loop (cdr list) (%grouped (key (car list)) (car list) groups same?)))))))

    ;;;> Calls the thunks; returns the value of the last.
    (define (begin-procedure . thunks)
      (let loop ((thunks thunks) (value #f))
        (if (null? thunks) value (loop (cdr thunks) ((car thunks))))))
    ;;;> Calls the first thunk if the value is true, otherwise the second.
    (define (if-procedure value then else) (if value (then) (else)))
    ;;;> Calls the thunks if the value is true.
    (define (when-procedure value . thunks) (if value (apply begin-procedure thunks)))
    ;;;> Calls the thunks if the value is false.
    (define (unless-procedure value . thunks) (if (not value) (apply begin-procedure thunks)))
    ;;;> Calls the procedure with the value if that is true, otherwise calls the thunk.
    (define (value-procedure value then else) (if value (then value) (else)))
    ;;;> Calls the thunk for a value in an association list; without one, calls `otherwise`.
    (define (case-procedure value thunks . otherwise)
      (let ((found (assv value thunks)))
        (cond (found ((cdr found)))
              ((pair? otherwise) ((car otherwise))))))
    ;;;> Calls the thunks until one returns #f; returns the value of the last that was called.
    (define (and-procedure . thunks)
      (cond ((null? thunks) #t)
            ((null? (cdr thunks)) ((car thunks)))
            (else (and ((car thunks)) (apply and-procedure (cdr thunks))))))
    ;;;> Calls all thunks; returns the value of the last if all are true, otherwise #f.
    (define (eager-and-procedure . thunks)
      (let loop ((thunks thunks) (value #t))
        (if (null? thunks)
            value
            (let ((next ((car thunks)))) (loop (cdr thunks) (and value next))))))
    ;;;> Calls the thunks until one returns true; returns its value.
    (define (or-procedure . thunks)
      (cond ((null? thunks) #f)
            ((null? (cdr thunks)) ((car thunks)))
            (else (or ((car thunks)) (apply or-procedure (cdr thunks))))))
    ;;;> Calls all thunks; returns the first true value, or #f.
    (define (eager-or-procedure . thunks)
      (let loop ((thunks thunks) (value #f))
        (if (null? thunks)
            value
            (let ((next ((car thunks)))) (loop (cdr thunks) (or value next))))))
    ;;;> Calls a thunk.
    (define (funcall-procedure thunk) (thunk))
    ;;;> Calls a thunk infinitely often.
    (define (loop-procedure thunk) (thunk) (loop-procedure thunk))
    ;;;> Calls a thunk while it returns true.
    (define (while-procedure thunk) (if (thunk) (while-procedure thunk)))
    ;;;> Calls a thunk until it returns true.
    (define (until-procedure thunk) (if (not (thunk)) (until-procedure thunk)))
    ;;;> Returns #t, whatever the arguments.
    (define (always . objects) #t)
    ;;;> Returns #f, whatever the arguments.
    (define (never . objects) #f)
    ;;;> Returns whether an object is true.
    (define (boolean object) (if object #t #f))))
