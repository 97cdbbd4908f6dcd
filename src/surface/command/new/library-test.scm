;;; Tests of the library `(@NAME@)`.
(import (scheme base) (srfi 64) (@NAME@))

(test-begin "@NAME@")
(test-equal "the words of a text" '("a" "bc") (words " a  bc "))
(test-equal "an empty text has none" '() (words ""))
(test-end)
