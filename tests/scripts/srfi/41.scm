;; SRFI 41: streams.
(import (scheme base) (srfi 41))
(define naturals (stream-from 0))

;; Streams are computed as far as somebody looks.
(stream->list 3 naturals)   ; => (0 1 2)
(stream-ref naturals 1000)  ; => 1000
(stream? naturals)          ; => #t
(stream-pair? naturals)     ; => #t
(stream-null? stream-null)  ; => #t

;; The sieve of Eratosthenes.
(define-stream (sieve numbers)
  (let ((first (stream-car numbers)))
    (stream-cons first
                 (sieve (stream-filter (lambda (n) (not (= 0 (modulo n first))))
                                       (stream-cdr numbers))))))
(stream->list 10 (sieve (stream-from 2)))  ; => (2 3 5 7 11 13 17 19 23 29)

;; The elements of a stream are lazy too.
(stream->list (stream-append (stream 1 2) stream-null (stream 3)))  ; => (1 2 3)
(stream-car (stream (car '()) 2))                                   ; raises: wrong-type
(stream-length (stream (car '()) 2))                                ; => 2
(stream-ref (stream-filter (lambda (n) (> n 20000)) naturals) 0)    ; => 20001

;; Parts.
(stream->list (stream-take 2 (stream-drop 3 naturals)))           ; => (3 4)
(stream->list (stream-take-while (lambda (n) (< n 3)) naturals))  ; => (0 1 2)
(stream-car (stream-drop-while (lambda (n) (< n 3)) naturals))    ; => 3

;; Folding, mapping and making.
(stream-fold - 0 (stream 1 2))                               ; => -3
(stream->list (stream-scan + 0 (stream 1 2 3)))              ; => (0 1 3 6)
(stream->list (stream-reverse (stream 1 2)))                 ; => (2 1)
;; Reversing computes no element.
(stream-car (stream-cdr (stream-reverse (stream 1 (error "computed")))))  ; => 1
(stream->list (stream-map + (stream 1 2) (stream-from 10)))  ; => (11 13)
(stream->list (stream-zip (stream 1 2) (stream 'a 'b 'c)))   ; => ((1 a) (2 b))
(stream->list (stream-range 0 5 2))                          ; => (0 2 4)
(stream->list (stream-range 3 0))                            ; => (3 2 1)
(stream->list 4 (stream-constant 1 2))                       ; => (1 2 1 2)
(stream->list 3 (stream-iterate square 2))                   ; => (2 4 16)

;; Comprehensions.
(stream->list (stream-of (* x y) (x in (stream-range 1 4)) (even? x) (y in (stream 1 10))))
; => (2 20)
(stream->list (stream-of (list x y) (x in (stream 1 2)) (y is (* x x))))  ; => ((1 1) (2 4))

;; Matching.
(define (describe s)
  (stream-match s
    (() 'empty)
    ((x) (list 'one x))
    ((x _ . rest) (> x 5) (list 'big x))
    ((_ . rest) (stream-length rest))))
(describe stream-null)     ; => empty
(describe (stream 1))      ; => (one 1)
(describe (stream 9 2 3))  ; => (big 9)
(describe (stream 1 2 3))  ; => 2

;; Unfolding and joining.
(stream->list (stream-unfold square (lambda (n) (< n 4)) (lambda (n) (+ n 1)) 1))  ; => (1 4 9)
(call-with-values
  (lambda ()
    (stream-unfolds
      (lambda (n)
        (if (= n 4)
            (values n '() '())
            (values (+ n 1) (if (even? n) (list n) #f) (if (odd? n) (list n) #f))))
      0))
  (lambda streams (map stream->list streams)))  ; => ((0 2) (1 3))
(stream->list (stream-concat (stream (stream 1) stream-null (stream 2 3))))  ; => (1 2 3)

;; Effects and ports.
(let ((seen '()))
  (stream-for-each (lambda (x y) (set! seen (cons (+ x y) seen))) (stream 1 2) naturals)
  seen)                                                 ; => (3 1)
(stream->list (port->stream (open-input-string "ab")))  ; => (#\a #\b)
(stream->list (stream-let loop ((n 0)) (if (= n 2) stream-null (stream-cons n (loop (+ n 1))))))
; => (0 1)

;; A stream without elements has no first one.
(stream-car stream-null)  ; raises: error
(stream-car 5)            ; raises: error

;; Procedures of one or more streams refuse none.
(stream-for-each list)  ; raises: wrong-arity
(stream-map list)       ; raises: wrong-arity

;; `stream-reverse` reads the stream when its result is used.
(stream? (stream-reverse (stream-from 0)))                     ; => #t
(define touched 0)
(define (touch x) (set! touched (+ touched 1)) x)
(define reversed (stream-reverse (stream-map touch (stream 1 2 3))))
touched                                                        ; => 0
(stream-car reversed)                                          ; => 3
touched                                                        ; => 1
(stream->list reversed)                                        ; => (3 2 1)
