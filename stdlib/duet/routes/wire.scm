;;; The protocol of a relay: TCP, one JSON document a line. A client sends
;;; {"_version": "1.3.0", "_payload": X, "_type": T}, where T has the shape of X with the name of a
;;; type in the place of each atom. The relay sends each line to every other client, as
;;; {"remote_addr": "ip:port", "content": "the line"}. Other lines of a relay are words for people.
;;;
;;; A protocol without acknowledgement: a line that is sent while the other side is away is lost,
;;; and so is what the other side sends while this one is away.
;;;
;;; Source: decisions, section 1.12.

(define %wire-version "1.3.0")

;;; The first and the longest wait before another attempt to connect, in milliseconds.
(define %wait-first 1000)
(define %wait-longest 30000)

;;; The maximum number of lines that wait for a peer that reads slowly.
(define %outbox-max 1000)

;;; Returns the value that describes the types in a payload.
(define (%type-of payload)
  (cond ((dictionary? payload)
         (let ((types (dictionary)))
           (for-each
             (lambda (key) (dictionary-set! types key (%type-of (dictionary-ref payload key))))
             (dictionary-keys payload))
           types))
        ((list? payload) (map %type-of payload))
        ((vector? payload) (map %type-of (vector->list payload)))
        ((boolean? payload) "bool")
        ((eq? payload 'null) "null")
        ((and (number? payload) (exact? payload)) "int")
        ((number? payload) "float")
        (else "str")))

;;;> Returns the line, without its end, by which a client sends a payload to a relay: a value with a
;;;> form in JSON. Fails with `json-error` for any other value.
;;;> Source: decisions, section 1.12.
(define (payload->line payload)
  (value->json
    (dictionary '_version %wire-version '_payload payload '_type (%type-of payload))))

;;; Returns the value of a JSON text, or `absent` if it is none.
(define (%json-or text absent)
  (guard (mistake ((json-error? mistake) absent)) (json->value text)))

(define (%has? value . keys)
  (and (dictionary? value)
       (let loop ((keys keys))
         (or (null? keys) (and (dictionary-contains? value (car keys)) (loop (cdr keys)))))))

;;; Returns a payload with the atoms that its type describes; a part that does not fit stays.
(define (%cast payload type)
  (cond ((and (dictionary? payload) (dictionary? type))
         (let ((cast (dictionary)))
           (for-each
             (lambda (key)
               (dictionary-set! cast key
                 (%cast (dictionary-ref payload key) (dictionary-ref type key #f))))
             (dictionary-keys payload))
           cast))
        ((and (list? payload) (list? type) (= (length payload) (length type)))
         (map %cast payload type))
        ((equal? type "str") (if (string? payload) payload (value->json payload)))
        ((and (equal? type "float") (number? payload)) (inexact payload))
        ((and (equal? type "int") (number? payload) (integer? payload)) (exact payload))
        (else payload)))

;;; Returns the payload of what a client sent: of the protocol, other JSON, or plain text.
(define (%content-payload text)
  (let ((content (%json-or text text)))
    (if (%has? content '_version '_payload '_type)
        (%cast (dictionary-ref content '_payload) (dictionary-ref content '_type))
        content)))

;;;> Returns two values for a line that a relay sent: the payload and the address of the client that
;;;> sent it, a string; or the line and `#f` if it is words for people.
;;;> Source: decisions, section 1.12.
(define (line->payload line)
  (if (not (string? line)) (%wrong-type 'line->payload "a string" line))
  (let ((envelope (%json-or line #f)))
    (if (and (%has? envelope 'remote_addr 'content) (string? (dictionary-ref envelope 'content)))
        (values (%content-payload (dictionary-ref envelope 'content))
                (dictionary-ref envelope 'remote_addr))
        (values line #f))))

(define (%log-wire who what failure)
  (log! (list who what (condition-kind failure) (condition-message failure))))

;;; Lines on their way to a connection.
(define-record-type <outbox>
  (%make-outbox who connection lines waiting)
  %outbox?
  (who %outbox-who)
  (connection %outbox-connection)
  (lines %outbox-lines)
  (waiting %outbox-waiting %set-outbox-waiting!))

(define (%open-outbox who connection)
  (let ((outbox (%make-outbox who connection (make-channel %outbox-max) 0)))
    (spawn (lambda () (%send-lines outbox)))
    outbox))

;;; Adds a line, unless the connection has ended; ends a connection that reads too slowly.
(define (%post! outbox line)
  (cond ((channel-closed? (%outbox-lines outbox)) #f)
        ((>= (%outbox-waiting outbox) %outbox-max)
         (log! (list (%outbox-who outbox) "a peer does not read; its connection is ended"))
         (%close-outbox! outbox))
        (else
         (%set-outbox-waiting! outbox (+ (%outbox-waiting outbox) 1))
         (channel-put! (%outbox-lines outbox) line))))

(define (%send-lines outbox)
  (let ((line (channel-take! (%outbox-lines outbox))))
    (if (string? line)
        (begin
          (%set-outbox-waiting! outbox (- (%outbox-waiting outbox) 1))
          (guard (failure ((condition? failure)
                           (%log-wire (%outbox-who outbox) "a line was not sent:" failure)
                           (%close-outbox! outbox)))
            (call-tool (%outbox-who outbox) "line/send"
              (dictionary 'connection (%outbox-connection outbox) 'line line)))
          (%send-lines outbox)))))

;;; Closes a connection or a listener without waiting. One that a failure keeps from being closed
;;; has ended already, with its process.
(define (%close-soon who name)
  (spawn
    (lambda ()
      (guard (failure ((condition? failure) #f))
        (call-tool who "line/close" (dictionary 'connection name))))))

;;; Ends the connection; whoever receives from it sees that.
(define (%close-outbox! outbox)
  (if (not (channel-closed? (%outbox-lines outbox)))
      (begin
        (close-channel! (%outbox-lines outbox))
        (%close-soon (%outbox-who outbox) (%outbox-connection outbox)))))

;;; Calls `handle` with each line until the connection ends.
(define (%receive-lines outbox handle)
  (let ((line (call-tool (%outbox-who outbox) "line/receive"
                (dictionary 'connection (%outbox-connection outbox)))))
    (if line
        (begin
          (handle line)
          (%receive-lines outbox handle)))))

;;; Calls `handle` with the lines, and ends the connection however that ends.
(define (%use-connection outbox handle)
  (guard (failure ((condition? failure)
                   (%log-wire (%outbox-who outbox) "the connection ended:" failure)))
    (%receive-lines outbox handle))
  (%close-outbox! outbox))

;;;> Joins the agents of a name in this actor to a relay: `(join-relay! name port [:host host])`.
;;;> Returns the facet that does it; stopping it leaves the relay.
;;;>
;;;> Each payload that the relay passes on is delivered to the agents, as by `deliver!`, and each
;;;> that they emit is sent to the relay. While the relay is joined, `<route/joined name peer>` is
;;;> asserted. A connection that ends is logged and opened again, after a second, then after twice
;;;> as long each time, up to half a minute. A payload that the agents emit meanwhile is lost and
;;;> logged.
;;;>
;;;> `:host`, by default `"127.0.0.1"`, needs to be on the list of hosts, and the program needs the
;;;> tools `line/connect`, `line/receive`, `line/send` and `line/close`.
;;;> Source: decisions, section 1.12.
(define (join-relay! name port . options)
  (%check-options 'join-relay! options '(:host))
  (if (not (symbol? name)) (%wrong-type 'join-relay! "a symbol" name))
  (if (not (exact-integer? port)) (%wrong-type 'join-relay! "a number of a port" port))
  (let ((facet (spawn-facet!)) (host (%option options :host "127.0.0.1")))
    (spawn (lambda () (%join! name (dictionary 'host host 'port port))) facet)
    facet))

(define (%join! name place)
  (let ((outbox #f))
    (define (send! payload)
      (guard (failure ((condition? failure) (%log-wire name "a payload was not sent:" failure)))
        (let ((line (payload->line payload)))
          (if outbox
              (%post! outbox line)
              (log! (list name "a payload was not sent: the relay is away"))))))
    (on-message (route/emit ,name $payload) (send! payload))
    (on-stop (lambda () (if outbox (%close-outbox! outbox))))
    (let loop ((wait %wait-first))
      (let ((opened (%connect name place)))
        (if opened
            (let ((joined (assert! (record 'route/joined name (dictionary-ref opened 'peer)))))
              (set! outbox (%open-outbox name (dictionary-ref opened 'connection)))
              (%use-connection outbox (lambda (line) (%deliver-line! name line)))
              (set! outbox #f)
              (retract! joined)))
        (sleep wait)
        (loop (if opened %wait-first (min %wait-longest (* 2 wait))))))))

(define (%connect name place)
  (guard (failure ((condition? failure) (%log-wire name "the relay is away:" failure) #f))
    (call-tool name "line/connect" place)))

(define (%deliver-line! name line)
  (call-with-values (lambda () (line->payload line))
    (lambda (payload sender)
      (if sender
          (deliver! name payload)
          (log! (list name "the relay says:" payload))))))

;;;> Starts a relay at a port of this machine: `(start-relay! port)`; 0 means a free one. Returns
;;;> the facet that does it; stopping it ends the relay. `<route/relay port>` is asserted while it
;;;> takes connections.
;;;>
;;;> Each line that a client sends goes to every other client. A client that sends a line of more
;;;> than 1 MiB, or does not read, loses its connection. The program needs the tools `line/listen`,
;;;> `line/accept`, `line/receive`, `line/send` and `line/close`. Whoever may connect to this
;;;> machine may join: the protocol knows no credentials.
;;;> Source: decisions, section 1.12.
(define (start-relay! port)
  (if (not (exact-integer? port)) (%wrong-type 'start-relay! "a number of a port" port))
  (let ((facet (spawn-facet!)))
    (spawn (lambda () (%relay! port)) facet)
    facet))

(define (%relay! port)
  (let ((listener #f))
    (on-stop
      (lambda ()
        (if listener (%close-soon 'relay listener))))
    (let again ((wait %wait-first))
      (guard (failure ((condition? failure)
                       (%log-wire 'relay "no connections are taken:" failure)))
        (let* ((opened (call-tool 'relay "line/listen" (dictionary 'port port)))
               (fact (assert! (record 'route/relay (dictionary-ref opened 'port)))))
          (set! listener (dictionary-ref opened 'listener))
          (guard (failure ((condition? failure)
                           (retract! fact)
                           (raise failure)))
            (%accept-clients listener (dictionary)))))
      (sleep wait)
      (again (min %wait-longest (* 2 wait))))))

;;; Takes connections until the listener ends; `clients` has the outboxes by connection.
(define (%accept-clients listener clients)
  (let* ((accepted (call-tool 'relay "line/accept" (dictionary 'listener listener)))
         (connection (dictionary-ref accepted 'connection)))
    (spawn
      (lambda ()
        (let ((outbox (%open-outbox 'relay connection)))
          (dictionary-set! clients connection outbox)
          (%use-connection outbox
            (lambda (line)
              (%pass-on! clients connection
                (value->json
                  (dictionary 'remote_addr (dictionary-ref accepted 'peer) 'content line)))))
          (dictionary-delete! clients connection))))
    (%accept-clients listener clients)))

(define (%pass-on! clients sender line)
  (for-each
    (lambda (connection)
      (if (not (equal? connection sender)) (%post! (dictionary-ref clients connection) line)))
    (dictionary-keys clients)))
