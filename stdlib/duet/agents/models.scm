;;; Language models: exchanges, conversations, agents that use tools.
;;;
;;; A model is the tool `model/chat`. Its payload is a dictionary of `model`, a string; `messages`,
;;; a list of messages; and, if they are given, `tools`, a list of dictionaries of `name`,
;;; `description` and `schema`; `schema`, a JSON Schema that the content of the reply follows; and
;;; `options`, a dictionary for the provider. Its result is a dictionary of `content`, a string;
;;; `tool_calls`, a list of dictionaries of `id`, `name` and `arguments`, a dictionary; `stop`, a
;;; string that says why the model stopped; and `usage`, a dictionary of `input_tokens` and
;;; `output_tokens`.
;;;
;;; A message is a dictionary of `role`, one of the strings "system", "user", "assistant" and
;;; "tool", and `content`. One of an assistant has the `tool_calls` of its result, one of a tool has
;;; the `tool_call_id` that it answers.

(define-record-type <agent>
  (%make-agent name model instructions tools schema options)
  ;;;> Returns whether an object is an agent.
  agent?
  (name %agent-name)
  (model %agent-model)
  (instructions %agent-instructions)
  (tools %agent-tools)
  (schema %agent-schema)
  (options %agent-options))

(define-record-type <agent-tool>
  (%make-agent-tool name description schema compiled procedure)
  ;;;> Returns whether an object is a tool of an agent.
  agent-tool?
  (name %agent-tool-name)
  (description %agent-tool-description)
  (schema %agent-tool-schema)
  (compiled %agent-tool-compiled)
  (procedure %agent-tool-procedure))

;;;> Describes an agent: `(make-agent name [:model model] [:instructions text] [:tools tools]
;;;> [:schema schema] [:options options])`. The name, a symbol, is the role in which it calls its
;;;> model. The model is a string that the provider knows, by default `"default"`. The tools are a
;;;> list of those that `agent-tool` makes. With a schema, a JSON Schema as a value, its replies are
;;;> values that the schema allows; without one they are strings. The options are a dictionary for
;;;> the provider.
(define (make-agent name . options)
  (%check-options 'make-agent options '(:model :instructions :tools :schema :options))
  (let ((tools (%option options :tools '())) (schema (%option options :schema #f)))
    (if (not (symbol? name)) (%wrong-type 'make-agent "a symbol" name))
    (for-each
      (lambda (tool) (if (not (agent-tool? tool)) (%wrong-type 'make-agent "tools of agents" tool)))
      tools)
    (%make-agent name (%option options :model "default") (%option options :instructions #f) tools
      (and schema (cons schema (json-schema schema))) (%option options :options #f))))

;;;> Makes a tool for agents: `(agent-tool name description schema procedure)`. The model receives
;;;> the name and the description, strings, and the JSON Schema of the arguments, a value. The
;;;> procedure receives the arguments, a dictionary that the schema allows, and returns a string or
;;;> another value with a form in JSON.
(define (agent-tool name description schema procedure)
  (%need-thunks 'agent-tool (list procedure))
  (if (not (string? name)) (%wrong-type 'agent-tool "a string" name))
  (%make-agent-tool name description schema (json-schema schema) procedure))

(define (%message role content . fields)
  (apply dictionary 'role role 'content content fields))

(define (%agent-failure kind message . irritants)
  (raise (%make-condition kind (string-append "run-agent: " message) irritants)))

;;; Returns the request to a model: its name, the instructions, the conversation and the tools.
(define (%chat-request agent messages)
  (let ((request
          (dictionary 'model (%agent-model agent)
            'messages
            (if (%agent-instructions agent)
                (cons (%message "system" (%agent-instructions agent)) messages)
                messages))))
    (define (add! key value) (if value (dictionary-set! request key value)))
    (add! 'tools (and (pair? (%agent-tools agent)) (map %described-tool (%agent-tools agent))))
    (add! 'schema (and (%agent-schema agent) (car (%agent-schema agent))))
    (add! 'options (%agent-options agent))
    request))

(define (%described-tool tool)
  (dictionary 'name (%agent-tool-name tool) 'description (%agent-tool-description tool)
    'schema (%agent-tool-schema tool)))

;;; Asks the model and returns its result.
(define (%chat agent messages)
  (let ((result (call-tool (%agent-name agent) "model/chat" (%chat-request agent messages))))
    (if (not (and (dictionary? result) (string? (dictionary-ref result 'content ""))
                  (list? (dictionary-ref result 'tool_calls '()))))
        (%agent-failure 'bad-reply "the result of model/chat has another shape" result))
    result))

(define (%tool-calls result) (dictionary-ref result 'tool_calls '()))

(define (%assistant-message result)
  (let ((content (dictionary-ref result 'content "")) (calls (%tool-calls result)))
    (if (null? calls)
        (%message "assistant" content)
        (%message "assistant" content 'tool_calls calls))))

(define (%tokens result)
  (let ((usage (dictionary-ref result 'usage #f)))
    (define (count key) (let ((n (dictionary-ref usage key 0))) (if (number? n) n 0)))
    (if (dictionary? usage) (+ (count 'input_tokens) (count 'output_tokens)) 0)))

;;; Returns a pair of #t and the reply in a content, or of #f and the reason why there is none.
(define (%reply-of agent content)
  (if (not (%agent-schema agent))
      (cons #t content)
      (guard (mistake ((json-error? mistake) (cons #f (condition-message mistake))))
        (let* ((value (json->value content))
               (violations (json-violations (cdr (%agent-schema agent)) value)))
          (if (null? violations) (cons #t value) (cons #f (%listed violations)))))))

;;; Returns violations as a text.
(define (%listed violations)
  (string-join
    (map (lambda (violation)
           (string-append
             (let ((place (dictionary-ref violation 'instance)))
               (if (string=? place "") "the value" place))
             ": " (dictionary-ref violation 'message)))
         violations)
    "; "))

;;; Performs a call that the model asked for; returns the message of the tool, which says
;;; what went wrong.
(define (%perform-call agent call)
  (let* ((name (json-ref/default "" call 'name))
         (found (filter (lambda (tool) (equal? (%agent-tool-name tool) name))
                  (%agent-tools agent))))
    (%message "tool"
      (cond ((pair? found) (%use-tool (car found) (json-ref/default (dictionary) call 'arguments)))
            (else
             (string-append "error: there is no tool " (value->json name) "; there are "
               (value->json (map %agent-tool-name (%agent-tools agent))))))
      'tool_call_id (json-ref/default "" call 'id))))

(define (%use-tool tool arguments)
  (guard (failure ((condition? failure) (string-append "error: " (condition-message failure))))
    (let ((violations (json-violations (%agent-tool-compiled tool) arguments)))
      (if (pair? violations)
          (string-append "error: the arguments do not fit the schema: " (%listed violations))
          (let ((result ((%agent-tool-procedure tool) arguments)))
            (if (string? result) result (value->json result)))))))

;;;> Asks an agent once and returns its reply: `(ask agent prompt)`. The prompt is a string. The
;;;> model may use the agent's tools on the way, as in `run-agent`, whose limits and failures hold
;;;> here.
(define (ask agent prompt)
  (call-with-values (lambda () (run-agent agent prompt)) (lambda (reply messages) reply)))

;;;> Continues a conversation: `(converse agent messages prompt)`. Returns two values, the reply and
;;;> the conversation, a list of messages to which the prompt and everything after it were added.
;;;> The empty list begins a conversation. It is a value: it can be asserted, stored, and continued
;;;> twice.
(define (converse agent messages prompt) (run-agent agent prompt :messages messages))

;;;> Lets an agent work until it replies: `(run-agent agent prompt [:messages messages] [:turns n]
;;;> [:tokens n] [:repeats n] [:compact procedure])`. Calls the model; calls the tools that it asks
;;;> for, those of one reply at the same time; sends it the results and failures; and so on, until a
;;;> reply asks for no tool. Returns two values, the reply and the list of messages, as `converse`.
;;;> If the agent has a schema that the reply violates, sends the model the violations and calls it
;;;> again. Before each call of the model, `:compact` receives the list of messages and returns the
;;;> one to go on with, by default the same; so it can shorten a long conversation.
;;;>
;;;> Fails with `budget-exceeded` when the model was called `:turns` times, by default 20, or has
;;;> used more than `:tokens` tokens, by default without limit, and there is no reply; with
;;;> `no-progress` when the model asks `:repeats` times in a row, by default 3, for the same calls;
;;;> with `bad-reply` if the result of `model/chat` has another shape; and with the conditions of
;;;> `call-tool`.
(define (run-agent agent prompt . options)
  (if (not (agent? agent)) (%wrong-type 'run-agent "an agent" agent))
  (if (not (string? prompt)) (%wrong-type 'run-agent "a string" prompt))
  (%check-options 'run-agent options '(:messages :turns :tokens :repeats :compact))
  (let ((turns (%option options :turns 20)) (tokens (%option options :tokens #f))
        (repeats (%option options :repeats 3))
        (compact (%option options :compact (lambda (messages) messages))))
    (let loop ((messages (append (%option options :messages '()) (list (%message "user" prompt))))
               (turn 1) (used 0) (earlier '()) (same 1))
      (if (> turn turns)
          (%agent-failure 'budget-exceeded "there is no reply after so many turns" turns))
      (if (and tokens (> used tokens))
          (%agent-failure 'budget-exceeded "the model has used more tokens than it may" used))
      (let* ((messages (compact messages))
             (result (%chat agent messages))
             (calls (%tool-calls result))
             (messages (append messages (list (%assistant-message result))))
             (used (+ used (%tokens result)))
             (wanted (map %wanted calls))
             (same (if (and (pair? wanted) (equal? wanted earlier)) (+ same 1) 1)))
        (if (and (pair? wanted) (>= same repeats))
            (%agent-failure 'no-progress "the model asks for the same calls again and again" wanted))
        (if (pair? calls)
            (loop (append messages (par-map (lambda (call) (%perform-call agent call)) calls))
              (+ turn 1) used wanted same)
            (let ((reply (%reply-of agent (dictionary-ref result 'content ""))))
              (if (car reply)
                  (values (cdr reply) messages)
                  (loop (append messages (list (%message "user" (%complaint (cdr reply)))))
                    (+ turn 1) used '() 1))))))))

;;; What a call asks for, without its id.
(define (%wanted call)
  (list (json-ref/default "" call 'name) (json-ref/default (dictionary) call 'arguments)))

(define (%complaint reason)
  (string-append "Your reply does not fit the schema: " reason
    ". Reply with the JSON value alone."))
