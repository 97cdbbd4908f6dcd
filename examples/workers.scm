;;; Supervised workers: one of them fails at a task and is spawned again; the other does not notice.
(define-library (workers)
  (export worker)
  (import (duet base) (duet dataspace))
  (begin
    (define (worker number)
      (message! (record 'report (list "worker " number " is ready")))
      (on-message (task ,number $n)
        (unless (number? n) (error "this is no number" n))
        (message! (record 'report (list "worker " number " has done " n ": " (* n n))))))))

(import (duet base) (duet dataspace) (duet supervision) (scheme write) (scheme process-context)
        (workers))

(on-message (report $words) (for-each display words) (newline))
(register-entity! 'worker worker)
(define supervisor
  (supervise 'one-for-one
             (list (child 'worker :config 1) (child 'worker :config 2))
             :intensity 3
             :period 1000))

(define (give number task)
  (message! (record 'task number task))
  (sleep 60))

(sleep 60)
(give 1 3)
(give 2 4)
(give 1 'nonsense)
(give 1 5)
(exit)
