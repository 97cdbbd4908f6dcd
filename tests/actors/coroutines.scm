;;; make-coroutine resume suspend make-coroutine-generator
(import (duet base) (duet dataspace) (duet agents) (duet control))
(define (worker name pause)
  (make-coroutine
    (lambda (v)
      (sleep pause)
      (suspend (list name 'first))
      (sleep pause)
      (suspend (list name 'second))
      (list name 'end))))
(define (drain c) (let* ((x (resume c)) (y (resume c)) (z (resume c))) (list x y z)))
(log! (all-of (lambda () (drain (worker 'a 10))) (lambda () (drain (worker 'b 15)))))
(define (task name pause) (async (drain (worker name pause))))
(log! (map await (list (task 'c 3) (task 'd 2))))
;; A coroutine goes on in whichever fiber resumes it.
(define shared (worker 'shared 1))
(log! (list (resume shared) (race (lambda () (resume shared))) (await (async (resume shared)))))
;; While it runs in one fiber, another one cannot resume it.
(define slow (worker 'slow 20))
(define first (async (resume slow)))
(sleep 5)
(log! (guard (e (#t (condition-message e))) (resume slow)))
(log! (await first))
;; An escape out of a coroutine ends it; one to a place inside it is found in whatever fiber.
(define left (make-coroutine (lambda (out) (out 'left))))
(log! (let/ec out (resume left out)))
(log! (coroutine-done? left))
(define inside
  (make-coroutine
    (lambda (v)
      (let/ec out
        (out (list 'in (suspend 'outside)))))))
(log! (list (resume inside) (race (lambda () (resume inside 'another)))))
;; A strand has no coroutine of its own.
(define around
  (make-coroutine
    (lambda (v) (guard (e (#t (condition-message e))) (race (lambda () (suspend 1)))))))
(log! (resume around))
(define g
  (make-coroutine-generator
    (lambda (yield) (yield (+ 1 (raise-continuable 'warn))) (yield 'more) (sleep 1) (yield 'last))))
(log! (with-exception-handler (lambda (object) 10)
        (lambda () (let* ((x (g)) (y (race g)) (z (g))) (list x y z (eof-object? (g)))))))
