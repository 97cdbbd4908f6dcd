;;; SRFI 141: division of integers.
(define-library (srfi 141)
  (export
    floor/ floor-quotient floor-remainder
    truncate/ truncate-quotient truncate-remainder
    ceiling/ ceiling-quotient ceiling-remainder
    round/ round-quotient round-remainder
    euclidean/ euclidean-quotient euclidean-remainder
    balanced/ balanced-quotient balanced-remainder)
  (on-demand)
  (import (scheme base))
  (begin
    ;;;> Returns the quotient rounded upwards.
    (define (ceiling-quotient n d) (- (floor-quotient (- n) d)))

    ;;;> Returns the quotient rounded to the nearest integer, a half to the even one.
    (define (round-quotient n d)
      (let* ((q (floor-quotient n d)) (twice (* 2 (abs (- n (* d q))))) (whole (abs d)))
        (cond ((< twice whole) q)
              ((> twice whole) (+ q 1))
              ((even? q) q)
              (else (+ q 1)))))

    ;;;> Returns the quotient for which the remainder is not negative.
    (define (euclidean-quotient n d) (if (> d 0) (floor-quotient n d) (ceiling-quotient n d)))

    ;;;> Returns the quotient for which the remainder is at least minus half the divisor's magnitude
    ;;;> and less than half of it.
    (define (balanced-quotient n d)
      (let* ((q (euclidean-quotient n d)) (r (- n (* d q))))
        (cond ((< (* 2 r) (abs d)) q)
              ((> d 0) (+ q 1))
              (else (- q 1)))))

    ;;;> Returns the quotient and the remainder, the quotient rounded upwards.
    (define (ceiling/ n d)
      (let ((q (ceiling-quotient n d))) (values q (- n (* d q)))))
    ;;;> Returns the remainder for `ceiling-quotient`.
    (define (ceiling-remainder n d) (- n (* d (ceiling-quotient n d))))
    ;;;> Returns the quotient and the remainder, the quotient rounded to the nearest integer, a half
    ;;;> to the even one.
    (define (round/ n d)
      (let ((q (round-quotient n d))) (values q (- n (* d q)))))
    ;;;> Returns the remainder for `round-quotient`.
    (define (round-remainder n d) (- n (* d (round-quotient n d))))
    ;;;> Returns the quotient and the remainder, the quotient rounded so that the remainder is not
    ;;;> negative.
    (define (euclidean/ n d)
      (let ((q (euclidean-quotient n d))) (values q (- n (* d q)))))
    ;;;> Returns the remainder for `euclidean-quotient`.
    (define (euclidean-remainder n d) (- n (* d (euclidean-quotient n d))))
    ;;;> Returns the quotient and the remainder, the quotient rounded so that the remainder is at
    ;;;> least minus half the divisor's magnitude and less than half of it.
    (define (balanced/ n d)
      (let ((q (balanced-quotient n d))) (values q (- n (* d q)))))
    ;;;> Returns the remainder for `balanced-quotient`.
    (define (balanced-remainder n d) (- n (* d (balanced-quotient n d))))))
