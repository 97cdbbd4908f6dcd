;;; Tests of the library `(@NAME@)`.
(import (scheme base) (srfi 64) (@NAME@))

(test-begin "@NAME@")
(test-equal "a greeting names the person" "Hello, Ada!" (greeting "Ada"))
(test-end)
