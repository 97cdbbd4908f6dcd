;;; SRFI 111: boxes.
(define-library (srfi 111)
  (export box box? unbox set-box!)
  (on-demand)
  (import (scheme base))
  (begin
    (define-record-type box-type
      ;;;> Makes a box that holds a value.
      (box value)
      ;;;> Returns whether an object is a box.
      box?
      ;;;> Returns the value in a box.
      (value unbox
        ;;;> Puts another value into a box.
        set-box!))))
