;;; Rounds of work: review and revision, debate, and conversations that are made shorter.

;;;> Improves a piece of work until a review finds nothing: `(review-ratchet work review revise
;;;> [:rounds n] [:patience n] [:measure procedure])`. `review` takes the work and returns a list of
;;;> issues; `revise` takes the work and its issues and returns new work. New work counts only if
;;;> its review measures less than that of the best work so far, by default by the number of
;;;> issues; otherwise the next round revises the best work again. So the work never becomes worse.
;;;> `:measure` takes a list of issues and returns a number. Ends after `:rounds` revisions, by
;;;> default 5, and after `:patience` of them in a row, by default 2, that were no better. Returns
;;;> two values, the best work and the issues that it still has.
(define (review-ratchet work review revise . options)
  (%need-thunks 'review-ratchet (list review revise))
  (%check-options 'review-ratchet options '(:rounds :patience :measure))
  (let ((rounds (%option options :rounds 5))
        (patience (%option options :patience 2))
        (measure (%option options :measure length)))
    (let loop ((best work) (issues (review work)) (round 0) (failed 0))
      (if (or (null? issues) (>= round rounds) (>= failed patience))
          (values best issues)
          (let* ((revised (revise best issues)) (found (review revised)))
            (if (< (measure found) (measure issues))
                (loop revised found (+ round 1) 0)
                (loop best issues (+ round 1) (+ failed 1))))))))

;;;> Lets agents answer a question, see the answers of the others and answer again, and lets a judge
;;;> decide: `(debate question agents judge [:rounds n])`. In each round, of which there are
;;;> `:rounds`, by default 2, all agents answer at the same time. A debate in which all agents give
;;;> equal replies ends early. The judge receives the question and the last replies. Returns two
;;;> values, the reply of the judge and the rounds: a list of lists of pairs of the name of an agent
;;;> and its reply.
(define (debate question agents judge . options)
  (if (not (and (pair? agents) (list? agents) (not (find (lambda (it) (not (agent? it))) agents))))
      (%wrong-type 'debate "a list of agents" agents))
  (if (not (agent? judge)) (%wrong-type 'debate "an agent" judge))
  (%check-options 'debate options '(:rounds))
  (let ((count (%option options :rounds 2)) (question (%prompt-text (%agent-name judge) question)))
    (if (not (%count? count)) (%wrong-type 'debate "a number from 1 after :rounds" count))
    (let loop ((conversations (map (lambda (agent) '()) agents))
               (prompts (map (lambda (agent) question) agents))
               (rounds '())
               (left count))
      (let* ((answers (par-map %answer-as (map list agents conversations prompts)))
             (round (map (lambda (agent answer) (cons (%agent-name agent) (car answer)))
                      agents answers))
             (rounds (cons round rounds)))
        (if (or (= left 1) (%agreed? round))
            (values (ask judge (cons question (map %spoken round))) (reverse rounds))
            (loop (map cdr answers) (map (lambda (agent) (%objections agent round)) agents) rounds
              (- left 1)))))))

;;; Continues the conversation of an agent; returns a pair of its reply and the conversation.
(define (%answer-as turn)
  (call-with-values (lambda () (apply converse turn)) cons))

(define (%agreed? round)
  (let ((first (cdar round)))
    (not (find (lambda (pair) (not (equal? (cdr pair) first))) (cdr round)))))

;;; Returns what an agent said as a part of a prompt.
(define (%spoken pair)
  (%fenced (string-append (symbol->string (car pair)) " says:")
    (if (string? (cdr pair)) (cdr pair) (value->json (cdr pair)))))

(define (%objections agent round)
  (append
    (map %spoken
      (filter (lambda (pair) (not (eq? (car pair) (%agent-name agent)))) round))
    (list "These are the replies of the others. Reply again: keep yours or change it.")))

;;; Returns the position at which a conversation can be cut so that at least `count` messages
;;; remain: never between a call of a tool and its result.
(define (%cut messages count)
  (let back ((index (max 0 (- (length messages) count))))
    (if (and (> index 0) (equal? (dictionary-ref (list-ref messages index) 'role) "tool"))
        (back (- index 1))
        index)))

;;;> Returns a procedure for `:compact` that keeps the first message of a conversation, which says
;;;> what there is to do, and the last ones, at least `count`; a call of a tool stays together with
;;;> its result.
(define (keep-last count)
  (if (not (%count? count)) (%wrong-type 'keep-last "a number of messages from 1" count))
  (lambda (messages)
    (let ((cut (%cut messages count)))
      (if (<= cut 1) messages (cons (car messages) (list-tail messages cut))))))

;;;> Returns a procedure for `:compact` that lets an agent summarize: `(summarize-after agent length
;;;> count)`. A conversation of more than `length` messages becomes its first message, with the
;;;> agent's summary of those that follow, and the last messages, at least `count`.
(define (summarize-after agent length-max count)
  (if (not (agent? agent)) (%wrong-type 'summarize-after "an agent" agent))
  (if (not (and (%count? length-max) (%count? count) (< count length-max)))
      (%wrong-type 'summarize-after "a length greater than the number of messages that remain"
        (list length-max count)))
  (lambda (messages)
    (let ((cut (%cut messages count)))
      (if (or (<= (length messages) length-max) (<= cut 1))
          messages
          (let ((summary
                  (ask agent
                    (cons "Summarize this conversation for the one who goes on with it."
                      (map %spoken-message (list-head messages cut))))))
            (cons (%with-summary (car messages) summary) (list-tail messages cut)))))))

(define (%spoken-message message)
  (let ((calls (dictionary-ref message 'tool_calls '()))
        (content (dictionary-ref message 'content)))
    (%fenced (string-append (dictionary-ref message 'role) ":")
      (if (null? calls) content (string-append content " " (value->json calls))))))

(define (%with-summary message summary)
  (%message (dictionary-ref message 'role)
    (string-append (dictionary-ref message 'content) "\n\n"
      (%fenced "Summary of the conversation since:" summary))))
