;;; Retries refuse their options before the first call and hide no failure.
(import (duet base) (duet dataspace) (duet agents))
(define calls 0)
(define (attempt . options)
  (set! calls 0)
  (let ((outcome
          (guard (object (#t (if (condition? object)
                                 (list (condition-kind object) (condition-message object))
                                 object)))
            (apply with-retry (lambda () (set! calls (+ calls 1)) (error "orig")) options))))
    (log! (list calls outcome))))
(for-each (lambda (options) (apply attempt :attempts 2 options))
  '((:delay -5) (:delay soon) (:factor 0) (:factor x) (:delay-max -1) (:delay-max #f) (:jitter 1)
    (:when #t) (:delay 1e30)))
(attempt :attempts 1.5)
;; The failure of the procedure comes out, not one of what prepares the next attempt.
(attempt :attempts 2 :delay 1 :when (lambda (object) (car 5)))
(attempt :attempts 2 :delay (lambda (attempt object) (vector-ref (vector) 0)))
(attempt :attempts 2 :delay (lambda (attempt object) 'soon))
;; A strategy takes the attempt and the failure, and may give up.
(define seen '())
(attempt :attempts 9 :jitter #f
  :delay (lambda (attempt object)
           (set! seen (cons (list attempt (condition-message object)) seen))
           (and (< attempt 3) (* 5 attempt))))
(log! seen)
(define (third) (if (< (current-attempt) 3) (error "again") (current-attempt)))
(log! (with-retry third :delay 1))
(log! (current-attempt))
(log! (let ((before (current-time)))
        (guard (failure (#t #f)) (with-retry (lambda () (error "down")) :delay 100 :jitter 'full))
        (- (current-time) before)))
;; Mistakes of the program are final, whatever their kind.
(define (kind-and-choice thunk)
  (guard (object (#t (log! (list (condition-kind object) (retryable? object))))) (thunk)))
(for-each kind-and-choice
  (list
    (lambda () (vector-ref (vector) 0)) (lambda () (car 5)) (lambda () (car))
    (lambda () (dictionary-ref (dictionary) 'key)) (lambda () (sleep -1))
    (lambda () (assert! (record 'p car))) (lambda () (/ 1 0)) (lambda () (exact +inf.0))
    (lambda () (no-such-name)) (lambda () ("no procedure")) (lambda () (assert #f))
    (lambda () (raise-continuable (guard (object (#t object)) (shape->schema 'no-shape))))
    (lambda () (spawn-entity! 'no-role)) (lambda () (error "down"))
    (lambda () (call-with-timeout 1 (lambda () (sleep 1000))))))
