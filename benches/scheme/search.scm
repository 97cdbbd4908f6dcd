;; Strings and vectors: searching for a pattern, by trying every place and by a table of its borders.
(import (scheme base) (scheme write))

(define (repeated string times)
  (let loop ((i 0) (result ""))
    (if (= i times) result (loop (+ i 1) (string-append result string)))))

(define (count-naively pattern text)
  (let ((m (string-length pattern)) (n (string-length text)))
    (let places ((place 0) (count 0))
      (if (> (+ place m) n)
          count
          (let compare ((i 0))
            (cond ((= i m) (places (+ place 1) (+ count 1)))
                  ((char=? (string-ref pattern i) (string-ref text (+ place i))) (compare (+ i 1)))
                  (else (places (+ place 1) count))))))))

;; Entry i: the length of the longest proper prefix that also ends the pattern's first i + 1 characters.
(define (borders pattern)
  (let* ((m (string-length pattern)) (table (make-vector m 0)))
    (let loop ((i 1) (border 0))
      (cond ((>= i m) table)
            ((char=? (string-ref pattern i) (string-ref pattern border))
             (vector-set! table i (+ border 1))
             (loop (+ i 1) (+ border 1)))
            ((= border 0) (loop (+ i 1) 0))
            (else (loop i (vector-ref table (- border 1))))))))

(define (count-with-borders pattern text)
  (let ((m (string-length pattern)) (n (string-length text)) (table (borders pattern)))
    (let loop ((i 0) (matched 0) (count 0))
      (cond ((= matched m) (loop i (vector-ref table (- matched 1)) (+ count 1)))
            ((= i n) count)
            ((char=? (string-ref pattern matched) (string-ref text i))
             (loop (+ i 1) (+ matched 1) count))
            ((= matched 0) (loop (+ i 1) 0 count))
            (else (loop i (vector-ref table (- matched 1)) count))))))

(define (main)
  (let ((text (string-append (repeated "aabaabaaac" 3000) (repeated "abaaba" 2000)))
        (pattern "aabaabaaacaab"))
    (let repeat ((rounds 25) (naive 0) (bordered 0))
      (cond ((> rounds 0)
             (repeat (- rounds 1) (count-naively pattern text) (count-with-borders pattern text)))
            ((and (= naive 2999) (= bordered 2999)) (display "search ok"))
            (else (error "search is wrong" naive bordered)))))
  (newline))

(main)
