;; SRFI 117: queues.
(import (scheme base) (srfi 117))
(define q (list-queue 1 2))
(list-queue-add-back! q 3)
(list-queue-add-front! q 0)

;; Both ends.
(list-queue-list q)           ; => (0 1 2 3)
(list-queue-front q)          ; => 0
(list-queue-back q)           ; => 3
(list-queue? q)               ; => #t
(list-queue? 1)               ; => #f
(list-queue-remove-front! q)  ; => 0
(list-queue-remove-back! q)   ; => 3
(list-queue-list q)           ; => (1 2)

;; Emptying a queue.
(list-queue-add-back! q 9)
(list-queue-remove-all! q)   ; => (1 2 9)
(list-queue-empty? q)        ; => #t
(list-queue-front q)         ; raises: error
(list-queue-remove-back! q)  ; raises: error
(list-queue-add-back! q 'x)
(list-queue-remove-front! q)
(list-queue-add-back! q 'y)
(list-queue-list q)          ; => (y)

;; Queues from queues.
(list-queue-list (list-queue-append (list-queue 1) (list-queue) (list-queue 2)))  ; => (1 2)
(list-queue-list (list-queue-map - (list-queue 1 2)))  ; => (-1 -2)
(list-queue-list (list-queue-copy q))                  ; => (y)
(list-queue-list (list-queue-unfold (lambda (n) (> n 3))
                                    square
                                    (lambda (n) (+ n 1))
                                    1
                                    (list-queue 'z)))  ; => (1 4 9 z)
(let ((p (list-queue 1 2)))
  (list-queue-map! square p)
  (list-queue-add-back! p 5)
  (list-queue-list p))                                 ; => (1 4 5)

;; Unfolding into a queue changes that queue.
(define tail (list-queue 8))
(define (past-three? n) (> n 3))
(define (next n) (+ n 1))
(eq? tail (list-queue-unfold past-three? - next 2 tail))          ; => #t
(list-queue-list tail)                                            ; => (-2 -3 8)
(eq? tail (list-queue-unfold-right past-three? - next 2 tail))    ; => #t
(list-queue-add-back! tail 'last)
(list-queue-list tail)                                            ; => (-2 -3 8 -3 -2 last)
(list-queue-list (list-queue-unfold past-three? - next 9 tail))   ; => (-2 -3 8 -3 -2 last)
