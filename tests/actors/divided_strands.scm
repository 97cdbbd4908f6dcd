;;; A strand that computes for long goes on in further turns, and pays from its request's fuel.
(import (duet base) (duet dataspace) (duet agents) (duet sessions) (scheme process-context))
(define (count n) (let loop ((i 0)) (if (< i n) (loop (+ i 1)) i)))

(log! (par-map count '(300000 300000)))

(serve-sessions!
  :imports '((scheme base) (duet base) (duet dataspace) (duet agents)) :fuel-limit 1000000)
(define (ask! tag text)
  (message! (record 'session/request :session "ada" :payload (record 'text text) :tag tag)))
(on-assert (session/event :session _ :kind $kind :payload $payload :tag $tag :number _)
  (log! (list tag kind (and (record? payload) (record-field payload 0)))))
(on-assert (session/ended :session _ :reason $reason) (log! (list 'ended reason)))
(ask! 1 "(define (count n) (let loop ((i 0)) (if (< i n) (loop (+ i 1)) i)))")
(sleep 10)
(ask! 2 "(par-map count '(5000000))")
(sleep 10)
(ask! 3 "(call-with-timeout 1000 (lambda () (count 5000000)))")
(sleep 10)
(ask! 4 "(begin (spawn (lambda () (count 5000000))) (sleep 20))")
(sleep 30)
(ask! 5 "(par-map count '(1000))")
(sleep 10)
(exit 0)
