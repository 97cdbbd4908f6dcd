;;; The side of the program that lets sessions begin. A request is a fact or a message; what comes for
;;; a session before it listens is kept, and given to it when it does. The session hears of all that
;;; comes later, and takes a tag only once, so nothing is evaluated twice.

;;; How long a session stays after its last client has gone, in milliseconds.
(define %keep-time 3600000)

(define %option-names '(:imports :grants :memory-limit :fact-limit :fuel-limit :keep))

;;;> Lets clients have sessions in this run: `(serve-sessions! [:imports sets] [:grants names]
;;;> [:memory-limit bytes] [:fact-limit n] [:fuel-limit n] [:keep milliseconds])`. A session is an
;;;> actor of its own. It begins when somebody asserts or sends the request `(session/request
;;;> :session id :payload p :tag t)` with a new id, a string; whoever may do that acts with the
;;;> session's rights. The payload is an expression, or the record `(text "…")` with the text of any
;;;> number of forms; any other record, a dictionary or a set is its own value. The tag is the
;;;> client's name for the request; a second request with it is the same one, as long as the session
;;;> lasts. A session that begins anew does not evaluate requests again that were asserted before.
;;;>
;;;> `:imports` lists the import sets whose names a session sees, in a sandbox of its own, which also
;;;> bounds what `eval` and `environment` reach if they are among them; without it, a session sees
;;;> what a prompt sees, and may import. `:grants` is as for `spawn-entity!`; the session may also
;;;> observe its own requests and assert its own events. `(session/capability :session id :capability
;;;> name)` is asserted for each grant. `:memory-limit` and `:fact-limit` limit the session,
;;;> `:fuel-limit` each request.
;;;>
;;;> The session answers with facts `(session/event :session id :kind k :payload v :tag t :number
;;;> n)`, numbered from 1. The kinds are `output` with the text that the request wrote; `log` with a
;;;> line that `log!` shows, or that says that a handler of the main program has failed at what the
;;;> session said; `result` with a list of dictionaries, one for each value that is not
;;;> unspecified, with its notation as `written`, the name by which later texts of the session can use
;;;> it as `name`, such as `$3`, and, if the value is data, the value as `data`; and
;;;> `error` with a record `(failure kind message irritants origin backtrace)`. The turn that failed
;;;> is undone, and the session goes on. `result` or `error` is the last event of a request. Events
;;;> of its strands and tasks have the tag of the request; output without a request, such as a
;;;> handler's, has the tag `#f`.
;;;>
;;;> Further events say what a session wants and does. `question` has a record `(question name
;;;> prompt)`: somebody waits for `(user-input :prompt prompt)`, or reads a line of input, and then
;;;> the prompt is the record `(line)`. The message `(session/answer :session id :question name
;;;> :payload answer)` answers it; the answer to `(line)` is a string, or `#f` for the end of the
;;;> input, which lasts as long as the request. `approval` has such a record, too: policy wants
;;;> something approved that the session attempts. No record answers it, so that a session cannot
;;;> approve what it proposes: `duet answer` does, or the prompt of a guest, or a client that shows
;;;> the gatekeeper `<approve name answer reference>`, with `#t` or a reason against it. `closed` has
;;;> the name of a question that is answered, or not asked any more, and `stale` the name to which an
;;;> answer came too late. `tool` has a record `(tool name of-the-tool status)`; the status is
;;;> `called`, `waiting` for approval or until policy allows it, and then `returned`, `failed`,
;;;> `refused` or `withdrawn`. How far a tool has come is in no journal, and therefore no event.
;;;>
;;;> The message `(session/seen :session id :number n)` removes the events up to n but open
;;;> questions; the newest 1,000 stay until then. `(session/cancel :session id :tag t)` ends a
;;;> request with the error `cancelled`, and `(session/close :session id)` the session. A session
;;;> that clients asserted `(session/present :session id)` for ends when the last of these facts has
;;;> been away for `:keep` milliseconds, by default an hour. A failure outside a request, such as a
;;;> handler's, ends the session. `(session/ended :session id :reason text)` is then asserted until
;;;> it begins anew.
;;;>
;;;> Sessions end with the current facet. `<session/hosted>` is asserted meanwhile. The program needs
;;;> the right `spawn`.
(define (serve-sessions! . options)
  (%check-options 'serve-sessions! options %option-names)
  (let ((imports (%option options :imports #f))
        (grants (%option options :grants #f)))
    (if imports (%check-list imports "a list of import sets"))
    (if grants (%check-list grants "a list of grants")))
  (register-entity! 'session %session)
  (%check-options-of-sessions options)
  (%serve-sessions! options)
  (assert! (record 'session/hosted))
  (if #f #f))

(define (%check-list value what)
  (if (not (list? value)) (%wrong-type 'serve-sessions! what value)))

;;; Raises now whatever would be raised when the first session begins, such as a grant or an import
;;; that does not exist: a sandbox is made, and a session's actor is spawned and ends in the same turn.
(define (%check-options-of-sessions options)
  (let ((imports (%option options :imports #f)))
    (if imports (apply environment imports)))
  (let ((facet (spawn-facet!)))
    (%spawn-session! "" options facet (lambda (reason) #f))
    (stop-facet! facet)))

(define (%serve-sessions! options)
  (let ((waiting (dictionary))
        (ended (dictionary)))
    ;; A session that does not listen yet has a list here of what came for it, the newest first; one
    ;; that listens has #t.
    (define (request! id payload tag)
      (if (string? id)
          (open-or-keep! id payload tag)
          (unless (dictionary-ref ended id #f)
            (end! id "the id of a session is a string"))))
    (define (open-or-keep! id payload tag)
      (let ((known (dictionary-ref waiting id #f)))
        (cond ((not known)
               (dictionary-set! waiting id (list (list 'request payload tag)))
               (let ((before (dictionary-ref ended id #f)))
                 (when before
                   (retract! before)
                   (dictionary-delete! ended id)))
               (%open! id options (lambda (reason) (closed! id reason))))
              (else (keep! id 'request payload tag)))))
    (define (keep! id . what)
      (let ((known (dictionary-ref waiting id #f)))
        (if (pair? known) (dictionary-set! waiting id (cons what known)))))
    (define (closed! id reason)
      (dictionary-delete! waiting id)
      (end! id (if reason (condition-message reason) "it was closed")))
    (define (end! id reason)
      (dictionary-set! ended id (assert! (record 'session/ended :session id :reason reason))))
    ;; A session that begins anew listens anew, and nothing was kept for it.
    (define (ready! id)
      (let ((known (dictionary-ref waiting id #f)))
        (when known
          (dictionary-set! waiting id #t)
          (message!
            (record 'session/begin :session id :kept (if (pair? known) (reverse known) '()))))))
    (on-assert (session/request :session $id :payload $payload :tag $tag) (request! id payload tag))
    (on-message (session/request :session $id :payload $payload :tag $tag)
      (request! id payload tag))
    (on-message (session/cancel :session $id :tag $tag) (keep! id 'cancel tag))
    (on-message (session/close :session $id) (keep! id 'close))
    (on-assert (session/ready :session $id) (ready! id))))

;;; Spawns the actor of a session; `closed!` is called when it has ended.
(define (%open! id options closed!)
  (let ((facet (spawn-facet!)))
    (spawn
      (lambda ()
        (for-each
          (lambda (grant) (assert! (record 'session/capability :session id :capability grant)))
          (or (%option options :grants #f) '("*")))
        (%watch-clients! id facet (%option options :keep %keep-time)))
      facet)
    (%spawn-session! id options facet
      (lambda (reason)
        (stop-facet! facet)
        (closed! reason)))))

(define (%spawn-session! id options facet on-exit)
  (define (optional keyword)
    (let ((value (%option options keyword #f)))
      (if value (list keyword value) '())))
  (let ((grants (%option options :grants #f)))
    (apply spawn-entity! 'session
      :config
      (dictionary 'session id 'imports (%option options :imports #f)
                  'fuel (%option options :fuel-limit #f))
      :link facet
      :on-exit on-exit
      (append
        (if grants (list :grants (append (%protocol-grants id) grants)) '())
        (optional :memory-limit)
        (optional :fact-limit)))))

;;; The grants that a session needs for its protocol. A symbol in the place of the id could be a
;;; wildcard, so an id is a string.
(define (%protocol-grants id)
  `((dataspace/observe
      (pattern (request/changed $_ $_ $_ $_))
      (pattern (session/answer :session ,id :question $_ :payload $_))
      (pattern (session/begin :session ,id :kept $_))
      (pattern (session/ready :session ,id))
      (pattern (session/request :session ,id :payload $_ :tag $_))
      (pattern (session/seen :session ,id :number $_))
      (pattern (session/cancel :session ,id :tag $_))
      (pattern (session/close :session ,id)))
    (dataspace/assert
      (pattern (session/ready :session ,id))
      (pattern (session/event :session ,id :kind $_ :payload $_ :tag $_ :number $_)))))

;;; Stops the facet of a session when its last client has been away for a time.
(define (%watch-clients! id facet keep)
  (let ((clients 0)
        (visits 0))
    (on-assert (session/present :session ,id)
      (set! clients (+ clients 1))
      (set! visits (+ visits 1)))
    (on-retract (session/present :session ,id)
      (set! clients (- clients 1))
      (let ((visit visits))
        (spawn
          (lambda ()
            (sleep keep)
            (if (and (= clients 0) (= visit visits)) (stop-facet! facet))))))))
