;; Symbols and lists: rules with variables rewrite formulas until none applies.
(import (scheme base) (scheme write))

;; In patterns (? . NAME) is a variable.
(define rules
  '(((+ (? . a) 0) (? . a))
    ((+ 0 (? . a)) (? . a))
    ((* (? . a) 1) (? . a))
    ((* 1 (? . a)) (? . a))
    ((* (? . a) 0) 0)
    ((* 0 (? . a)) 0)
    ((- (? . a) (? . a)) 0)
    ((+ (? . a) (? . a)) (* 2 (? . a)))
    ((* (+ (? . a) (? . b)) (? . c)) (+ (* (? . a) (? . c)) (* (? . b) (? . c))))
    ((* (? . c) (+ (? . a) (? . b))) (+ (* (? . c) (? . a)) (* (? . c) (? . b))))
    ((+ (+ (? . a) (? . b)) (? . c)) (+ (? . a) (+ (? . b) (? . c))))
    ((* (* (? . a) (? . b)) (? . c)) (* (? . a) (* (? . b) (? . c))))))

(define (variable? pattern) (and (pair? pattern) (eq? (car pattern) '?)))

;; The bindings under which a pattern is the form, beside those given; or #f.
(define (match-with pattern form bindings)
  (cond ((not bindings) #f)
        ((variable? pattern)
         (let ((binding (assq (cdr pattern) bindings)))
           (cond ((not binding) (cons (cons (cdr pattern) form) bindings))
                 ((equal? (cdr binding) form) bindings)
                 (else #f))))
        ((and (pair? pattern) (pair? form))
         (match-with (cdr pattern) (cdr form) (match-with (car pattern) (car form) bindings)))
        ((eqv? pattern form) bindings)
        (else #f)))

(define (instance template bindings)
  (cond ((variable? template) (cdr (assq (cdr template) bindings)))
        ((pair? template)
         (cons (instance (car template) bindings) (instance (cdr template) bindings)))
        (else template)))

(define (simplify form)
  (if (pair? form)
      (rewrite (list (car form) (simplify (cadr form)) (simplify (car (cddr form)))))
      form))

(define (rewrite form)
  (let loop ((rest rules))
    (if (null? rest)
        form
        (let ((bindings (match-with (caar rest) form '())))
          (if bindings
              (simplify (instance (cadr (car rest)) bindings))
              (loop (cdr rest)))))))

(define (size form)
  (if (pair? form) (+ (size (car form)) (size (cdr form))) 1))

(define (power base n)
  (if (= n 0) 1 (list '* base (power base (- n 1)))))

(define (main)
  (let ((formula (list '+ (power '(+ (+ x 0) (* 1 y)) 4) '(- (* z 1) (+ 0 z)))))
    (let repeat ((rounds 100) (answer 0))
      (cond ((> rounds 0) (repeat (- rounds 1) (size (simplify formula))))
            ((and (= answer 190) (equal? (simplify '(* (- a a) (+ b b))) 0))
             (display "simplify ok"))
            (else (error "simplify is wrong" answer)))))
  (newline))

(main)
