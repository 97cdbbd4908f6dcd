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

;; A prompt's body is a tail call: a generator that goes on in one prompt after another gathers no frames.
(define (give-up-to n)
  (let loop ((i 0)) (if (< i n) (begin (abort-to-prompt 'next i) (loop (+ i 1))) 'end)))
(define (sum-in-prompts n)
  (let loop ((sum 0) (thunk (lambda () (give-up-to n))))
    (let ((step (call-with-prompt 'next thunk (lambda (k value) (cons value k)))))
      (if (pair? step) (loop (+ sum (car step)) (lambda () ((cdr step) #f))) sum))))
(sum-in-prompts 30000)                                          ; => 449985000

;; What a body or a resumed continuation leaves, the dynamic state included, is as it was around it.
(define depth (make-parameter 0))
(define (inner) (abort-to-prompt 'next (depth)) (depth))
(define (resumed-under outer)
  (let ((step (call-with-prompt 'next
                (lambda () (parameterize ((depth 5)) (+ (call-with-prompt 'other inner list) 0)))
                (lambda (k value) (cons value k)))))
    (parameterize ((depth outer))
      (let ((result (call-with-prompt 'next (lambda () ((cdr step) #f)) list)))
        (list (car step) result (depth))))))
(list (resumed-under 7) (depth))                                ; => ((5 5 7) 0)
