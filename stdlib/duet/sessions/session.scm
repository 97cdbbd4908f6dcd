;;; The actor of a session. Each request is evaluated in a fiber of its own, whose failure undoes
;;; only the turn that failed. Events are facts until the client has seen them.

;;; The number of events that are kept for a client that does not say what it has seen.
(define %events-max 1000)

;;; The number of tags by which a repeated request is recognised.
(define %tags-max 1000)

;;; The tag of the request that is being evaluated.
(define %current-tag (make-parameter #f))

(define (%session config)
  (let* ((id (dictionary-ref config 'session))
         (imports (dictionary-ref config 'imports))
         (fuel (dictionary-ref config 'fuel))
         (environment (if imports (%bound-evaluation! imports) (interaction-environment)))
         (teller (%teller id))
         (tell! (car teller))
         (flush! (%output-to tell!))
         (fibers (dictionary))
         ;; The tag of the request that each fiber evaluates.
         (tags (dictionary))
         (questions (%questions id teller (lambda (fiber) (dictionary-ref tags fiber #f))))
         (new? (%recogniser))
         ;; Requests that come before those that were kept for this session, the newest first; #f
         ;; afterwards.
         (early '()))
    (define (request! payload tag)
      (if early
          (set! early (cons (list payload tag) early))
          (evaluate! payload tag)))
    (define (begin! kept)
      (let ((requests (append kept (reverse early))))
        (set! early #f)
        (for-each (lambda (request) (apply evaluate! request)) requests)))
    (define (ended! kind payload tag)
      (let ((fiber (dictionary-ref fibers tag #f)))
        (dictionary-delete! fibers tag)
        (flush!)
        ((%questions-end! questions) tag)
        ;; News of the last calls and log lines of the fiber come before its end.
        (spawn
          (lambda ()
            (tell! kind payload tag)
            (dictionary-delete! tags fiber)))))
    (define (evaluate! payload tag)
      (when (new? tag)
        ((%questions-begin! questions))
        (let ((fiber
                (apply %spawn-guarded
                  (lambda ()
                    ;; The evaluation begins in a turn of its own, so that its failure undoes nothing
                    ;; else.
                    (yield)
                    (parameterize ((%current-tag tag))
                      (%evaluate payload environment flush!
                        (lambda (values) (ended! 'result (%described values) tag))
                        (lambda (failure) (ended! 'error failure tag)))))
                  (lambda (failure) (ended! 'error failure tag))
                  (if fuel (list fuel) '()))))
          (dictionary-set! fibers tag fiber)
          (dictionary-set! tags fiber tag))))
    (define (cancel! tag)
      (let ((fiber (dictionary-ref fibers tag #f)))
        (when fiber
          (%cancel fiber)
          (ended! 'error
                  (record 'failure "cancelled" "the client cancelled the request" '() #f '())
                  tag))))
    (on-assert (session/request :session ,id :payload $payload :tag $tag) (request! payload tag))
    (on-message (session/request :session ,id :payload $payload :tag $tag) (request! payload tag))
    (on-message (session/begin :session ,id :requests $kept) (if early (begin! kept)))
    (on-message (session/cancel :session ,id :tag $tag) (cancel! tag))
    (on-message (session/close :session ,id) (exit))
    (assert! (record 'session/ready :session id))))

;;; Returns a procedure that says whether a tag is new.
(define (%recogniser)
  (let ((known (dictionary))
        (oldest 0)
        (newest 0)
        (order (dictionary)))
    (lambda (tag)
      (and (not (dictionary-ref known tag #f))
           (begin
             (dictionary-set! known tag #t)
             (dictionary-set! order newest tag)
             (set! newest (+ newest 1))
             (when (> (- newest oldest) %tags-max)
               (dictionary-delete! known (dictionary-ref order oldest))
               (dictionary-delete! order oldest)
               (set! oldest (+ oldest 1)))
             #t)))))

;;; Returns a list of three procedures: one asserts an event and returns its number, the next keeps
;;; the event with a number although the client has seen it, the last lets it go. Other events are
;;; retracted when the client has seen them.
(define (%teller id)
  (let ((handles (dictionary))
        (kept (set))
        (oldest 1)
        (newest 0))
    (define (drop! number)
      (unless (set-contains? kept number)
        (retract! (dictionary-ref handles number))
        (dictionary-delete! handles number)))
    (define (drop-to! last)
      (when (<= oldest (min last newest))
        (drop! oldest)
        (set! oldest (+ oldest 1))
        (drop-to! last)))
    (define (tell! kind payload tag)
      (set! newest (+ newest 1))
      (dictionary-set! handles newest
        (assert!
          (record 'session/event :session id :kind kind :payload payload :tag tag :number newest)))
      (drop-to! (- newest %events-max))
      newest)
    (define (keep! number) (set-adjoin! kept number))
    (define (release! number)
      (set-delete! kept number)
      (if (< number oldest) (drop! number)))
    (on-message (session/seen :session ,id :number $number)
      (if (exact-integer? number) (drop-to! number)))
    (list tell! keep! release!)))

;;; Makes events of what this actor writes to the console: one a turn for each request. Returns the
;;; procedure that does it now, and says whether anything was written.
(define (%output-to tell!)
  (let ((written '()))
    ;; The list has a pair of a tag and its texts for each request, the newest first.
    (define (take! bytes)
      (let* ((tag (%current-tag))
             (known (assoc tag written)))
        (if (null? written) (spawn show!))
        (if known
            (set-cdr! known (cons bytes (cdr known)))
            (set! written (cons (list tag bytes) written)))))
    (define (show!)
      (let ((shown (reverse written)))
        (set! written '())
        (for-each
          (lambda (output)
            (tell! 'output
                   (utf8->string (apply bytevector-append (reverse (cdr output))))
                   (car output)))
          shown)
        (pair? shown)))
    (for-each
      (lambda (stream) (%set-port-receiver! (%console-port stream) take!))
      '(1 2))
    show!))

;;; Evaluates the payload of a request; calls `done` with its values, or `failed` if it is a text
;;; that cannot be expanded. If the payload has written something in a turn that fails, the turn
;;; commits, so that the output is shown, and the failure follows in a turn of its own.
(define (%evaluate payload environment flush! done failed)
  (let ((failure #f))
    (call-with-values
      (lambda ()
        (with-exception-handler
          (lambda (object)
            (if (flush!) (yield))
            (raise object))
          (lambda ()
            (cond ((and (record? payload)
                        (eq? (record-label payload) 'text)
                        (string? (record-field payload 0)))
                   (%evaluate-text (record-field payload 0)
                                   environment
                                   (lambda (why) (set! failure why))))
                  ;; They have no notation in a text.
                  ((or (record? payload) (dictionary? payload) (set? payload)) payload)
                  (else (eval payload environment))))))
      (lambda values (if failure (failed failure) (done values))))))

;;; Describes and names each value that is not unspecified.
(define (%described values)
  (let describe ((values values))
    (cond ((null? values) '())
          ((eq? (car values) (if #f #f)) (describe (cdr values)))
          (else (cons (%description (car values)) (describe (cdr values)))))))

(define (%description value)
  (let ((description
          (dictionary 'written (with-output-to-string (lambda () (write value)))
                      'name (%keep-value! value))))
    (if (%data? value) (dictionary-set! description 'data value))
    description))
