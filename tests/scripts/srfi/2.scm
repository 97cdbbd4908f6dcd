;; SRFI 2: `and-let*`.
(import (scheme base) (srfi 2))

(and-let* () 1)                                      ; => 1
(and-let* ((x 5) ((> x 3)) (y (* x 2))) (list x y))  ; => (5 10)
(and-let* ((x #f) (y (car x))) y)                    ; => #f
(and-let* ((x 1)))                                   ; => 1
(and-let* ())                                        ; => #t
