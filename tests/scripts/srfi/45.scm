;; SRFI 45: iterative lazy algorithms.
(import (scheme base) (srfi 45))

(define (stream-from n) (lazy (eager (cons n (stream-from (+ n 1))))))
(let loop ((stream (stream-from 0)) (n 0))
  (if (= n 5000) (car (force stream)) (loop (cdr (force stream)) (+ n 1))))  ; => 5000
(promise? (force (eager (delay 1))))  ; => #t
