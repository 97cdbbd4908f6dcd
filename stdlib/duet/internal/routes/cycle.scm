;;; Cycles: receive hooks, receivers, tape, senders with send hooks (profile, section 6). A cycle is
;;; a function of an agent, a tape and a message; it changes nothing but what its handlers change.

;;;> An event of a receiver: an action, a trigger and data. It is the record `<event action trigger
;;;> data>`.
(define-record-type (<event> :label event)
  (%make-event action trigger data)
  ;;;> Returns whether an object is an event.
  event?
  ;;;> Returns the action of an event: `test`, `stay` or `move`.
  (action event-action)
  ;;;> Returns the trigger of an event, a symbol.
  (trigger event-trigger)
  ;;;> Returns the data of an event, or `#f`.
  (data event-data))

(define (%event action trigger data)
  (if (not (symbol? trigger)) (%wrong-type action "a symbol as the trigger" trigger))
  (%make-event action trigger (and (pair? data) (car data))))

;;;> Returns the event of an action that activates the labels of an arrow route: `(test trigger
;;;> [data])`. The trigger is a symbol.
(define (test trigger . data) (%event 'test trigger data))

;;;> Returns the event of an action that activates the sources of a route: `(stay trigger [data])`.
(define (stay trigger . data) (%event 'stay trigger data))

;;;> Returns the event of an action that activates the labels and targets of an arrow route, or the
;;;> sources of an object route: `(move trigger [data])`.
(define (move trigger . data) (%event 'move trigger data))

(define-record-type <context>
  (%make-context agent message route key state event)
  %context?
  ;;;> Returns the name of the agent of a context.
  (agent context-agent)
  ;;;> Returns the message of the cycle, as the receive hooks returned it.
  (message context-message)
  ;;;> Returns the route of the receiver to which a context belongs.
  (route context-route)
  ;;;> Returns the key of the tape entry that made the receiver eligible: a string, or `#f`.
  (key context-key)
  ;;;> Returns the state that made the receiver eligible, a token; `#f` for an initial route.
  (state context-state)
  ;;;> Returns the event for which a sender is called; `#f` in the context of a receiver.
  (event context-event))

(define-record-type <step>
  (%make-step registration input output failure)
  %step?
  ;;;> Returns the hook of a step of a cycle.
  (registration step-hook)
  ;;;> Returns the payload that a hook received.
  (input step-input)
  ;;;> Returns the payload that a hook returned, or `#f` if it dropped it.
  (output step-output)
  ;;;> Returns the object that a hook raised, or `#f`.
  (failure step-failure))

(define-record-type <activation>
  (%make-activation receiver key state event failure)
  %activation?
  ;;;> Returns the receiver of an activation, a registration.
  (receiver activation-receiver)
  ;;;> Returns the key of the tape entry that made the receiver eligible, or `#f`.
  (key activation-key)
  ;;;> Returns the state that made the receiver eligible, a token, or `#f` for an initial route.
  (state activation-state)
  ;;;> Returns the event that the receiver returned, or `#f`.
  (event activation-event)
  ;;;> Returns the object that the receiver raised, or `#f`.
  (failure activation-failure))

(define-record-type <emission>
  (%make-emission sender activation result steps payloads failure)
  %emission?
  ;;;> Returns the sender of an emission, a registration.
  (sender emission-sender)
  ;;;> Returns the activation whose event made the sender eligible.
  (activation emission-activation)
  ;;;> Returns the list of what the sender returned: of a sender that is not `multi`, of at most
  ;;;> one.
  (result emission-result)
  ;;;> Returns the steps of the send hooks, in their order.
  (steps emission-steps)
  ;;;> Returns the payloads that leave the agent, in their order.
  (payloads emission-payloads)
  ;;;> Returns the object that the sender raised, or `#f`.
  (failure emission-failure))

(define-record-type <cycle>
  (%make-cycle agent before input steps activations proposals after emissions failures)
  ;;;> Returns whether an object is a cycle.
  cycle?
  ;;;> Returns the agent of a cycle.
  (agent cycle-agent)
  ;;;> Returns the tape before a cycle.
  (before cycle-before)
  ;;;> Returns the message of a cycle, as it came.
  (input cycle-input)
  ;;;> Returns the steps of the receive hooks of a cycle, in their order.
  (steps cycle-steps)
  ;;;> Returns the activations of a cycle, in their order.
  (activations cycle-activations)
  ;;;> Returns the tokens that the activations of a cycle activate: a list of pairs of a key and a
  ;;;> list of tokens, one for each activation with an event, in their order.
  (proposals cycle-proposals)
  ;;;> Returns the tape after a cycle.
  (after cycle-after)
  ;;;> Returns the emissions of a cycle, in their order.
  (emissions cycle-emissions)
  ;;;> Returns the failures of a cycle, in their order: a list of pairs of the name of a handler, or
  ;;;> of `message` or `tape`, and a condition or another object that was raised.
  (failures cycle-failures))

;;;> Returns the payloads that a cycle emits, in their order.
(define (cycle-payloads cycle)
  (if (not (cycle? cycle)) (%wrong-type 'cycle-payloads "a cycle" cycle))
  (append-map emission-payloads (cycle-emissions cycle)))

(define (%failure kind message . irritants) (%make-condition kind message irritants))

;;; Calls `thunk`; calls `failed` with an object that it raises, unless the agent raises it.
(define (%attempt agent thunk failed)
  (if (eq? (%on-error agent) 'raise)
      (thunk)
      (let ((result
              (guard (object (#t (lambda () (failed (or object %raised-false)))))
                (let ((value (thunk))) (lambda () value)))))
        (result))))

(define %raised-false (%failure 'raised "the handler raised #f"))

;;; The size of a datum in bytes, about that of its encoding: a compound and an atom count 1, text
;;; its UTF-8 encoding. Counting ends beyond `limit`, so a circular datum has a size too.
(define (%exceeds? datum limit)
  (let loop ((work (list datum)) (size 0))
    (cond
      ((> size limit) #t)
      ((null? work) #f)
      (else
       (let ((it (car work)) (rest (cdr work)))
         (cond
           ((pair? it) (loop (cons (car it) (cons (cdr it) rest)) (+ size 1)))
           ((string? it) (loop rest (+ size 1 (%text-size it limit))))
           ((symbol? it) (loop rest (+ size 1 (%text-size (symbol->string it) limit))))
           ((bytevector? it) (loop rest (+ size 1 (bytevector-length it))))
           ((vector? it)
            (if (> (vector-length it) limit) #t (loop (append (vector->list it) rest) (+ size 1))))
           ((record? it)
            (loop (cons (record-label it) (append (record-fields it) rest)) (+ size 1)))
           ((dictionary? it)
            (loop (append (dictionary-keys it) (dictionary-values it) rest) (+ size 1)))
           ((set? it) (loop (append (set->list it) rest) (+ size 1)))
           ((exact-integer? it) (loop rest (+ size 1 (quotient (%integer-bits it) 8))))
           (else (loop rest (+ size 1)))))))))

(define (%text-size text limit)
  (if (> (string-length text) limit) (string-length text) (bytevector-length (string->utf8 text))))

(define (%integer-bits n)
  (let ((n (abs n)))
    (if (< n 4294967296) 32 (* 4 (string-length (number->string n 16))))))

(define (%too-large agent what)
  (%failure 'message-too-large
    (string-append what " is larger than the agent's :message-size") (%message-size-max agent)))

;;; Lets hooks transform a payload: calls `receive` with the payload or #f, and the steps.
(define (%run-hooks agent hooks payload receive)
  (let loop ((hooks hooks) (payload payload) (steps '()))
    (if (null? hooks)
        (receive payload (reverse steps))
        (let* ((hook (car hooks))
               (step
                 (%attempt agent
                   (lambda () (%make-step hook payload ((%procedure hook) payload) #f))
                   (lambda (object)
                     (%make-step hook
                                 payload
                                 (and (eq? (%on-error agent) 'pass) payload)
                                 object)))))
          (if (step-output step)
              (loop (cdr hooks) (step-output step) (cons step steps))
              (receive #f (reverse (cons step steps))))))))

(define (%step-failures steps)
  (filter-map
    (lambda (step)
      (and (step-failure step) (cons (registration-name (step-hook step)) (step-failure step))))
    steps))

;;; Calls `visit` with each receiver that a state may make eligible, once.
(define (%for-each-candidate agent state visit)
  (define (check receiver)
    (if (some-accepts? (route-sources (registration-route receiver)) state) (visit receiver)))
  (define (named name) (dictionary-ref (%by-state agent) name '()))
  (case (token-kind state)
    ((plain) (for-each visit (named (token-name state))))
    ((oneof) (for-each visit (delete-duplicates (append-map named (token-members state)) eq?)))
    (else (for-each check (%narrow agent))))
  (for-each check (%broad agent)))

;;; An eligible receiver, by the position of its tape entry and state.
(define-record-type <candidate>
  (%make-candidate receiver position key state)
  %candidate?
  (receiver %candidate-receiver)
  (position %candidate-position)
  (key %candidate-key)
  (state %candidate-state))

(define (%candidate<? a b)
  (let ((one (%candidate-receiver a)) (other (%candidate-receiver b)))
    (cond
      ((not (= (%rank one) (%rank other))) (< (%rank one) (%rank other)))
      ((not (= (%candidate-position a) (%candidate-position b)))
       (< (%candidate-position a) (%candidate-position b)))
      (else (< (%sequence one) (%sequence other))))))

;;; Returns the eligible receivers in the order of the profile: priority, route, key and state; then
;;; the order of registration.
(define (%eligible agent tape)
  (let ((found (map (lambda (receiver) (%make-candidate receiver 0 #f #f)) (%initial agent)))
        (position 0))
    (for-each
      (lambda (entry)
        (for-each
          (lambda (state)
            (set! position (+ position 1))
            (%for-each-candidate agent state
              (lambda (receiver)
                (set! found (cons (%make-candidate receiver position (car entry) state) found)))))
          (cdr entry)))
      (tape-entries tape))
    (list-sort %candidate<? found)))

(define (%need-agent procedure object)
  (if (not (agent? object)) (%wrong-type procedure "an agent" object)))

;;;> Returns the receivers of an agent that a tape makes eligible, in the order in which a cycle
;;;> calls them: a list of lists of a registration, a key and a state, as in an activation. Its cost
;;;> is proportional to the states of the tape and the receivers that it returns, not to the
;;;> registered ones; states other than identifiers are compared with more of them.
;;;> Source: profile, section 6.2; decisions, rows 6, 7, 16 and 17.
(define (eligible-receivers agent tape)
  (%need-agent 'eligible-receivers agent)
  (map
    (lambda (it) (list (%candidate-receiver it) (%candidate-key it) (%candidate-state it)))
    (%eligible agent (->tape tape))))

(define (%check-event agent event)
  (cond
    ((not (event? event))
     (raise (%failure 'bad-outcome
              "a receiver returns an event, as of move, stay or test, or #f" event)))
    ((and (%trigger-tree agent) (not (trigger-path (%trigger-tree agent) (event-trigger event))))
     (raise (%failure 'unknown-trigger "the agent's tree has no such trigger"
              (event-trigger event))))
    (else event)))

(define (%activate agent message candidate)
  (let* ((receiver (%candidate-receiver candidate))
         (key (%candidate-key candidate))
         (state (%candidate-state candidate))
         (context (%make-context (agent-name agent) message
                    (registration-route receiver) key state #f)))
    (%attempt agent
      (lambda ()
        (let ((event ((%procedure receiver) message context)))
          (%make-activation receiver key state (and event (%check-event agent event)) #f)))
      (lambda (object) (%make-activation receiver key state #f object)))))

(define (%proposals activations)
  (filter-map
    (lambda (it)
      (and (activation-event it)
           (cons (activation-key it)
             (route-activates (registration-route (activation-receiver it))
               (event-action (activation-event it))))))
    activations))

;;; Joins the proposals for one key.
(define (%by-key proposals)
  (let ((keys (dictionary)))
    (for-each
      (lambda (proposal)
        (dictionary-set! keys (car proposal)
          (append (dictionary-ref keys (car proposal) '()) (cdr proposal))))
      proposals)
    (dictionary->alist keys)))

(define (%commit agent tape proposals)
  (let* ((policy (%policy agent))
         (after
           (cond
             ((null? proposals) tape)
             ((eq? policy 'union) (tape-union tape (%by-key proposals)))
             ((eq? policy 'replace) (tape-replace tape (%by-key proposals)))
             (else (policy tape (%by-key proposals))))))
    (if (not (tape? after)) (raise (%failure 'bad-tape "a policy returns a tape" after)))
    (if (> (tape-size after) (%tape-size-max agent))
        (raise (%failure 'tape-too-large
                 "the tape would have more tokens than the agent's :tape-size"
                 (%tape-size-max agent))))
    after))

;;; Returns the senders whose routes are compatible with that of a receiver.
(define (%senders-of agent receiver)
  (or (%reached receiver)
      (let ((found
              (filter
                (lambda (sender)
                  (compatible? (registration-route sender) (registration-route receiver)))
                (%senders agent))))
        (%set-reached! receiver found)
        found)))

(define (%passes-filters? agent sender event)
  (let ((trigger (event-trigger event)) (tree (%trigger-tree agent)))
    (and (or (not (%actions sender)) (memq (event-action event) (%actions sender)))
         (or (and (not (%triggers sender)) (null? (%under sender)))
             (and (%triggers sender) (memq trigger (%triggers sender)))
             (any (lambda (ancestor)
                    (if tree (trigger-under? tree trigger ancestor) (eq? trigger ancestor)))
               (%under sender))))))

;;;> Returns the senders that activations make eligible, in the order in which a cycle calls them: a
;;;> list of pairs of a sender and an activation. Each sender stands there once for each key, with
;;;> the first activation that makes it eligible.
;;;> Source: profile, section 6.4; decisions, rows 10 and 11.
(define (eligible-senders agent activations)
  (%need-agent 'eligible-senders agent)
  (if (not (and (list? activations) (not (any (lambda (it) (not (%activation? it))) activations))))
      (%wrong-type 'eligible-senders "a list of activations" activations))
  (define (reached activation)
    (let ((event (activation-event activation)))
      (if event
          (filter-map
            (lambda (sender) (and (%passes-filters? agent sender event) (cons sender activation)))
            (%senders-of agent (activation-receiver activation)))
          '())))
  (let ((seen (dictionary)))
    (filter
      (lambda (pair)
        (let ((place (list (%sequence (car pair)) (activation-key (cdr pair)))))
          (and (not (dictionary-contains? seen place)) (begin (dictionary-set! seen place #t) #t))))
      (list-sort
        (lambda (a b)
          (if (= (%rank (car a)) (%rank (car b)))
              (< (%sequence (car a)) (%sequence (car b)))
              (< (%rank (car a)) (%rank (car b)))))
        (append-map reached activations)))))

(define (%check-result sender result)
  (cond
    ((not (%multi? sender))
     (if (pair? result)
         (raise (%failure 'bad-emission
                  "a sender that is not :multi returns one payload, no list" result)))
     (if (or (not result) (null? result)) '() (list result)))
    ((list? result) (filter (lambda (payload) payload) result))
    (else (raise (%failure 'bad-emission "a :multi sender returns a list of payloads" result)))))

;;; Lets the send hooks pass payloads: calls `receive` with the steps and what leaves.
(define (%send agent payloads receive)
  (let loop ((payloads payloads) (steps '()) (sent '()))
    (if (null? payloads)
        (receive steps (reverse sent))
        (%run-hooks agent (%send-hooks agent) (car payloads)
          (lambda (payload more)
            (let ((steps (append steps more)))
              (cond
                ((not payload) (loop (cdr payloads) steps sent))
                ((%exceeds? payload (%message-size-max agent))
                 (raise (%too-large agent "an emission")))
                (else (loop (cdr payloads) steps (cons payload sent))))))))))

(define (%emit agent message sender activation)
  (let ((context
          (%make-context (agent-name agent) message
            (registration-route (activation-receiver activation))
            (activation-key activation) (activation-state activation)
            (activation-event activation))))
    (%attempt agent
      (lambda ()
        (let ((result (%check-result sender ((%procedure sender) context))))
          (%send agent result
            (lambda (steps payloads) (%make-emission sender activation result steps payloads #f)))))
      (lambda (object) (%make-emission sender activation '() '() '() object)))))

(define (%failures steps activations emissions)
  (append
    (%step-failures steps)
    (filter-map
      (lambda (it)
        (and (activation-failure it)
          (cons (registration-name (activation-receiver it)) (activation-failure it))))
      activations)
    (append-map
      (lambda (it)
        (append
          (if (emission-failure it)
              (list (cons (registration-name (emission-sender it)) (emission-failure it)))
              '())
          (%step-failures (emission-steps it))))
      emissions)))

(define (%dropped agent tape message steps failures)
  (%make-cycle agent tape message steps '() '() tape '() failures))

(define (%run agent tape input message steps)
  (let* ((activations
           (map (lambda (candidate) (%activate agent message candidate)) (%eligible agent tape)))
         (proposals (%proposals activations))
         (after
           (%attempt agent
             (lambda () (%commit agent tape proposals))
             (lambda (object) (list object)))))
    (if (tape? after)
        (let ((emissions
                (map (lambda (pair) (%emit agent message (car pair) (cdr pair)))
                  (eligible-senders agent activations))))
          (%make-cycle agent tape input steps activations proposals after emissions
            (%failures steps activations emissions)))
        (%make-cycle agent tape input steps activations proposals tape '()
          (append (%failures steps activations '()) (list (cons 'tape (car after))))))))

;;;> Lets an agent handle a message with a tape, and returns the cycle. All eligible receivers are
;;;> determined before the first one runs. A message that a receive hook drops runs no receiver and
;;;> no sender. A receiver that raises, or returns neither an event nor `#f`, activates nothing; a
;;;> sender that raises emits nothing; a tape that would grow beyond the limit stays as it is, and
;;;> no sender runs. Each leaves a failure in the cycle, unless the agent's `:on-error` is `raise`.
;;;> Source: profile, section 6; decisions, rows 6 to 17.
(define (run-cycle agent tape message)
  (%need-agent 'run-cycle agent)
  (let ((tape (->tape tape)))
    (if (%exceeds? message (%message-size-max agent))
        (let ((failure (%too-large agent "a message")))
          (if (eq? (%on-error agent) 'raise) (raise failure))
          (%dropped agent tape #f '() (list (cons 'message failure))))
        (%run-hooks agent (%receive-hooks agent) message
          (lambda (passed steps)
            (if passed
                (%run agent tape message passed steps)
                (%dropped agent tape message steps (%step-failures steps))))))))
