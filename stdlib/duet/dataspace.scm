;;;> Asserts a record of a label and payload; returns its handle.
(define (signal! label . payload)
  (assert! (apply record label payload)))

;;;> Sends a record of a label and payload as a message to all its observers.
(define (pulse! label . payload)
  (message! (apply record label payload)))

;;; A wait descriptor is a record; that of `(record label :field n :equals value)` is the record
;;; value itself.

;;;> Describes a wait for a signal: `(signal label [:scope value])`.
(define (signal label . options) (apply record 'signal label options))

;;;> Describes a wait for the result of a tool: `(tool-result :tag tag)`.
(define (tool-result . options) (apply record 'tool-result options))

;;;> Describes a wait for a person: `(user-input :prompt value [:tag tag])`.
(define (user-input . options) (apply record 'user-input options))

;;;> Describes a wait until a procedure of one value returns true: `(predicate procedure [:pattern
;;;> pattern])`.
(define (predicate procedure . options) (apply record 'predicate procedure options))

;;;> Describes a wait for a duration: `(elapsed milliseconds)`. The timer starts when the wait
;;;> begins.
(define (elapsed milliseconds) (record 'elapsed milliseconds))

;;;> Suspends the fiber until the descriptor is satisfied; returns the value that satisfied it.
(define (await descriptor) (%await descriptor #f))

;;;> Like `await`, but ignores values from before the call.
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
    ((_ "clauses" (descriptor ...) (receiver ...)) (%select (list descriptor ...) (list receiver ...)))
    ((_ "clauses" (descriptor ...) (receiver ...) (next => next-receiver) clause ...)
     (select "clauses" (descriptor ... next) (receiver ... next-receiver) clause ...))
    ((_ "clauses" (descriptor ...) (receiver ...) (next body ...) clause ...)
     (select "clauses" (descriptor ... next) (receiver ... (lambda (value) body ...)) clause ...))
    ((_ clause ...) (select "clauses" () () clause ...))))

;;;> Like `await`, but waits at most this many milliseconds; then returns the value of `otherwise`,
;;;> a procedure of no arguments, or `#f`.
(define (with-timeout milliseconds descriptor . otherwise)
  (let ((chosen (%await (list descriptor (elapsed milliseconds)) #f)))
    (cond ((eqv? (car chosen) 0) (cdr chosen))
          ((pair? otherwise) ((car otherwise)))
          (else #f))))

;;;> Suspends the fiber for this many milliseconds.
(define (sleep milliseconds)
  (await (elapsed milliseconds))
  (if #f #f))

;;; Calls `run` with the current facet, in a new facet that is the timer.
(define (%timer run)
  (let ((home (current-facet)) (timer (spawn-facet!)))
    (spawn (lambda () (run home timer)) timer)
    timer))

;;;> Calls `thunk` in the current facet after this many milliseconds. Returns the timer, for
;;;> `cancel!`; it ends with the current facet.
(define (after milliseconds thunk)
  (%timer (lambda (home timer)
            (sleep milliseconds)
            (spawn thunk home)
            (stop-facet! timer))))

;;;> Calls `thunk` in the current facet repeatedly, at this interval in milliseconds. Returns the
;;;> timer, for `cancel!`.
(define (every milliseconds thunk)
  (%timer (lambda (home timer)
            (let again ()
              (sleep milliseconds)
              (spawn thunk home)
              (again)))))

;;;> Stops a timer that `after` or `every` returned; does nothing if it has expired.
(define (cancel! timer) (stop-facet! timer))

;;; Returns the value after a keyword in a list of keywords and values.
(define (%option options keyword default)
  (cond ((null? options) default)
        ((null? (cdr options)) (%wrong-type 'attach-entity! "a keyword and a value" options))
        ((eq? (car options) keyword) (cadr options))
        (else (%option (cddr options) keyword default))))

;;;> Lets an entity play `role` inside this actor, in a facet of its own: `(attach-entity! role
;;;> [:config value] [:facet parent])`. Its procedure is called in this turn, after the current
;;;> fiber has parked. Returns the facet. Fails with `unknown-role`, and with `already-attached`
;;;> while another entity inside this actor plays the role.
(define (attach-entity! role . options)
  (let* ((parent (%option options ':facet #f))
         (config (%option options ':config #f))
         (attached (if parent (%attach-entity role parent) (%attach-entity role))))
    (spawn (lambda () ((cdr attached) config)) (car attached))
    (car attached)))

;;;> Calls a tool and waits for its result; raises a failure as a condition.
(define (call-tool role capability payload)
  (let ((tag (generate-request-id! role capability)))
    (invoke-tool! role capability payload :tag tag)
    (await (tool-result :tag tag))))

;;; Makes a handler of events `(kind captures [handle])` that calls `procedure` with the captures of
;;; one kind.
(define (%on kind procedure)
  (lambda (event)
    (if (eq? (record-label event) kind)
        (apply procedure (car (record-fields event))))))

;;;> Evaluates the body, with the template's captures bound, for each matching assertion that
;;;> appears.
(define-syntax on-assert
  (syntax-rules ()
    ((_ template body ...) (watch (pattern template) (%on 'added (capture-lambda template body ...))))))

;;;> Evaluates the body, with the template's captures bound, for each matching assertion that
;;;> disappears.
(define-syntax on-retract
  (syntax-rules ()
    ((_ template body ...) (watch (pattern template) (%on 'removed (capture-lambda template body ...))))))

;;;> Evaluates the body, with the template's captures bound, for each matching message.
(define-syntax on-message
  (syntax-rules ()
    ((_ template body ...) (watch (pattern template) (%on 'message (capture-lambda template body ...))))))

;;; Watches for matches; calls `procedure` with the captures of each match that appears, in a facet
;;; that stops when the match disappears.
(define (%during pattern procedure)
  (let ((facets (dictionary)))
    (watch pattern
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

;;;> Evaluates the body, with the template's captures bound, for each matching assertion, in a facet
;;;> that lives as long as the match.
(define-syntax during
  (syntax-rules ()
    ((_ template body ...) (%during (pattern template) (capture-lambda template body ...)))))
