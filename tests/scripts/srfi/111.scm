;; SRFI 111: boxes.
(import (scheme base) (srfi 111))

(define b (box 1))
(set-box! b (+ (unbox b) 1))
(unbox b)  ; => 2
(box? b)   ; => #t
(box? 1)   ; => #f
