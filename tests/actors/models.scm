;;; make-agent agent? agent-tool agent-tool? ask converse run-agent
(import (duet base) (duet dataspace) (duet agents) (duet json))
;; The model of these tests gives the replies in the agent's options, one after the other.
(define (scripted . replies) (dictionary 'replies replies))
(define (says content . fields) (apply dictionary 'content content fields))
(define calls 0)
(define (wants . names)
  (says "" 'tool_calls
    (map (lambda (name)
           (set! calls (+ calls 1))
           (dictionary 'id (number->string calls) 'name name 'arguments (dictionary 'item "tea")))
         names)))
(define (attempt thunk)
  (guard (object ((condition? object) (list (condition-kind object) (condition-message object))))
    (thunk)))
(define (log-conversation reply messages)
  (log! (list 'reply reply))
  (for-each
    (lambda (message)
      (log! (list (json-ref message 'role) (json-ref message 'content)
              (json-ref/default '- message 'tool_call_id))))
    messages))
(define item-schema
  (json->value "{\"required\": [\"item\"], \"properties\": {\"item\": {\"type\": \"string\"}}}"))
(define (tool name procedure) (agent-tool name "A tool." item-schema procedure))
(define tools
  (list
    (tool "price"
      (lambda (arguments) (sleep 10) (dictionary 'of (json-ref arguments 'item) 'price 3)))
    (tool "weight" (lambda (arguments) (sleep 5) "light"))
    (tool "broken" (lambda (arguments) (error "it broke")))
    (tool "strange" (lambda (arguments) car))))
(define (seller . replies)
  (make-agent 'seller :instructions "You sell tea." :tools tools :options (apply scripted replies)))
(log! (list (agent? (seller)) (agent? 1) (agent-tool? (car tools)) (agent-tool? 1)))

;; Calls of one reply run at the same time; the model learns what goes wrong.
(call-with-values
  (lambda ()
    (run-agent
      (seller (wants "price" "weight" "broken" "strange" "absent")
        (says "" 'tool_calls
          (list (dictionary 'id "x" 'name "price" 'arguments (dictionary 'thing 1))))
        (says "Tea costs 3."))
      "What does tea cost?"))
  log-conversation)

;; The model is asked again after a reply that does not fit the schema.
(define judge
  (make-agent 'judge
    :schema (dictionary 'type "object" 'required '("good") 'additionalProperties #f)
    :options (scripted (says "It is good.") (says "{\"bad\": true}") (says "{\"good\": 1"))))
(log! (attempt (lambda () (ask judge "Is it good?"))))
(call-with-values
  (lambda ()
    (run-agent
      (make-agent 'judge :schema (dictionary 'required '("good"))
        :options (scripted (says "It is good.") (says "{\"bad\": true}") (says "{\"good\": 1}")))
      "Is it good?"))
  log-conversation)

;; A conversation is a value, and can be continued twice.
(define talker (make-agent 'talker :options (scripted (says "one") (says "two"))))
(define-values (first messages) (converse talker '() "hello"))
(assert! (record 'conversation messages))
(define kept (record-field (await (record 'conversation)) 0))
(call-with-values (lambda () (converse talker kept "go on")) log-conversation)
(call-with-values (lambda () (converse talker kept "or so")) log-conversation)

;; A long conversation is shortened before each call.
(define (shortened messages)
  (if (> (length messages) 2) (list-tail messages (- (length messages) 2)) messages))
(call-with-values
  (lambda () (run-agent talker "and?" :messages kept :compact shortened))
  log-conversation)

;; Limits.
(define (eager) (seller (wants "weight") (wants "price") (wants "weight") (wants "price")))
(log! (attempt (lambda () (run-agent (eager) "?" :turns 2))))
(define (same) (seller (wants "weight") (wants "weight") (wants "weight") (says "never")))
(log! (attempt (lambda () (ask (same) "?"))))
(define costly
  (says "" 'tool_calls (json-ref (wants "weight") 'tool_calls)
    'usage (dictionary 'input_tokens 90 'output_tokens 20)))
(log! (attempt (lambda () (run-agent (seller costly (says "never")) "?" :tokens 100))))
(log! (attempt (lambda () (ask (seller (dictionary 'content 5)) "?"))))
(log! (attempt (lambda () (ask (seller 'nothing) "?"))))
(log! (attempt (lambda () (ask (seller) "?"))))
(log! (attempt (lambda () (make-agent "name"))))
(log! (attempt (lambda () (make-agent 'name :schema (dictionary 'type "strin")))))
;; The work of an agent ends with the strand that began it.
(log! (race (lambda () (ask (seller (wants "price") (says "never")) "?"))
        (lambda () (sleep 2) 'done)))
