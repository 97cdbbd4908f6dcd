#!/usr/bin/env bash
# Guile 3.0: a handler that is installed while another handler runs is passed over.
#
# R7RS 6.11: a handler is called with the handlers that were installed outside it, and whatever it
# installs itself comes first. So `guard` within a handler catches what is raised in its body. In
# Guile the condition goes to the handlers outside the running one instead, whether `guard` or
# `with-exception-handler` installs the inner handler; without an outer one the program ends.
#
#   guard     by the report (inner second); Guile: (outer second)
#   handler   by the report 106; Guile: (outer second)
#   plain     the same `guard` in a procedure that is no handler catches: (inner second)
#
# Needs Debian's guile-3.0. Exits with 0 if the answers are those below, both times.
set -euo pipefail
export LC_ALL=C.UTF-8
guile --version | sed -n 1p
dpkg-query -W guile-3.0 || true
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cat > "$folder/program.scm" <<'PROGRAM'
(import (scheme base) (scheme write))
(define (show name value) (write (list name value)) (newline))
(define (catching) (guard (inner (#t (list 'inner inner))) (raise 'second)))
(define (continuing)
  (with-exception-handler
    (lambda (condition) 5)
    (lambda () (+ 1 (raise-continuable 'second)))))
(define (within handler)
  (guard (outer (#t (list 'outer outer)))
    (with-exception-handler
      (lambda (condition) (handler))
      (lambda () (let ((answer (raise-continuable 'first))) (if (number? answer) (+ 100 answer) answer))))))
(show 'guard (within catching))
(show 'handler (within continuing))
(show 'plain (catching))
PROGRAM
cat > "$folder/expected" <<'EXPECTED'
(guard (outer second))
(handler (outer second))
(plain (inner second))
EXPECTED
for _ in 1 2; do
  guile --no-auto-compile --r7rs "$folder/program.scm" > "$folder/answers" 2> /dev/null
  cat "$folder/answers"
  diff "$folder/expected" "$folder/answers"
done
