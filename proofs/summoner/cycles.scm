;; Cycles: the application around the agent of a case.

;;; A receiver of a case: its position, its route or #f, its script, and how often it was activated.
(define-record-type <actor>
  (make-actor position name route script count outcomes)
  actor?
  (position actor-position)
  (name actor-name)
  (route actor-route)
  (script actor-script)
  (count actor-count set-count!)
  ;; The outcomes of this cycle by place, or #f until the receiver is called.
  (outcomes actor-outcomes set-outcomes!))

;;; The tape that the application keeps, in its own order: a list of lists of a key and texts.
(define (tape-of json)
  (cond
    ((string? json) (list (list #f json)))
    ((vector? json) (list (cons #f (vector->list json))))
    ((and (list? json) (every? (lambda (entry) (states? (cdr entry))) json))
     (map (lambda (entry)
            (cons (car entry)
              (if (string? (cdr entry)) (list (cdr entry)) (vector->list (cdr entry))))) json))
    (else '())))

(define (states? json)
  (or (string? json) (and (vector? json) (every? string? (vector->list json)))))

(define (indexed? json) (not (or (string? json) (vector? json))))

(define (->library-tape entries is-indexed)
  (if is-indexed
      (->tape (let ((index (dictionary)))
                (for-each (lambda (entry) (dictionary-set! index (car entry) (cdr entry))) entries)
                index))
      (->tape (if (null? entries) '() (cdar entries)))))

;;; Calls `visit` with each key and state that a route accepts, once for each gate, in the order in
;;; which the reference counts activations: key, state, gate.
(define (for-each-gate route entries visit)
  (if (initial-route? route) (visit #f #f))
  (for-each
    (lambda (entry)
      (for-each
        (lambda (state)
          (for-each (lambda (gate) (if (accepts? gate (->token state)) (visit (car entry) state)))
            (route-sources route)))
        (cdr entry)))
    entries))

;;; The n-th outcome of a script belongs to the n-th activation as the reference counts; a receiver
;;; that is activated once for a state has the first of that state.
(define (draw-outcomes! actor entries)
  (let ((outcomes (dictionary)))
    (for-each-gate (actor-route actor) entries
      (lambda (key state)
        (let ((place (list key state)) (count (actor-count actor)))
          (if (not (dictionary-contains? outcomes place))
              (dictionary-set! outcomes place (nth (actor-script actor) count)))
          (set-count! actor (+ count 1)))))
    (set-outcomes! actor outcomes)))

(define (registered json label make)
  (attempt-unless-fault (lambda () (make json))
    (lambda (object) (cons (cons label (field json "name" 'null)) (problem object)))))

(define (sender-of json)
  (make-sender (text (field json "route" 'null) "route") (lambda (context) (emission-of json))
    :name (string->symbol (text (field json "name" "sender") "name"))
    :multi (eq? (field json "multi" 'false) 'true)
    :on (filter-names (field json "on_actions" 'null) "on_actions" string-downcase)
    :when (filter-names (field json "on_triggers" 'null) "on_triggers" (lambda (it) it))))

;;; What a case does, in one place: its agent, its receivers, its tape.
(define-record-type <stage>
  (make-stage agent actors problems tape is-indexed commit)
  stage?
  (agent stage-agent)
  (actors stage-actors)
  (problems stage-problems)
  (tape stage-tape set-stage-tape!)
  (is-indexed stage-indexed?)
  (commit stage-commit))

(define (receiver-of json position now)
  (let* ((name (text (field json "name" "receiver") "name"))
         (actor (make-actor position name (->route (text (field json "route" 'null) "route"))
                  (script-of json) 0 #f)))
    (cons actor
      (make-receiver (actor-route actor)
        (lambda (message context)
          (if (not (actor-outcomes actor)) (draw-outcomes! actor (now)))
          (let ((state (context-state context)))
            ((dictionary-ref (actor-outcomes actor)
               (list (context-key context) (and state (token->string state)))))))
        :name (string->symbol name) :priority (priority-of json)))))

(define (stage-of json)
  (define stage #f)
  (define (now) (stage-tape stage))
  (define (numbered list) (map cons list (iota (length list))))
  (let* ((receivers
           (map (lambda (it)
                  (registered (car it) "receiver" (lambda (json) (receiver-of json (cdr it) now))))
             (numbered (items (field json "receivers" '#()) "receivers"))))
         (actors (filter (lambda (it) (actor? (car it))) receivers))
         (senders (map (lambda (it) (registered it "sender" sender-of))
                    (items (field json "senders" '#()) "senders")))
         (hooks (map hook-of (items (field json "hooks" '#()) "hooks")))
         (agent
           (make-agent 'case
             (append (map cdr actors) (filter registration? senders) hooks)
             :policy (lambda (tape proposals) tape))))
    (set! stage
      (make-stage agent (map car actors)
        (append (remove (lambda (it) (actor? (car it))) receivers) (remove registration? senders))
        (canonical-tape (tape-of (field json "tape" 'null)))
        (indexed? (field json "tape" 'null))
        (field json "commit" "union")))
    stage))

;;; States as canonical texts; a state that is no token is a problem of the case.
(define (canonical-tape entries)
  (map (lambda (entry)
         (cons (car entry) (map (lambda (it) (token->string (->token it))) (cdr entry)))) entries))

;;; The activations in the order in which the reference's application commits them: by priority,
;;; then as registered, then as the tape stands.
(define (commit-order stage cycle)
  (let ((places (dictionary)) (ranks (dictionary)) (entries (stage-tape stage)))
    (define (rank! table key)
      (if (not (dictionary-contains? table key))
          (dictionary-set! table key (dictionary-count table))))
    (for-each (lambda (actor) (rank! ranks (actor-name actor))) (stage-actors stage))
    (rank! places (list #f #f))
    (for-each
      (lambda (entry)
        (for-each (lambda (state) (rank! places (list (car entry) state))) (cdr entry))) entries)
    (let ((sorted
            (list-sort (lambda (a b) (list<? (car a) (car b)))
              (map
                (lambda (it)
                  (cons
                    (list (dictionary-ref ranks
                            (symbol->string (registration-name (activation-receiver it))))
                          (dictionary-ref places (list (activation-key it) (state-text it))))
                    it))
                (cycle-activations cycle)))))
      (list-sort
        (lambda (a b)
          (list<? (registration-priority (activation-receiver a))
            (registration-priority (activation-receiver b))))
        (map cdr sorted)))))

(define (list<? a b)
  (cond ((null? b) #f)
    ((null? a) #t)
    ((= (car a) (car b)) (list<? (cdr a) (cdr b)))
    (else (< (car a) (car b)))))

(define (state-text activation)
  (and (activation-state activation) (token->string (activation-state activation))))

(define (activated activation)
  (let ((event (activation-event activation)))
    (if event
        (map token->string
          (route-activates (registration-route (activation-receiver activation))
            (event-action event)))
        '())))

(define (adjoin texts more)
  (fold (lambda (it texts) (if (member it texts) texts (append texts (list it)))) texts more))

;;; What the application of the case commits. The reference proposes to it, with every batch, all
;;; keys of the tape, most of them without a state; so the mode `replace` empties a key for which
;;; nothing is activated, if any receiver ran. It keeps nothing of the key of initial routes in an
;;; indexed tape.
(define (commit stage activations)
  (let ((proposed (dictionary)) (is-indexed (stage-indexed? stage)) (mode (stage-commit stage)))
    (define (propose! it)
      (let ((key (activation-key it)))
        (if (or key (not is-indexed))
            (dictionary-set! proposed key
              (append (dictionary-ref proposed key '()) (activated it))))))
    (define (commit-entry entry)
      (let ((texts (dictionary-ref proposed (car entry) '())))
        (cons (car entry) (adjoin (if (equal? mode "replace") '() (cdr entry)) texts))))
    (for-each propose! activations)
    (if (or (equal? mode "keep") (null? activations))
        (stage-tape stage)
        (let ((known (map car (stage-tape stage))))
          (map commit-entry
            (append (stage-tape stage)
              (map list (remove (lambda (key) (member key known)) (dictionary-keys proposed)))))))))

;; Traces of cycles.

(define (tape-trace entries is-indexed)
  (if is-indexed
      (list->vector
        (map (lambda (entry) (vector (or (car entry) 'null) (list->vector (cdr entry)))) entries))
      (list->vector (append-map cdr entries))))

(define (event-trace event)
  (if event
      (list (cons "action" (string-upcase (symbol->string (event-action event))))
            (cons "trigger" (symbol->string (event-trigger event))))
      'null))

(define (step-trace direction)
  (lambda (step)
    (list (cons "hook" (symbol->string (registration-name (step-hook step))))
          (cons "direction" direction)
          (cons "in" (payload-> (step-input step)))
          (cons "out"
            (if (step-failure step) (list (cons "raised" 'true)) (payload-> (step-output step)))))))

(define (priority-trace registration) (list->vector (registration-priority registration)))

(define (activation-trace it)
  (let ((receiver (activation-receiver it)))
    (append
      (list (cons "priority" (priority-trace receiver))
            (cons "receiver" (symbol->string (registration-name receiver)))
            (cons "route" (route->string (registration-route receiver)))
            (cons "key" (or (activation-key it) 'null))
            (cons "initial" (truth (not (activation-state it))))
            (cons "state" (or (state-text it) 'null))
            (cons "outcome" (event-trace (activation-event it)))
            (cons "activates" (list->vector (activated it))))
      (if (activation-failure it) (problem (activation-failure it)) '()))))

(define (emission-trace it)
  (let ((activation (emission-activation it)))
    (append
      (list (cons "sender" (symbol->string (registration-name (emission-sender it))))
            (cons "route" (route->string (registration-route (emission-sender it))))
            (cons "key" (or (activation-key activation) 'null))
            (cons "event" (event-trace (activation-event activation)))
            (cons "result" (list->vector (map payload-> (emission-result it)))))
      (if (emission-failure it) (problem (emission-failure it)) '()))))

(define (delta-trace before after is-indexed)
  (let ((delta (tape-delta (->library-tape before is-indexed) (->library-tape after is-indexed))))
    (define (side pairs)
      (list->vector
        (map (lambda (pair)
               (if is-indexed
                   (vector (car pair) (token->string (cdr pair)))
                   (token->string (cdr pair)))) pairs)))
    (list (cons "added" (side (car delta))) (cons "removed" (side (cdr delta))))))

(define (each trace list) (list->vector (map trace list)))

;;; Lets the agent handle a message, commits, and returns the trace.
(define (cycle! stage message)
  (for-each (lambda (actor) (set-outcomes! actor #f)) (stage-actors stage))
  (let* ((is-indexed (stage-indexed? stage))
         (before (stage-tape stage))
         (input (->payload (list (cons "remote_addr" "peer") (cons "content" message))))
         (cycle (run-cycle (stage-agent stage) (->library-tape before is-indexed) input))
         (after (commit stage (commit-order stage cycle))))
    (set-stage-tape! stage after)
    (list (cons "pre_tape" (tape-trace before is-indexed))
          (cons "receive_hooks" (each (step-trace "RECEIVE") (cycle-steps cycle)))
          (cons "activations" (each activation-trace (cycle-activations cycle)))
          (cons "post_tape" (tape-trace after is-indexed))
          (cons "delta" (delta-trace before after is-indexed))
          (cons "sender_invocations" (each emission-trace (cycle-emissions cycle)))
          (cons "send_hooks"
            (each (step-trace "SEND") (append-map emission-steps (cycle-emissions cycle))))
          (cons "emitted" (each payload-> (cycle-payloads cycle)))
          (cons "failures"
            (each (lambda (it) (cons (cons "at" (symbol->string (car it))) (problem (cdr it))))
              (cycle-failures cycle))))))

;;; The cycles of a case. `tapes` are tapes from which single cycles begin instead of where the last
;;; one ended: the reference's, if there is one.
(define (cycles-trace case tapes)
  (let ((stage (stage-of case)))
    (define (traces)
      (let loop ((messages (items (field case "messages" '#()) "messages"))
                 (tapes tapes)
                 (done '()))
        (if (null? messages)
            (reverse done)
            (begin
              (if (pair? tapes) (set-stage-tape! stage (car tapes)))
              (loop (cdr messages) (if (pair? tapes) (cdr tapes) '())
                (cons (cycle! stage (car messages)) done))))))
    (append
      (if (null? (stage-problems stage))
          '()
          (list (cons "registration_errors" (list->vector (stage-problems stage)))))
      (list (cons "cycles" (list->vector (traces))))
      (if (eq? (field case "dna" 'false) 'true)
          (list (cons "dna" (read-json-text (agent-dna (stage-agent stage)))))
          '()))))

;;; The trace of a case.
(define (trace-of case tapes)
  (let* ((read (read-styles case)) (styles (car read)))
    (define (section name make)
      (if (assoc name case) (list (cons name (make (items (field case name '#()) name)))) '()))
    (append
      (list (cons "name" (text (field case "name" "") "name"))
        (cons "profile" route-profile))
      (if (null? (cdr read)) '() (list (cons "style_errors" (list->vector (cdr read)))))
      (section "nodes" (lambda (list) (each (lambda (it) (token-trace (text it "nodes"))) list)))
      (section "parse"
        (lambda (list) (each (lambda (it) (route-trace (text it "parse") styles)) list)))
      (section "accepts"
        (lambda (list)
          (each (lambda (it)
                  (pair-trace it "accepts" (lambda (a b) (accepts? (->token a) (->token b)))))
                list)))
      (section "compat"
        (lambda (list)
          (each (lambda (it)
                  (pair-trace it "compat"
                    (lambda (a b) (compatible? (->route a styles) (->route b styles))))) list)))
      (if (assoc "signals" case)
          (let ((tree (tree-of (field case "triggers" '()))))
            (list (cons "signals"
                    (each (signal-trace tree) (items (field case "signals" '#()) "signals")))))
          '())
      (cond
        ((not (assoc "receivers" case)) '())
        ((eq? (field case "flow" 'true) 'false) (list (cons "outside" "flow off")))
        (else
         (attempt-unless-fault (lambda () (cycles-trace case tapes))
           (lambda (object) (list (cons "run_error" (problem object))))))))))
