;;; A negotiation as routes that begin where the handshake of `(handshake session)` ends.
;;;
;;; Its stages are `bargaining` and `agreed`. A wish amends an offer without changing the stage:
;;; its route begins at the commitment `offer` and adds a further one, on which the shipment depends
;;; later. None of these routes is in the handshake, and none of the handshake's is changed.
(define-library (negotiation terms)
  (export buyer seller negotiation-stages)
  (import (duet base) (duet dataspace) (duet routes) (handshake session))
  (begin
    (define negotiation-stages (append handshake-stages '(bargaining agreed)))

    ;; The side that asks. It pays up to `limit`; each bid is `step` more than the one before.
    (define (buyer limit bid step)
      (list
        (make-receiver "open --[ inquiry ]--> bargaining"
          (on-record 'buy (lambda (item) (move 'ok item))))
        (make-sender "open --[ inquiry ]--> bargaining"
          (lambda (context) (record 'inquiry (event-data (context-event context)) bid))
          :on '(move))
        (make-receiver "bargaining --[ bid ]--> bargaining"
          (on-record 'offer
            (lambda (price)
              (cond ((<= price limit) #f)
                    ((<= (+ bid step) limit) (set! bid (+ bid step)) (move 'higher bid))
                    (else (move 'enough))))))
        (make-receiver "bargaining --[ bargain ]--> agreed"
          (on-record 'offer (lambda (price) (and (<= price limit) (move 'ok price)))))
        (make-receiver "bargaining --[ bargain ]--> agreed"
          (on-record 'sold (lambda (price) (move 'sold))))
        (make-sender "bargaining --[ bid ]--> bargaining"
          (lambda (context) (record 'bid bid))
          :on '(move) :when '(higher))
        (make-sender "bargaining --[ bid ]--> bargaining"
          (lambda (context) (record 'leave))
          :on '(move) :when '(enough))
        (make-sender "bargaining --[ bargain ]--> agreed"
          (lambda (context) (record 'accept (event-data (context-event context))))
          :on '(move) :when '(ok))))

    ;; The side that offers. It begins at `price`, goes down by `step`, and takes any bid from
    ;; `floor` on.
    (define (seller floor price step)
      (define (answer bid)
        (and (< bid floor)
             (begin
               (set! price (max floor (- price step)))
               (move 'lower))))
      (define (offer context) (record 'offer price))
      (list
        (make-receiver "open --[ offer ]--> bargaining"
          (on-record 'inquiry (lambda (item bid) (move 'ok))))
        (make-receiver "bargaining --[ offer ]--> bargaining" (on-record 'bid answer))
        (make-receiver "bargaining --[ bargain ]--> agreed"
          (on-record 'bid (lambda (bid) (and (>= bid floor) (move 'ok bid)))))
        (make-receiver "bargaining --[ bargain ]--> agreed"
          (on-record 'accept (lambda (price) (move 'ok price))))
        ;; An amendment: in addition to what is offered, delivery.
        (make-receiver "offer --[ wish ]--> delivery" (on-record 'wish (lambda () (move 'ok))))
        (make-receiver "agreed" (on-record 'pay (lambda () (move 'ok))))
        (make-receiver "delivery --[ shipment ]--> shipped"
          (on-record 'pay (lambda () (move 'ok))))
        (make-sender "open --[ offer ]--> bargaining" offer :on '(move))
        (make-sender "bargaining --[ offer ]--> bargaining" offer :on '(move))
        (make-sender "bargaining --[ bargain ]--> agreed"
          (lambda (context) (record 'sold (event-data (context-event context))))
          :on '(move))
        (make-sender "agreed" (lambda (context) (record 'receipt)) :on '(move))
        (make-sender "delivery --[ shipment ]--> shipped" (lambda (context) (record 'parcel))
          :on '(move))))))
