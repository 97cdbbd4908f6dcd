;; Pairs, symbols and higher-order procedures: symbolic derivatives.
(import (scheme base) (scheme write))

(define (third list) (car (cddr list)))

(define (derivative form)
  (cond ((not (pair? form)) (if (eq? form 'x) 1 0))
        ((eq? (car form) '+) (cons '+ (map derivative (cdr form))))
        ((eq? (car form) '-) (cons '- (map derivative (cdr form))))
        ((eq? (car form) '*)
         (list '*
               form
               (cons '+ (map (lambda (factor) (list '/ (derivative factor) factor)) (cdr form)))))
        ((eq? (car form) '/)
         (list '-
               (list '/ (derivative (cadr form)) (third form))
               (list '/ (cadr form) (list '* (third form) (third form) (derivative (third form))))))
        (else (error "no derivative for" form))))

(define expected
  '(+ (* (* 3 x x) (+ (/ 0 3) (/ 1 x) (/ 1 x)))
    (* (* a x x) (+ (/ 0 a) (/ 1 x) (/ 1 x)))
    (* (* b x) (+ (/ 0 b) (/ 1 x)))
    0))

(define (main)
  (let repeat ((rounds 200000) (answer #f))
    (cond ((> rounds 0) (repeat (- rounds 1) (derivative '(+ (* 3 x x) (* a x x) (* b x) 5))))
          ((equal? answer expected) (display "deriv ok"))
          (else (error "deriv is wrong" answer))))
  (newline))

(main)
