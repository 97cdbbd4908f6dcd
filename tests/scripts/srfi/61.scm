;; SRFI 61: a `cond` clause with a guard.

(import (scheme base) (rename (srfi 61) (cond cond*)))
(cond* ((values 1 2) < => list) (else 'no))              ; => (1 2)
(cond* ((values 2 1) < => list) (else 'no))              ; => no
(cond* ((assv 2 '((1 . a) (2 . b))) => cdr) (else 'no))  ; => b
(cond* (#f 1) (2))                                       ; => 2
