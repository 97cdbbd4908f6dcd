;; Reading data: read takes numbers, strings, symbols, lists and vectors from a text.
(import (scheme base) (scheme read) (scheme write))

(define (entry number)
  `(entry (name ,(string-append "item " (number->string number)))
          (size ,number ,(- number) ,(/ number 8.0))
          (tags . #(red green #t #f #\a ,(* number 1234567)))
          ((nested (list (of (lists ,number))) . end))))

;; Each datum on a line of its own, with comments in between.
(define (text-of count)
  (let ((out (open-output-string)))
    (do ((i 0 (+ i 1))) ((= i count) (get-output-string out))
      (write (entry i) out)
      (write-string " ; the entry before this comment\n" out))))

(define (all-data text)
  (let ((in (open-input-string text)))
    (let loop ((data '()))
      (let ((datum (read in)))
        (if (eof-object? datum) (reverse data) (loop (cons datum data)))))))

(define (sum-of-sizes data)
  (let loop ((data data) (sum 0))
    (if (null? data) sum (loop (cdr data) (+ sum (cadr (assq 'size (cdar data))))))))

(define (main)
  (let ((text (text-of 400)))
    (let repeat ((rounds 60) (answer #t))
      (cond ((> rounds 0)
             (let ((data (all-data text)))
               (repeat (- rounds 1)
                       (and answer (equal? (list-ref data 7) (entry 7)) (sum-of-sizes data)))))
            ((eqv? answer 79800) (display "data ok"))
            (else (error "data is wrong" answer)))))
  (newline))

(main)
