;;; Language models: how they are called, and what they may cost.
;;;
;;; A model is the tool `model/chat`. Its payload is a dictionary of `model`, a string; `messages`,
;;; a list of messages; and, if they are given, `provider`, a string; `tools`, a list of
;;; dictionaries of `name`, `description` and `schema`; `schema`, a JSON Schema that the content of
;;; the reply follows; `options`, a dictionary for the provider; and `price`, the dollars for a
;;; million tokens of input and of output, by which `duet cost` counts results without dollars. Its
;;; result is a dictionary of `content`, a string; `tool_calls`, a list of dictionaries of `id`,
;;; `name` and `arguments`, a dictionary, or the text of the model if that is no JSON object or has a
;;; number beyond the doubles; `stop`, one of the strings "end", "tools", "length" and "refused";
;;; `usage`, a dictionary of `input_tokens`, `output_tokens` and, if it is known, `usd`; and, if the
;;; provider wants its thoughts back, `thoughts`, a list.
;;;
;;; A message is a dictionary of `role`, one of the strings "system", "user", "assistant" and
;;; "tool", and `content`. One of an assistant has the `tool_calls` and `thoughts` of its result, one
;;; of a tool has the `tool_call_id` that it answers.

(define-record-type <model>
  (%make-model name %provider %model %tools %options %price %limits %used)
  ;;;> Returns whether an object is a model.
  model?
  (name %model-name)
  (%provider %model-provider)
  (%model %model-model)
  ;; Patterns of the names of tools, or #f for any.
  (%tools %model-tools)
  (%options %model-options)
  ;; Dollars for a million tokens, of the input and of the output, or #f.
  (%price %model-price)
  (%limits %model-limits)
  (%used %model-used))

;;;> Describes a model: `(make-model name [:provider name] [:model text] [:tools patterns]
;;;> [:max-tokens n] [:temperature number] [:seed n] [:stop texts] [:options dictionary] [:price
;;;> numbers] [:turns n] [:tokens n] [:usd number])`.
;;;>
;;;> The name is a symbol. `:provider` names a provider, and `:model`, by default `"default"`, is a
;;;> text that the provider knows. `:tools` is a list of names of tools, which may end in `*`: an
;;;> agent with this model has no others. `:max-tokens`, `:temperature`, `:seed` and `:stop` reach
;;;> the provider among the `:options`.
;;;>
;;;> `:turns`, `:tokens` and `:usd`, US dollars, are the budget of the model: all agents of this
;;;> actor that use it share it. A call beyond it fails with `budget-exceeded`. Calls that are under
;;;> way when the budget is used up end as usual. Tokens and dollars are those that the results of
;;;> the model report. `:price`, a list of the dollars for a million tokens of input and of output,
;;;> is used for results that report no dollars. A result whose cost is not known costs nothing; if
;;;> there is a budget in dollars, the first such result of a model is logged.
(define (make-model name . options)
  (%check-options 'make-model options
    '(:provider :model :tools :max-tokens :temperature :seed :stop :options :price :turns :tokens
      :usd))
  (if (not (symbol? name)) (%wrong-type 'make-model "a symbol" name))
  (let ((provider (%option options :provider #f)) (price (%option options :price #f)))
    (if (not (or (not price) (and (list? price) (= (length price) 2))))
        (%wrong-type 'make-model "two numbers after :price" price))
    (%make-model name
      (if (symbol? provider) (symbol->string provider) provider)
      (%option options :model "default")
      (%option options :tools #f)
      (%provider-options options)
      price
      (%limits-of 'make-model options)
      (%nothing-used))))

;;; Returns the options of a provider, or #f if there are none.
(define (%provider-options options)
  (let ((given (dictionary-copy (%option options :options (dictionary)))))
    (for-each
      (lambda (pair)
        (let ((value (%option options (car pair) #f)))
          (if value (dictionary-set! given (cdr pair) value))))
      '((:max-tokens . max_tokens) (:temperature . temperature) (:seed . seed) (:stop . stop)))
    (and (> (dictionary-count given) 0) given)))

;;;> Returns this actor's use of a model: a dictionary of `turns`, `input_tokens`,
;;;> `output_tokens`, `usd`, and `unpriced`, the number of results whose cost is not known.
(define (model-usage model)
  (if (not (model? model)) (%wrong-type 'model-usage "a model" model))
  (dictionary-copy (%model-used model)))

;;; Budgets: limits and what is used, dictionaries of numbers. A limit is under `turns`, `tokens` or
;;; `usd`.

(define (%limits-of procedure options)
  (let ((limits (dictionary)))
    (for-each
      (lambda (pair)
        (let ((limit (%option options (car pair) #f)))
          (if (not (or (not limit) (and (real? limit) (>= limit 0))))
              (%wrong-type procedure "a number from 0 as a limit" limit))
          (if limit (dictionary-set! limits (cdr pair) limit))))
      '((:turns . turns) (:tokens . tokens) (:usd . usd)))
    limits))

(define (%nothing-used)
  (dictionary 'turns 0 'input_tokens 0 'output_tokens 0 'usd 0 'unpriced 0))

(define (%used-of used limit)
  (if (eq? limit 'tokens)
      (+ (dictionary-ref used 'input_tokens) (dictionary-ref used 'output_tokens))
      (dictionary-ref used limit)))

(define (%add! used key amount) (dictionary-set! used key (+ amount (dictionary-ref used key))))

;;; Returns the first limit that is used up, or #f.
(define (%used-up limits used)
  (find (lambda (key) (>= (%used-of used key) (dictionary-ref limits key)))
    (dictionary-keys limits)))

;;; Adds the usage that a result reports.
(define (%charge! used result price)
  (let ((usage (dictionary-ref result 'usage (dictionary))))
    (define (count key)
      (let ((n (and (dictionary? usage) (dictionary-ref usage key #f))))
        (and (real? n) (>= n 0) n)))
    (let* ((input (or (count 'input_tokens) 0))
           (output (or (count 'output_tokens) 0))
           (usd (or (count 'usd)
                    (and price
                         (inexact
                           (/ (+ (* input (car price)) (* output (cadr price))) 1000000))))))
      (%add! used 'input_tokens input)
      (%add! used 'output_tokens output)
      (if usd
          (dictionary-set! used 'usd (%rounded (+ usd (dictionary-ref used 'usd))))
          (%add! used 'unpriced 1)))))

;;; Rounds dollars to 12 digits after the point, so that a sum has no digits that no summand has.
(define (%rounded dollars)
  (if (exact? dollars) dollars (/ (round (* dollars 1e12)) 1e12)))

;;; Logs that the cost of a result is not known, once for each model.
(define (%log-unpriced model)
  (if (= 1 (dictionary-ref (%model-used model) 'unpriced))
      (guard (denied ((condition? denied) #f))
        (log!
          (list 'model (%model-name model)
            "its results report no dollars, which a budget limits; give it a :price")))))

;;; Returns the payload of a call of a model.
(define (%chat-request model messages tools schema options)
  (let ((request (dictionary 'model (%model-model model) 'messages messages)))
    (define (add! key value) (if value (dictionary-set! request key value)))
    (add! 'provider (%model-provider model))
    (add! 'tools (and (pair? tools) (map %described-tool tools)))
    (add! 'schema schema)
    (add! 'options (%merged (%model-options model) options))
    (add! 'price (and (%model-price model) (map inexact (%model-price model))))
    request))

(define (%merged options others)
  (if (and options others)
      (let ((merged (dictionary-copy options)))
        (for-each (lambda (pair) (dictionary-set! merged (car pair) (cdr pair)))
          (dictionary->alist others))
        merged)
      (or options others)))

(define (%described-tool tool)
  (dictionary 'name (%agent-tool-name tool) 'description (%agent-tool-description tool)
    'schema (%agent-tool-schema tool)))

;;; Returns whether a value is a result of `model/chat`.
(define (%chat-result? result)
  (and (dictionary? result)
       (string? (dictionary-ref result 'content ""))
       (list? (%tool-calls result))
       (member (%stop-reason result) '("end" "tools" "length" "refused"))
       (not (find (lambda (call)
                    (not (and (dictionary? call) (string? (dictionary-ref call 'name #f)))))
              (%tool-calls result)))))

(define (%content result) (dictionary-ref result 'content ""))

(define (%tool-calls result) (dictionary-ref result 'tool_calls '()))

(define (%stop-reason result) (dictionary-ref result 'stop "end"))

(define (%message role content . fields)
  (apply dictionary 'role role 'content content fields))

;;; Makes a message of a result, with the calls that are made.
(define (%assistant-message result calls)
  (let ((message (%message "assistant" (%content result)))
        (thoughts (dictionary-ref result 'thoughts '())))
    (if (pair? calls) (dictionary-set! message 'tool_calls calls))
    (if (pair? thoughts) (dictionary-set! message 'thoughts thoughts))
    message))

;;;> Defines a model: `(define-model name clause …)`. The clauses are the options of `make-model`:
;;;> `(provider name)`, without a quote; `(model text)`; `(tools pattern …)`; `(max-tokens n)`;
;;;> `(temperature number)`; `(seed n)`; `(stop text …)`; `(options dictionary)`; `(price input
;;;> output)`; and `(budget [:turns n] [:tokens n] [:usd number])`.
(define-syntax define-model
  (lambda (form)
    (syntax-case form ()
      ((_ name clause ...)
       #`(define name
           (make-model 'name
             #,@(%clauses-as-options #'(clause ...)
                  '((provider quoted :provider) (model one :model) (tools many :tools)
                    (max-tokens one :max-tokens) (temperature one :temperature) (seed one :seed)
                    (stop many :stop) (options one :options) (price many :price)
                    (budget spliced :turns :tokens :usd)))))))))
