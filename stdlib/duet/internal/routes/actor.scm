;;; Agents as part of an actor: the tape is kept as assertions, messages come and go through the
;;; dataspace, and each cycle leaves its trace there, so the journal has all of them.

(define-record-type <running>
  (%make-running agent tape handles waiting is-busy)
  %running?
  (agent %running-agent)
  (tape %running-tape %set-running-tape!)
  ;; The handle of the assertion of each key and token.
  (handles %handles)
  ;; The messages that wait for the cycle to end, the newest first.
  (waiting %waiting %set-waiting!)
  (is-busy %busy? %set-busy!))

(define (%place key token) (list key (token-name token)))

(define (%activate-state! running key token)
  (dictionary-set! (%handles running) (%place key token)
    (assert! (record 'tape (agent-name (%running-agent running)) key (token-name token)))))

(define (%deactivate-state! running key token)
  (let ((handle (dictionary-ref (%handles running) (%place key token) #f)))
    (dictionary-delete! (%handles running) (%place key token))
    (if handle (retract! handle))))

(define (%set-tape! running tape)
  (let ((delta (tape-delta (%running-tape running) tape)))
    (for-each (lambda (pair) (%deactivate-state! running (car pair) (cdr pair))) (cdr delta))
    (for-each (lambda (pair) (%activate-state! running (car pair) (cdr pair))) (car delta))
    (%set-running-tape! running tape)))

;;; Each failure is logged, so that a person sees it.
(define (%log-failures name failures)
  (for-each
    (lambda (failure)
      (log! (list 'agent name (car failure) 'failed (%failure-kind (cdr failure))
              (%failure-text (cdr failure)))))
    failures))

(define (%failure-kind object) (if (condition? object) (condition-kind object) 'raised))

(define (%failure-text object)
  (if (condition? object)
      (condition-message object)
      (let ((port (open-output-string)))
        (write object port)
        (get-output-string port))))

(define (%handle! running message)
  (let* ((agent (%running-agent running))
         (name (agent-name agent))
         (cycle (run-cycle agent (%running-tape running) message)))
    (%set-tape! running (cycle-after cycle))
    (for-each (lambda (payload) (message! (record 'route/emit name payload)))
      (cycle-payloads cycle))
    (message! (cycle->record cycle))
    (%log-failures name (cycle-failures cycle))))

;;; Handles the waiting messages in their order. A handler that waits, as for a tool, delays those
;;; behind it.
(define (%drain! running)
  (let ((messages (reverse (%waiting running))))
    (%set-waiting! running '())
    (if (null? messages)
        (%set-busy! running #f)
        (begin
          (for-each (lambda (message) (%handle! running message)) messages)
          (%drain! running)))))

(define (%receive! running message)
  (%set-waiting! running (cons message (%waiting running)))
  (if (not (%busy? running))
      (begin
        (%set-busy! running #t)
        (%drain! running))))

(define (%begin! agent)
  (let ((running (%make-running agent (%make-tape 'many '()) (dictionary) '() #f))
        (name (agent-name agent)))
    (%set-tape! running (agent-tape agent))
    (on-message (route/deliver ,name $message) (%receive! running message))))

;;;> Starts an agent in this actor, in a facet of its own, and returns the facet; stopping it ends
;;;> the agent. From the next turn on the agent handles each message `<route/deliver name message>`,
;;;> in order, one after the other. Its tape is kept as assertions `<tape name key token>`: the key
;;;> is a string or `#f`, the token a symbol. A cycle changes them, sends a message `<route/emit
;;;> name payload>` for each payload, and one with its trace, as of `cycle->record`, all in the turn
;;;> in which the last handler returns. A failure of a handler is logged too.
;;;> Source: profile, section 6; decisions, row 14.
(define (start-agent! agent)
  (if (not (agent? agent)) (%wrong-type 'start-agent! "an agent" agent))
  (let ((facet (spawn-facet!)))
    (spawn (lambda () (%begin! agent)) facet)
    facet))

;;;> Sends a message to the agents of a name: `<route/deliver name message>`.
(define (deliver! name message) (message! (record 'route/deliver name message)))

(define (%entries-datum tape)
  (map (lambda (entry) (cons (car entry) (map token-name (cdr entry)))) (tape-entries tape)))

(define (%pairs-datum pairs) (map (lambda (pair) (list (car pair) (token-name (cdr pair)))) pairs))

(define (%step-datum step)
  (list (registration-name (step-hook step))
        (cond ((step-failure step) 'failed) ((step-output step) 'passed) (else 'dropped))))

(define (%route-symbol registration)
  (string->symbol (route->string (registration-route registration))))

(define (%event-datum event) (and event (list (event-action event) (event-trigger event))))

(define (%activation-datum it)
  (list (registration-name (activation-receiver it))
        (%route-symbol (activation-receiver it))
        (activation-key it)
        (and (activation-state it) (token-name (activation-state it)))
        (%event-datum (activation-event it))))

(define (%emission-datum it)
  (list (registration-name (emission-sender it))
        (%route-symbol (emission-sender it))
        (activation-key (emission-activation it))
        (%event-datum (activation-event (emission-activation it)))
        (map %step-datum (emission-steps it))
        (length (emission-payloads it))))

;;;> Returns the trace of a cycle, which the dataspace can hold: `<route/cycle agent tape hooks
;;;> activations delta emissions failures>`. `tape` lists, for each key, the key and the states
;;;> before the cycle; `hooks` the name of each receive hook and `passed`, `dropped` or `failed`;
;;;> `activations` the name, route, key, state and event, a list of action and trigger or `#f`, of
;;;> each receiver; `delta` the list of added and the list of removed pairs of a key and a state;
;;;> `emissions` the name, route, key, event, hooks and number of payloads of each sender;
;;;> `failures` the name of a handler, or `message` or `tape`, the kind and the message.
;;;> Source: profile, section 8.
(define (cycle->record cycle)
  (if (not (cycle? cycle)) (%wrong-type 'cycle->record "a cycle" cycle))
  (let ((delta (tape-delta (cycle-before cycle) (cycle-after cycle))))
    (record 'route/cycle (agent-name (cycle-agent cycle))
      (%entries-datum (cycle-before cycle))
      (map %step-datum (cycle-steps cycle))
      (map %activation-datum (cycle-activations cycle))
      (list (%pairs-datum (car delta)) (%pairs-datum (cdr delta)))
      (map %emission-datum (cycle-emissions cycle))
      (map (lambda (it) (list (car it) (%failure-kind (cdr it)) (%failure-text (cdr it))))
        (cycle-failures cycle)))))

;;; The tape that the clause `(tape part ...)` of `define-agent` describes.
(define (%tape-clause parts)
  (cond
    ((null? parts) '())
    ((and (null? (cdr parts)) (pair? (car parts)) (eq? (caar parts) 'index))
     (let pair-up ((rest (cdar parts)))
       (cond
         ((null? rest) '())
         ((null? (cdr rest))
          (%bad-tape "an index is written (index key state ...), a state for each key" parts))
         (else (cons (cons (car rest) (cadr rest)) (pair-up (cddr rest)))))))
    ((null? (cdr parts)) (car parts))
    (else parts)))

;;;> Defines an agent: `(define-agent name clause ...)`. Receivers, senders and hooks are registered
;;;> in the order of the clauses. Priorities, which are lists of integers, and options are written
;;;> without quotes; routes and procedures are expressions.
;;;>
;;;> `(tape state ...)` and `(tape (index key state ...))` describe the tape. A state is an
;;;> identifier, a string such as `"/not(A)"`, or in an index a list of them. `(triggers branch
;;;> ...)` is the tree of triggers, as for `make-triggers`.
;;;>
;;;> `(on-receive-hook priority procedure)`, `(on-send-hook priority procedure)`, `(receiver route
;;;> option ... procedure)` and `(sender route option ... procedure)` take what `make-hook`,
;;;> `make-receiver` and `make-sender` take. `(policy expression)`, `(on-error name)`,
;;;> `(message-size bytes)` and `(tape-size tokens)` are the options of `make-agent`.
(define-syntax define-agent
  (syntax-rules ()
    ((_ name clause ...) (define name (%agent-of name () () clause ...)))))

(define-syntax %agent-of
  (syntax-rules
      (tape triggers policy on-error message-size tape-size on-receive-hook on-send-hook receiver
        sender)
    ((_ name (registration ...) (option ...))
     (make-agent 'name (list registration ...) option ...))
    ((_ name registrations (option ...) (tape part ...) clause ...)
     (%agent-of name registrations (option ... :tape (%tape-clause '(part ...))) clause ...))
    ((_ name registrations (option ...) (triggers branch ...) clause ...)
     (%agent-of name registrations (option ... :triggers (make-triggers '(branch ...))) clause ...))
    ((_ name registrations (option ...) (policy expression) clause ...)
     (%agent-of name registrations (option ... :policy expression) clause ...))
    ((_ name registrations (option ...) (on-error what) clause ...)
     (%agent-of name registrations (option ... :on-error 'what) clause ...))
    ((_ name registrations (option ...) (message-size bytes) clause ...)
     (%agent-of name registrations (option ... :message-size bytes) clause ...))
    ((_ name registrations (option ...) (tape-size tokens) clause ...)
     (%agent-of name registrations (option ... :tape-size tokens) clause ...))
    ((_ name (registration ...) options (on-receive-hook priority procedure) clause ...)
     (%agent-of name
       (registration ... (make-hook 'receive procedure :priority 'priority)) options clause ...))
    ((_ name (registration ...) options (on-send-hook priority procedure) clause ...)
     (%agent-of name
       (registration ... (make-hook 'send procedure :priority 'priority)) options clause ...))
    ((_ name (registration ...) options (receiver route option ... procedure) clause ...)
     (%agent-of name
       (registration ... (apply make-receiver route procedure '(option ...))) options clause ...))
    ((_ name (registration ...) options (sender route option ... procedure) clause ...)
     (%agent-of name
       (registration ... (apply make-sender route procedure '(option ...))) options clause ...))))
