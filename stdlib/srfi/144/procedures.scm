;;;> The flonum nearest to a real number.
(define (flonum number) (if (real? number) (inexact number) (error "flonum: the argument must be a real number" number)))

;;;> Whether an object is a flonum: an inexact real number.
(define (flonum? object) (and (real? object) (inexact? object)))

;;;> Two values: the integer part and the rest, both with the sign of the argument.
(define (flinteger-fraction x)
  (let ((whole (truncate x)))
    (values whole (flcopysign (if (infinite? x) 0.0 (- x whole)) x))))

;;;> The exponent as a flonum: the greatest integral power of two that is not greater in magnitude.
(define (flexponent x)
  (cond ((nan? x) x)
        ((infinite? x) +inf.0)
        ((zero? x) -inf.0)
        (else (inexact (flinteger-exponent x)))))

;;;> The exponent as an exact integer.
(define (flinteger-exponent x)
  (cond ((not (finite? x)) fl-integer-exponent-nan)
        ((zero? x) fl-integer-exponent-zero)
        (else (call-with-values (lambda () (flnormalized-fraction-exponent x)) (lambda (fraction exponent) (- exponent 1))))))

;;;> Whether one of two numbers is a NaN.
(define (flunordered? x y) (or (nan? x) (nan? y)))

;;;> The greatest argument; of none, negative infinity.
(define flmax
  (case-lambda
    ((x y) (max x y))
    (() -inf.0)
    (numbers (apply max numbers))))
;;;> The least argument; of none, infinity.
(define flmin
  (case-lambda
    ((x y) (min x y))
    (() +inf.0)
    (numbers (apply min numbers))))

(define %least-normalized 2.2250738585072014e-308)
;;;> Whether a flonum is finite and has all its places.
(define (flnormalized? x) (and (finite? x) (>= (abs x) %least-normalized)))
;;;> Whether a flonum is so small that it lacks places, and not zero.
(define (fldenormalized? x) (< 0.0 (abs x) %least-normalized))

;;;> The sum; of no arguments, 0.0.
(define fl+
  (case-lambda
    ((x y) (+ x y))
    (numbers (apply + 0.0 numbers))))
;;;> The product; of no arguments, 1.0.
(define fl*
  (case-lambda
    ((x y) (* x y))
    (numbers (apply * 1.0 numbers))))

;;;> The magnitude of the difference.
(define (flabsdiff x y) (abs (- x y)))
;;;> The difference if it is positive, otherwise 0.0.
(define (flposdiff x y)
  (cond ((> x y) (- x y))
        ((flunordered? x y) +nan.0)
        (else 0.0)))
;;;> 1.0 with the sign of the argument.
(define (flsgn x) (flcopysign 1.0 x))
;;;> The numerator in lowest terms; infinities and NaNs are their own.
(define (flnumerator x) (if (finite? x) (numerator x) x))
;;;> The denominator in lowest terms; that of an infinity is 1.0.
(define (fldenominator x)
  (cond ((finite? x) (denominator x))
        ((nan? x) x)
        (else 1.0)))

;;;> The procedure that answers the logarithm of its argument by a base.
(define (make-fllog-base base)
  (cond ((= base 2.0) fllog2)
        ((= base 10.0) fllog10)
        (else (let ((log-base (fllog base))) (lambda (x) (/ (fllog x) log-base))))))

;;;> The quotient without what comes after the point.
(define (flquotient x y) (truncate (/ x y)))
