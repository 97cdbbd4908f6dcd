;;; An agent that looks up prices before it answers, and one that judges the answer. Without a
;;; provider of models it runs on recorded replies:
;;; `duet run examples/advisor.scm --double examples/advisor.pr`
(import (duet base) (duet dataspace) (duet agents) (duet json))

(define (look-up arguments)
  (let ((item (json-ref arguments "item")))
    (display (list 'looks-up item))
    (newline)
    (case (string->symbol item)
      ((tea) (dictionary 'price 3))
      ((cup) (dictionary 'price 8))
      (else (error "no such item" item)))))

(define price
  (agent-tool "price" "Returns the price of an item in euros."
    (json->value "{\"type\": \"object\", \"required\": [\"item\"],
                   \"properties\": {\"item\": {\"type\": \"string\"}}}")
    look-up))

(define seller
  (make-agent 'seller :instructions "You sell tea and cups. Be brief." :tools (list price)))

(define judge
  (make-agent 'judge :instructions "Is the answer right?"
    :schema (json->value "{\"type\": \"object\", \"required\": [\"verdict\"],
                           \"properties\": {\"verdict\": {\"enum\": [\"right\", \"wrong\"]}}}")))

(define answer (ask seller "What do a cup and tea cost together?"))
(display answer)
(newline)
(write (json-ref (ask judge answer) "verdict"))
(newline)
