;; Code made and run: eval makes procedures of polynomials, which are written by Horner's rule.
(import (scheme base) (scheme eval) (scheme write))

;; The expression of a polynomial whose coefficients are given, the constant first.
(define (horner coefficients)
  (if (null? (cdr coefficients))
      (car coefficients)
      (list '+ (car coefficients) (list '* 'x (horner (cdr coefficients))))))

(define (procedure-text coefficients)
  `(lambda (x)
     (let ((value ,(horner coefficients)))
       (if (< value 0) (- value) value))))

(define (coefficients seed count)
  (if (= count 0)
      '()
      (cons (- (modulo (* seed 7) 19) 9) (coefficients (+ seed 5) (- count 1)))))

(define (value-at coefficients x)
  (if (null? coefficients) 0 (+ (car coefficients) (* x (value-at (cdr coefficients) x)))))

(define (right? procedure coefficients)
  (let loop ((x -20))
    (or (= x 20)
        (and (= (procedure x) (abs (value-at coefficients x)))
             (loop (+ x 1))))))

(define base (environment '(scheme base)))

(define (main)
  (let repeat ((seed 0) (right 0))
    (if (< seed 3000)
        (let ((these (coefficients seed 8)))
          (repeat (+ seed 1)
                  (if (right? (eval (procedure-text these) base) these) (+ right 1) right)))
        (if (= right 3000)
            (display "evaluate ok")
            (error "evaluate is wrong" right))))
  (newline))

(main)
