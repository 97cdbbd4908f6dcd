;; SRFI 117: queues.
(import (scheme base) (srfi 117))
(define q (list-queue 1 2))
(list-queue-add-back! q 3)
(list-queue-add-front! q 0)
(list (list-queue-list q) (list-queue-front q) (list-queue-back q) (list-queue? q) (list-queue? 1)) ; => ((0 1 2 3) 0 3 #t #f)
(let* ((a (list-queue-remove-front! q)) (b (list-queue-remove-back! q))) (list a b (list-queue-list q)))  ; => (0 3 (1 2))
(list-queue-add-back! q 9)
(list (list-queue-remove-all! q) (list-queue-empty? q))                                   ; => ((1 2 9) #t)
(list-queue-front q)                                                                      ; raises: error
(list-queue-remove-back! q)                                                               ; raises: error
(begin (list-queue-add-back! q 'x) (list-queue-remove-front! q) (list-queue-add-back! q 'y) (list-queue-list q)) ; => (y)
(map list-queue-list (list (list-queue-append (list-queue 1) (list-queue) (list-queue 2)) (list-queue-map - (list-queue 1 2)) (list-queue-copy q)))  ; => ((1 2) (-1 -2) (y))
(list-queue-list (list-queue-unfold (lambda (n) (> n 3)) square (lambda (n) (+ n 1)) 1 (list-queue 'z))) ; => (1 4 9 z)
(let ((p (list-queue 1 2))) (list-queue-map! square p) (list-queue-add-back! p 5) (list-queue-list p)) ; => (1 4 5)
