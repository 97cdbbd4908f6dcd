;;; Roles of entities that answer requests: an agent, a tool, a person. Whoever asks by `request`
;;; does not see which of them answers.

;;;> Gives the roles `agent`, `tool` and `person` to the entities `agent-entity`, `tool-entity` and
;;;> `person-entity`, so that `spawn-entity!` and `attach-entity!` can make them.
(define (register-agent-roles!)
  (register-entity! 'agent agent-entity)
  (register-entity! 'tool tool-entity)
  (register-entity! 'person person-entity))

;;;> Answers requests by asking an agent; the payload of a request is a prompt. The configuration is
;;;> the list of the arguments of `make-agent`; requests go to the agent's name. A list after
;;;> `:model` has the arguments of `make-model`. Tools are names of granted tools, because an actor
;;;> cannot hand a procedure to another.
(define (agent-entity configuration)
  (if (not (list? configuration))
      (%wrong-type 'agent-entity "a list of the arguments of make-agent" configuration))
  (let ((agent (apply make-agent (%with-model configuration))))
    (reply-to (%agent-name agent) (lambda (prompt) (ask agent prompt)))))

(define (%with-model arguments)
  (cond ((null? arguments) '())
        ((and (eq? (car arguments) :model) (pair? (cdr arguments)) (pair? (cadr arguments)))
         (cons :model (cons (apply make-model (cadr arguments)) (cddr arguments))))
        (else (cons (car arguments) (%with-model (cdr arguments))))))

;;;> Answers requests by calling a granted tool; the payload of a request is the tool's. The
;;;> configuration is a list of the name that answers, a symbol, and the name of the tool.
(define (tool-entity configuration)
  (if (not (and (list? configuration) (= (length configuration) 2)))
      (%wrong-type 'tool-entity "a list of a name and the name of a tool" configuration))
  (let ((name (car configuration)) (tool (cadr configuration)))
    (reply-to name (lambda (payload) (call-tool name tool payload)))))

;;;> Answers requests by asking the person; the payload of a request is a question as for
;;;> `user-input`. The configuration is the name that answers, or a list of the name and the shape of
;;;> the answers, as for `ask-person`; then the questions are strings.
(define (person-entity configuration)
  (if (and (list? configuration) (= (length configuration) 2))
      (let ((shape (cadr configuration)))
        (shape->schema shape)
        (reply-to (car configuration) (lambda (question) (ask-person question shape))))
      (reply-to configuration (lambda (question) (await (user-input :prompt question))))))
