;;; A continuation that is called in another fiber than its own: the fibers in between end, or the
;;; call raises `wrong-fiber`. The rest of a program runs once.
(import (duet base) (duet dataspace) (duet agents) (duet control))
(define (attempt thunk)
  (guard (object (#t (if (condition? object) (condition-kind object) object))) (thunk)))
(define (noting name thunk)
  (dynamic-wind (lambda () #f) thunk (lambda () (log! (list name 'after)))))
;; Leaves from a strand to a place in a fiber that waits for it; its own after thunk runs, those of
;; the others do not.
(define (leave-from name start)
  (log! (list name (let/ec out (start out) 'none)))
  (log! (list name (call/cc (lambda (k) (start k) 'none)))))
(leave-from 'call-with-timeout
  (lambda (out) (call-with-timeout 1000 (lambda () (noting 'own (lambda () (sleep 1) (out 4)))))))
(leave-from 'otherwise
  (lambda (out) (call-with-timeout 1 (lambda () (sleep 100)) (lambda () (out 'late)))))
(leave-from 'with-retry
  (lambda (out) (with-retry (lambda () (out 'retry)) :delay 1 :when (lambda (object) #t))))
(leave-from 'par-map
  (lambda (out)
    (par-map (lambda (n) (noting n (lambda () (sleep n) (if (even? n) (out n)) n))) '(7 4 6 9))))
(leave-from 'par-map-retry
  (lambda (out) (par-map (lambda (n) (sleep n) (out n)) '(5 3) :retry 2 :limit 1)))
(leave-from 'race (lambda (out) (race (lambda () (sleep 3) 1) (lambda () (sleep 2) (out 2)))))
(leave-from 'all-of (lambda (out) (all-of (lambda () (sleep 3) 1) (lambda () (sleep 2) (out 2)))))
(leave-from 'any-of
  (lambda (out)
    (any-of (lambda () (raise 'no)) (lambda () (sleep 2) (out 2)) (lambda () (sleep 9)))))
(leave-from 'pipeline
  (lambda (out) (pipeline '(1 2 3) (lambda (n) (if (= n 2) (out n)) n) (lambda (n) (* n 10)))))
(leave-from 'async (lambda (out) (await (async (sleep 1) (out 'task)))))
(leave-from 'tasks-in-between
  (lambda (out)
    (define inner (async (sleep 1) (noting 'inner (lambda () (out 'through)))))
    (await (async (noting 'outer (lambda () (await inner)))))))
(leave-from 'strands-in-between
  (lambda (out)
    (all-of (lambda () (sleep 50))
      (lambda ()
        (noting 'outer
          (lambda () (race (lambda () (sleep 60)) (lambda () (sleep 1) (out 'up)))))))))
;; Several values, and a place that is left only as far as it is outside.
(log! (call-with-values (lambda () (let/ec out (race (lambda () (out 1 2))))) list))
(log! (let/ec out
        (+ 1 (let/ec inner (race (lambda () (race (lambda () (inner 1)))))))))
;; The place may be in a strand, too.
(log! (par-map (lambda (n) (let/ec out (race (lambda () (sleep n) (out (* n n)))) 'none)) '(3 1 2)))
;; A guard around a strand's own escape, and an object that an after thunk raises.
(log! (attempt
        (lambda ()
          (let/ec out
            (race
              (lambda ()
                (dynamic-wind (lambda () #f) (lambda () (out 1)) (lambda () (raise 'after)))))))))
;; What the rest of the program asserts lives on after the strand.
(log! (let/ec out (call-with-timeout 5 (lambda () (out 'kept)))))
(define handle (assert! (record 'result 4)))
(sleep 20)
(log! (list 'result (car (record-fields (await (record 'result))))))
(retract! handle)
;; An escape whose extent has ended, in a strand.
(define old #f)
(let/ec out (set! old out))
(log! (attempt (lambda () (race (lambda () (old 1))))))
;; The continuation of a fiber that waits may be re-entered by the strands of that fiber.
(define again #f)
(define rounds 0)
(define from (call/cc (lambda (k) (set! again k) 'first)))
(set! rounds (+ rounds 1))
(log! (list 'round rounds from))
(if (< rounds 3) (race (lambda () (sleep 1) (again rounds))))

;; No fiber waits for these: the call raises `wrong-fiber`.
(define (refused name start)
  (let* ((place #f)
         (result #f)
         (try (lambda () (set! result (attempt (lambda () (place 'left)))))))
    (log! (list name (let/ec out (set! place out) (start try) (sleep 30) result)))
    (log! (list name (call/cc (lambda (k) (set! place k) (start try) (sleep 30) result))))))
(refused 'spawn spawn)
(refused 'spawn-in-facet (lambda (try) (spawn try (spawn-facet!))))
(refused 'after (lambda (try) (after 1 try)))
(refused 'every
  (lambda (try)
    (let ((facet (spawn-facet!)))
      (spawn (lambda () (every 5 try)) facet)
      (spawn (lambda () (sleep 12) (stop-facet! facet))))))
(refused 'on-assert (lambda (try) (on-assert (there _) (try)) (assert! (record 'there 1))))
(refused 'watch
  (lambda (try) (watch (pattern (seen _)) (lambda (event) (try))) (assert! (record 'seen 1))))
(refused 'on-message (lambda (try) (on-message (said _) (try)) (message! (record 'said 1))))
(refused 'on-stop
  (lambda (try)
    (let ((facet (spawn-facet!)))
      (spawn (lambda () (on-stop try)) facet)
      (spawn (lambda () (sleep 2) (stop-facet! facet))))))
(refused 'unawaited (lambda (try) (async (try))))
(refused 'reply-to
  (lambda (try) (reply-to 'service (lambda (payload) (try) 1)) (request 'service 1)))
(define ended
  (let ((place #f))
    (await (async (call/cc (lambda (k) (set! place k))) 'over))
    (attempt (lambda () (place 1)))))
(log! ended)
;; The condition names both fibers.
(log! (await (async
               (guard (fault (#t (condition-irritants fault)))
                 (let ((k #f))
                   (race (lambda () (call/cc (lambda (c) (set! k c))) 1))
                   (k 1))))))
;; A predicate that leaves counts as false.
(log! (let/ec out
        (assert! (record 'number 1))
        (with-timeout 5 (predicate (lambda (value) (out value)) ':pattern (pattern (number $n)))
          (lambda () 'false))))
;; A composable continuation runs where it is called.
(define k (reset (+ 1 (shift k k))))
(log! (par-map k '(7 8)))
(log! 'end)
