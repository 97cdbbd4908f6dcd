;;; The record of a signal: with a scope, one that a wait for the scope matches.
(define (%signal-record caller label payload)
  (cond ((not (and (pair? payload) (eq? (car payload) ':scope))) (apply record label payload))
        ((pair? (cdr payload)) (apply record 'signal label (cdr payload)))
        (else (%wrong-type caller "a scope after :scope" payload))))

;;;> Asserts a record of a label and payload: `(signal! label [:scope value] payload …)`. With a
;;;> scope the record is `<signal label scope payload …>`, which `(signal label :scope value)`
;;;> awaits. Returns its handle.
(define (signal! label . payload)
  (assert! (%signal-record 'signal! label payload)))

;;;> Sends the record of a signal as a message to all its observers: `(pulse! label [:scope value]
;;;> payload …)`.
(define (pulse! label . payload)
  (message! (%signal-record 'pulse! label payload)))

;;; A wait descriptor is a record; that of `(record label :field n :equals value)` is the record
;;; value itself.

;;;> Describes a wait for a signal: `(signal label [:scope value])`.
(define (signal label . options) (apply record 'signal label options))

;;;> Describes a wait for the result of a tool: `(tool-result :tag tag)`.
(define (tool-result . options)
  (%check-options 'tool-result options '(:tag))
  (apply record 'tool-result options))

;;;> Describes a wait for a person: `(user-input :prompt value [:tag tag])`. A prompt that is a text
;;;> is answered by a string. A record of a text and a list, such as
;;;> `(record 'ask "Write the report?" '(yes no))`, offers the members of the list as choices: the
;;;> person types the word of one or its beginning, and the answer is that member, here a symbol. The
;;;> words of `#t` and `#f` are yes and no.
(define (user-input . options)
  (%check-options 'user-input options '(:prompt :tag))
  (apply record 'user-input options))

;;;> Describes a wait until a procedure of one value returns true: `(predicate procedure [:pattern
;;;> pattern])`. The procedure is called for each value that the pattern matches; without a pattern,
;;;> for every value but those that the runtime asserts about watches, questions and proposals. The
;;;> pattern is a value of `(pattern template)`, or a quoted template, such as `'(job $n _)`.
(define (predicate procedure . options)
  (apply record 'predicate procedure
    (if (and (pair? options) (pair? (cdr options)) (eq? (car options) ':pattern))
        `(:pattern ,(%as-pattern (cadr options)) ,@(cddr options))
        options)))

;;;> Describes a wait for a duration: `(elapsed milliseconds)`. The timer starts when the wait
;;;> begins.
(define (elapsed milliseconds) (record 'elapsed milliseconds))

;;;> Suspends the fiber until the descriptor is satisfied; returns the value that satisfied it. Unlike
;;;> `await`, it ignores values from before the call.
(define (await-next descriptor) (%await descriptor #t))

;;; Waits for the first of several descriptors and calls its receiver with the value that satisfied
;;; it.
(define (%select descriptors receivers)
  (let ((chosen (%await descriptors #f)))
    ((list-ref receivers (car chosen)) (cdr chosen))))

;;;> Waits for the first of several descriptors, each written `(descriptor body ...)` or
;;;> `(descriptor => receiver)`; returns the value of its clause.
(define-syntax select
  (syntax-rules (=>)
    ((_ "clauses" (descriptor ...) (receiver ...))
     (%select (list descriptor ...) (list receiver ...)))
    ((_ "clauses" (descriptor ...) (receiver ...) (next => next-receiver) clause ...)
     (select "clauses" (descriptor ... next) (receiver ... next-receiver) clause ...))
    ((_ "clauses" (descriptor ...) (receiver ...) (next body ...) clause ...)
     (select "clauses" (descriptor ... next) (receiver ... (lambda (value) body ...)) clause ...))
    ((_ clause ...) (select "clauses" () () clause ...))))

;;;> Like `await`, but waits at most this many milliseconds; then returns the value of `otherwise`,
;;;> a procedure of no arguments, or `#f`.
(define (with-timeout milliseconds descriptor . otherwise)
  (%check-time 'with-timeout milliseconds)
  (let ((chosen (%await (list descriptor (elapsed milliseconds)) #f)))
    (cond ((eqv? (car chosen) 0) (cdr chosen))
          ((pair? otherwise) ((car otherwise)))
          (else #f))))

;;;> Suspends the fiber for this many milliseconds.
(define (sleep milliseconds)
  (%check-time 'sleep milliseconds)
  (await (elapsed milliseconds))
  (if #f #f))

;;; Calls `run` with the current facet, in a new facet that is the timer. A wait that this actor may
;;; not begin is refused here, where the program can catch it.
(define (%timer procedure milliseconds thunk run)
  (%check-time procedure milliseconds)
  (%check-await (elapsed milliseconds))
  (if (not (procedure? thunk)) (%wrong-type procedure "a procedure" thunk))
  (let ((home (current-facet)) (timer (spawn-facet!)))
    (spawn (lambda () (run home timer)) timer procedure)
    timer))

;;;> Calls `thunk` in the current facet after this many milliseconds. Returns the timer, for
;;;> `cancel!`; it ends with the current facet. Fails with `capability-denied` without
;;;> `clock/timer`, and with `bad-descriptor`.
(define (after milliseconds thunk)
  (%timer 'after milliseconds thunk
    (lambda (home timer)
      (sleep milliseconds)
      (spawn thunk home)
      (stop-facet! timer))))

;;;> Calls `thunk` in the current facet repeatedly, at this interval in milliseconds, at least 1.
;;;> Returns the timer, for `cancel!`. Fails as `after` does.
(define (every milliseconds thunk)
  (if (eqv? milliseconds 0)
      (raise (%make-condition 'bad-descriptor "every: an interval is at least 1 millisecond"
               (list milliseconds))))
  (%timer 'every milliseconds thunk
    (lambda (home timer)
      (let again ()
        (sleep milliseconds)
        (spawn thunk home)
        (again)))))

;;;> Stops a timer that `after` or `every` returned; does nothing if it has expired.
(define (cancel! timer)
  (if (not (%facet? timer)) (%wrong-type 'cancel! "a timer" timer))
  (stop-facet! timer))

;;;> Lets an entity play `role` inside this actor, in a facet of its own: `(attach-entity! role
;;;> [:config value] [:facet parent])`. Its procedure is called in this turn, after the current
;;;> fiber has parked. Returns the facet. Fails with `unknown-role`, with `capability-denied`
;;;> without `spawn`, and with `already-attached` while another entity inside this actor plays the
;;;> role.
(define (attach-entity! role . options)
  (if (not (or (symbol? role) (string? role)))
      (%wrong-type 'attach-entity! "a role, which is a symbol or a string" role))
  (%check-options 'attach-entity! options '(:config :facet))
  (let* ((parent (%option options :facet #f))
         (config (%option options :config #f))
         (attached (if parent (%attach-entity role parent) (%attach-entity role))))
    (spawn (lambda () ((cdr attached) config)) (car attached))
    (car attached)))

;;;> Calls a tool and waits for its result; raises a failure as a condition.
(define (call-tool role capability payload)
  (if (not (or (string? capability) (symbol? capability) (capability? capability)))
      (%wrong-type 'call-tool "the name of a tool or a capability for one" capability))
  (await (tool-result :tag (invoke-tool! role capability payload))))

;;;> Calls `handler` with an event for each match of `pattern`: `(added captures handle)`,
;;;> `(removed captures handle)` or `(message captures)`. Matches that are there already come first,
;;;> in a later turn. The pattern is a value of `(pattern template)`, or a quoted template, such as
;;;> `'(job $n _)`. Returns a token for `unwatch`.
(define (watch pattern handler)
  (%watch (%as-pattern pattern) handler))

;;; Returns a pattern of a pattern or a quoted template.
(define (%as-pattern given)
  (if (or (pair? given) (symbol? given) (vector? given)) (%pattern-of given) given))

;;; Returns the pattern of a quoted template, as `pattern` makes it.
(define (%pattern-of template)
  (cond ((eq? template '_) (record '_))
        ((%capture? template) (record 'bind (record '_)))
        ((vector? template) (%compound '() template))
        ((not (pair? template)) (record 'lit template))
        ((not (list? template)) (%bad-template template))
        ((null? (cdr template))
         (if (symbol? (car template)) (%compound '() template) (%bad-template template)))
        ((and (null? (cddr template)) (eq? (car template) 'quote)) (record 'lit (cadr template)))
        ((and (null? (cddr template)) (%capture? (car template)))
         (record 'bind (%pattern-of (cadr template))))
        ((and (null? (cddr template)) (eq? (car template) :exact))
         (let ((inner (cadr template)))
           (cond ((vector? inner) (%compound (list (vector-length inner)) inner))
                 ((and (pair? inner) (list? inner) (not (%capture? (car inner))))
                  (%compound (list (length (cdr inner))) inner))
                 (else (%bad-template template)))))
        (else (%compound '() template))))

;;; Returns the pattern of a compound; `size` is empty, or the number of its entries if there may be
;;; no further ones.
(define (%compound size template)
  (define (group kind keys templates)
    (let ((entries (dictionary)))
      (for-each (lambda (key template) (dictionary-set! entries key (%pattern-of template)))
                keys
                templates)
      (record 'group kind entries)))
  (define (indices list)
    (let count ((list list) (index 0))
      (if (null? list) '() (cons index (count (cdr list) (+ index 1))))))
  (cond ((vector? template)
         (let ((elements (vector->list template)))
           (group (apply record 'arr size) (indices elements) elements)))
        ((eq? (car template) :dict)
         (for-each
           (lambda (entry)
             (if (not (and (list? entry) (= (length entry) 2))) (%bad-template template)))
           (cdr template))
         (group (apply record 'dict size) (map car (cdr template)) (map cadr (cdr template))))
        ((and (symbol? (car template))
              (not (memq (car template) '(unquote quote)))
              (not (%capture? (car template))))
         (group (apply record 'rec (car template) size) (indices (cdr template)) (cdr template)))
        (else (%bad-template template))))

(define (%capture? object)
  (and (symbol? object)
       (let ((name (symbol->string object)))
         (and (> (string-length name) 1) (char=? (string-ref name 0) #\$)))))

(define (%bad-template template)
  (raise
    (%make-condition 'bad-pattern
      "a quoted template has no such part; `(pattern template)` also takes `,expression`"
      (list template))))

;;; Makes a handler of events `(kind captures [handle])` that calls `procedure` with the captures of
;;; one kind.
(define (%on kind procedure)
  (lambda (event)
    (if (eq? (record-label event) kind)
        (apply procedure (car (record-fields event))))))

;;;> Evaluates the body, with the template's captures bound, when the first matching assertion with
;;;> these captured values appears. Further assertions with the same captured values are no event:
;;;> `(on-assert (job _) ...)` sees one job or none, `(on-assert (job $name) ...)` each of them.
(define-syntax on-assert
  (syntax-rules ()
    ((_ template body ...)
     (%watch (pattern template) (%on 'added (capture-lambda template body ...))))))

;;;> Evaluates the body, with the template's captures bound, when the last matching assertion with
;;;> these captured values has disappeared.
(define-syntax on-retract
  (syntax-rules ()
    ((_ template body ...)
     (%watch (pattern template) (%on 'removed (capture-lambda template body ...))))))

;;;> Evaluates the body, with the template's captures bound, for each matching message.
(define-syntax on-message
  (syntax-rules ()
    ((_ template body ...)
     (%watch (pattern template) (%on 'message (capture-lambda template body ...))))))

;;; Watches for matches; calls `procedure` with the captures of each match that appears, in a facet
;;; that stops when the match disappears.
(define (%during pattern procedure)
  (let ((facets (dictionary)))
    (%watch pattern
      (lambda (event)
        (let ((captures (car (record-fields event))))
          (case (record-label event)
            ((added)
             (let ((facet (spawn-facet!)))
               (dictionary-set! facets captures facet)
               (spawn (lambda () (apply procedure captures)) facet)))
            ((removed)
             (let ((facet (dictionary-ref facets captures #f)))
               (dictionary-delete! facets captures)
               (if facet (stop-facet! facet))))
            (else #f)))))))

;;;> Evaluates the body, with the template's captures bound, for all matching assertions with these
;;;> captured values, in a facet that lives as long as there is one.
(define-syntax during
  (syntax-rules ()
    ((_ template body ...) (%during (pattern template) (capture-lambda template body ...)))))
