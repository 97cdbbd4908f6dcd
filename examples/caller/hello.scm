;; What `caller.scm` runs.
(import (scheme base) (scheme write))
(display "hello from below")
(newline)
