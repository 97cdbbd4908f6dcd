;;; Agents: a model with instructions, tools and a form of reply; exchanges and conversations.

(define-record-type <agent>
  (%make-agent name %model %description %instructions %tools %schema %options %settings)
  ;;;> Returns whether an object is an agent.
  agent?
  (name %agent-name)
  (%model %agent-model)
  (%description %agent-description)
  (%instructions %agent-instructions)
  (%tools %agent-tools)
  ;; The schema and what it was compiled to, or #f.
  (%schema %agent-schema)
  (%options %agent-options)
  ;; The options of `run-agent` that it has by itself.
  (%settings %agent-settings))

(define %run-options '(:turns :tokens :usd :repeats :corrections :compact))

;;;> Describes an agent: `(make-agent name [:model model] [:description text] [:instructions text]
;;;> [:tools tools] [:schema schema] [:result shape] [:options options] [option …])`. The name, a
;;;> symbol, is the role in which it calls its model and its tools. The model is one of
;;;> `make-model`, or a string that the provider knows, by default `"default"`. With a schema, a
;;;> JSON Schema as a value, or a result, a shape of `shape->schema`, its replies are values that
;;;> the schema allows; without one they are strings. The options are a dictionary for the provider.
;;;> The further options are those of `run-agent`, except `:messages`.
;;;>
;;;> The tools are a list of these: tools that `agent-tool`, `define-tool` and `granted-tool` make;
;;;> names of granted tools; `"workspace/*"` and the like for all built-in tools whose names begin
;;;> so; agents, which take a prompt and reply, and whose description the model receives. Two tools
;;;> must not have one name. Fails with `no-such-tool`, also for a tool that the agent's model does
;;;> not allow.
(define (make-agent name . options)
  (%check-options 'make-agent options
    (append '(:model :description :instructions :tools :schema :result :options) %run-options))
  (if (not (symbol? name)) (%wrong-type 'make-agent "a symbol" name))
  (let ((model (%option options :model "default"))
        (tools (append-map %tools-of (%option options :tools '())))
        (result (%option options :result #f)))
    (let ((model (if (model? model) model (make-model name :model model)))
          (schema (if result (shape->schema result) (%option options :schema #f))))
      (%check-tools model tools)
      (%make-agent name model (%option options :description #f) (%option options :instructions #f)
        tools (and schema (cons schema (json-schema schema))) (%option options :options #f)
        (%settings-of options)))))

(define (%settings-of options)
  (cond ((null? options) '())
        ((memq (car options) %run-options)
         (cons (car options) (cons (cadr options) (%settings-of (cddr options)))))
        (else (%settings-of (cddr options)))))

(define (%check-tools model tools)
  (define (refuse message name)
    (raise (%make-condition 'no-such-tool (string-append "make-agent: " message) (list name))))
  (let check ((names (map %agent-tool-name tools)))
    (if (pair? names)
        (let ((patterns (%model-tools model)))
          (if (member (car names) (cdr names)) (refuse "two tools have this name" (car names)))
          (if (and patterns
                   (not (find (lambda (pattern) (%name-matches? pattern (car names))) patterns)))
              (refuse "the tools of the agent's model do not include this one" (car names)))
          (check (cdr names))))))

;;; Returns the tool that asks an agent.
(define (%agent-as-tool agent)
  (let ((name (symbol->string (%agent-name agent))))
    (%tool-of name
      (or (%agent-description agent) (string-append "Asks the agent " name "."))
      (shape->schema '(object (prompt string "what the agent is asked to do")))
      (lambda (role arguments) (ask agent (dictionary-ref arguments 'prompt))))))

;;; The conversation that a failure carries. The `%` keeps it out of what people read of the
;;; failure, and the procedure keeps the messages out of the record.
(define-record-type <%conversation>
  (%keep-conversation messages)
  %kept-conversation?
  (messages %kept-messages))

(define (%kept messages) (%keep-conversation (lambda () messages)))

;;; Returns a message about a failure with the number of messages before it.
(define (%after message messages)
  (let ((count (length messages)))
    (string-append message " (after " (number->string count)
      (if (= count 1) " message)" " messages)"))))

;;; Raises a failure of a run that keeps its conversation.
(define (%agent-failure messages kind message . irritants)
  (raise
    (%make-condition kind (%after (string-append "run-agent: " message) messages)
      (append irritants (list (%kept messages))))))

;;;> Returns the conversation of an agent that failed, from the condition that `ask`, `converse` or
;;;> `run-agent` raised: a list of messages with which `converse` and `run-agent` can go on. Returns
;;;> `#f` for other objects.
(define (failure-messages object)
  (let ((kept (and (condition? object) (find %kept-conversation? (condition-irritants object)))))
    (and kept ((%kept-messages kept)))))

;;;> Asks an agent once and returns its reply: `(ask agent prompt [option …])`, with the options of
;;;> `run-agent`. The prompt is a string; `(file path)`, the contents of a file of the workspace;
;;;> `(json value)`, a value as JSON; or a list of these. The model may use the agent's tools on the
;;;> way, as in `run-agent`, whose limits and failures hold here.
(define (ask agent prompt . options)
  (if (not (agent? agent)) (%wrong-type 'ask "an agent" agent))
  (call-with-values (lambda () (apply run-agent agent prompt options))
    (lambda (reply messages) reply)))

;;;> Continues a conversation: `(converse agent messages prompt [option …])`. Returns two values,
;;;> the reply and the conversation, a list of messages to which the prompt and everything after it
;;;> were added. The empty list begins a conversation. It is a value: it can be asserted, stored,
;;;> and continued twice.
(define (converse agent messages prompt . options)
  (if (not (agent? agent)) (%wrong-type 'converse "an agent" agent))
  (apply run-agent agent prompt :messages messages options))

;;; One run of an agent: the agent, its limits, what it has used, and the results of the calls that
;;; the model has asked for, by these calls.
(define-record-type <run>
  (%make-run agent limits used repeats corrections compact results)
  %run?
  (agent %run-agent)
  (limits %run-limits)
  (used %run-used)
  (repeats %run-repeats)
  (corrections %run-corrections)
  (compact %run-compact)
  (results %run-results))

;;;> Lets an agent work until it replies: `(run-agent agent prompt [:messages messages] [:turns n]
;;;> [:tokens n] [:usd number] [:repeats n] [:corrections n] [:compact procedure])`. Calls the
;;;> model; calls the tools that it asks for, those of one reply at the same time; sends it the
;;;> results and failures; and so on, until a reply asks for no tool. Returns two values, the reply
;;;> and the list of messages, as `converse`. An empty reply, and one that violates the agent's
;;;> schema, is sent back with the reasons, up to `:corrections` times in a row, by default 3. JSON
;;;> that is asked for may stand in a fence of Markdown around the whole reply.
;;;> Before each call of the model, `:compact` receives the list of messages and returns the one to
;;;> go on with, by default the same; `keep-last` and `summarize-after` make such procedures.
;;;>
;;;> Fails with `budget-exceeded` when the model was called `:turns` times, by default 20, or has
;;;> used `:tokens` tokens or `:usd` US dollars, by default without limits, or the budget of the
;;;> model is used up, and there is no reply; with `no-progress` when the model asks for the same
;;;> calls a third time, or as `:repeats` says, and each time they had the same results; with
;;;> `invalid-reply` after too many replies that do not fit; with `cut-off` when the model stopped
;;;> at its limit of tokens, with `refused` when it or its provider refuses; with `bad-reply` if the
;;;> result of `model/chat` has another shape; and with the conditions of `call-tool`. The message of
;;;> each of these conditions says how many messages the conversation had, and `failure-messages`
;;;> returns them.
(define (run-agent agent prompt . options)
  (if (not (agent? agent)) (%wrong-type 'run-agent "an agent" agent))
  (%check-options 'run-agent options (cons :messages %run-options))
  (let ((prompt (%prompt-text (%agent-name agent) prompt)))
    (%work (%run-of agent (append options (%agent-settings agent)))
      (append (%option options :messages '()) (list (%message "user" prompt)))
      0)))

(define (%run-of agent options)
  (let ((limits (%limits-of 'run-agent options)))
    (if (not (dictionary-contains? limits 'turns)) (dictionary-set! limits 'turns 20))
    (%make-run agent limits (%nothing-used)
      (%option options :repeats 3)
      (%option options :corrections 3)
      (%option options :compact (lambda (messages) messages))
      (dictionary))))

;;; Calls the model and the tools until there is a reply; `corrected` replies in a row did not fit.
(define (%work run messages corrected)
  (let* ((messages ((%run-compact run) messages))
         (result (%chat run messages))
         (content (%content result))
         (calls (%distinct-calls (%tool-calls result))))
    (if (pair? calls)
        (begin
          (%check-progress run messages calls)
          (let ((answers
                  (par-map (lambda (call) (%perform-call (%run-agent run) call)) calls)))
            (%note-results! run calls answers)
            (%work run (append messages
                               (cons (%assistant-message result (map car calls)) answers))
              0)))
        (let ((reply (%reply-of (%run-agent run) content))
              (messages (append messages (list (%assistant-message result '())))))
          (cond ((car reply) (values (cdr reply) messages))
                ((>= corrected (%run-corrections run))
                 (%agent-failure messages 'invalid-reply "the replies of the model do not fit"
                   (cdr reply) content))
                (else
                 (let ((complaint (%complaint (%run-agent run) (cdr reply))))
                   (%work run (append messages (list (%message "user" complaint)))
                     (+ corrected 1)))))))))

;;; Asks the model and returns its result.
(define (%chat run messages)
  (let* ((agent (%run-agent run)) (model (%agent-model agent)))
    (%check-budget run messages)
    (%add! (%run-used run) 'turns 1)
    (%add! (%model-used model) 'turns 1)
    (let ((result (%keeping messages
                    (lambda ()
                      (call-tool (%agent-name agent) "model/chat" (%request-of agent messages))))))
      (if (not (%chat-result? result))
          (%agent-failure messages 'bad-reply "the result of model/chat has another shape" result))
      (%charge! (%run-used run) result (%model-price model))
      (%charge! (%model-used model) result (%model-price model))
      (if (or (dictionary-contains? (%run-limits run) 'usd)
              (dictionary-contains? (%model-limits model) 'usd))
          (%log-unpriced model))
      (%check-end messages result)
      result)))

(define (%request-of agent messages)
  (%chat-request (%agent-model agent)
    (if (%agent-instructions agent)
        (cons (%message "system" (%agent-instructions agent)) messages)
        messages)
    (%agent-tools agent)
    (and (%agent-schema agent) (car (%agent-schema agent)))
    (%agent-options agent)))

;;; Calls a thunk; a condition that it raises gets the conversation.
(define (%keeping messages thunk)
  (guard (failure ((condition? failure)
                   (raise
                     (%make-condition (condition-kind failure)
                       (%after (condition-message failure) messages)
                       (append (condition-irritants failure)
                         (list (%kept messages)))))))
    (thunk)))

(define (%check-budget run messages)
  (define (check whose limits used)
    (let ((key (%used-up limits used)))
      (if key
          (%agent-failure messages 'budget-exceeded
            (string-append "the budget of the " whose " is used up and there is no reply")
            key (%used-of used key)))))
  (let ((model (%agent-model (%run-agent run))))
    (check "agent" (%run-limits run) (%run-used run))
    (check "model" (%model-limits model) (%model-used model))))

;;; Fails if the model stopped before its reply was complete.
(define (%check-end messages result)
  (case (string->symbol (%stop-reason result))
    ((length)
     (%agent-failure messages 'cut-off
       "the model stopped at its limit of tokens; allow more with `:max-tokens`" (%content result)))
    ((refused)
     (%agent-failure messages 'refused "the model or its provider refuses to reply"
       (%content result)))))

;;; Returns a pair of #t and the reply in a content, or of #f and the reason why there is none.
(define (%reply-of agent content)
  (cond ((string=? (string-trim content) "") (cons #f "it is empty"))
        ((not (%agent-schema agent)) (cons #t content))
        (else
         (guard (mistake ((json-error? mistake) (cons #f (condition-message mistake))))
           (let* ((value (json->value (%unfenced content)))
                  (violations (json-violations (cdr (%agent-schema agent)) value)))
             (if (null? violations) (cons #t value) (cons #f (%listed violations))))))))

;;; Returns the text in a fence of Markdown around all of a content, or the content: many models put
;;; JSON into one, whatever the question says.
(define (%unfenced content)
  (let* ((text (string-trim content))
         (fence (%fence-of text))
         (end (- (string-length text) (string-length fence))))
    (if (and (>= (string-length fence) 3) (<= (string-length fence) end)
             (string-suffix? fence text))
        (%without-language (substring text (string-length fence) end))
        content)))

;;; Returns the marks with which a text begins, all of them the same.
(define (%fence-of text)
  (let ((mark (if (string=? text "") #\space (string-ref text 0))))
    (let loop ((end 0))
      (if (and (memv mark '(#\` #\~)) (< end (string-length text))
               (char=? (string-ref text end) mark))
          (loop (+ end 1))
          (substring text 0 end)))))

;;; Drops the line that names the language of what a fence holds.
(define (%without-language text)
  (let* ((end (string-index text #\newline))
         (first (string-trim (substring text 0 (or end 0)))))
    (if (or (not end)
            (and (not (string=? first "")) (memv (string-ref first 0) '(#\{ #\[ #\"))))
        text
        (substring text end (string-length text)))))

(define (%complaint agent reason)
  (if (%agent-schema agent)
      (string-append "Your reply does not fit the schema: " reason
        ". Reply with the JSON value alone.")
      (string-append "Your reply cannot be used: " reason ".")))

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

;;;> Defines an agent: `(define-agent name clause …)`. The clauses are the options of `make-agent`:
;;;> `(model model)`, `(description text)`, `(instructions text)`, `(tools tool …)`, `(schema
;;;> schema)`, `(options dictionary)`, `(repeats n)`, `(corrections n)`, `(compact procedure)`;
;;;> `(result shape)`, with the shape without a quote; and `(budget [:turns n] [:tokens n] [:usd
;;;> number])`, for each run of the agent.
(define-syntax define-agent
  (lambda (form)
    (syntax-case form ()
      ((_ name clause ...)
       #`(define name
           (make-agent 'name
             #,@(%clauses-as-options #'(clause ...)
                  '((model one :model) (description one :description)
                    (instructions one :instructions) (tools many :tools) (schema one :schema)
                    (result quoted :result) (options one :options) (repeats one :repeats)
                    (corrections one :corrections) (compact one :compact)
                    (budget spliced :turns :tokens :usd)))))))))
