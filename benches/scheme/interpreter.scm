;; Symbols, association lists and closures: a small Scheme evaluator runs a Scheme program.
(import (scheme base) (scheme write))

;; An environment is a list of frames; a frame is a list whose tail associates names with values.
(define (lookup name environment)
  (if (null? environment)
      (error "unbound" name)
      (or (assq name (cdar environment))
          (lookup name (cdr environment)))))

(define (define! name value environment)
  (set-cdr! (car environment) (cons (cons name value) (cdar environment))))

(define (extended names values environment)
  (cons (cons 'frame (map cons names values)) environment))

(define (evaluate form environment)
  (cond ((symbol? form) (cdr (lookup form environment)))
        ((not (pair? form)) form)
        (else
         (case (car form)
           ((quote) (cadr form))
           ((if)
            (evaluate (if (evaluate (cadr form) environment) (car (cddr form)) (cadr (cddr form)))
                      environment))
           ((lambda) (closure (cadr form) (cddr form) environment))
           ((define) (define! (cadr form) (evaluate (car (cddr form)) environment) environment))
           ((set!)
            (set-cdr! (lookup (cadr form) environment) (evaluate (car (cddr form)) environment)))
           ((let)
            (evaluate-body (cddr form)
                           (extended (map car (cadr form))
                                     (map (lambda (binding) (evaluate (cadr binding) environment))
                                          (cadr form))
                                     environment)))
           (else
            ((evaluate (car form) environment)
             (map (lambda (operand) (evaluate operand environment)) (cdr form))))))))

(define (evaluate-body forms environment)
  (if (null? (cdr forms))
      (evaluate (car forms) environment)
      (begin
        (evaluate (car forms) environment)
        (evaluate-body (cdr forms) environment))))

;; Procedures of the evaluated program take a list of their arguments.
(define (closure names body environment)
  (lambda (values) (evaluate-body body (extended names values environment))))

(define (primitive procedure)
  (lambda (values) (apply procedure values)))

(define (global-environment)
  (list (cons 'frame
              (map (lambda (name procedure) (cons name (primitive procedure)))
                   '(+ - < = cons car cdr null?)
                   (list + - < = cons car cdr null?)))))

(define program
  '((define fib (lambda (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))))
    (define make-counter
     (lambda ()
      (let ((count 0)) (lambda () (set! count (+ count 1)) count))))
    (define downto (lambda (n) (if (= n 0) '() (cons n (downto (- n 1))))))
    (define fold
     (lambda (f seed list) (if (null? list) seed (fold f (f (car list) seed) (cdr list)))))
    (define counter (make-counter))
    (+ (fib 19)
     (fold + 0 (downto 300))
     (fold (lambda (item count) (counter)) 0 (downto 200)))))

(define (main)
  (let repeat ((rounds 8) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (evaluate-body program (global-environment))))
          ((= answer (+ 4181 45150 200)) (display "interpreter ok"))
          (else (error "interpreter is wrong" answer))))
  (newline))

(main)
