;;; Tools, resources and prompts of servers. A call whose result is a question is gone on with when
;;; the person has answered; each question is a wait, so a run may stop there and be resumed. A call
;;; whose result is a task is waited for by another call, which a resumed run makes again.

;;; Splits the name of a server's tool at the first slash.
(define (%server-and-tool who name)
  (let ((slash (and (string? name) (string-index name #\/))))
    (if (not slash) (%wrong-type who "the name of a server's tool, such as \"files/read\"" name))
    (cons (substring name 0 slash) (substring name (+ slash 1) (string-length name)))))

;;; Calls a tool or `mcp:` tool of a server, and answers its questions.
(define (%converse role server tool arguments)
  (let loop ((result (call-tool role (string-append server "/" tool) arguments)))
    (cond ((dictionary-contains? result 'task)
           (mcp-wait role server (dictionary-ref (dictionary-ref result 'task) 'id)))
          ((dictionary-contains? result 'input_required)
           (loop
             (call-tool role (string-append server "/mcp:answer")
               (dictionary 'of tool 'arguments arguments 'responses (%answers result)
                 'state (dictionary-ref result 'state #f)))))
          (else result))))

;;; Asks the person the questions of a result; returns the answers by their names.
(define (%answers result)
  (let ((responses (dictionary)))
    (for-each
      (lambda (question) (dictionary-set! responses (car question) (%answer (cdr question))))
      (dictionary->alist (dictionary-ref result 'input_required)))
    responses))

;;;> Calls a tool of a server: `(mcp-call role "server/tool" arguments)`, with a dictionary of
;;;> arguments. If the tool asks the person something, the person is asked and the call goes on; an
;;;> empty answer declines. If the server makes a task of the call, waits for its result. Returns the
;;;> server's result, a dictionary with the list `content` and, if the tool has it,
;;;> `structuredContent`. A failure of the tool is raised as `failed`, with the tool's own words.
(define (mcp-call role name arguments)
  (let ((parts (%server-and-tool 'mcp-call name)))
    (%converse role (car parts) (cdr parts) arguments)))

;;;> Waits for a task of a server, and returns the result of the call that the server made a task of.
;;;> The id is that of the dictionary `task` in the result of `call-tool`; `mcp-call` waits by itself.
;;;> Questions of the task are asked as by `mcp-call`. If nobody waits for the task any more, for
;;;> instance after `call-with-timeout`, Duet asks the server to cancel it. A task that the server no
;;;> longer knows is `not-found`.
(define (mcp-wait role server id)
  (let loop ((responses (dictionary)) (answered '()))
    (let ((result
            (call-tool role (string-append server "/mcp:task")
              (dictionary 'id id 'responses responses 'answered answered))))
      (if (dictionary-contains? result 'input_required)
          (let ((given (%answers result)))
            (loop given (append (map %name (dictionary-keys given)) answered)))
          result))))

;;;> Returns the value of a server's result: what it has as `structuredContent`, else its text.
(define (mcp-value result)
  (if (dictionary-contains? result 'structuredContent)
      (dictionary-ref result 'structuredContent)
      (mcp-text result)))

;;;> Returns the texts of a server's result, of a resource or of a message, joined by line ends.
(define (mcp-text result)
  (define (text-of part)
    (let ((text (dictionary-ref part 'text #f)))
      (and (string? text) text)))
  (let* ((key (if (dictionary-contains? result 'contents) 'contents 'content))
         (parts (dictionary-ref result key '())))
    (string-join (filter-map text-of (if (pair? parts) parts (if (null? parts) '() (list parts))))
      "\n")))

;;;> Returns the tools that a server has at the moment, a list of dictionaries with `name` (such as
;;;> `files/read`), `title`, `description`, `schema` and `effect`.
(define (mcp-tools role server)
  (dictionary-ref (call-tool role (string-append server "/mcp:tools") (dictionary)) 'tools))

;;;> Returns the resources of a server, a list of dictionaries with `uri`, `name` and what else the
;;;> server says.
(define (mcp-resources role server)
  (call-tool role (string-append server "/mcp:resources") (dictionary)))

;;;> Reads a resource of a server: a dictionary with the list `contents`, whose members have `uri` and
;;;> `text` or `blob`.
(define (mcp-read role server uri)
  (%converse role server "mcp:read" (dictionary 'uri uri)))

;;;> Returns the prompts that a server offers, a list of dictionaries with `name` and `arguments`.
(define (mcp-prompts role server)
  (call-tool role (string-append server "/mcp:prompts") (dictionary)))

;;;> Returns a prompt of a server: `(mcp-prompt role server name [arguments])`, a dictionary with the
;;;> list `messages`, whose members have `role` and `content`.
(define (mcp-prompt role server name . arguments)
  (%converse role server "mcp:prompt"
    (if (null? arguments)
        (dictionary 'name name)
        (dictionary 'name name 'arguments (car arguments)))))

;;; Asks the person a server's question; returns the answer in the form of the protocol.
(define (%answer question)
  (let ((message (dictionary-ref question 'message "")))
    (if (dictionary-contains? question 'url)
        (%consent (string-append message " " (dictionary-ref question 'url)))
        (let* ((schema (dictionary-ref question 'schema (dictionary)))
               (properties (dictionary->alist (dictionary-ref schema 'properties (dictionary))))
               (required (dictionary-ref schema 'required '())))
          (if (null? properties)
              (%consent message)
              (%fill-in message properties (map %name required)))))))

(define (%name key) (if (symbol? key) (symbol->string key) key))

(define %declined (dictionary 'action "decline"))

(define (%consent message)
  (if (%ask (record 'ask message (list #t #f)))
      (dictionary 'action "accept" 'content (dictionary))
      %declined))

(define (%ask prompt) (await (user-input :prompt prompt)))

;;; Asks for each property of a form, until one that is required stays empty.
(define (%fill-in message properties required)
  (let loop ((rest properties) (content (dictionary)))
    (if (null? rest)
        (dictionary 'action "accept" 'content content)
        (let* ((key (caar rest))
               (value (%property message (%name key) (cdar rest))))
          (cond ((not (eq? value 'nothing))
                 (dictionary-set! content key value)
                 (loop (cdr rest) content))
                ((member (%name key) required) %declined)
                (else (loop (cdr rest) content)))))))

;;; Asks for a property; the symbol `nothing` stands for an empty answer.
(define (%property message name schema)
  (let* ((title (dictionary-ref schema 'title name))
         (text (string-append message " " title "?"))
         (type (dictionary-ref schema 'type "string"))
         (choices (%choices schema)))
    (cond ((pair? choices)
           (let ((chosen (%ask (record 'ask text (append (map car choices) '("nothing"))))))
             (cond ((assoc chosen choices) => cdr)
                   (else 'nothing))))
          ((equal? type "boolean") (%ask (record 'ask text (list #t #f))))
          ((member type '("integer" "number")) (%number text))
          (else
           (let ((said (%ask text)))
             (cond ((string=? (string-trim said) "") 'nothing)
                   ((equal? type "array") (map string-trim (string-split said #\,)))
                   (else said)))))))

;;; Asks for a number until the answer is one, or is empty.
(define (%number text)
  (let again ((prompt text))
    (let* ((said (string-trim (%ask prompt)))
           (number (string->number said)))
      (cond ((string=? said "") 'nothing)
            ((and number (real? number)) number)
            (else (again (string-append said " is not a number. " text)))))))

;;; Returns the values that a schema enumerates, by the texts that the person sees.
(define (%choices schema)
  (define (titled choice)
    (let ((value (dictionary-ref choice 'const)))
      (cons (dictionary-ref choice 'title value) value)))
  (cond ((dictionary-contains? schema 'enum)
         (map (lambda (value) (cons value value)) (dictionary-ref schema 'enum)))
        ((dictionary-contains? schema 'oneOf) (map titled (dictionary-ref schema 'oneOf)))
        (else '())))
