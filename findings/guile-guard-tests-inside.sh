#!/usr/bin/env bash
# Guile 3.0: `guard` evaluates the tests of its clauses where the object was raised.
#
# R7RS 4.2.7: the clauses of `guard` are evaluated with the continuation and the dynamic environment
# of the `guard` expression; if none matches, the object is raised again in the environment of the
# original `raise`. So after-thunks of `dynamic-wind` run before the tests, before-thunks run again
# if no clause matches, and a test sees the parameters from outside. In Guile the tests run inside:
# the thunks run once, and a test sees the parameters of the place of the `raise`. Once a clause has
# matched, its body is evaluated outside, as the report says.
#
#   none      no clause matches; by the report (in out outside in out); Guile: (in inside out)
#   matching  a clause matches; by the report (in out outside outside); Guile: (in inside out outside)
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
(define place (make-parameter 'outside))
(define notes '())
(define (note! x) (set! notes (cons x notes)))
(define (wound is-caught?)
  (set! notes '())
  (guard (other (#t #f))
    (guard (condition ((begin (note! (place)) (is-caught? condition)) (note! (place))))
      (parameterize ((place 'inside))
        (dynamic-wind
          (lambda () (note! 'in))
          (lambda () (raise 'odd))
          (lambda () (note! 'out))))))
  (reverse notes))
(define (show name value) (write (list name value)) (newline))
(show 'none (wound number?))
(show 'matching (wound symbol?))
PROGRAM
cat > "$folder/expected" <<'EXPECTED'
(none (in inside out))
(matching (in inside out outside))
EXPECTED
for _ in 1 2; do
  guile --no-auto-compile --r7rs "$folder/program.scm" > "$folder/answers" 2> /dev/null
  cat "$folder/answers"
  diff "$folder/expected" "$folder/answers"
done
