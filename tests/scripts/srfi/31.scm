;; SRFI 31: `rec`.
(import (scheme base) (srfi 31))

((rec (factorial n) (if (= n 0) 1 (* n (factorial (- n 1))))) 10)  ; => 3628800
