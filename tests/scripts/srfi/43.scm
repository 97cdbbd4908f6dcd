;; SRFI 43: vectors, with procedures that receive the index too.
(import (scheme base) (prefix (srfi 43) i:))

(i:vector-map (lambda (i x) (* i x)) #(5 6 7))                 ; => #(0 6 14)
(i:vector-fold (lambda (i acc x) (+ acc (* i x))) 0 #(5 6 7))  ; => 20
(i:vector-count (lambda (i x) (even? i)) #(a b c))             ; => 2
(let ((seen '()))
  (i:vector-for-each (lambda (i x y) (set! seen (cons (list i x y) seen))) #(a b) #(c d))
  seen)                                                        ; => ((1 b d) (0 a c))

;; Lists and vectors.
(i:list->vector '(0 1 2 3))              ; => #(0 1 2 3)
(i:list->vector '(0 1 2 3) 2)            ; => #(2 3)
(i:list->vector '(0 1 2 3) 1 3)          ; => #(1 2)
(i:reverse-list->vector '(0 1 2 3) 1 3)  ; => #(2 1)
(i:list->vector '(0 1 2) 2 1)            ; raises: error

;; Searching within a range.
(i:vector-binary-search #(1 3 5 7) 5 - 1 4)  ; => 2
(i:vector-binary-search #(1 3 5 7) 1 - 1 4)  ; => #f
(i:vector-binary-search #(1 3 5) 3 -)        ; => 1

;; A copy may be longer than the vector.
(i:vector-copy #(a b c) 0 5 'z)        ; => #(a b c z z)
(i:vector-copy #(a b c) 3 5 'z)        ; => #(z z)
(i:vector-copy #(a b c) 1 2 'z)        ; => #(b)
(i:vector-copy #(a b c) 1)             ; => #(b c)
(vector-length (i:vector-copy #(a) 0 2)) ; => 2
(i:vector-copy #(a b c) 4 5 'z)        ; raises: out-of-range
(i:vector-copy #(a b c) 2 1)           ; raises: out-of-range
