;;; SRFI 235: combinators.
(define-library (srfi 235)
  (export
    constantly complement swap flip on-left on-right conjoin disjoin each-of all-of any-of on left-section right-section
    apply-chain arguments-drop arguments-drop-right arguments-take arguments-take-right group-by
    begin-procedure if-procedure when-procedure unless-procedure value-procedure case-procedure
    and-procedure eager-and-procedure or-procedure eager-or-procedure funcall-procedure loop-procedure while-procedure until-procedure
    always never boolean identity compose)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (only (duet internal lists) every any))
  (begin
    ;;;> A procedure that answers the arguments given here, whatever it is called with.
    (define (constantly . objects) (lambda arguments (apply values objects)))
    ;;;> A procedure that answers the opposite truth.
    (define (complement procedure) (lambda arguments (not (apply procedure arguments))))
    ;;;> A procedure with its first two arguments exchanged.
    (define (swap procedure) (lambda (a b . rest) (apply procedure b a rest)))
    ;;;> A procedure with its arguments in the opposite order.
    (define (flip procedure) (lambda arguments (apply procedure (reverse arguments))))
    ;;;> A procedure of two arguments that is called with the first.
    (define (on-left procedure) (lambda (a b) (procedure a)))
    ;;;> A procedure of two arguments that is called with the second.
    (define (on-right procedure) (lambda (a b) (procedure b)))

    ;;; The value of the last predicate if all hold.
    (define (%all predicates arguments)
      (or (null? predicates)
          (if (null? (cdr predicates))
              (apply (car predicates) arguments)
              (and (apply (car predicates) arguments) (%all (cdr predicates) arguments)))))
    (define (%any predicates arguments)
      (and (pair? predicates) (or (apply (car predicates) arguments) (%any (cdr predicates) arguments))))

    ;;;> A predicate that holds if every predicate holds for every argument.
    (define (conjoin . predicates)
      (case-lambda
        (() #t)
        ((object) (%all predicates (list object)))
        (objects (every (lambda (object) (%all predicates (list object))) objects))))
    ;;;> A predicate that holds if, for every argument, some predicate holds.
    (define (disjoin . predicates)
      (case-lambda
        (() #t)
        ((object) (%any predicates (list object)))
        (objects (every (lambda (object) (%any predicates (list object))) objects))))
    ;;;> A procedure that calls each procedure with its arguments.
    (define (each-of . procedures)
      (lambda arguments (for-each (lambda (procedure) (apply procedure arguments)) procedures)))
    ;;;> A procedure of a list that tells whether a predicate holds for all its elements.
    (define (all-of predicate) (lambda (list) (every predicate list)))
    ;;;> A procedure of a list that tells whether a predicate holds for one of its elements.
    (define (any-of predicate) (lambda (list) (any predicate list)))
    ;;;> A procedure that passes each argument through `map` and calls `reduce` with all.
    (define (on reduce procedure) (lambda objects (apply reduce (map procedure objects))))
    ;;;> A procedure whose first arguments are given here.
    (define (left-section procedure . first) (lambda rest (apply procedure (append first rest))))
    ;;;> A procedure whose last arguments are given here, the last one first.
    (define (right-section procedure . last) (lambda rest (apply procedure (append rest (reverse last)))))
    ;;;> A procedure that passes the values of each procedure to the one before it.
    (define (apply-chain . procedures)
      (cond ((null? procedures) values)
            ((null? (cdr procedures)) (car procedures))
            (else
             (let ((inner (apply apply-chain (cdr procedures))))
               (lambda arguments (call-with-values (lambda () (apply inner arguments)) (car procedures)))))))
    ;;;> As `apply-chain`.
    (define (compose . procedures) (apply apply-chain procedures))
    ;;;> The argument.
    (define (identity object) object)

    ;;; The first elements of a list, or all but so many.
    (define (%take list count) (if (= count 0) '() (cons (car list) (%take (cdr list) (- count 1)))))
    ;;;> A procedure that is called without its first `count` arguments.
    (define (arguments-drop procedure count) (lambda arguments (apply procedure (list-tail arguments count))))
    ;;;> A procedure that is called without its last `count` arguments.
    (define (arguments-drop-right procedure count)
      (lambda arguments (apply procedure (%take arguments (- (length arguments) count)))))
    ;;;> A procedure that is called with its first `count` arguments.
    (define (arguments-take procedure count) (lambda arguments (apply procedure (%take arguments count))))
    ;;;> A procedure that is called with its last `count` arguments.
    (define (arguments-take-right procedure count)
      (lambda arguments (apply procedure (list-tail arguments (- (length arguments) count)))))

    ;;;> A procedure of a list that answers a list of lists of the elements that have one key, by `equal?` or another equivalence.
    (define (group-by key . same?)
      (let ((same? (if (pair? same?) (car same?) equal?)))
        (lambda (list)
          (let loop ((list list) (groups '()))
            (if (null? list)
                (reverse (map (lambda (group) (reverse (cdr group))) groups))
                (let* ((found (key (car list))) (group (assoc found groups same?)))
                  (if group
                      (begin
                        (set-cdr! group (cons (car list) (cdr group)))
                        (loop (cdr list) groups))
                      (loop (cdr list) (cons (cons found (cons (car list) '())) groups)))))))))

    ;;;> Calls the thunks; the value of the last.
    (define (begin-procedure . thunks)
      (let loop ((thunks thunks) (value #f))
        (if (null? thunks) value (loop (cdr thunks) ((car thunks))))))
    ;;;> Calls the first thunk if the value is true, otherwise the second.
    (define (if-procedure value then else) (if value (then) (else)))
    ;;;> Calls the thunks if the value is true.
    (define (when-procedure value . thunks) (if value (apply begin-procedure thunks)))
    ;;;> Calls the thunks if the value is false.
    (define (unless-procedure value . thunks) (if (not value) (apply begin-procedure thunks)))
    ;;;> Calls the procedure with the value if that is true, otherwise the thunk.
    (define (value-procedure value then else) (if value (then value) (else)))
    ;;;> Calls the thunk that an association list has for a value; without one, `otherwise`.
    (define (case-procedure value thunks . otherwise)
      (let ((found (assv value thunks)))
        (cond (found ((cdr found)))
              ((pair? otherwise) ((car otherwise))))))
    ;;;> Calls the thunks until one answers #f; the value of the last that was called.
    (define (and-procedure . thunks)
      (cond ((null? thunks) #t)
            ((null? (cdr thunks)) ((car thunks)))
            (else (and ((car thunks)) (apply and-procedure (cdr thunks))))))
    ;;;> Calls all thunks; the value of the last if all are true, otherwise #f.
    (define (eager-and-procedure . thunks)
      (let loop ((thunks thunks) (value #t))
        (if (null? thunks)
            value
            (let ((next ((car thunks)))) (loop (cdr thunks) (and value next))))))
    ;;;> Calls the thunks until one answers true; its value.
    (define (or-procedure . thunks)
      (cond ((null? thunks) #f)
            ((null? (cdr thunks)) ((car thunks)))
            (else (or ((car thunks)) (apply or-procedure (cdr thunks))))))
    ;;;> Calls all thunks; the first true value, or #f.
    (define (eager-or-procedure . thunks)
      (let loop ((thunks thunks) (value #f))
        (if (null? thunks)
            value
            (let ((next ((car thunks)))) (loop (cdr thunks) (or value next))))))
    ;;;> Calls a thunk.
    (define (funcall-procedure thunk) (thunk))
    ;;;> Calls a thunk without end.
    (define (loop-procedure thunk) (thunk) (loop-procedure thunk))
    ;;;> Calls a thunk as long as it answers true.
    (define (while-procedure thunk) (if (thunk) (while-procedure thunk)))
    ;;;> Calls a thunk until it answers true.
    (define (until-procedure thunk) (if (not (thunk)) (until-procedure thunk)))
    ;;;> #t, whatever the arguments.
    (define (always . objects) #t)
    ;;;> #f, whatever the arguments.
    (define (never . objects) #f)
    ;;;> Whether an object is true.
    (define (boolean object) (if object #t #f))))
