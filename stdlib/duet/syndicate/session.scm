;;; Joining a server: one facet for the link, and in it one for each connection, so that whatever a
;;; connection brought ends with it.
;;;
;;; This side's object 0 heard the gatekeeper, before the program had the connection; objects from
;;; 1 are observers, one for each pattern of :import. Handle 1 is the sturdyref's; others count from
;;; 2.

;;; The first and the longest wait before another attempt to connect, in milliseconds.
(define %wait-first 1000)
(define %wait-longest 30000)

;;; A connection that stands for so many milliseconds was a good one: the next wait is the first.
(define %good-after 10000)

;;; The maximum number of events that wait for a server that reads slowly.
(define %waiting-max 10000)

;;; The terms of a link, and the connection while there is one.
(define-record-type <link>
  (%make-link name place imports exports home connection)
  %link?
  (name %link-name)
  (place %link-place)
  (imports %link-imports)
  (exports %link-exports)
  (home %link-home)
  (connection %link-connection %set-link-connection!))

;;; A connection: the object that the sturdyref names, the events that wait, newest first, and the
;;; facts that the server asserts, by handle.
(define-record-type <session>
  (%make-session link facet connection object events waiting sending handle facts)
  %session?
  (link %session-link)
  (facet %session-facet)
  (connection %session-connection)
  (object %session-object)
  (events %session-events %set-session-events!)
  (waiting %session-waiting %set-session-waiting!)
  (sending %session-sending? %set-session-sending!)
  (handle %session-handle %set-session-handle!)
  (facts %session-facts))

(define (%log-link link what failure)
  (log! (list (%link-name link) what (condition-kind failure) (condition-message failure))))

;;;> Joins a dataspace of a server: `(join-syndicate! name port reference [:host host] [:import
;;;> patterns] [:export patterns])`. Returns the facet that does it; stopping it leaves the server.
;;;>
;;;> `name` is a symbol. `reference` is the text of a sturdyref, best the stand-in of a secret.
;;;> Patterns are values of `(pattern template)`, in lists. Each assertion in the server's dataspace
;;;> that a pattern of `:import` matches is a fact `<remote name value>` as long as it is there, and
;;;> each message is such a message. Each fact of this run that a pattern of `:export` matches is
;;;> asserted there as long as it is here, and each message is sent.
;;;>
;;;> While the server is joined, `<syndicate/joined name peer>` is asserted. When a connection ends,
;;;> its facts disappear; the link connects again after a second, then after twice as long each
;;;> time, up to half a minute, until a connection stands for ten seconds. Messages of the meantime are lost. A reference inside a value is
;;;> `<remote/object connection n>`, for `remote-message!`. A value that has a reference of this run
;;;> is not sent, which is logged.
;;;>
;;;> `:host`, by default `"127.0.0.1"`, needs to be on the list of hosts, and the program needs the
;;;> tools `syndicate/connect`, `syndicate/receive`, `syndicate/send` and `syndicate/close`.
;;;> Source: the Syndicate protocol, https://synit.org/book/protocol.html.
(define (join-syndicate! name port reference . options)
  (define caller 'join-syndicate!)
  (%check-options caller options '(:host :import :export))
  (if (not (symbol? name)) (%wrong-type caller "a symbol" name))
  (if (not (exact-integer? port)) (%wrong-type caller "a number of a port" port))
  (if (not (string? reference)) (%wrong-type caller "the text of a sturdyref" reference))
  (let ((imports (%option options :import '()))
        (exports (%option options :export '()))
        (host (%option options :host "127.0.0.1"))
        (facet (spawn-facet!)))
    (if (not (list? exports)) (%wrong-type caller "a list of patterns" exports))
    (if (not (list? imports)) (%wrong-type caller "a list of patterns" imports))
    (for-each (lambda (pattern) (%check-pattern caller pattern)) imports)
    (let* ((place (dictionary 'host host 'port port 'reference reference))
           (link (%make-link name place imports exports facet #f)))
      (spawn
        (lambda ()
          (on-stop (lambda () (%close! link)))
          (%join! link %wait-first))
        facet)
      facet)))

;;;> Sends a message to an object of a server, `<remote/object connection n>` as it stood in a fact or
;;;> message. It is lost if the connection has ended.
(define (remote-message! object value)
  (if (not (%object? object)) (%wrong-type 'remote-message! "a record <remote/object …>" object))
  (message! (record 'remote/to (record-field object 0) (record-field object 1) value)))

;;; Ends the connection without waiting, if there is one; whoever receives from it sees that. One
;;; that a failure keeps from being closed has ended already, with its process.
(define (%close! link)
  (let ((connection (%link-connection link)))
    (if connection
        (begin
          (%set-link-connection! link #f)
          (spawn
            (lambda ()
              (guard (failure ((condition? failure) #f))
                (call-tool (%link-name link) "syndicate/close"
                  (dictionary 'connection connection)))))))))

;;; Connects, and runs a session that begins the next attempt when it ends.
(define (%join! link wait)
  (let ((opened (%connect link)))
    (if opened
        (let ((facet (spawn-facet!)))
          (spawn (lambda () (%run-session! link opened facet wait)) facet))
        (begin
          (sleep wait)
          (%join! link (min %wait-longest (* 2 wait)))))))

(define (%connect link)
  (guard (failure ((condition? failure) (%log-link link "the server is away:" failure) #f))
    (call-tool (%link-name link) "syndicate/connect" (%link-place link))))

(define (%run-session! link opened facet wait)
  (let* ((connection (dictionary-ref opened 'connection))
         (object (dictionary-ref opened 'object))
         (session (%make-session link facet connection object '() 0 #f 1 (dictionary))))
    (%set-link-connection! link connection)
    (assert! (record 'syndicate/joined (%link-name link) (dictionary-ref opened 'peer)))
    (%import! session (%link-imports link))
    (for-each (lambda (pattern) (%export! session pattern)) (%link-exports link))
    (on-message (remote/to ,connection $object $value) (%send-value! session object 'M value))
    (spawn (lambda () (sleep %good-after) (set! wait %wait-first)) facet)
    (guard (failure ((condition? failure) (%log-link link "the connection ended:" failure)))
      (%receive! session))
    (%close! link)
    (spawn (lambda () (sleep wait) (%join! link (min %wait-longest (* 2 wait)))) (%link-home link))
    (stop-facet! facet)))

;;; Observes the patterns, each with an object of this side from 1.
(define (%import! session patterns)
  (let next ((patterns patterns) (observer 1))
    (if (pair? patterns)
        (let ((observe
                (record 'Observe (%whole (car patterns)) (record %reference (list 0 observer)))))
          (%post! session (%session-object session) (record 'A observe (%next-handle! session)))
          (next (cdr patterns) (+ observer 1))))))

(define (%next-handle! session)
  (let ((handle (+ (%session-handle session) 1)))
    (%set-session-handle! session handle)
    handle))

;;; Keeps what a pattern matches here asserted there.
(define (%export! session pattern)
  (let ((handles (dictionary)) (object (%session-object session)))
    (watch (%whole pattern)
      (lambda (event)
        (let ((value (caar (record-fields event))))
          (case (record-label event)
            ((added)
             (let ((handle (%send-value! session object 'A value)))
               (if handle (dictionary-set! handles value handle))))
            ((removed)
             (let ((handle (dictionary-ref handles value #f)))
               (dictionary-delete! handles value)
               (if handle (%post! session object (record 'R handle)))))
            (else (%send-value! session object 'M value))))))))

;;; Sends a value to an object in an assertion, whose handle it returns, or in a message; returns #f
;;; for a value that cannot be sent.
(define (%send-value! session object kind value)
  (guard (failure ((condition? failure)
                   (%log-link (%session-link session) "a value was not sent:" failure)
                   #f))
    (let ((sent (%to-wire value (%session-connection session))))
      (if (eq? kind 'M)
          (%post! session object (record 'M sent))
          (let ((handle (%next-handle! session)))
            (%post! session object (record 'A sent handle))
            handle)))))

;;; Adds an event for an object of the server. One fiber sends what has gathered, a packet at a time.
(define (%post! session object event)
  (%set-session-events! session (cons (list object event) (%session-events session)))
  (%set-session-waiting! session (+ (%session-waiting session) 1))
  (cond ((> (%session-waiting session) %waiting-max)
         (log! (list (%link-name (%session-link session))
                     "the server does not read; its connection is ended"))
         (%set-session-events! session '())
         (%set-session-waiting! session 0)
         (%close! (%session-link session)))
        ((not (%session-sending? session))
         (%set-session-sending! session #t)
         (spawn (lambda () (%send-events! session)) (%session-facet session)))))

(define (%send-events! session)
  (let ((events (reverse (%session-events session))) (link (%session-link session)))
    (%set-session-events! session '())
    (%set-session-waiting! session 0)
    (if (null? events)
        (%set-session-sending! session #f)
        (begin
          (guard (failure ((condition? failure)
                           (%log-link link "a packet was not sent:" failure)
                           (%close! link)))
            (call-tool (%link-name link) "syndicate/send"
              (dictionary 'connection (%session-connection session) 'events events)))
          (%send-events! session)))))

;;; Takes packets until the connection ends; each is one turn.
(define (%receive! session)
  (let ((events (call-tool (%link-name (%session-link session)) "syndicate/receive"
                  (dictionary 'connection (%session-connection session)))))
    (if events
        (begin
          (for-each (lambda (event) (%take-event! session (car event) (cadr event))) events)
          (%receive! session)))))

;;; Does what an event for an object of this side says. Events for objects that do not exist, or no
;;; longer, mean nothing.
(define (%take-event! session object event)
  (let ((content (record-field event 0)) (facts (%session-facts session)))
    (case (record-label event)
      ((A)
       (let ((fact (and (> object 0) (%remote-value session content)))
             (handle (record-field event 1)))
         ;; A server that uses a handle twice loses the first assertion.
         (%forget! facts handle)
         (if fact (dictionary-set! facts handle (assert! fact)))))
      ((R) (%forget! facts content))
      ((M)
       (let ((message (and (> object 0) (%remote-value session content))))
         (if message (message! message))))
      ((S)
       (let ((peer (and (%reference? content) (%own-object content))))
         (if peer (%post! session peer (record 'M #t)))))
      (else #f))))

;;; Retracts the fact that the server asserted under a handle, if there is one.
(define (%forget! facts handle)
  (let ((fact (dictionary-ref facts handle #f)))
    (dictionary-delete! facts handle)
    (if fact (retract! fact))))

;;; Returns the fact or message that an observer's captures say, or #f.
(define (%remote-value session captures)
  (guard (failure ((condition? failure)
                   (%log-link (%session-link session) "a value did not come in:" failure)
                   #f))
    (if (not (pair? captures)) (%refuse "an observer expects a list of captures" captures))
    (record 'remote (%link-name (%session-link session))
      (%from-wire (car captures) (%session-connection session)))))
