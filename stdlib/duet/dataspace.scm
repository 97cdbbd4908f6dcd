;;;> Asserts a record of a label and payload; its handle.
(define (signal! label . payload)
  (assert! (apply record label payload)))

;;; Wait descriptors are records; that of `(record label :field n :equals value)` is the record value itself.

;;;> Describes a wait for a signal: `(signal label [:scope value])`.
(define (signal label . options) (apply record 'signal label options))

;;;> Describes a wait for the result of a tool: `(tool-result :tag tag)`.
(define (tool-result . options) (apply record 'tool-result options))

;;;> Describes a wait for a person: `(user-input :prompt value [:tag tag])`.
(define (user-input . options) (apply record 'user-input options))

;;;> Describes a wait until a procedure of one value answers true: `(predicate procedure [:pattern pattern])`.
(define (predicate procedure . options) (apply record 'predicate procedure options))

;;;> Suspends the fiber until what the descriptor describes is there; the value that satisfied it.
(define (await descriptor) (%await descriptor #f))

;;;> Like `await`, for what arrives after the call only.
(define (await-next descriptor) (%await descriptor #t))

;;;> Uses a tool and waits for its result; a failure is raised as a condition.
(define (call-tool role capability payload)
  (let ((tag (generate-request-id! role capability)))
    (invoke-tool! role capability payload :tag tag)
    (await (tool-result :tag tag))))

;;; A handler of events `(kind captures [handle])` that calls `procedure` with the captures of one kind.
(define (%on kind procedure)
  (lambda (event)
    (if (eq? (record-label event) kind)
        (apply procedure (car (record-fields event))))))

;;;> Evaluates the body, with the template's captures bound, for each matching assertion that appears.
(define-syntax on-assert
  (syntax-rules ()
    ((_ template body ...) (watch (pattern template) (%on 'added (capture-lambda template body ...))))))

;;;> Evaluates the body, with the template's captures bound, for each matching assertion that disappears.
(define-syntax on-retract
  (syntax-rules ()
    ((_ template body ...) (watch (pattern template) (%on 'removed (capture-lambda template body ...))))))

;;;> Evaluates the body, with the template's captures bound, for each matching message.
(define-syntax on-message
  (syntax-rules ()
    ((_ template body ...) (watch (pattern template) (%on 'message (capture-lambda template body ...))))))
