;; SRFI 158: generators and accumulators.
(import (scheme base) (srfi 158))

;; Generators of given elements.
(generator->list (generator 1 2 3))            ; => (1 2 3)
(generator->list (circular-generator 1 2) 5)   ; => (1 2 1 2 1)
(generator->list (make-iota-generator 3 8 2))  ; => (8 10 12)
(generator->list (make-range-generator 1 4))   ; => (1 2 3)
(generator->list (make-range-generator 3) 2)   ; => (3 4)

;; Generators from sequences and procedures.
(generator->list (vector->generator #(1 2 3) 1))                    ; => (2 3)
(generator->list (reverse-vector->generator #(1 2 3)))              ; => (3 2 1)
(generator->string (string->generator "abc" 0 2))                   ; => "ab"
(generator->list (bytevector->generator (bytevector 1 2)))          ; => (1 2)
(generator->list (make-coroutine-generator (lambda (yield) (yield 1) (yield 2))))  ; => (1 2)
(generator->list (make-for-each-generator vector-for-each #(1 2)))  ; => (1 2)
(generator->list (gflatten (generator '(1 2) (generator 3) '())))   ; => (1 2 3)
(generator->list (make-unfold-generator (lambda (n) (> n 3)) square (lambda (n) (+ n 1)) 1))
; => (1 4 9)

;; Generators from generators: joining and grouping.
(generator->list (gcons* 'a 'b (generator 1)))                          ; => (a b 1)
(generator->list (gappend (generator 1) (generator) (generator 2)))     ; => (1 2)
(generator->list (gflatten (generator (generator 1 2) (generator 3))))  ; => (1 2 3)
(generator->list (ggroup (generator 1 2 3) 2))                          ; => ((1 2) (3))
(generator->list (ggroup (generator 1 2 3) 2 0))                        ; => ((1 2) (3 0))
(generator->list (gmerge < (generator 1 4) (generator 2 3) (generator 0 9)))  ; => (0 1 2 3 4 9)

;; Mapping and filtering.
(generator->list (gmap + (generator 1 2) (generator 10 20 30)))  ; => (11 22)
(generator->list (gmap - (generator 1)))                         ; => (-1)
(generator->list (gcombine (lambda (x sum) (values (+ x sum) (+ x sum))) 0 (generator 1 2 3)))
; => (1 3 6)
(generator->list (gfilter odd? (make-iota-generator 5)))         ; => (1 3)
(generator->list (gremove odd? (make-iota-generator 5)))         ; => (0 2 4)
(generator->list (gstate-filter (lambda (x n) (values (even? n) (+ n 1))) 0 (generator 'a 'b 'c)))
; => (a c)

;; Taking, dropping and selecting.
(generator->list (gtake (generator 1 2 3) 2))                          ; => (1 2)
(generator->list (gtake (generator 1) 3 0))                            ; => (1 0 0)
(generator->list (gdrop (generator 1 2 3) 2))                          ; => (3)
(generator->list (gtake-while odd? (generator 1 2 3)))                 ; => (1)
(generator->list (gdrop-while odd? (generator 1 2 3)))                 ; => (2 3)
(generator->list (gdelete 1 (generator 1 2 1)))                        ; => (2)
(generator->list (gdelete-neighbor-dups (generator 1 1 2 1)))          ; => (1 2 1)
(generator->list (gindex (generator 'a 'b 'c) (generator 0 2)))        ; => (a c)
(generator->list (gselect (generator 'a 'b 'c) (generator #t #f #t)))  ; => (a c)

;; Consuming a generator.
(let ((v (make-vector 3 0))) (list (generator->vector! v 1 (generator 1 2 3)) v))  ; => (2 #(0 1 2))
(generator-fold + 0 (generator 1 2))                 ; => 3
(generator-map->list + (generator 1) (generator 2))  ; => (3)
(generator-find even? (generator 1 2))               ; => 2
(generator-count odd? (generator 1 2 3))             ; => 2
(generator-any even? (generator 1))                  ; => #f
(generator-every odd? (generator 1 3))               ; => #t
(generator-unfold (generator 1 2)
                  (lambda (stop? mapper next seed)
                    (let loop ((seed seed))
                      (if (stop? seed) '() (let ((x (mapper seed))) (cons x (loop (next seed))))))))
; => (1 2)
(let ((sum 0)) (generator-for-each (lambda (x) (set! sum (+ sum x))) (generator 1 2)) sum)  ; => 3

;; Accumulators answer what they have gathered when they receive the end of file.
(define (gather accumulate) (accumulate 1) (accumulate 2) (accumulate (eof-object)))
(gather (list-accumulator))          ; => (1 2)
(gather (reverse-list-accumulator))  ; => (2 1)
(gather (vector-accumulator))        ; => #(1 2)
(gather (count-accumulator))         ; => 2
(gather (sum-accumulator))           ; => 3
(gather (product-accumulator))       ; => 2
(gather (bytevector-accumulator))    ; => #u8(1 2)
(let ((accumulate (string-accumulator)))
  (accumulate #\a)
  (accumulate #\b)
  (accumulate (eof-object)))         ; => "ab"
(let ((accumulate (vector-accumulator! (vector 0 0 0) 1))) (accumulate 1) (accumulate (eof-object)))
; => #(0 1 0)

;; Procedures of one or more generators refuse none.
(generator-fold list 0)     ; raises: wrong-arity
(generator-map->list list)  ; raises: wrong-arity
(generator-for-each list)   ; raises: wrong-arity
(gmap list)                 ; raises: wrong-arity

(vector->generator #(1 2 3) 2 1)             ; raises: out-of-range
(string->generator "abc" 0 4)                ; raises: out-of-range
