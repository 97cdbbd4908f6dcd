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
