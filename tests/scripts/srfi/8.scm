;; SRFI 8: `receive`, and libraries whose names the report took over.
(import (scheme base) (srfi 6) (srfi 8) (srfi 9) (srfi 11) (srfi 16) (srfi 23) (srfi 39) (srfi 87))

(receive (first . rest) (values 1 2 3) (list first rest))  ; => (1 (2 3))
