;;; The Summoner suite of `duet conform`: traces of cases, and their comparison with the reference's.
(define-library (conformance summoner)
  (export answer)
  (import (duet base) (duet json) (duet routes))
  (include "suite.scm" "summoner/trace.scm" "summoner/cycles.scm" "summoner/compare.scm"
    "summoner/main.scm"))
