;; The client of the official suite: it does with a server whatever the server offers.
;;
;; Arguments: the name of the scenario, and its context, a JSON object that may prescribe calls. A
;; call that fails is reported and the next one is made, because some servers of the suite refuse
;; what they offer.
(import (scheme base) (scheme process-context) (scheme write) (duet base) (duet json) (duet mcp))

(define scenario (list-ref (command-line) 1))
(define context (json->value (list-ref (command-line) 2)))

;; Evaluates a thunk; reports a failure in place of its value.
(define (attempt what thunk)
  (guard (failure ((condition? failure)
                   (display what)
                   (display ": ")
                   (display (condition-message failure))
                   (newline)
                   #f))
    (thunk)))

;; The suite prescribes null for an argument that its own schema wants to be a boolean. The gate
;; refuses such a call, so the argument is left out, which is the other way to give none.
(define (without-null arguments)
  (let ((given (dictionary)))
    (for-each
      (lambda (argument)
        (unless (eq? (cdr argument) 'null) (dictionary-set! given (car argument) (cdr argument))))
      (dictionary->alist arguments))
    given))

;; A value that a schema accepts.
(define (sample schema)
  (let ((type (dictionary-ref schema 'type "string")))
    (cond ((member type '("number" "integer")) 2)
          ((equal? type "boolean") #t)
          ((equal? type "array") '())
          ((equal? type "object") (dictionary))
          ((equal? type "null") 'null)
          (else "sample"))))

(define (sample-arguments schema)
  (let ((arguments (dictionary))
        (properties (dictionary-ref schema 'properties (dictionary))))
    (for-each
      (lambda (name)
        (let ((key (string->symbol name)))
          (dictionary-set! arguments key (sample (dictionary-ref properties key)))))
      (dictionary-ref schema 'required '()))
    arguments))

(define (call name arguments)
  (attempt name
    (lambda ()
      (display (mcp-text (mcp-call 'client (string-append "suite/" name) arguments)))
      (newline))))

(define (short-name tool)
  (let ((name (dictionary-ref tool 'name)))
    (substring name (string-length "suite/") (string-length name))))

(define tools (or (attempt "tools" (lambda () (mcp-tools 'client "suite"))) '()))

(define (schema-of name)
  (let ((tool (find (lambda (tool) (equal? (short-name tool) name)) tools)))
    (and tool (dictionary-ref tool 'schema))))

(define (call-sampled tool)
  (call (short-name tool) (sample-arguments (dictionary-ref tool 'schema))))

(define (use-resources-and-prompts)
  (for-each
    (lambda (resource)
      (let ((uri (dictionary-ref resource 'uri)))
        (attempt uri (lambda () (mcp-read 'client "suite" uri)))))
    (or (attempt "resources" (lambda () (mcp-resources 'client "suite"))) '()))
  (for-each
    (lambda (prompt)
      (let ((name (dictionary-ref prompt 'name)))
        (attempt name (lambda () (mcp-prompt 'client "suite" name)))))
    (or (attempt "prompts" (lambda () (mcp-prompts 'client "suite"))) '())))

(cond ((equal? scenario "json-schema-2020-12-preservation")
       (call "json_schema_echo" (dictionary 'schema (schema-of "json_schema_2020_12_tool"))))
      ((dictionary-contains? context 'toolCalls)
       (for-each
         (lambda (prescribed)
           (call (dictionary-ref prescribed 'name)
             (without-null (dictionary-ref prescribed 'arguments))))
         (dictionary-ref context 'toolCalls)))
      (else
       (for-each call-sampled tools)
       (if (equal? scenario "http-standard-headers") (use-resources-and-prompts))))
