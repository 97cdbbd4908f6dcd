;; SRFI 28: basic format strings.
(import (scheme base) (srfi 28))

(format "~a and ~s~% ~~" "a" "b")  ; => "a and \"b\"\n ~"
(format "~a")                      ; raises: error
(format "~q" 1)                    ; raises: error
