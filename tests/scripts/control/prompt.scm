;; A prompt delimits what a continuation captures.
(+ 1 (call-with-prompt 'p
       (lambda () (* 10 (abort-to-prompt 'p 4)))
       (lambda (k n) (k n))))          ; => 41

;; The handler may drop the continuation.
(+ 1 (call-with-prompt 'p
       (lambda () (* 10 (abort-to-prompt 'p 4)))
       (lambda (k n) n)))              ; => 5

;; A prompt that nothing aborts to is transparent.
(call-with-prompt 'p
  (lambda () (* 2 21))
  (lambda (k) 'unused))                ; => 42

;; A captured continuation can be entered more than once.
(call-with-prompt 'p
  (lambda () (list (abort-to-prompt 'p)))
  (lambda (k) (append (k 1) (k 2))))   ; => (1 2)

;; A prompt's body is a tail call: a generator that goes on in one prompt after another gathers
;; no frames.
(define (give-up-to n)
  (let loop ((i 0)) (if (< i n) (begin (abort-to-prompt 'next i) (loop (+ i 1))) 'end)))
(define (sum-in-prompts n)
  (let loop ((sum 0) (thunk (lambda () (give-up-to n))))
    (let ((step (call-with-prompt 'next thunk (lambda (k value) (cons value k)))))
      (if (pair? step) (loop (+ sum (car step)) (lambda () ((cdr step) #f))) sum))))
(sum-in-prompts 30000)                 ; => 449985000

;; Around a body or a resumed continuation, the dynamic state is afterwards what it was before.
(define depth (make-parameter 0))
(define (inner) (abort-to-prompt 'next (depth)) (depth))
(define (resumed-under outer)
  (let ((step (call-with-prompt 'next
                (lambda () (parameterize ((depth 5)) (+ (call-with-prompt 'other inner list) 0)))
                (lambda (k value) (cons value k)))))
    (parameterize ((depth outer))
      (let ((result (call-with-prompt 'next (lambda () ((cdr step) #f)) list)))
        (list (car step) result (depth))))))
(resumed-under 7)                      ; => (5 5 7)
(depth)                                ; => 0

;; A prompt inside a resumed continuation has the dynamic state and the winders of the
;; resumption, where it aborts as where it returns.
(define resumed
  (call-with-prompt 'outer
    (lambda ()
      (parameterize ((depth 1))
        (call-with-prompt 'inner
          (lambda () (abort-to-prompt 'inner (+ (abort-to-prompt 'outer) (depth))))
          (lambda (k sum) (list sum (depth))))))
    (lambda (k) k)))
(resumed 10)                           ; => (11 1)
(parameterize ((depth 7)) (resumed 20))  ; => (21 1)
(depth)                                ; => 0
(define aborting
  (call-with-prompt 'outer
    (lambda ()
      (call-with-prompt 'inner
        (lambda () (abort-to-prompt 'outer) (abort-to-prompt 'inner))
        (lambda (k) (depth))))
    (lambda (k) k)))
(aborting #f)                          ; => 0
(parameterize ((depth 7)) (aborting #f))  ; => 7
(define trace '())
(define (note what) (set! trace (cons what trace)))
(define (around name thunk)
  (dynamic-wind (lambda () (note (list 'in name))) thunk (lambda () (note (list 'out name)))))
(around 'a (lambda () (aborting #f)))
(around 'b
        (lambda ()
          (call-with-prompt 'far
            (lambda () (around 'c (lambda () (aborting #f) (abort-to-prompt 'far))))
            (lambda (k) k))))
(reverse trace)                        ; => ((in a) (out a) (in b) (in c) (out c) (out b))

;; A resumed continuation takes as many values as the place it returns to, and may be empty or
;; begin with a prompt.
(define (captured-by thunk) (call-with-prompt 'p thunk (lambda (k . vals) k)))
(call-with-values (lambda () ((captured-by (lambda () (abort-to-prompt 'p))) 1 2 3)) list)
; => (1 2 3)
((captured-by (lambda () (call-with-values (lambda () (abort-to-prompt 'p)) list))))  ; => ()
((captured-by (lambda () (call-with-prompt 'q (lambda () (abort-to-prompt 'p)) list))) 5)  ; => 5
((captured-by (lambda () (+ 1 (call-with-prompt 'q (lambda () (* 2 (abort-to-prompt 'p))) list))))
 5)                                    ; => 11

;; Errors.
(abort-to-prompt 'nowhere 1)           ; raises: no-prompt
(call-with-prompt 'p 5 list)           ; raises: not-a-procedure
(call-with-prompt 'p (lambda () (abort-to-prompt 'p)) 5)  ; raises: not-a-procedure

;; The nearest prompt with the tag is meant, and those inside of it are captured too.
(call-with-prompt 'p
  (lambda ()
    (+ 1
       (call-with-prompt 'p
         (lambda () (+ 10 (call-with-prompt 'q (lambda () (* 2 (abort-to-prompt 'p 3))) list)))
         (lambda (k v) (+ (k v) (k 4))))))
  list)                                ; => 35

;; Deep frames are captured, dropped and resumed at no cost but their own.
(define (deep n) (if (= n 0) (abort-to-prompt 'p) (+ 1 (deep (- n 1)))))
(define deep-continuation (captured-by (lambda () (deep 40000))))
(+ (deep-continuation 0) (deep-continuation 1))  ; => 80001

;; An after thunk that runs because an extent is left may abort as well, but nothing goes on
;; there. A prompt of its own it may enter again.
(define (leave-twice use)
  (call-with-prompt 'p
    (lambda ()
      (dynamic-wind
        (lambda () #f)
        (lambda () (abort-to-prompt 'p 'body))
        (lambda () (abort-to-prompt 'p 'after))))
    use))
(leave-twice (lambda (k what) what))   ; => after
(leave-twice (lambda (k what) (k 1)))  ; raises: error
(define within #f)
(call-with-prompt 'p
  (lambda ()
    (dynamic-wind
      (lambda () #f)
      (lambda () (abort-to-prompt 'p 'body))
      (lambda ()
        (set! within
          (call-with-prompt 'q (lambda () (+ 1 (abort-to-prompt 'q))) (lambda (k) (k 1)))))))
  (lambda (k what) (list what within)))  ; => (body 2)
