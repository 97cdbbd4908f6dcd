;;; The actor of a session. Each request is evaluated in a fiber of its own, whose failure undoes
;;; only the turn that failed. Events are facts until the client has seen them.

;;; The number of events that are kept for a client that does not say what it has seen.
(define %events-max 1000)

;;; The number of tags by which a repeated request is recognised.
(define %tags-max 1000)

;;; The table of parts is swept when it has so many more than twice those that were there last.
(define %parts-spare 64)

(define (%session config)
  (let* ((id (dictionary-ref config 'session))
         (requests (%requests id config))
         ;; Requests that stand when the session begins to listen are those of sessions before, or
         ;; kept for this one.
         (listens? #f)
         ;; The news before that which was kept for this session, the newest first; #f afterwards.
         (early '()))
    (define (hear! . what)
      (if early
          (set! early (cons what early))
          (act! what)))
    (define (begin! kept)
      (let ((all (append kept (reverse early))))
        (set! early #f)
        (for-each act! all)))
    (define (act! what)
      (case (car what)
        ((request) ((%requests-evaluate! requests) (cadr what) (caddr what)))
        ((cancel) ((%requests-cancel! requests) (cadr what)))
        ;; Requests that came before begin at least.
        (else
         (spawn
           (lambda ()
             (yield)
             (exit))))))
    (on-assert (session/request :session ,id :payload $payload :tag $tag)
      (if listens? (hear! 'request payload tag)))
    (on-message (session/request :session ,id :payload $payload :tag $tag)
      (hear! 'request payload tag))
    (on-message (session/begin :session ,id :kept $kept) (if early (begin! kept)))
    (on-message (session/cancel :session ,id :tag $tag) (hear! 'cancel tag))
    (on-message (session/close :session ,id) (hear! 'close))
    (on-assert (session/ready :session ,id) (set! listens? #t))
    (assert! (record 'session/ready :session id))))

;;; The requests of a session.
(define-record-type <requests>
  (%make-requests evaluate! cancel!)
  %requests?
  ;; To call with a payload and a tag.
  (evaluate! %requests-evaluate!)
  ;; To call with the tag of a request that its client does not want any more.
  (cancel! %requests-cancel!))

(define (%requests id config)
  (let* ((imports (dictionary-ref config 'imports))
         (fuel (dictionary-ref config 'fuel))
         (environment (if imports (%bound-evaluation! imports) (interaction-environment)))
         (workers (%workers))
         (teller (%teller id))
         (tell! (car teller))
         (flush! (%output-to tell! (%workers-tag-of workers)))
         ;; The fiber that evaluates each request that has not ended.
         (fibers (dictionary))
         (questions (%questions id teller (%workers-tag-of workers)))
         (new? (%recogniser)))
    (define (ended! kind payload tag)
      (dictionary-delete! fibers tag)
      (flush!)
      ((%questions-end! questions) tag)
      ;; News of the last calls and log lines of the fiber come before its end, those of what ended
      ;; with it in a later turn.
      (spawn
        (lambda ()
          (if ((%questions-open? questions) tag) (yield))
          (flush!)
          (tell! kind payload tag)
          ((%questions-part! questions) tag)
          ((%workers-part! workers) tag))))
    (define (evaluate! payload tag)
      (define (begins-part)
        (if (dictionary-contains? fibers tag) ((%workers-add-part! workers) tag)))
      (when (new? tag)
        ((%questions-begin! questions))
        (let ((fiber
                (apply %spawn-guarded
                  (lambda ()
                    ;; It may have been cancelled before it begins. The evaluation begins in a turn
                    ;; of its own, so that its failure undoes nothing else.
                    (when (dictionary-contains? fibers tag)
                      (yield)
                      (parameterize ((%begins-part begins-part))
                        (%evaluate payload environment flush!
                          (lambda (values) (ended! 'result (%described values) tag))
                          (lambda (failure) (ended! 'error failure tag))))))
                  (lambda (failure) (ended! 'error failure tag))
                  (if fuel (list fuel) '()))))
          (dictionary-set! fibers tag fiber)
          ((%workers-add! workers) fiber tag))))
    (define (cancel! tag)
      (let ((fiber (dictionary-ref fibers tag #f)))
        (when fiber
          (if (%fiber-waits? fiber) (%cancel fiber))
          (ended! 'error
                  (record 'failure "cancelled" "the client cancelled the request" '() #f '())
                  tag))))
    (%make-requests evaluate! cancel!)))

;;; The fibers that work for requests that have not ended: those that evaluate them, and the strands
;;; and tasks that these start.
(define-record-type <workers>
  (%make-workers add! add-part! tag-of part!)
  %workers?
  ;; To call with the fiber that evaluates a request, and the tag.
  (add! %workers-add!)
  ;; To call in a strand or task, with the tag of the request that it works for.
  (add-part! %workers-add-part!)
  ;; Returns the tag of the request that the fiber with a number works for, or #f.
  (tag-of %workers-tag-of)
  ;; To call with the tag of a request that has ended.
  (part! %workers-part!))

(define (%workers)
  (let ((own (dictionary))
        (parts (dictionary))
        (sweep-at %parts-spare))
    (define (sweep! table stays?)
      (for-each
        (lambda (fiber) (if (not (stays? fiber)) (dictionary-delete! table fiber)))
        (dictionary-keys table)))
    ;; Who stops a strand tells nobody, so those that have gone are found from time to time.
    (define (add-part! tag)
      (when (>= (dictionary-count parts) sweep-at)
        (sweep! parts %fiber-waits?)
        (set! sweep-at (+ %parts-spare (* 2 (dictionary-count parts)))))
      (dictionary-set! parts (%current-fiber) tag))
    (define (part! tag)
      (for-each
        (lambda (table)
          (sweep! table (lambda (fiber) (not (equal? (dictionary-ref table fiber) tag)))))
        (list own parts)))
    (%make-workers
      (lambda (fiber tag) (dictionary-set! own fiber tag))
      add-part!
      (lambda (fiber) (or (dictionary-ref own fiber #f) (dictionary-ref parts fiber #f)))
      part!)))

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
(define (%output-to tell! tag-of)
  (let ((written '()))
    ;; The list has a pair of a tag and its texts for each request, the newest first.
    (define (take! bytes)
      (let* ((tag (tag-of (%current-fiber)))
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
