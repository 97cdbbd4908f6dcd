;;; call-with-heartbeat current-heartbeat request
(define-library (counter)
  (export counter)
  (import (scheme base) (duet base) (duet dataspace) (duet agents))
  (begin
    (define (counter name)
      (reply-to name
        (lambda (steps)
          (let ((beat! (current-heartbeat)))
            (on-stop (lambda () (log! (list 'over steps))))
            ;; The strands receive it from their starter.
            (par-map (lambda (step) (sleep (* 10 step)) (beat!)) steps)
            (sleep 15)
            (length steps)))))))
(import (scheme base) (duet base) (duet control) (duet dataspace) (duet agents) (counter))
(define (attempt thunk)
  (log!
    (guard (object (#t (if (condition? object)
                         (list (condition-kind object) (condition-message object)
                           (condition-irritants object))
                         object)))
      (thunk))))
;; The work may last longer than the time, as long as it is heard.
(attempt
  (lambda ()
    (call-with-heartbeat 20
      (lambda (beat!)
        (for-each (lambda (n) (sleep 15) (beat!)) '(1 2 3))
        (sleep 15)
        'done))))
;; Silence from the beginning, and later; what the work has begun stops.
(attempt
  (lambda ()
    (call-with-heartbeat 20
      (lambda (beat!)
        (on-stop (lambda () (log! 'stopped)))
        (sleep 1000)))))
(attempt
  (lambda ()
    (call-with-heartbeat 20
      (lambda (beat!) (sleep 10) (beat!) (sleep 19) (beat!) (sleep 21))
      (lambda () 'silent))))
;; The caller gets the object that the work raises, and the place to which it leaves.
(attempt (lambda () (call-with-heartbeat 20 (lambda (beat!) (beat!) (error "no" 1)))))
(attempt (lambda () (let/ec out (call-with-heartbeat 20 (lambda (beat!) (out 'left))))))
(attempt (lambda () (call-with-heartbeat -1 (lambda (beat!) 1))))
(attempt (lambda () (call-with-heartbeat 20 'no)))
;; Outside of a request it does nothing.
(attempt (lambda () ((current-heartbeat)) 'nothing))
;; From another actor.
(attempt (lambda () (request "count" '(1) :heartbeat 5)))
(register-entity! 'counter counter)
(spawn-entity! 'counter :config "count")
(attempt (lambda () (request "count" '(1 2 3 4) :heartbeat 17)))
(attempt (lambda () (request "count" '(1 2 5) :heartbeat 17)))
(attempt (lambda () (request "count" '(1 2 3 4) :heartbeat 17 :timeout 30)))
(attempt (lambda () (request "count" '(1) :heartbeat 'no)))
(sleep 50)
