;;; SRFI 195: boxes with any number of values.
(define-library (srfi 195)
  (export box box? unbox set-box! box-arity unbox-value set-box-value!)
  (on-demand)
  (import (scheme base))
  (begin
    (define-record-type box-type
      (%box values)
      ;;;> Returns whether an object is a box.
      box?
      (values %values))

    ;;;> Makes a box that holds the arguments.
    (define (box . values) (%box (list->vector values)))
    ;;;> Returns the values in a box.
    (define (unbox box) (apply values (vector->list (%values box))))
    ;;;> Replaces the values in a box by as many others.
    (define (set-box! box . values)
      (if (not (= (length values) (box-arity box)))
          (error "set-box!: the box holds another number of values" box values))
      (vector-copy! (%values box) 0 (list->vector values)))
    ;;;> Returns how many values a box holds.
    (define (box-arity box) (vector-length (%values box)))
    ;;;> Returns the value of a box at an index.
    (define (unbox-value box index) (vector-ref (%values box) index))
    ;;;> Replaces the value of a box at an index.
    (define (set-box-value! box index value) (vector-set! (%values box) index value))))
