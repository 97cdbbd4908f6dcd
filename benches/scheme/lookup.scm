;; The library's searches: assq, assv, assoc, memv, member and equal? on lists, numbers and strings.
(import (scheme base) (scheme write))

(define symbols
  '(alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi))
(define by-symbol
  (map (lambda (symbol) (cons symbol (string-length (symbol->string symbol)))) symbols))
(define by-name (map (lambda (symbol) (cons (symbol->string symbol) symbol)) symbols))
(define by-number
  (let loop ((i 39) (table '()))
    (if (< i 0) table (loop (- i 1) (cons (cons (* i i) i) table)))))
(define by-list
  (map (lambda (entry) (cons (list (car entry) (list (cdr entry) "end")) (cdr entry))) by-number))

(define (sum-over keys look-up)
  (let loop ((rest keys) (sum 0))
    (if (null? rest) sum (loop (cdr rest) (+ sum (look-up (car rest)))))))

(define (searches)
  (+ (sum-over symbols (lambda (key) (cdr (assq key by-symbol))))
     (sum-over (map car by-name) (lambda (key) (cdr (assq (cdr (assoc key by-name)) by-symbol))))
     (sum-over (map car by-number) (lambda (key) (cdr (assv key by-number))))
     (sum-over (map car by-list) (lambda (key) (cdr (assoc key by-list))))
     (sum-over symbols (lambda (key) (length (memq key symbols))))
     (sum-over (map car by-name) (lambda (key) (if (member key '("xi" "omicron" "pi")) 1 0)))))

(define (main)
  (let repeat ((rounds 3000) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (searches)))
          ((= answer 1835) (display "lookup ok"))
          (else (error "lookup is wrong" answer))))
  (newline))

(main)
