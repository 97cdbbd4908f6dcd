;; Conditions: a calculator that raises and catches errors, with a guard and a dynamic wind around each formula.
(import (scheme base) (scheme write))

(define depth 0)

(define (tracked thunk)
  (dynamic-wind
    (lambda () (set! depth (+ depth 1)))
    thunk
    (lambda () (set! depth (- depth 1)))))

(define (calculate form)
  (cond ((number? form) form)
        ((not (pair? form)) (raise form))
        (else
         (let ((left (calculate (cadr form))) (right (calculate (car (cddr form)))))
           (case (car form)
             ((+) (+ left right))
             ((*) (* left right))
             ((/) (if (= right 0) (raise 'by-zero) (quotient left right)))
             (else (raise (list 'operator (car form)))))))))

(define (attempt form)
  (guard (reason ((eq? reason 'by-zero) -1)
                 ((symbol? reason) -2)
                 ((pair? reason) (- (length reason))))
    (tracked (lambda () (calculate form)))))

;; A handler that answers in the place of what is missing.
(define (plus-missing default)
  (with-exception-handler
    (lambda (reason) default)
    (lambda () (+ 1 (raise-continuable 'missing)))))

(define forms
  '((+ 1 (* 2 3)) (/ 7 (+ 1 -1)) (+ (* 2 unknown) 1) (power 2 3) (/ (+ 40 2) (+ 1 1))
    (* (/ 1 0) 5)))

(define (main)
  (let repeat ((rounds 25000) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (+ (apply + (map attempt forms)) (plus-missing 9))))
          ((and (= answer 32) (= depth 0)) (display "guards ok"))
          (else (error "guards is wrong" answer depth))))
  (newline))

(main)
