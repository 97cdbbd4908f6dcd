;; Continuations: a hundred threads that yield to one another through a queue of continuations.
(import (scheme base) (scheme write))

;; A queue is a pair of its first and last pairs.
(define (make-queue) (cons '() '()))

(define (enqueue! queue item)
  (let ((cell (list item)))
    (if (null? (car queue))
        (set-car! queue cell)
        (set-cdr! (cdr queue) cell))
    (set-cdr! queue cell)))

(define (dequeue! queue)
  (let ((item (caar queue)))
    (set-car! queue (cdar queue))
    item))

(define ready (make-queue))
(define finished #f)

(define (spawn thunk)
  (enqueue! ready (lambda (ignored) (thunk) (dispatch))))

(define (dispatch)
  (if (null? (car ready))
      (finished #t)
      ((dequeue! ready) #f)))

(define (yield)
  (call-with-current-continuation
    (lambda (k)
      (enqueue! ready k)
      (dispatch))))

(define total 0)

;; Yields from `depth` calls below the thread's bottom, so that its continuation has frames.
(define (work id steps depth)
  (cond ((> depth 0) (+ 1 (work id steps (- depth 1))))
        ((= steps 0) 0)
        (else
         (set! total (modulo (+ (* total 31) id) 1000003))
         (yield)
         (work id (- steps 1) depth))))

(define (run threads steps)
  (set! total 0)
  (do ((id 1 (+ id 1))) ((> id threads)) (spawn (lambda () (work id steps 5))))
  (call-with-current-continuation
    (lambda (k)
      (set! finished k)
      (dispatch)))
  total)

(define (main)
  (let ((answer (run 100 6000)))
    (if (= answer 303080)
        (display "coroutines ok")
        (error "coroutines is wrong" answer)))
  (newline))

(main)
