;; Symbols: names made and found again, with properties in association lists.
(import (scheme base) (scheme write))

(define (name-of number)
  (string->symbol (string-append "name-" (number->string number))))

(define buckets (make-vector 64 '()))

(define (bucket-of symbol)
  (let ((name (symbol->string symbol)))
    (modulo (+ (* 7 (char->integer (string-ref name (- (string-length name) 1))))
               (char->integer (string-ref name (quotient (string-length name) 2))))
            64)))

(define (count! symbol)
  (let* ((index (bucket-of symbol)) (entry (assq symbol (vector-ref buckets index))))
    (if entry
        (set-cdr! entry (+ (cdr entry) 1))
        (vector-set! buckets index (cons (cons symbol 1) (vector-ref buckets index))))))

(define (count-of symbol)
  (let ((entry (assq symbol (vector-ref buckets (bucket-of symbol)))))
    (if entry (cdr entry) 0)))

(define (run names rounds)
  (do ((i 0 (+ i 1))) ((= i (* names rounds)))
    (count! (name-of (modulo (* i 17) names))))
  (let loop ((i 0) (all-equal #t))
    (if (= i names)
        (and all-equal (= (count-of 'never-counted) 0))
        (loop (+ i 1) (and all-equal (= (count-of (name-of i)) rounds))))))

(define (main)
  (let ((answer (run 500 600)))
    (if answer
        (display "symbols ok")
        (error "symbols is wrong" answer)))
  (newline))

(main)
