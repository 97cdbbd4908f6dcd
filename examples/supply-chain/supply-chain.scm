;;; An order passes the stages A, B, C and D. A model chooses an amendment, which records an intent
;;; and leaves the stage as it is. The intent chooses the shipping lane. A person approves a
;;; shipment whose source nobody has confirmed.
;;;
;;;   duet run examples/supply-chain --double examples/supply-chain/cheap.pr -- DIRECTORY
;;;
;;; Without a provider of models the run takes the reply of a double: `cheap.pr` or `quick.pr`. To
;;; decide otherwise afterwards, fork the run before the model was asked and resume the fork with
;;; the other double.
(import (duet base) (duet dataspace) (duet policy) (duet routes) (duet aeiou))

(define-constraint "requires_source"
  :tool 'workspace/write :when '(missing fact.source) :on-fail 'ask
  :reason "nobody has confirmed the source of this shipment")

(define (say . parts) (for-each display parts) (newline))

;; The amendments: `eta_f` asks for a cheap lane, `mu_f` for a quick one.
(define (choose-amendment)
  (let ((outcome
          (ask-loop (tool "model/chat")
            (dictionary 'subject "amendment"
              'brief "Choose an amendment for this order: eta_f is cheap, mu_f is quick."
              'fields (dictionary 'order "order-1" 'choices (list "eta_f" "mu_f")))
            :max-turns 4 :on-invalid feedback)))
    (if (not (eq? (outcome-decision outcome) 'DONE))
        (error "the model has not chosen an amendment" (outcome-reason outcome)))
    (string->symbol (outcome-result outcome))))

;;; Writes the shipping order. If the person refuses, the order goes on as an exception in the log.
(define (ship! lane)
  (guard (refusal ((policy-refusal? refusal)
                   (log! (list 'exception lane 'refused (refusal-code refusal)))
                   (move 'exception)))
    (call-tool 'shipper 'workspace/write
      (dictionary 'path "shipment.txt" 'content (string-append (symbol->string lane) "\n")))
    (say "shipped by " lane)
    (move 'ok)))

;; A receiver of a stage runs for the message that names its route.
(define (on label) (lambda (message context) (and (eq? (record-label message) label) (move 'ok))))

(define-agent chain
  (tape (index order-1 A))
  (triggers ok exception)
  (receiver "A --[ f ]--> B" (on 'f))
  (receiver "A --[ g ]--> B" (on 'g))
  (receiver "f --[ eta_f ]--> p" (on 'eta_f))
  (receiver "f --[ mu_f ]--> q" (on 'mu_f))
  (receiver "g --[ eta_g ]--> p" (on 'eta_g))
  (receiver "g --[ mu_g ]--> q" (on 'mu_g))
  (receiver "B --> C" (on 'sign))
  (receiver "p --[ sea ]--> D"
    (lambda (message context) (and (eq? (record-label message) 'ship) (ship! 'sea))))
  (receiver "q --[ air ]--> D"
    (lambda (message context) (and (eq? (record-label message) 'ship) (ship! 'air)))))

(on-assert (tape chain $order $state) (say order " is " state))
(define (tell label) (deliver! 'chain (record label "order-1")) (yield) (yield))

(start-agent! chain)
(yield)
(tell 'f)
(let ((amendment (choose-amendment)))
  (say "the model chooses " amendment)
  (tell amendment))
(tell 'sign)
(tell 'ship)
