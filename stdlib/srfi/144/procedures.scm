;;;> Returns the flonum nearest to a real number.
(define (flonum number)
  (if (real? number) (inexact number) (error "flonum: the argument must be a real number" number)))

;;;> Returns whether an object is a flonum: an inexact real number.
(define (flonum? object) (and (real? object) (inexact? object)))

;;;> Returns two values: the integer part and the rest, both with the sign of the argument.
(define (flinteger-fraction x)
  (let ((whole (truncate x)))
    (values whole (flcopysign (if (infinite? x) 0.0 (- x whole)) x))))

;;;> Returns the exponent as a flonum: that of the greatest power of two that is not greater in
;;;> magnitude.
(define (flexponent x)
  (cond ((nan? x) x)
        ((infinite? x) +inf.0)
        ((zero? x) -inf.0)
        (else (inexact (flinteger-exponent x)))))

;;;> Returns the exponent as an exact integer.
(define (flinteger-exponent x)
  (cond ((not (finite? x)) fl-integer-exponent-nan)
        ((zero? x) fl-integer-exponent-zero)
        (else (call-with-values (lambda () (flnormalized-fraction-exponent x))
                (lambda (fraction exponent) (- exponent 1))))))

;;;> Returns whether one of two numbers is a NaN.
(define (flunordered? x y) (or (nan? x) (nan? y)))

;;;> Returns the greatest argument; negative infinity if there are none.
(define flmax
  (case-lambda
    ((x y) (max x y))
    (() -inf.0)
    (numbers (apply max numbers))))
;;;> Returns the least argument; infinity if there are none.
(define flmin
  (case-lambda
    ((x y) (min x y))
    (() +inf.0)
    (numbers (apply min numbers))))

(define %least-normalized 2.2250738585072014e-308)
;;;> Returns whether a flonum is finite and normalized, that is, has full precision.
(define (flnormalized? x) (and (finite? x) (>= (abs x) %least-normalized)))
;;;> Returns whether a flonum is not zero and so small that it lacks precision.
(define (fldenormalized? x) (< 0.0 (abs x) %least-normalized))

;;;> Returns the sum; of no arguments, 0.0.
(define fl+
  (case-lambda
    ((x y) (+ x y))
    (numbers (apply + 0.0 numbers))))
;;;> Returns the product; of no arguments, 1.0.
(define fl*
  (case-lambda
    ((x y) (* x y))
    (numbers (apply * 1.0 numbers))))

;;;> Returns the magnitude of the difference.
(define (flabsdiff x y) (abs (- x y)))
;;;> Returns the difference if it is positive, otherwise 0.0.
(define (flposdiff x y)
  (cond ((> x y) (- x y))
        ((flunordered? x y) +nan.0)
        (else 0.0)))
;;;> Returns 1.0 with the sign of the argument.
(define (flsgn x) (flcopysign 1.0 x))
;;;> Returns the numerator in lowest terms; an infinity or NaN is returned unchanged.
(define (flnumerator x) (if (finite? x) (numerator x) x))
;;;> Returns the denominator in lowest terms; that of an infinity is 1.0.
(define (fldenominator x)
  (cond ((finite? x) (denominator x))
        ((nan? x) x)
        (else 1.0)))

;;;> Makes a procedure that returns the logarithm of its argument to a base.
(define (make-fllog-base base)
  (cond ((= base 2.0) fllog2)
        ((= base 10.0) fllog10)
        (else (let ((log-base (fllog base))) (lambda (x) (/ (fllog x) log-base))))))

;;;> Returns the quotient, truncated.
(define (flquotient x y) (truncate (/ x y)))
