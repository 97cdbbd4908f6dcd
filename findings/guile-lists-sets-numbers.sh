#!/usr/bin/env bash
# Guile 3.0: answers of standard procedures that contradict their specifications.
#
#   fold-right      SRFI 1 gives this call as an example, with the answer (a 1 b 2 c 3)
#   lset-diff+intersection   the second value is what the first list shares with the union of the others: (a e)
#   char-set-any    SRFI 14: "If no character produces a true value, it returns false."
#   string-upcase   SRFI 13: with a start, the answer is that part alone, as "Easy Fried Chicken" for string-titlecase
#   xsubstring      SRFI 13: the string repeats in both directions: "cafécaféca"
#   remainder       R7RS: dividend = divisor × quotient + remainder, and 2⁶³ is no multiple of 3: 2.0
#   asin            R7RS defines it by log; the imaginary part at -5/2 is positive
#   logtest         SRFI 60: (logand 2⁶³ 2) is 0: #f
#
# Needs Debian's guile-3.0. Exits with 0 if the answers are those below, both times.
set -euo pipefail
export LC_ALL=C.UTF-8
guile --version | sed -n 1p
dpkg-query -W guile-3.0 || true
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cat > "$folder/program.scm" <<'PROGRAM'
(use-modules (srfi srfi-1) (srfi srfi-13) (srfi srfi-14) (srfi srfi-60))
(define (show name . values) (write (cons name values)) (newline))
(show 'fold-right (fold-right cons* '() '(a b c) '(1 2 3 4 5)))
(call-with-values (lambda () (lset-diff+intersection eq? '(a e i) '(x) '(a e)))
  (lambda (difference intersection) (show 'lset-diff+intersection difference intersection)))
(show 'char-set-any (char-set-any char-alphabetic? (char-set)))
(show 'string-upcase (string-upcase "hello" 3))
(show 'xsubstring (map char->integer (string->list (xsubstring "caf\u00e9" -4 6))))
(show 'remainder (remainder 9223372036854775808 -3.0))
(show 'asin (negative? (imag-part (asin -5/2))))
(show 'logtest (logtest 9223372036854775808 2))
PROGRAM
cat > "$folder/expected" <<'EXPECTED'
(fold-right (a 3 b 4 c 5))
(lset-diff+intersection (a e i) ())
(char-set-any #t)
(string-upcase "helLO")
(xsubstring (0 97 102 233 99 97 102 233 99 97))
(remainder 0.0)
(asin #t)
(logtest #t)
EXPECTED
for _ in 1 2; do
  guile --no-auto-compile "$folder/program.scm" > "$folder/answers" 2> /dev/null
  cat "$folder/answers"
  diff "$folder/expected" "$folder/answers"
done
echo "unchanged"
