;;; delay force delay-force stream-cons
(import (duet base) (duet dataspace) (duet agents) (duet control)
  (only (srfi 41) stream-cons stream-null stream->list define-stream))
(define runs 0)
(define (run!) (set! runs (+ runs 1)) runs)
(define answer (delay (begin (run!) (sleep 10) 'answer)))
(log! (list (par-map (lambda (i) (force answer)) '(1 2 3)) runs))
;; The forcing strand raises, so the next begins anew.
(set! runs 0)
(define faulty (delay (begin (sleep 5) (if (= (run!) 1) (raise 'first) runs))))
(log! (list (par-map (lambda (i) (guard (e (#t e)) (force faulty))) '(1 2 3)) runs))
;; The forcing strand is stopped, so the next begins anew.
(set! runs 0)
(define slow (delay (begin (run!) (sleep 20) 'slow)))
(define first
  (async (guard (e (#t (condition-kind e))) (call-with-timeout 5 (lambda () (force slow))))))
(define second (async (sleep 1) (force slow)))
(define third (async (sleep 2) (force slow)))
(log! (list (map await (list first second third)) runs))
;; It is stopped while nobody waits.
(set! runs 0)
(define quiet (delay (begin (run!) (sleep 20) 'quiet)))
(call-with-timeout 5 (lambda () (force quiet)) (lambda () 'late))
(log! (list (force quiet) runs))
;; It leaves by an escape.
(set! runs 0)
(define out #f)
(define leaving (delay (begin (sleep 5) (if (= (run!) 1) (out 'left) runs))))
(define escaping (async (let/ec k (set! out k) (force leaving))))
(define waiting (async (sleep 1) (force leaving)))
(log! (list (await escaping) (await waiting) runs))
;; A handler that returns does not end the forcing.
(set! runs 0)
(define warned (delay (begin (run!) (let ((n (raise-continuable 'warn))) (sleep 5) n))))
(define (with-answer n) (with-exception-handler (lambda (e) n) (lambda () (force warned))))
(log! (list (par-map with-answer '(1 2)) runs))
;; A promise that its own body forces, also in a strand of the body.
(set! runs 0)
(define again
  (delay
    (begin
      (sleep 1)
      (if (< (run!) 3) (car (par-map (lambda (i) (force again)) '(1))) 'deep))))
(log! (list (par-map (lambda (i) (force again)) '(1 2)) runs))
(define x 5)
(define p (delay (begin (set! x (+ x 1)) (sleep 1) (if (> x 10) x (force p)))))
(log! (list (par-map (lambda (i) (force p)) '(1 2)) (begin (set! x 100) (force p))))
;; A chain of promises.
(set! runs 0)
(define (count n) (delay-force (begin (run!) (sleep 1) (if (= n 0) (delay 'zero) (count (- n 1))))))
(define chain (count 5))
(log! (list (par-map (lambda (i) (sleep i) (force chain)) '(0 2 4)) runs))
;; Two names of one promise.
(set! runs 0)
(define inner (delay (begin (run!) (sleep 5) 'inner)))
(define outer (delay-force inner))
(define (forces promise) (lambda () (force promise)))
(log! (list (all-of (forces inner) (forces outer) (forces inner)) runs))
;; The elements and the ends of a stream.
(set! runs 0)
(define-stream (numbers n)
  (run!)
  (sleep 1)
  (if (= n 4)
      stream-null
      (stream-cons (begin (run!) (sleep 1) n) (numbers (+ n 1)))))
(define stream (numbers 0))
(log! (list (par-map (lambda (i) (sleep i) (stream->list stream)) '(0 3)) runs))
;; A handler, a timer and the main program wait for one another as strands do.
(set! runs 0)
(define common (delay (begin (run!) (sleep 5) 'common)))
(on-assert (go) (log! (list 'handler (force common))))
(after 1 (lambda () (log! (list 'timer (force common)))))
(assert! (record 'go))
(sleep 1)
(log! (list 'main (force common) runs))
(sleep 20)
