;; SRFI 133 and 43: vectors.
(import (scheme base) (srfi 133))

;; Making vectors.
(vector-unfold (lambda (i x) (values (* i x) (+ x 1))) 4 1)  ; => #(0 2 6 12)
(vector-unfold-right (lambda (i x) (values x (+ x 1))) 3 0)  ; => #(2 1 0)
(vector-unfold - 3)                                          ; => #(0 -1 -2)
(vector-reverse-copy #(1 2 3))                               ; => #(3 2 1)
(vector-reverse-copy #(1 2 3 4) 1 3)                         ; => #(3 2)
(vector-concatenate '(#(1) #(2 3)))                          ; => #(1 2 3)
(vector-append-subvectors #(a b c) 0 2 #(d e) 1 2)           ; => #(a b e)

;; Comparing.
(vector-empty? #())                 ; => #t
(vector= eq? #(a b) #(a b) #(a b))  ; => #t
(vector= eq? #(a) #(a b))           ; => #f
(vector= eq?)                       ; => #t

;; Folding, mapping and counting.
(vector-fold + 0 #(1 2 3))                                      ; => 6
(vector-fold list 0 #(1 2) #(a b c))                            ; => ((0 1 a) 2 b)
(vector-fold-right (lambda (acc x) (cons x acc)) '() #(1 2 3))  ; => (1 2 3)
(let ((v (vector 1 2 3))) (vector-map! * v #(2 3)) v)           ; => #(2 6 3)
(vector-count even? #(1 2 4))                                   ; => 2
(vector-count < #(1 5) #(2 3))                                  ; => 1
(vector-cumulate + 0 #(1 2 3))                                  ; => #(1 3 6)

;; Searching.
(vector-index even? #(1 2 4))                             ; => 1
(vector-index-right even? #(1 2 4))                       ; => 2
(vector-index < #(3 1) #(2 2))                            ; => 1
(vector-skip odd? #(1 2))                                 ; => 1
(vector-skip-right odd? #(2 1))                           ; => 0
(vector-index even? #())                                  ; => #f
(vector-binary-search #(1 3 5 7) 5 -)                     ; => 2
(vector-binary-search #(1 3 5) 4 -)                       ; => #f
(vector-any (lambda (x) (and (even? x) (* x x))) #(1 2))  ; => 4
(vector-every + #(1 2) #(3 4))                            ; => 6
(vector-every odd? #())                                   ; => #t
(vector-any odd? #())                                     ; => #f

;; Rearranging.
(call-with-values (lambda () (vector-partition even? #(1 2 3 4))) list)  ; => (#(2 4 1 3) 2)
(let ((v (vector 1 2 3 4 5))) (vector-swap! v 0 4) (vector-reverse! v 1 4) v)  ; => #(5 4 3 2 1)
(let ((v (make-vector 4 0))) (vector-reverse-copy! v 1 #(1 2 3 4) 1 3) v)  ; => #(0 3 2 0)
(let ((v (make-vector 3 0))) (vector-unfold! (lambda (i) i) v 1 3) v)    ; => #(0 1 2)
(reverse-vector->list #(1 2 3))                                          ; => (3 2 1)
(reverse-list->vector '(1 2))                                            ; => #(2 1)
(vector-swap! (vector 1) 0 1)                                            ; raises: out-of-range

(vector-unfold! (lambda (i) i) (vector 1 2 3) 2 1)        ; raises: out-of-range
(vector-unfold-right! (lambda (i) i) (vector 1 2 3) 1 4)  ; raises: out-of-range
(vector= = '())                     ; raises: wrong-type
(vector= = #(1) #(2) 'a)            ; raises: wrong-type
