;;; A continuation of a session's request that a later request, or something that it began, calls:
;;; the call raises `wrong-fiber`, and the rest of the request runs once.
(import (duet base) (duet dataspace) (duet agents) (duet control) (duet sessions)
  (scheme process-context))
(serve-sessions!
  :imports '((scheme base) (scheme write) (duet control) (duet agents)
             (only (duet base) condition? condition-kind record)
             (only (duet dataspace)
              assert! retract! on-assert after spawn sleep await signal signal!)))

(define (ask! tag text)
  (message! (record 'session/request :session "ada" :payload (record 'text text) :tag tag)))
(on-assert (session/event :session $id :kind $kind :payload $payload :tag $tag :number $number)
  (if (not (eq? kind 'ready)) (log! (list tag kind payload))))
(define (next! tag text)
  (ask! tag text)
  (sleep 20))

(next! 1 "(define k #f) (define e #f)
          (define (kind-of thunk)
            (guard (object ((condition? object) (condition-kind object))) (thunk)))")
;; Within the request its strands leave to it, and it re-enters its own continuation.
(next! 2 "(list 'left (let/ec out (race (lambda () (sleep 1) (out 'up)))))")
(next! 3 "(let ((n 0)) (call/cc (lambda (c) (set! k c))) (set! n (+ n 1)) (if (< n 3) (k #f) n))")
;; It has ended.
(next! 4 "(k 'ended)")
(next! 5 "(race (lambda () (k 'ended)))")
;; It waits.
(next! 6 "(list 'waited
            (let/ec out (set! e out) (call/cc (lambda (c) (set! k c) (await (signal 'go))))))")
(next! 7 "(k 'early)")
(next! 8 "(e 'early)")
(next! 9 "(list (kind-of (lambda () (await (async (k 'early)))))
            (kind-of (lambda () (par-map (lambda (n) (e n)) '(1 2)))))")
(next! 10 "(spawn (lambda () (assert! (record 'spawned (kind-of (lambda () (k 1)))))))
           (on-assert (there _) (assert! (record 'handled (kind-of (lambda () (e 1))))))
           (after 1 (lambda () (assert! (record 'timed (kind-of (lambda () (k 1)))))))
           (assert! (record 'there 1))")
(on-assert (spawned $kind) (log! (list 'spawned kind)))
(on-assert (handled $kind) (log! (list 'handled kind)))
(on-assert (timed $kind) (log! (list 'timed kind)))
(next! 11 "(signal! 'go)")
(next! 12 "(e 'ended)")
(next! 13 "'end")
(exit 0)
