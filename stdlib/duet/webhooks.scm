;;; A request is a message, so that nobody answers it twice by accident, and a fiber that waits for
;;; the reply, so that a run that is resumed still knows whom it owes one.

;;; The first and the longest wait before another attempt to listen, in milliseconds.
(define %wait-first 1000)
(define %wait-longest 30000)

;;; The default time for a reply, in milliseconds.
(define %reply-time 30000)

(define (%log-hook name what failure)
  (log! (list name what (condition-kind failure) (condition-message failure))))

;;;> Takes requests over HTTP at a port of 127.0.0.1: `(serve-webhooks! name port [:token text]
;;;> [:hmac-key text] [:timeout milliseconds])`; port 0 means a free one. Returns the facet that does
;;;> it; stopping it ends the listener. `<webhook/listening name port>` is asserted meanwhile.
;;;>
;;;> Each request is a message `<http/request name id request>`. The request is a dictionary of
;;;> `method`, `path`, `query`, `headers` and `body`; `webhook-reply!` answers it. With `:token` a
;;;> request needs the header `authorization: Bearer TOKEN`, with `:hmac-key` the header
;;;> `x-hub-signature-256: sha256=HMAC` of its body, as GitHub sends it; others are answered with 401
;;;> and do not reach the program. Both are best the stand-ins of secrets; the stand-in of a variable
;;;> that is not set is refused. Without either, requests that the page of a browser may have sent are
;;;> answered with 403. The headers of credentials are left out.
;;;>
;;;> A request without a reply in time, by default 30 seconds, is answered with 504, and one that
;;;> the process's end interrupts with 503 if it can still be answered. The message `<http/unanswered
;;;> name id reason>` tells both.
;;;>
;;;> Where a worker of `duet work --webhooks` executes the run, no port is opened for it: the requests
;;;> come to the worker's address, at the path `/RUN/NAME`, and `port` is that address's. The program
;;;> sees what follows as the path. The run sleeps until a request comes.
;;;>
;;;> The program needs the tools `webhook/listen`, `webhook/accept`, `webhook/reply` and
;;;> `webhook/close`.
(define (serve-webhooks! name port . options)
  (%check-options 'serve-webhooks! options '(:token :hmac-key :timeout))
  (if (not (symbol? name)) (%wrong-type 'serve-webhooks! "a symbol" name))
  (if (not (exact-integer? port)) (%wrong-type 'serve-webhooks! "a number of a port" port))
  (let* ((facet (spawn-facet!))
         (timeout (%option options :timeout %reply-time))
         (place (dictionary 'port port 'timeout_ms timeout))
         (add! (lambda (key option)
                 (let ((value (%option options option #f)))
                   (if value (dictionary-set! place key value))))))
    (add! 'token :token)
    (add! 'hmac_key :hmac-key)
    (spawn (lambda () (%serve! name place timeout)) facet)
    facet))

;;;> Answers a request: `(webhook-reply! id status [:body text] [:headers dictionary])`. The body may
;;;> be a bytevector. A second reply to a request is lost.
(define (webhook-reply! id status . options)
  (%check-options 'webhook-reply! options '(:body :headers))
  (if (not (string? id)) (%wrong-type 'webhook-reply! "the id of a request" id))
  (if (not (and (exact-integer? status) (<= 200 status 599)))
      (%wrong-type 'webhook-reply! "a status from 200 to 599" status))
  (pulse! 'http/reply :scope id
    (dictionary 'request id 'status status 'body (%option options :body "")
      'headers (%option options :headers (dictionary)))))

(define (%serve! name place timeout)
  (let ((listener #f))
    (on-stop
      (lambda ()
        (if listener
            (spawn
              (lambda ()
                (guard (failure ((condition? failure) #f))
                  (call-tool name "webhook/close" (dictionary 'listener listener))))))))
    (let again ((wait %wait-first))
      (let ((opened
              (guard (failure
                       ((condition? failure) (%log-hook name "no requests are taken:" failure) #f))
                (call-tool name "webhook/listen" place))))
        (if opened
            (let ((listening
                    (assert! (record 'webhook/listening name (dictionary-ref opened 'port)))))
              (set! listener (dictionary-ref opened 'listener))
              (guard (failure ((condition? failure) (%log-hook name "the listener ended:" failure)))
                (%accept! name (%accepted name opened place) timeout))
              (set! listener #f)
              (retract! listening)))
        (sleep wait)
        (again (if opened %wait-first (min %wait-longest (* 2 wait))))))))

;;; The arguments with which the requests of a listener are taken. A worker reads the secrets' names
;;; and the name of the webhook in them; whoever goes on with the run takes up the same call.
(define (%accepted name opened place)
  (let ((accepted (dictionary 'listener (dictionary-ref opened 'listener))))
    (when (dictionary-ref opened 'inbox #f)
      (dictionary-set! accepted 'name (symbol->string name))
      (dictionary-set! accepted 'repeatable #t)
      (for-each
        (lambda (key)
          (let ((value (dictionary-ref place key #f)))
            (if value (dictionary-set! accepted key value))))
        '(token hmac_key timeout_ms)))
    accepted))

(define (%accept! name accepted timeout)
  (let* ((request (call-tool name "webhook/accept" accepted))
         (id (dictionary-ref request 'request)))
    (dictionary-delete! request 'request)
    (spawn (lambda () (%answer! name id timeout)))
    (message! (record 'http/request name id request))
    (%accept! name accepted timeout)))

;;; Waits for the program's reply to a request and sends it.
(define (%answer! name id timeout)
  (let ((reply (with-timeout timeout (signal 'http/reply :scope id))))
    (define (unanswered! reason)
      (log! (list name id "was not answered:" reason))
      (message! (record 'http/unanswered name id reason)))
    (if reply
        (guard (failure ((condition? failure) (unanswered! (condition-message failure))))
          (if (not (call-tool name "webhook/reply" (record-field reply 2)))
              (unanswered! "the client has gone, with its connection or with an earlier process")))
        (unanswered! "the program did not reply in time"))))
