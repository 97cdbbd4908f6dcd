;; Closures over code: forms of a small language are compiled to procedures of an environment.
(import (scheme base) (scheme write))

;; A compiled form knows how many frames out a variable is, and its index there.
(define (place name scope)
  (let outer ((depth 0) (scope scope))
    (if (null? scope)
        (error "unbound" name)
        (let inner ((index 0) (names (car scope)))
          (cond ((null? names) (outer (+ depth 1) (cdr scope)))
                ((eq? (car names) name) (cons depth index))
                (else (inner (+ index 1) (cdr names))))))))

(define (compiled-variable place)
  (let ((index (cdr place)))
    (case (car place)
      ((0) (lambda (frames) (vector-ref (car frames) index)))
      ((1) (lambda (frames) (vector-ref (cadr frames) index)))
      (else
       (let ((depth (car place)))
         (lambda (frames) (vector-ref (list-ref frames depth) index)))))))

(define (compiled-call operator operands)
  (case (length operands)
    ((1)
     (let ((first (car operands)))
       (lambda (frames) ((operator frames) (vector (first frames))))))
    ((2)
     (let ((first (car operands)) (second (cadr operands)))
       (lambda (frames) ((operator frames) (vector (first frames) (second frames))))))
    (else
     (lambda (frames)
       ((operator frames)
        (list->vector (map (lambda (operand) (operand frames)) operands)))))))

(define (compiled form scope)
  (cond ((symbol? form) (compiled-variable (place form scope)))
        ((not (pair? form)) (lambda (frames) form))
        (else
         (case (car form)
           ((if)
            (let ((test (compiled (cadr form) scope))
                  (then (compiled (list-ref form 2) scope))
                  (else (compiled (list-ref form 3) scope)))
              (lambda (frames) (if (test frames) (then frames) (else frames)))))
           ((lambda)
            (let ((body (compiled (list-ref form 2) (cons (cadr form) scope))))
              (lambda (frames) (lambda (arguments) (body (cons arguments frames))))))
           (else
            (compiled-call (compiled (car form) scope)
                           (map (lambda (operand) (compiled operand scope)) (cdr form))))))))

(define (binary procedure)
  (lambda (arguments) (procedure (vector-ref arguments 0) (vector-ref arguments 1))))

(define global-names '(+ - * < =))
(define global-frame (vector (binary +) (binary -) (binary *) (binary <) (binary =)))

;; Recursion without definitions: each procedure is its own first argument.
(define program
  '((lambda (fib power)
     (+ (fib fib 18)
      (power power 3 (lambda (k) (* k (power power 2 (lambda (j) j) 10))) 12)))
    (lambda (self n)
     (if (< n 2)
      n
      (+ (self self (- n 1)) (self self (- n 2)))))
    (lambda (self base k n)
     (if (= n 0)
      (k 1)
      (self self base (lambda (value) (k (* base value))) (- n 1))))))

(define (main)
  (let repeat ((rounds 96) (answer 0))
    (cond ((> rounds 0)
           (repeat (- rounds 1) ((compiled program (list global-names)) (list global-frame))))
          ((= answer (+ 2584 (* 531441 1024))) (display "compile ok"))
          (else (error "compile is wrong" answer))))
  (newline))

(main)
