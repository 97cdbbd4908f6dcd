;;; A handshake as routes: two agents prove to each other that they have the same key.
;;;
;;; The states `idle`, `greeted`, `challenged` and `open` say how far an agent is; the others are
;;; commitments, which stay on the tape. So later routes can begin at `open`, or at a commitment
;;; such as `responder_verified`. Each side chooses a number, and the other side signs it; a
;;; signature is a sturdy reference whose name is what was signed.
(define-library (handshake session)
  (export initiator responder stage-policy handshake-stages on-record)
  (import (duet base) (duet dataspace) (duet capability) (duet routes))
  (begin
    (define handshake-stages '(idle greeted challenged open))

    (define (sign key . parts) (sturdyref parts key))

    (define (signed? reference key . parts)
      (guard (forged ((condition? forged) #f))
        (resolve-sturdyref reference key (dataspace-capability))
        (equal? (sturdyref-name reference) parts)))

    (define (new-number) (random 1000000000))

    ;; Returns the procedure of a receiver for records of one label; it returns `#f` for others.
    (define (on-record label procedure)
      (lambda (message context)
        (and (record? message) (eq? (record-label message) label)
             (apply procedure (record-fields message)))))

    ;; Returns the policy of an agent with these stages: a new stage takes the place of the old one,
    ;; and commitments are added.
    (define (stage-policy stages)
      (define (stage? token) (memq (token-name token) stages))
      (lambda (tape proposals)
        (define (kept entry)
          (let ((proposed (assoc (car entry) proposals)))
            (if (and proposed (find stage? (cdr proposed)))
                (cons (car entry) (remove stage? (cdr entry)))
                entry)))
        (tape-union (->tape (map kept (tape-entries tape))) proposals)))

    ;; The side that begins, after a record `start`.
    (define (initiator key)
      (define mine #f)
      (define theirs #f)
      (list
        (make-receiver "idle --[ hello ]--> greeted"
          (on-record 'start
            (lambda ()
              (set! mine (new-number))
              (move 'ok))))
        (make-sender "idle --[ hello ]--> greeted" (lambda (context) (record 'hello mine))
          :on '(move))
        (make-receiver "greeted --[ responder_verified ]--> open"
          (on-record 'challenge
            (lambda (number signature)
              (set! theirs number)
              (if (signed? signature key 'responder mine theirs) (move 'ok) (stay 'forged)))))
        (make-sender "greeted --[ responder_verified ]--> open"
          (lambda (context) (record 'answer (sign key 'initiator mine theirs)))
          :on '(move))
        (make-sender "greeted --[ responder_verified ]--> open"
          (lambda (context) (record 'refused 'responder))
          :on '(stay) :when '(forged))))

    ;; The side that waits.
    (define (responder key)
      (define mine #f)
      (define theirs #f)
      (list
        (make-receiver "idle --[ challenge ]--> challenged"
          (on-record 'hello
            (lambda (number)
              (set! mine (new-number))
              (set! theirs number)
              (move 'ok))))
        (make-sender "idle --[ challenge ]--> challenged"
          (lambda (context) (record 'challenge mine (sign key 'responder theirs mine)))
          :on '(move))
        (make-receiver "challenged --[ initiator_verified ]--> open"
          (on-record 'answer
            (lambda (signature)
              (if (signed? signature key 'initiator theirs mine) (move 'ok) (stay 'forged)))))
        (make-sender "challenged --[ initiator_verified ]--> open"
          (lambda (context) (record 'refused 'initiator))
          :on '(stay) :when '(forged))))))
