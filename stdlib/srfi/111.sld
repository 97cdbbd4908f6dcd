;;; SRFI 111: boxes.
(define-library (srfi 111)
  (export box box? unbox set-box!)
  (on-demand)
  (import (scheme base))
  (begin
    (define-record-type box-type
      ;;;> Makes a box that holds a value.
      (box value)
      ;;;> Whether an object is a box.
      box?
      ;;;> What a box holds.
      (value unbox set-box!))))
