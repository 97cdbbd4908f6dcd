;; R7RS 6.10: continuations for escapes, generators and re-entry.

(call-with-current-continuation
  (lambda (exit)
    (for-each (lambda (x) (if (negative? x) (exit x))) '(54 0 37 -3 245 19))
    #t))                                             ; => -3
(define list-length
  (lambda (obj)
    (call-with-current-continuation
      (lambda (return)
        (letrec ((r (lambda (obj)
                      (cond ((null? obj) 0) ((pair? obj) (+ (r (cdr obj)) 1)) (else (return #f))))))
          (r obj))))))
(list-length '(1 2 3 4))                             ; => 4
(list-length '(a b . c))                             ; => #f

;; Two generators take turns.
(define (tree->generator tree)
  (define caller #f)
  (define (loop tree)
    (cond ((null? tree) 'skip)
          ((pair? tree) (loop (car tree)) (loop (cdr tree)))
          (else (call/cc (lambda (rest) (set! resume (lambda () (rest 'resume))) (caller tree))))))
  (define resume (lambda () (loop tree) (caller '*done*)))
  (lambda () (call/cc (lambda (k) (set! caller k) (resume)))))
(define (same-fringe? a b)
  (let ((ga (tree->generator a)) (gb (tree->generator b)))
    (let loop ()
      (let ((x (ga)) (y (gb)))
        (cond ((not (eqv? x y)) #f) ((eq? x '*done*) #t) (else (loop)))))))
(same-fringe? '(1 (2 (3 4)) 5) '((1 2) (3) (4 5)))   ; => #t
(same-fringe? '(1 2 3) '(1 (3 2)))                   ; => #f
;; A map that is re-entered does not disturb the lists it returned before.
(let ((k #f) (results '()))
  (let ((r (map (lambda (x) (call/cc (lambda (c) (if (= x 2) (set! k c)) x))) '(1 2 3))))
    (set! results (cons r results))
    (if (< (length results) 3) (k (* 100 (length results))) (reverse results))))
; => ((1 2 3) (1 100 3) (1 200 3))
(let ((k #f) (results '()))
  (let ((r (vector-map (lambda (x) (call/cc (lambda (c) (if (= x 2) (set! k c)) x))) #(1 2 3))))
    (set! results (cons r results))
    (if (< (length results) 2) (k 'again) (reverse results))))  ; => (#(1 2 3) #(1 again 3))
;; Amb: back-tracking by re-entry.
(define fail-stack '())
(define (fail) (let ((back (car fail-stack))) (set! fail-stack (cdr fail-stack)) (back back)))
(define (amb choices)
  (let ((cc (call/cc (lambda (k) k))))
    (if (null? choices)
        (fail)
        (let ((choice (car choices)))
          (set! choices (cdr choices))
          (set! fail-stack (cons cc fail-stack))
          choice))))
(let ((a (amb '(1 2 3 4 5 6 7))) (b (amb '(1 2 3 4 5 6 7))) (c (amb '(1 2 3 4 5 6 7))))
  (if (and (= (* c c) (+ (* a a) (* b b))) (< b a)) (list a b c) (fail)))  ; => (4 3 5)
