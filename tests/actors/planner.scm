;;; planner worker
(define-library (squares)
  (export squarer)
  (import (scheme base) (scheme process-context) (duet base) (duet dataspace) (duet agents))
  (begin
    (define (squarer config)
      (worker 'square
        (lambda (n)
          (sleep 10)
          (if (equal? n config) (exit 1))
          (if (and (number? n) (negative? n)) (error "negative" n))
          (list (* n n) config))))))
(import (scheme base) (duet base) (duet dataspace) (duet agents) (squares))
(define (attempt thunk)
  (guard (object (#t (if (condition? object)
                       (list (condition-kind object) (condition-message object)
                         (condition-irritants object)) object)))
    (thunk)))
(register-entity! 'squarer squarer)
(log! (planner 'square '()))
;; Workers that come later get tasks as well.
(spawn (lambda () (sleep 15) (spawn-entity! 'squarer :config 'b)))
(spawn-entity! 'squarer :config 'a)
(log! (planner 'square '(1 2 3)))
(log! (attempt (lambda () (planner 'square '(1 -2)))))
(log! (attempt (lambda () (planner 'square '(-2) :retry 1))))
;; A worker that ends with its task leaves it to the others.
(spawn-entity! 'squarer :config 7 :on-exit (lambda (reason) (log! (list 'worker-ended))))
(sleep 5)
(log! (map car (planner 'square '(6 7))))
;; A worker is a name that answers requests, too.
(define mine (worker 'echo (lambda (task) (list 'echo task))))
(log! (list (request mine 'direct) (planner 'echo '(x))))
(log! "end")
