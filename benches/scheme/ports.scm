;; Characters through string ports: a text is written, read back, and packed by the lengths of its runs.
(import (scheme base) (scheme write))

(define (copied string times)
  (let ((out (open-output-string)))
    (do ((i 0 (+ i 1))) ((= i times))
      (string-for-each (lambda (char) (write-char char out)) string))
    (get-output-string out)))

;; Each run of a character becomes the character and a digit, its length.
(define (packed text)
  (let ((in (open-input-string text)) (out (open-output-string)))
    (let loop ((char (read-char in)) (length 1))
      (cond ((eof-object? char) (get-output-string out))
            ((and (eqv? char (peek-char in)) (< length 9))
             (read-char in)
             (loop char (+ length 1)))
            (else
             (write-char char out)
             (write length out)
             (loop (read-char in) 1))))))

(define (unpacked text)
  (let ((in (open-input-string text)) (out (open-output-string)))
    (let loop ((char (read-char in)))
      (if (eof-object? char)
          (get-output-string out)
          (do ((left (- (char->integer (read-char in)) (char->integer #\0)) (- left 1)))
              ((= left 0) (loop (read-char in)))
            (write-char char out))))))

(define (main)
  (let ((text (copied "aaabccccccccccccdee  ffffggghhhhhi\n" 500)))
    (let repeat ((rounds 120) (answer 0))
      (cond ((> rounds 0)
             (let ((short (packed text)))
               (repeat (- rounds 1)
                       (if (string=? (unpacked short) text) (string-length short) #f))))
            ((eqv? answer 12000) (display "ports ok"))
            (else (error "ports is wrong" answer)))))
  (newline))

(main)
