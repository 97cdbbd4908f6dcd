;; Running out of memory is a condition that can be handled, however little is left when it comes.
(define (fill length) (let loop ((all '())) (loop (cons (make-vector length) all))))
(define (caught thunk) (guard (failure (#t (condition-kind failure))) (thunk)))
(map (lambda (length) (caught (lambda () (fill length)))) '(100 101 102 103 104 105))
; => (out-of-memory out-of-memory out-of-memory out-of-memory out-of-memory out-of-memory)

;; So it is for a recursion that has no end, whose stack the handler moves into memory.
(define (forever x) (+ 1 (forever (cons x x))))
(caught (lambda () (forever 1)))       ; => out-of-memory

;; The memory is free again.
(vector-length (make-vector 1000000))  ; => 1000000
