;;; An agent whose handler never returns: the fuel of a turn ends its actor.
(import (duet base) (duet dataspace) (duet routes))
(define (ends-never message context) (let loop () (loop)))
(define (endless name)
  (start-agent! (make-agent name (list (make-receiver "A" ends-never)) :tape "A")))
(register-entity! 'endless endless)
(spawn-entity! 'endless :config 'looper
  :on-exit (lambda (reason) (log! (list 'ended (condition-kind reason)))))
(on-assert (tape looper _ $state) (log! (list 'active state)))
(on-retract (tape looper _ $state) (log! (list 'inactive state)))
(sleep 1)
(deliver! 'looper 1)
(sleep 1)
