;; SRFI 145: assumptions.
(import (scheme base) (srfi 145))

(assume (= 1 1))                ; => #t
(assume (= 1 2) "they differ")  ; raises: error
