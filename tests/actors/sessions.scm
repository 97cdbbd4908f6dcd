;;; Sessions evaluate requests, each in an actor of its own.
(import (duet base) (duet dataspace) (duet sessions) (scheme process-context))
(serve-sessions!
  :imports '((scheme base) (scheme write) (only (duet dataspace) assert! on-message sleep))
  :fact-limit 60 :fuel-limit 1000000)

(define (ask! id tag payload)
  (message! (record 'session/request :session id :payload payload :tag tag)))
(on-assert (session/event :session $id :kind $kind :payload $payload :tag $tag :number $number)
  (log! (list id number tag kind payload)))
(on-assert (session/ended :session $id :reason $reason) (log! (list id 'ended reason)))

(ask! "ada" 1 '(+ 1 2))
(sleep 10)
;; A definition stays, and other sessions do not see it.
(ask! "ada" 2 (record 'text "(define (double x) (* 2 x)) (double 21)"))
(ask! "bob" 1 '(double 21))
(sleep 10)
;; The same tag is the same request.
(ask! "ada" 2 '(error "not evaluated"))
;; The turn of a failed request is undone; its output before the failure is shown.
(ask! "ada" 3 '(begin (assert! 'never) (car 1)))
(ask! "ada" 4 '(begin (display "before") (car 1)))
(sleep 10)
(on-assert never (log! 'never))
;; A sandbox has the names that it was given, and no way to others.
(ask! "ada" 5 '(log! "no"))
(ask! "ada" 6 '(import (duet base)))
;; Sessions have limits.
(ask! "ada" 7 '(let loop ((n 0)) (loop (+ n 1))))
(ask! "ada" 8 '(do ((n 0 (+ n 1))) ((= n 100)) (assert! n)))
(sleep 10)
;; A client cancels a request that waits, and says what it has seen.
(ask! "ada" 9 '(begin (sleep 100000) 'late))
(sleep 10)
(message! (record 'session/cancel :session "ada" :tag 9))
(on-retract (session/event :session "ada" :kind _ :payload _ :tag 1 :number _) (log! 'seen))
(message! (record 'session/seen :session "ada" :number 2))
(sleep 10)
;; A handler speaks outside of requests; its failure ends the session.
(ask! "bob" 2 '(on-message (boo $x) (display x) (car x)))
(sleep 10)
(message! (record 'boo '(1)))
(sleep 10)
(message! (record 'boo 2))
(sleep 10)
;; The next request begins a new session.
(ask! "bob" 3 ''anew)
(sleep 10)
;; A session ends when a client closes it.
(message! (record 'session/close :session "ada"))
(sleep 10)
(exit 0)
