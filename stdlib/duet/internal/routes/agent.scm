;;; Agents: the registrations of receivers, senders and hooks, in the order that the profile
;;; recommends, with indexes by which a cycle finds those that concern it.

(define-record-type <registration>
  (%make-registration kind name module route priority procedure direction actions triggers under
    multi)
  ;;;> Returns whether an object is a registration of an agent: a receiver, a sender or a hook.
  registration?
  ;;;> Returns the kind of a registration: `receiver`, `sender` or `hook`.
  (kind registration-kind)
  ;;;> Returns the name of a registration, a symbol.
  (name registration-name)
  (module %module)
  ;;;> Returns the route of a receiver or sender; `#f` for a hook.
  (route registration-route)
  ;;;> Returns the priority of a registration: a list of integers.
  (priority registration-priority)
  (procedure %procedure)
  (direction %direction)
  ;; Lists of actions and triggers, or #f for any; lists of triggers whose descendants match too.
  (actions %actions)
  (triggers %triggers)
  (under %under)
  (multi %multi?)
  ;; The position among the registrations of the agent; the position in the order of cycles, which
  ;; receivers of equal priority and route share; the senders that a receiver's route reaches.
  (sequence %sequence %set-sequence!)
  (rank %rank %set-rank!)
  (senders %reached %set-reached!))

(define (%bad-registration message . irritants)
  (raise (%make-condition 'bad-registration message irritants)))

(define (%check-priority priority)
  (if (not (and (list? priority) (%every-entry? exact-integer? priority)))
      (%bad-registration "a priority is a list of exact integers" priority))
  priority)

(define (%check-filter caller filter allowed)
  (if (not (or (not filter) (and (list? filter) (%every-entry? symbol? filter))))
      (%bad-registration (string-append caller " takes a list of symbols, or #f for any") filter))
  (for-each
    (lambda (name)
      (if (and allowed (not (memq name allowed)))
          (%bad-registration "an action is test, stay or move" name)))
    (or filter '()))
  (and (pair? filter) filter))

(define (%check-procedure procedure)
  (if (not (procedure? procedure)) (%bad-registration "a handler is a procedure" procedure))
  procedure)

;;; A default name tells the registrations of an agent apart in a trace.
(define (%default-name kind route priority)
  (string->symbol
    (string-append (symbol->string kind) ":"
      (if route (route->string route) (string-join (map number->string priority) ".")))))

(define (%register kind direction route procedure options)
  (let ((route (and route (->route route)))
        (priority (%check-priority (%option options :priority '()))))
    (%make-registration kind
      (or (%check-name (%option options :name #f))
          (%default-name (or direction kind) route priority))
      (%check-name (%option options :module #f))
      route priority (%check-procedure procedure) direction
      (%check-filter ":on" (%option options :on #f) '(test stay move))
      (%check-filter ":when" (%option options :when #f) #f)
      (or (%check-filter ":under" (%option options :under #f) #f) '())
      (%option options :multi #f))))

(define (%need-written-route procedure route)
  (if (not (or (route? route) (string? route) (symbol? route)))
      (%wrong-type procedure "a string, a symbol or a route" route)))

(define (%check-name name)
  (if (not (or (not name) (symbol? name))) (%bad-registration "a name is a symbol" name))
  name)

;;;> Makes a receiver: `(make-receiver route procedure [:priority integers] [:name symbol] [:module
;;;> symbol])`. In a cycle in which a source gate of the route accepts a state of the tape, the
;;;> procedure is called with the message and a context, and returns an event, or `#f`. The
;;;> priority, by default the empty list, orders receivers: shorter and smaller first.
;;;> Fails with the kinds of `->route`, and with `bad-registration`.
;;;> Source: profile, section 6.2.
(define (make-receiver route procedure . options)
  (%check-options 'make-receiver options '(:priority :name :module))
  (%need-written-route 'make-receiver route)
  (%register 'receiver #f route procedure options))

;;;> Makes a sender: `(make-sender route procedure [:on actions] [:when triggers] [:under triggers]
;;;> [:multi boolean] [:priority integers] [:name symbol] [:module symbol])`. It is eligible for an
;;;> event if the receiver's route is compatible with its own, `:on` contains the action, and
;;;> `:when` the trigger, or `:under` the trigger or one above it in the agent's tree. Without a
;;;> filter, or with an empty one, everything matches. The procedure is called with a context, once
;;;> a cycle for each key, and returns a payload, or `#f` for none; with `:multi` it returns a list
;;;> of them.
;;;> Fails with the kinds of `->route`, and with `bad-registration`.
;;;> Source: profile, section 6.4; decisions, rows 10, 11, 18 and 20.
(define (make-sender route procedure . options)
  (%check-options 'make-sender options '(:on :when :under :multi :priority :name :module))
  (%need-written-route 'make-sender route)
  (%register 'sender #f route procedure options))

;;;> Makes a hook: `(make-hook direction procedure [:priority integers] [:name symbol] [:module
;;;> symbol])`; the direction is `receive` or `send`. Hooks are called in the order of their
;;;> priorities, those of equal priority in the order of registration. Each receives the payload
;;;> that the one before returned, and returns a payload, or `#f`, which drops it.
;;;> Source: profile, section 6.1; decisions, row 12.
(define (make-hook direction procedure . options)
  (%check-options 'make-hook options '(:priority :name :module))
  (if (not (memq direction '(receive send)))
      (%bad-registration "a direction is receive or send" direction))
  (%register 'hook direction #f procedure options))

;;; The code of a registration's procedure: its library, its name or #f, and its hash.
(define (%code it) (%procedure-code (%procedure it)))

;;; The module that a registration names, or else the library of its procedure.
(define (%module-name it)
  (if (%module it) (symbol->string (%module it)) (car (%code it))))

;;; The name of a registration's procedure, or else of the registration.
(define (%function it)
  (or (cadr (%code it)) (symbol->string (registration-name it))))

(define-record-type <agent>
  (%make-agent name tape receivers senders receive-hooks send-hooks by-state narrow broad initial
    triggers policy on-error message-size tape-size)
  ;;;> Returns whether an object is an agent.
  agent?
  ;;;> Returns the name of an agent, a symbol.
  (name agent-name)
  ;;;> Returns the tape with which an agent begins.
  (tape agent-tape)
  (receivers %receivers)
  (senders %senders)
  (receive-hooks %receive-hooks)
  (send-hooks %send-hooks)
  ;; The receivers whose gates only name states, by these states, and in order; those with a gate
  ;; that accepts all or excludes states; those of initial routes.
  (by-state %by-state)
  (narrow %narrow)
  (broad %broad)
  (initial %initial)
  (triggers %trigger-tree)
  (policy %policy)
  (on-error %on-error)
  (message-size %message-size-max)
  (tape-size %tape-size-max))

;;; Compares priorities: lexicographic, a shorter one before those that it begins.
(define (%priority<? a b)
  (cond
    ((null? b) #f)
    ((null? a) #t)
    ((= (car a) (car b)) (%priority<? (cdr a) (cdr b)))
    (else (< (car a) (car b)))))

(define (%registration<? a b)
  (cond
    ((not (equal? (registration-priority a) (registration-priority b)))
     (%priority<? (registration-priority a) (registration-priority b)))
    ((registration-route a)
     (let ((text (route->string (registration-route a)))
           (other (route->string (registration-route b))))
       (if (string=? text other) (< (%sequence a) (%sequence b)) (string<? text other))))
    (else (< (%sequence a) (%sequence b)))))

(define (%of-kind registrations kind direction)
  (list-sort %registration<?
    (filter (lambda (it) (and (eq? (registration-kind it) kind) (eq? (%direction it) direction)))
      registrations)))

;;; Numbers registrations in order; equal priorities and routes share a number.
(define (%rank! registrations)
  (let loop ((rest registrations) (rank 0) (before #f))
    (if (pair? rest)
        (let* ((it (car rest))
               (same? (and before
                           (equal? (registration-priority before) (registration-priority it))
                           (string=? (route->string (registration-route before))
                             (route->string (registration-route it)))))
               (rank (if same? rank (+ rank 1))))
          (%set-rank! it rank)
          (loop (cdr rest) rank it)))))

(define (%broad-gate? token) (memq (token-kind token) '(all not)))

(define (%named-states route)
  (delete-duplicates
    (append-map
      (lambda (gate)
        (if (eq? (token-kind gate) 'plain) (list (token-name gate)) (token-members gate)))
      (route-sources route))
    eq?))

(define (%index-receivers receivers)
  (let ((by-state (dictionary)))
    (for-each
      (lambda (receiver)
        (for-each
          (lambda (state)
            (dictionary-set! by-state state (cons receiver (dictionary-ref by-state state '()))))
          (%named-states (registration-route receiver))))
      (reverse receivers))
    by-state))

;;;> Makes an agent of registrations, receivers, senders and hooks, in the order in which they are
;;;> registered: `(make-agent name registrations [:tape states] [:triggers tree] [:policy policy]
;;;> [:on-error what] [:message-size bytes] [:tape-size tokens])`. It does nothing until
;;;> `start-agent!` or `run-cycle`.
;;;>
;;;> `:tape` describes its tape, as for `->tape`; by default it is empty. `:triggers` is a tree of
;;;> `make-triggers`; the triggers of events and filters must be in it. By default every symbol is a
;;;> trigger.
;;;>
;;;> `:policy` says how a cycle changes the tape: `union`, the default, adds the tokens that it
;;;> activates; `replace` puts them in the place of those under the same key; a procedure of a tape
;;;> and a list of pairs of a key and tokens returns the tape.
;;;>
;;;> `:on-error` says what becomes of a handler that raises: `drop`, the default, drops what it
;;;> handled and adds a failure to the cycle; `pass` lets the payload of a hook pass unchanged, as
;;;> the reference implementation does; `raise` raises the object again.
;;;>
;;;> `:message-size` is the maximum size of a message and of an emission, by default 65 536 bytes;
;;;> `:tape-size` the maximum number of tokens of the tape, by default 10 000.
;;;>
;;;> Fails with `bad-registration`.
;;;> Source: profile, sections 5 and 9; decisions, rows 13 and 14.
(define (make-agent name registrations . options)
  (%check-options 'make-agent options '(:tape :triggers :policy :on-error :message-size :tape-size))
  (if (not (symbol? name)) (%bad-registration "the name of an agent is a symbol" name))
  (if (not (list? registrations)) (%wrong-type 'make-agent "a list of registrations" registrations))
  (let* ((registrations (map (lambda (it sequence) (%enrolled name it sequence))
                             registrations (iota (length registrations))))
         (receivers (%of-kind registrations 'receiver #f))
         (senders (%of-kind registrations 'sender #f))
         (tree (%option options :triggers #f)))
    (define (initial? receiver) (initial-route? (registration-route receiver)))
    (define (broad? receiver)
      (pair? (filter %broad-gate? (route-sources (registration-route receiver)))))
    (%rank! receivers)
    (%rank! senders)
    (for-each (lambda (sender) (%check-triggers tree sender)) senders)
    (%make-agent name (->tape (%option options :tape '())) receivers senders
      (%of-kind registrations 'hook 'receive) (%of-kind registrations 'hook 'send)
      (%index-receivers (remove broad? receivers)) (remove broad? receivers)
      (filter broad? receivers) (filter initial? receivers) tree
      (%check-policy (%option options :policy 'union))
      (%check-on-error (%option options :on-error 'drop))
      (%check-limit ":message-size" (%option options :message-size 65536))
      (%check-limit ":tape-size" (%option options :tape-size 10000)))))

;;; Returns a copy of a registration for one agent, because a list may serve several agents.
(define (%enrolled name it sequence)
  (if (not (registration? it)) (%bad-registration "not a receiver, sender or hook" it))
  (let ((enrolled
          (%make-registration (registration-kind it) (registration-name it) (%module it)
            (registration-route it) (registration-priority it) (%procedure it) (%direction it)
            (%actions it) (%triggers it) (%under it) (%multi? it))))
    (%set-sequence! enrolled sequence)
    (%set-reached! enrolled #f)
    enrolled))

(define (%check-policy policy)
  (if (not (or (memq policy '(union replace)) (procedure? policy)))
      (%bad-registration "a policy is union, replace or a procedure of a tape and proposals"
        policy))
  policy)

(define (%check-on-error on-error)
  (if (not (memq on-error '(drop pass raise)))
      (%bad-registration ":on-error is drop, pass or raise" on-error))
  on-error)

(define (%check-limit name limit)
  (if (not (and (exact-integer? limit) (< 0 limit)))
      (%bad-registration (string-append name " is a positive integer") limit))
  limit)

(define (%check-triggers tree sender)
  (for-each
    (lambda (trigger)
      (if (and tree (not (trigger-path tree trigger)))
          (%bad-registration "a filter names a trigger that the agent's tree does not have"
            trigger)))
    (append (or (%triggers sender) '()) (%under sender))))

;;;> Returns the registrations of an agent: receivers, senders and hooks, each in the order of
;;;> cycles.
(define (agent-registrations agent)
  (append (%receivers agent) (%senders agent) (%receive-hooks agent) (%send-hooks agent)))
