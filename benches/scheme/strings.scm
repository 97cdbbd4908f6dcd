;; Strings: building by string-append, cutting with substring, comparing.
(import (scheme base) (scheme write))

;; A Fibonacci word: each is the one before followed by the one before that.
(define (fibonacci-word n)
  (let loop ((i 0) (now "a") (before "b"))
    (if (= i n) now (loop (+ i 1) (string-append now before) now))))

(define (reversed string)
  (let* ((length (string-length string)) (result (make-string length #\space)))
    (do ((i 0 (+ i 1))) ((= i length) result)
      (string-set! result i (string-ref string (- length i 1))))))

(define (occurrences char string)
  (let loop ((i 0) (count 0))
    (if (= i (string-length string))
        count
        (loop (+ i 1) (if (char=? (string-ref string i) char) (+ count 1) count)))))

;; All words of a text that blanks separate.
(define (words text)
  (let loop ((i (string-length text)) (end (string-length text)) (found '()))
    (cond ((= i 0) (if (= i end) found (cons (substring text i end) found)))
          ((char=? (string-ref text (- i 1)) #\space)
           (loop (- i 1) (- i 1) (if (= i end) found (cons (substring text i end) found))))
          (else (loop (- i 1) end found)))))

(define (joined words)
  (if (null? words)
      ""
      (let loop ((rest (cdr words)) (text (car words)))
        (if (null? rest) text (loop (cdr rest) (string-append text " " (car rest)))))))

(define text "the quick brown fox jumps over the lazy dog and then the dog sleeps")

(define (round-trip)
  (let ((word (fibonacci-word 15)))
    (and (string=? (reversed (reversed word)) word)
         (string<? "aa" (reversed word))
         (string=? (joined (words text)) text)
         (= (length (words text)) 14)
         (occurrences #\a word))))

(define (main)
  (let repeat ((rounds 750) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (round-trip)))
          ((eqv? answer 987) (display "strings ok"))
          (else (error "strings is wrong" answer))))
  (newline))

(main)
