;; R7RS 6.10: procedures as values.
(procedure? car)                                     ; => #t
(procedure? 'car)                                    ; => #f
(procedure? (lambda (x) (* x x)))                    ; => #t
(procedure? '(lambda (x) (* x x)))                   ; => #f
(call/cc procedure?)                                 ; => #t
(procedure? (make-parameter 1))                      ; => #t

;; `apply`.
(apply + (list 3 4))                                 ; => 7
(apply + 1 2 '(3 4))                                 ; => 10
(apply list '())                                     ; => ()
(define compose (lambda (f g) (lambda args (f (apply g args)))))
((compose sqrt *) 12 75)                             ; => 30
(apply + 1)                                          ; raises: wrong-type
(apply + 1 '(2 . 3))                                 ; raises: wrong-type
(apply apply (list + 1 '((2 3))))                    ; raises: wrong-type
(apply apply (list + 1 '(2 3)))                      ; => 6
(apply 5 '())                                        ; raises: not-a-procedure

;; Mapping; the shortest sequence decides the length.
(map cadr '((a b) (d e) (g h)))                      ; => (b e h)
(map (lambda (n) (expt n n)) '(1 2 3 4 5))           ; => (1 4 27 256 3125)
(map + '(1 2 3) '(4 5 6))                            ; => (5 7 9)
(map + '(1 2 3) '(10 20))                            ; => (11 22)
(map + '(1) '#1=(1 2 . #1#))                         ; => (2)
(map car 5)                                          ; raises: wrong-type
(string-map char-foldcase "AbdEgH")                  ; => "abdegh"
(string-map (lambda (c) (integer->char (+ 1 (char->integer c)))) "HAL")  ; => "IBM"
(string-map (lambda (c k) ((if (eqv? k #\u) char-upcase char-downcase) c))
            "studlycaps xxx"
            "ululululul")                            ; => "StUdLyCaPs"
(string-map (lambda (c) 1) "a")                      ; raises: wrong-type
(vector-map cadr '#((a b) (d e) (g h)))              ; => #(b e h)
(vector-map (lambda (n) (expt n n)) #(1 2 3 4 5))    ; => #(1 4 27 256 3125)
(vector-map * #(1 2) #(10 20 30))                    ; => #(10 40)
(vector-map + #() #(1))                              ; => #()
(vector-map car '(1))                                ; raises: wrong-type

;; Visiting, in order.
(let ((v (make-vector 5))) (for-each (lambda (i) (vector-set! v i (* i i))) '(0 1 2 3 4)) v)
; => #(0 1 4 9 16)
(let ((sum 0)) (for-each (lambda (a b) (set! sum (+ sum (* a b)))) '(1 2 3) '(4 5)) sum)  ; => 14
(let ((v '())) (string-for-each (lambda (c) (set! v (cons (char->integer c) v))) "abcde") v)
; => (101 100 99 98 97)
(let ((v '())) (string-for-each (lambda (a b) (set! v (cons (string a b) v))) "abc" "xy") v)
; => ("by" "ax")
(let ((v (make-list 5))) (vector-for-each (lambda (i) (list-set! v i (* i i))) #(0 1 2 3 4)) v)
; => (0 1 4 9 16)
(let ((n 0)) (vector-for-each (lambda (a b) (set! n (+ n (* a b)))) #(1 2) #(3 4 5)) n)  ; => 11
