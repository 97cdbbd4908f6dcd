;;; A main program that fails keeps what it has logged, if it has a port to commit it with.
(import (duet base) (duet dataspace) (scheme write))
(define (never) (display "never"))
(log! "before")
(assert! (record 'held 1))
(sleep 5)
(assert! (record 'held 2))
(log! "until here")
(car 'x)
