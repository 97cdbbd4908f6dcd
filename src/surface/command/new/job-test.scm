;;; Tests of the library `(@NAME@)`.
(import (scheme base) (srfi 64) (@NAME@))

(test-begin "@NAME@")
(test-equal "a report counts the hours" "Hour 2 since 1970." (report 7200001))
(test-end)
