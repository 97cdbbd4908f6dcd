;;; A buyer and a seller verify each other by the handshake of `examples/handshake.scm`, then
;;; negotiate. The routes of the handshake are taken as they are; the negotiation adds its own.
;;;
;;;   duet run examples/negotiation.scm --answer 80 --answer yes
(import (duet base) (duet dataspace) (duet routes) (handshake session) (negotiation terms))

(define (ask-person text) (await (user-input :prompt text)))

(define (starts name parts)
  (start-agent!
    (make-agent name parts :tape '(("session" idle)) :policy (stage-policy negotiation-stages))))

(define (wire from to)
  (on-message (route/emit ,from $payload)
    (display (list from (show payload)))
    (newline)
    (deliver! to payload)))

;; Numbers and signatures of the handshake are different in each run and not shown.
(define (show payload)
  (if (memq (record-label payload) '(hello challenge answer))
      (record-label payload)
      (cons (record-label payload) (record-fields payload))))

(define (await-state name . states)
  (define (wanted fact) (memq (record-field fact 2) states))
  (record-field (await (predicate wanted :pattern (pattern (tape ,name _ _)))) 2))

(define key (bytevector 9 9 9))
(define limit (string->number (ask-person "How many euros is the clock worth to you?")))

(starts 'buyer (append (initiator key) (buyer limit 50 10)))
(starts 'seller (append (responder key) (seller 70 100 15)))
(wire 'buyer 'seller)
(wire 'seller 'buyer)
(yield)
;; Nobody can buy before both sides are verified: an idle agent has no receiver for this.
(deliver! 'buyer (record 'buy "clock"))
(deliver! 'buyer (record 'start))
(await-state 'seller 'open)
(deliver! 'buyer (record 'buy "clock"))
(await-state 'seller 'bargaining)
(on-message (route/emit buyer (leave)) (assert! (record 'left)))
(on-message (route/emit seller (receipt)) (assert! (record 'paid)))

(define (finish)
  (when (equal? "yes" (ask-person "Shall it be delivered?"))
    (deliver! 'seller (record 'wish))
    (await-state 'seller 'delivery))
  (deliver! 'seller (record 'pay))
  (await (record 'paid)))

(select
  ((predicate (lambda (fact) #t) :pattern (pattern (tape seller _ agreed))) (finish))
  ((record 'left) (display "no bargain\n")))
