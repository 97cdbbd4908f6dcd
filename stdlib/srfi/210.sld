;;; SRFI 210: procedures and forms for multiple values.
(define-library (srfi 210)
  (export
    apply/mv call/mv list/mv vector/mv box/mv value/mv coarity set!-values with-values case-receive
    bind/mv list-values vector-values box-values value identity compose-left compose-right
    map-values bind/list bind/box bind)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (rename (srfi 195) (box %box) (unbox %unbox)))
  (begin
    ;;;> Calls a procedure with the objects and then the values of the last expression.
    (define-syntax apply/mv
      (syntax-rules ()
        ((_ procedure producer) (call-with-values (lambda () producer) procedure))
        ((_ procedure object ... producer)
         (let ((it procedure))
           (%ordered ()
                     (object ...)
                     producer
                     (lambda (first) (lambda rest (apply it (append first rest)))))))))

    ;;; Evaluates objects from left to right and calls the value of `make` for their list with the
    ;;; values of the producer.
    (define-syntax %ordered
      (syntax-rules ()
        ((_ () (object ...) producer make)
         (let ((first (list object ...))) (call-with-values (lambda () producer) (make first))))))

    ;;;> Calls a consumer with all values of all producers.
    (define-syntax call/mv
      (syntax-rules ()
        ((_ consumer producer ...)
         (let ((it consumer)) (apply it (append (list/mv producer) ...))))))

    ;;;> Returns a list of the objects and the values of the last expression.
    (define-syntax list/mv
      (syntax-rules ()
        ((_ element ... producer) (apply/mv list element ... producer))))

    ;;;> Returns a vector of the objects and the values of the last expression.
    (define-syntax vector/mv
      (syntax-rules ()
        ((_ element ... producer) (apply/mv vector element ... producer))))

    ;;;> Returns a box of the objects and the values of the last expression.
    (define-syntax box/mv
      (syntax-rules ()
        ((_ element ... producer) (apply/mv %box element ... producer))))

    ;;;> One of the objects and the values of the last expression, by its index.
    (define-syntax value/mv
      (syntax-rules ()
        ((_ index operand ... producer)
         (let ((it index)) (list-ref (list/mv operand ... producer) it)))))

    ;;;> Returns how many values an expression has.
    (define-syntax coarity
      (syntax-rules ()
        ((_ producer) (length (list/mv producer)))))

    ;;;> Assigns the values of an expression to variables.
    (define-syntax set!-values
      (syntax-rules ()
        ((_ (variable ...) producer) (%set! () (variable ...) () producer))
        ((_ (variable ... . rest) producer) (%set! () (variable ...) (rest) producer))))
    (define-syntax %set!
      (syntax-rules ()
        ((_ ((variable temporary) ...) () () producer)
         (call-with-values (lambda () producer)
           (lambda (temporary ...) (set! variable temporary) ... (if #f #f))))
        ((_ ((variable temporary) ...) () (rest) producer)
         (call-with-values (lambda () producer)
           (lambda (temporary ... . others)
             (set! variable temporary)
             ...
             (set! rest others)
             (if #f #f))))
        ((_ (pair ...) (variable more ...) rest producer)
         (%set! (pair ... (variable temporary)) (more ...) rest producer))))

    ;;;> Calls a consumer with the values of an expression.
    (define-syntax with-values
      (syntax-rules ()
        ((_ producer consumer) (call-with-values (lambda () producer) consumer))))

    ;;;> Calls the clause whose formals fit the values of an expression.
    (define-syntax case-receive
      (syntax-rules ()
        ((_ producer clause ...) (call-with-values (lambda () producer) (case-lambda clause ...)))))

    ;;;> Passes the values of an expression through procedures, from left to right.
    (define-syntax bind/mv
      (syntax-rules ()
        ((_ producer transducer ...) (bind/list (list/mv producer) transducer ...))))

    ;;;> Returns the elements of a list as values.
    (define (list-values list) (apply values list))
    ;;;> Returns the elements of a vector as values.
    (define (vector-values vector) (apply values (vector->list vector)))
    ;;;> Returns the values of a box.
    (define (box-values box) (%unbox box))
    ;;;> Returns the argument after it at this index.
    (define (value index . objects) (list-ref objects index))
    ;;;> Returns the arguments as values.
    (define (identity . objects) (apply values objects))
    ;;;> Returns a procedure that passes its arguments through procedures, from left to right.
    (define (compose-left . transducers) (lambda arguments (apply bind/list arguments transducers)))
    ;;;> Returns a procedure that passes its arguments through procedures, from right to left.
    (define (compose-right . transducers) (apply compose-left (reverse transducers)))
    ;;;> Makes a procedure that calls `procedure` with each of its arguments and returns the results
    ;;;> as values.
    (define (map-values procedure) (lambda arguments (apply values (map procedure arguments))))
    ;;;> Passes the elements of a list through procedures, from left to right.
    (define (bind/list objects . transducers)
      (cond ((null? transducers) (apply values objects))
            ((null? (cdr transducers)) (apply (car transducers) objects))
            (else
             (call-with-values
               (lambda () (apply (car transducers) objects))
               (lambda values (apply bind/list values (cdr transducers)))))))
    ;;;> Passes the values of a box through procedures, from left to right.
    (define (bind/box box . transducers)
      (call-with-values (lambda () (%unbox box))
        (lambda objects (apply bind/list objects transducers))))
    ;;;> Passes an object through procedures, from left to right.
    (define (bind object . transducers) (apply bind/list (list object) transducers))))
