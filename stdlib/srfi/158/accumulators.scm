;;; An accumulator is a procedure of one argument: it takes an object, or returns the result so far
;;; for the end-of-file object.

;;;> Makes an accumulator: `(combine object state)` returns the next state, `(finish state)` the
;;;> result.
(define (make-accumulator combine state finish)
  (lambda (object)
    (if (eof-object? object)
        (finish state)
        (set! state (combine object state)))))

;;;> Makes an accumulator that counts its objects.
(define (count-accumulator) (make-accumulator (lambda (object count) (+ count 1)) 0 values))
;;;> Makes an accumulator that makes a list of its objects.
(define (list-accumulator) (make-accumulator cons '() reverse))
;;;> Makes an accumulator that makes a list of its objects, the latest first.
(define (reverse-list-accumulator) (make-accumulator cons '() values))
;;;> Makes an accumulator that makes a vector of its objects.
(define (vector-accumulator)
  (make-accumulator cons '() (lambda (list) (list->vector (reverse list)))))
;;;> Makes an accumulator that makes a vector of its objects, the latest first.
(define (reverse-vector-accumulator) (make-accumulator cons '() list->vector))
;;;> Makes an accumulator that makes a string of its characters.
(define (string-accumulator)
  (make-accumulator cons '() (lambda (list) (list->string (reverse list)))))
;;;> Makes an accumulator that makes a bytevector of its bytes.
(define (bytevector-accumulator)
  (make-accumulator (lambda (byte port) (write-u8 byte port) port)
                    (open-output-bytevector)
                    get-output-bytevector))
;;;> Makes an accumulator that adds its numbers.
(define (sum-accumulator) (make-accumulator + 0 values))
;;;> Makes an accumulator that multiplies its numbers.
(define (product-accumulator) (make-accumulator * 1 values))

(define (%filling target set-element! index)
  (make-accumulator (lambda (object index) (set-element! target index object) (+ index 1))
    index
    (lambda (index) target)))

;;;> Makes an accumulator that writes its objects into a vector from an index on, and returns the
;;;> vector.
(define (vector-accumulator! vector index) (%filling vector vector-set! index))
;;;> Makes an accumulator that writes its bytes into a bytevector from an index on, and returns the
;;;> bytevector.
(define (bytevector-accumulator! bytevector index) (%filling bytevector bytevector-u8-set! index))
