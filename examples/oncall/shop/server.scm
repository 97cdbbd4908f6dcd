;;; A server of the Model Context Protocol for a small shop: what it is doing, what it logged, and
;;; its settings. It reads a request a line and writes a reply a line.
;;;
;;;   duet run --memory --workspace . server.scm
;;;
;;; The shop is a model of one: eight workers share a database, which allows 100 connections, and
;;; reports hold some of the connections of each worker. `settings.json` has all revisions of the
;;; settings, oldest first, so the shop survives its server.
(import (duet base) (duet dataspace) (duet json))

;;; Settings

(define file "settings.json")
(define first-settings (dictionary 'pool 10 'reports 8))

(define (revisions)
  (guard (failure ((and (condition? failure) (eq? (condition-kind failure) 'not-found))
                   (list first-settings)))
    (json->value
      (dictionary-ref (call-tool 'shop "workspace/read" (dictionary 'path file)) 'content))))

(define (settings) (last (revisions)))

;; Adds a revision and returns its number.
(define (set-settings! new)
  (let ((all (append (revisions) (list new))))
    (call-tool 'shop "workspace/write" (dictionary 'path file 'content (value->json all)))
    (length all)))

;;; The shop

(define workers 8)
(define connections-max 100)

(define (status)
  (let* ((pool (json-ref (settings) 'pool))
         (asked (* workers pool))
         (free (- pool (json-ref (settings) 'reports))))
    (dictionary
      'revision (length (revisions))
      'settings (settings)
      'failed_percent
      (if (> asked connections-max) (quotient (* 100 (- asked connections-max)) asked) 0)
      'latency_ms (if (< free 4) 4200 180))))

(define (log-lines)
  (let ((pool (json-ref (settings) 'pool)) (reports (json-ref (settings) 'reports)))
    (filter values
      (list
        (string-append "reports hold " (number->string reports) " of " (number->string pool)
          " connections of each worker")
        (and (< (- pool reports) 4) "checkout waits for a connection")
        (and (> (* workers pool) connections-max)
             "database: too many connections, the maximum is 100")))))

(define (change arguments)
  (let ((setting (json-ref arguments 'setting)) (value (json-ref arguments 'value)))
    (dictionary 'revision (set-settings! (json-set (settings) setting value)))))

(define (rollback arguments)
  (let ((number (json-ref arguments 'revision)) (all (revisions)))
    (if (<= 1 number (length all))
        (dictionary 'revision (set-settings! (list-ref all (- number 1))))
        (error "there is no such revision" number))))

;;; Tools

(define-record-type tool
  (tool name description schema read-only? procedure)
  tool?
  (name tool-name)
  (description tool-description)
  (schema tool-schema)
  (read-only? tool-read-only?)
  (procedure tool-procedure))

(define no-arguments "{\"type\": \"object\"}")

(define tools
  (list
    (tool "status" "Returns the settings of the shop, their revision, the latency of the checkout
in milliseconds, and how many requests in a hundred fail."
      no-arguments #t
      (lambda (arguments) (status)))
    (tool "log" "Returns what the shop logged in the last minute."
      no-arguments #t
      (lambda (arguments) (dictionary 'lines (log-lines))))
    (tool "change" "Changes a setting: `pool`, the connections of each worker, or `reports`, those
of them that reports may hold. Returns the new revision."
      "{\"type\": \"object\", \"required\": [\"setting\", \"value\"], \"properties\": {
        \"setting\": {\"enum\": [\"pool\", \"reports\"]}, \"value\": {\"type\": \"integer\"}}}"
      #f change)
    (tool "rollback" "Makes the settings of an earlier revision the present ones."
      "{\"type\": \"object\", \"required\": [\"revision\"], \"properties\": {
        \"revision\": {\"type\": \"integer\"}}}"
      #f rollback)))

(define (listed tool)
  (dictionary 'name (tool-name tool) 'description (tool-description tool)
    'inputSchema (json->value (tool-schema tool))
    'annotations (dictionary 'readOnlyHint (tool-read-only? tool))))

(define (text-result text failed?)
  (dictionary 'content (list (dictionary 'type "text" 'text text)) 'isError failed?))

(define (call name arguments)
  (let ((tool (find (lambda (tool) (equal? (tool-name tool) name)) tools)))
    (if tool
        (guard (failure ((condition? failure) (text-result (condition-message failure) #t)))
          (let ((value ((tool-procedure tool) arguments)))
            (json-set (text-result (value->json value) #f) 'structuredContent value)))
        (text-result (string-append "there is no tool " name) #t))))

;;; The protocol, in its revision 2025-06-18: https://modelcontextprotocol.io/specification

(define (answer method parameters)
  (case (string->symbol method)
    ((initialize)
     (dictionary 'protocolVersion "2025-06-18" 'capabilities (dictionary 'tools (dictionary))
       'serverInfo (dictionary 'name "shop" 'version "1")))
    ((ping) (dictionary))
    ((tools/list) (dictionary 'tools (map listed tools)))
    ((tools/call)
     (call (json-ref parameters 'name) (dictionary-ref parameters 'arguments (dictionary))))
    (else #f)))

(define (reply-to message)
  (let* ((method (dictionary-ref message 'method ""))
         (result (answer method (dictionary-ref message 'params (dictionary))))
         (head (dictionary 'jsonrpc "2.0" 'id (dictionary-ref message 'id))))
    (if result
        (json-set head 'result result)
        (json-set head 'error
          (dictionary 'code -32601 'message (string-append "no such method: " method))))))

(let loop ((line (read-line)))
  (unless (eof-object? line)
    (let ((message (json->value line)))
      ;; A message without an id is a notification, which has no reply.
      (when (dictionary-contains? message 'id)
        (display (value->json (reply-to message)))
        (newline)))
    (loop (read-line))))
