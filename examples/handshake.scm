;;; Two agents prove to each other that they have the same key; a third, with another key, is
;;; refused. The tape of each agent is a set of facts, so one can see who has verified whom.
;;;
;;;   duet run examples/handshake.scm
(import (duet base) (duet dataspace) (duet routes) (handshake session))

(define (starts name parts)
  (start-agent!
    (make-agent name parts :tape '(("session" idle)) :policy (stage-policy handshake-stages))))

;; Takes what one agent emits to another.
(define (wire from to)
  (on-message (route/emit ,from $payload)
    (display (list from '-> to (record-label payload)))
    (newline)
    (deliver! to payload)))

(define (show-tape name)
  (display (cons name (sort (map symbol->string (active name)) string<?)))
  (newline))

(define tapes (dictionary))
(define (active name) (dictionary-ref tapes name '()))
(on-assert (tape $name _ $state) (dictionary-set! tapes name (cons state (active name))))
(on-retract (tape $name _ $state) (dictionary-set! tapes name (delete state (active name))))

;; Waits until the handshake has ended, with an open session or a refusal.
(define (await-end one other)
  (define anything (lambda (fact) #t))
  (select
    ((predicate anything :pattern (pattern (tape ,other _ open))) 'open)
    ((predicate anything :pattern (pattern (refusal ,one))) 'refused)))

(define (meet one other key other-key)
  (starts one (initiator key))
  (starts other (responder other-key))
  (wire one other)
  (wire other one)
  (on-message (route/emit ,one (refused $who)) (assert! (record 'refusal one)))
  (yield)
  ;; Without a greeting nobody may answer: no receiver of an idle agent accepts this.
  (deliver! other (record 'answer "let me in"))
  (deliver! one (record 'start))
  (display (list one other (await-end one other)))
  (newline)
  (show-tape one)
  (show-tape other))

(meet 'ann 'ben (bytevector 1 2 3) (bytevector 1 2 3))
(meet 'cat 'dan (bytevector 1 2 3) (bytevector 4 5 6))
