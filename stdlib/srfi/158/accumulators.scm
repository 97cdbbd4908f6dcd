;;; An accumulator is a procedure of one argument: it takes an object, and for the end-of-file object answers the result so far.

;;;> Makes an accumulator: `(combine object state)` gives the next state, `(finish state)` the result.
(define (make-accumulator combine state finish)
  (lambda (object)
    (if (eof-object? object)
        (finish state)
        (set! state (combine object state)))))

;;;> Counts what it takes.
(define (count-accumulator) (make-accumulator (lambda (object count) (+ count 1)) 0 values))
;;;> Makes a list of what it takes.
(define (list-accumulator) (make-accumulator cons '() reverse))
;;;> Makes a list of what it takes, the latest first.
(define (reverse-list-accumulator) (make-accumulator cons '() values))
;;;> Makes a vector of what it takes.
(define (vector-accumulator) (make-accumulator cons '() (lambda (list) (list->vector (reverse list)))))
;;;> Makes a vector of what it takes, the latest first.
(define (reverse-vector-accumulator) (make-accumulator cons '() list->vector))
;;;> Makes a string of the characters that it takes.
(define (string-accumulator) (make-accumulator cons '() (lambda (list) (list->string (reverse list)))))
;;;> Makes a bytevector of the bytes that it takes.
(define (bytevector-accumulator) (make-accumulator cons '() (lambda (list) (apply bytevector (reverse list)))))
;;;> Adds up the numbers that it takes.
(define (sum-accumulator) (make-accumulator + 0 values))
;;;> Multiplies the numbers that it takes.
(define (product-accumulator) (make-accumulator * 1 values))

(define (%filling target set-element! index)
  (make-accumulator (lambda (object index) (set-element! target index object) (+ index 1)) index (lambda (index) target)))

;;;> Puts what it takes into a vector from an index on, and gives the vector.
(define (vector-accumulator! vector index) (%filling vector vector-set! index))
;;;> Puts the bytes that it takes into a bytevector from an index on, and gives the bytevector.
(define (bytevector-accumulator! bytevector index) (%filling bytevector bytevector-u8-set! index))
