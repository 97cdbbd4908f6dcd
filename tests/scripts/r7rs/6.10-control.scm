;; R7RS 6.10: procedures as values.
(procedure? car)                                     ; => #t
(procedure? 'car)                                    ; => #f
(procedure? (lambda (x) (* x x)))                    ; => #t
(procedure? '(lambda (x) (* x x)))                   ; => #f
(call/cc procedure?)                                 ; => #t
(procedure? (make-parameter 1))                      ; => #t
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

(map cadr '((a b) (d e) (g h)))                      ; => (b e h)
(map (lambda (n) (expt n n)) '(1 2 3 4 5))           ; => (1 4 27 256 3125)
(map + '(1 2 3) '(4 5 6))                            ; => (5 7 9)
(map + '(1 2 3) '(10 20))                            ; => (11 22)
(map + '(1) '#1=(1 2 . #1#))                         ; => (2)
(map car 5)                                          ; raises: wrong-type
(string-map char-foldcase "AbdEgH")                  ; => "abdegh"
(string-map (lambda (c) (integer->char (+ 1 (char->integer c)))) "HAL")  ; => "IBM"
(string-map (lambda (c k) ((if (eqv? k #\u) char-upcase char-downcase) c)) "studlycaps xxx" "ululululul")  ; => "StUdLyCaPs"
(string-map (lambda (c) 1) "a")                      ; raises: wrong-type
(vector-map cadr '#((a b) (d e) (g h)))              ; => #(b e h)
(vector-map (lambda (n) (expt n n)) #(1 2 3 4 5))    ; => #(1 4 27 256 3125)
(vector-map * #(1 2) #(10 20 30))                    ; => #(10 40)
(vector-map + #() #(1))                              ; => #()
(vector-map car '(1))                                ; raises: wrong-type
(let ((v (make-vector 5))) (for-each (lambda (i) (vector-set! v i (* i i))) '(0 1 2 3 4)) v)  ; => #(0 1 4 9 16)
(let ((sum 0)) (for-each (lambda (a b) (set! sum (+ sum (* a b)))) '(1 2 3) '(4 5)) sum)  ; => 14
(let ((v '())) (string-for-each (lambda (c) (set! v (cons (char->integer c) v))) "abcde") v)  ; => (101 100 99 98 97)
(let ((v '())) (string-for-each (lambda (a b) (set! v (cons (string a b) v))) "abc" "xy") v)  ; => ("by" "ax")
(let ((v (make-list 5))) (vector-for-each (lambda (i) (list-set! v i (* i i))) #(0 1 2 3 4)) v)  ; => (0 1 4 9 16)
(let ((n 0)) (vector-for-each (lambda (a b) (set! n (+ n (* a b)))) #(1 2) #(3 4 5)) n)  ; => 11

;; Multiple values.
(call-with-values (lambda () (values 4 5)) (lambda (a b) b))  ; => 5
(call-with-values * -)                               ; => -1
(call-with-values (lambda () (values)) list)         ; => ()
(call-with-values (lambda () 1) list)                ; => (1)
(call-with-values (lambda () (call/cc (lambda (k) (k 1 2 3)))) list)  ; => (1 2 3)
(call-with-values (lambda () (values 1 2)) (lambda (a) a))  ; raises: wrong-arity
(call-with-values (lambda () (dynamic-wind (lambda () 0) (lambda () (values 1 2)) (lambda () 3))) list)  ; => (1 2)
(call-with-values (lambda () (parameterize () (values 1 2))) list)  ; => (1 2)
(call-with-values (lambda () (let ((p (make-parameter 1))) (parameterize ((p 2)) (values (p) 3)))) list)  ; => (2 3)
(call-with-values (lambda () (guard (e (#t 0)) (values 1 2))) list)  ; => (1 2)
(call-with-values (lambda () (guard (e (#t (values e 2))) (raise 1))) list)  ; => (1 2)
(call-with-values (lambda () (with-exception-handler (lambda (e) (values 1 2)) (lambda () (raise-continuable 'x)))) list)  ; => (1 2)
(begin (values 1 2) 3)                               ; => 3
(call-with-values (lambda () (apply values '(1 2 3))) vector)  ; => #(1 2 3)
(call-with-values (lambda () (if #t (values 1 2) 3)) cons)  ; => (1 . 2)
(+ 1 (values 2))                                     ; => 3

;; Continuations: escape, generators, re-entry.
(call-with-current-continuation
  (lambda (exit)
    (for-each (lambda (x) (if (negative? x) (exit x))) '(54 0 37 -3 245 19))
    #t))                                             ; => -3
(define list-length
  (lambda (obj)
    (call-with-current-continuation
      (lambda (return)
        (letrec ((r (lambda (obj) (cond ((null? obj) 0) ((pair? obj) (+ (r (cdr obj)) 1)) (else (return #f))))))
          (r obj))))))
(list-length '(1 2 3 4))                             ; => 4
(list-length '(a b . c))                             ; => #f
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
    (if (< (length results) 3) (k (* 100 (length results))) (reverse results))))  ; => ((1 2 3) (1 100 3) (1 200 3))
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

;; dynamic-wind.
(let ((path '()) (c #f))
  (let ((add (lambda (s) (set! path (cons s path)))))
    (dynamic-wind
      (lambda () (add 'connect))
      (lambda () (add (call/cc (lambda (c0) (set! c c0) 'talk1))))
      (lambda () (add 'disconnect)))
    (if (< (length path) 4) (c 'talk2) (reverse path))))  ; => (connect talk1 disconnect connect talk2 disconnect)
;; From one branch to its sibling: out of one, into the other, innermost first and outermost first.
(let ((trace '()) (k #f) (n 0))
  (define (note x) (set! trace (cons x trace)))
  (define (wind name thunk) (dynamic-wind (lambda () (note (list name 'in))) thunk (lambda () (note (list name 'out)))))
  (wind 'a (lambda ()
    (wind 'b (lambda () (wind 'c (lambda () (call/cc (lambda (c) (set! k c)))))))
    (if (= n 0) (begin (set! n 1) (wind 'd (lambda () (k 1)))))))
  (reverse trace))  ; => ((a in) (b in) (c in) (c out) (b out) (d in) (d out) (b in) (c in) (c out) (b out) (a out))
;; An escape from `before` or `after` counts as outside.
(let ((trace '()))
  (define (note x) (set! trace (cons x trace)))
  (call/cc (lambda (k)
    (dynamic-wind
      (lambda () (note 'in1))
      (lambda ()
        (dynamic-wind (lambda () (note 'in2) (k 'x)) (lambda () (note 'never)) (lambda () (note 'out2))))
      (lambda () (note 'out1)))))
  (reverse trace))                                   ; => (in1 in2 out1)
(let ((trace '()))
  (define (note x) (set! trace (cons x trace)))
  (call/cc (lambda (k1)
    (call/cc (lambda (k2)
      (dynamic-wind (lambda () (note 'in)) (lambda () (k2 1)) (lambda () (note 'out) (k1 2)))))
    (note 'not-reached)))
  (reverse trace))                                   ; => (in out)
;; A raise caught outside unwinds; a continuable one does not.
(let ((trace '()))
  (define (note x) (set! trace (cons x trace)))
  (guard (e (#t (note e)))
    (dynamic-wind (lambda () (note 'in)) (lambda () (raise 'oops)) (lambda () (note 'out))))
  (with-exception-handler
    (lambda (e) (note e) 'ok)
    (lambda () (dynamic-wind (lambda () (note 'in)) (lambda () (note (raise-continuable 'c))) (lambda () (note 'out)))))
  (reverse trace))                                   ; => (in out oops in c ok out)

;; Tail calls: a million of them in every tail position.
(define million 1000000)
(define (t-cond n) (cond ((= n 0) 'cond) (else (t-cond (- n 1)))))
(define (t-arrow n) (cond ((= n 0) (quote arrow)) ((- n 1) => t-arrow)))
(define (t-and n) (and #t (if (= n 0) 'and (t-and (- n 1)))))
(define (t-or n) (or #f (if (= n 0) 'or (t-or (- n 1)))))
(define (t-when n) (when #t (if (= n 0) 'when (t-when (- n 1)))))
(define (t-unless n) (unless #f (if (= n 0) 'unless (t-unless (- n 1)))))
(define (t-case n) (case n ((0) 'case) (else (t-case (- n 1)))))
(define (t-case-arrow n) (case n ((0) 'case-arrow) (else => (lambda (m) (t-case-arrow (- m 1))))))
(define (t-apply n) (if (= n 0) 'apply (apply t-apply (list (- n 1)))))
(define (t-do n) (do () (#t (if (= n 0) 'do (t-do (- n 1))))))
(define (t-values n) (if (= n 0) 'values (call-with-values (lambda () (values (- n 1) 0)) (lambda (a b) (t-values a)))))
(define (t-cc n) (if (= n 0) 'call/cc (call/cc (lambda (k) (t-cc (- n 1))))))
(define t-lambda (case-lambda ((n) (t-lambda n 0)) ((n x) (if (= n 0) 'case-lambda (t-lambda (- n 1))))))
(define (t-letrec n) (letrec ((f (lambda () (if (= n 0) 'letrec (t-letrec (- n 1)))))) (f)))
(define (t-body n) (define m (- n 1)) (if (< m 0) 'body (t-body m)))
(list (t-cond million) (t-arrow million) (t-and million) (t-or million) (t-when million) (t-unless million))  ; => (cond arrow and or when unless)
(list (t-case million) (t-case-arrow million) (t-apply million) (t-do million))  ; => (case case-arrow apply do)
(list (t-values million) (t-cc million) (t-lambda million) (t-letrec million) (t-body million))  ; => (values call/cc case-lambda letrec body)
;; The consumer of guard's clause is in tail position to the guard.
(define (t-guard n) (guard (e (#t (if (= n 0) 'guard (t-guard (- n 1))))) (raise n)))
(t-guard 100000)                                     ; => guard

;; A recursion a million deep.
(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
(deep million)                                       ; => 1000000
(define (build n) (if (= n 0) '() (cons n (build (- n 1)))))
(length (build 500000))                              ; => 500000
(define (forever n) (+ 1 (forever n)))
(forever 1)                                          ; raises: out-of-memory
(deep 1000)                                          ; => 1000
