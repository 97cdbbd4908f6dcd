;;; after every cancel!
(define ticks 0)
(define ticker
  (every 10
    (lambda ()
      (set! ticks (+ ticks 1))
      (log! (list 'tick ticks)))))
(after 35 (lambda () (cancel! ticker) (log! "cancelled")))
(define room (spawn-facet!))
(spawn (lambda () (after 1000 (lambda () (log! "never")))) room)
(after 40 (lambda () (stop-facet! room)))
