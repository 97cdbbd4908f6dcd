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
  (%check-server 'mcp-wait server)
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
  (if (not (dictionary? result)) (%wrong-type 'mcp-value "a server's result" result))
  (if (dictionary-contains? result 'structuredContent)
      (dictionary-ref result 'structuredContent)
      (mcp-text result)))

;;;> Returns the texts of a server's result, of a resource or of a message, joined by line ends;
;;;> those of embedded resources are among them.
(define (mcp-text result)
  (define (text-of part)
    (and (dictionary? part)
         (let* ((resource (dictionary-ref part 'resource part))
                (text (and (dictionary? resource) (dictionary-ref resource 'text #f))))
           (and (string? text) text))))
  (if (not (dictionary? result)) (%wrong-type 'mcp-text "a server's result" result))
  (let* ((key (if (dictionary-contains? result 'contents) 'contents 'content))
         (parts (dictionary-ref result key '())))
    (string-join (filter-map text-of (if (pair? parts) parts (if (null? parts) '() (list parts))))
      "\n")))

;;;> Returns the tools that a server has at the moment, a list of dictionaries with `name` (such as
;;;> `files/read`), `title`, `description`, `schema` and `effect`.
(define (mcp-tools role server)
  (%check-server 'mcp-tools server)
  (dictionary-ref (call-tool role (string-append server "/mcp:tools") (dictionary)) 'tools))

;;;> Returns the resources of a server, a list of dictionaries with `uri`, `name` and what else the
;;;> server says.
(define (mcp-resources role server)
  (%check-server 'mcp-resources server)
  (call-tool role (string-append server "/mcp:resources") (dictionary)))

;;;> Reads a resource of a server: a dictionary with the list `contents`, whose members have `uri` and
;;;> `text` or `blob`.
(define (mcp-read role server uri)
  (%check-server 'mcp-read server)
  (%converse role server "mcp:read" (dictionary 'uri uri)))

;;;> Returns the prompts that a server offers, a list of dictionaries with `name` and `arguments`.
(define (mcp-prompts role server)
  (%check-server 'mcp-prompts server)
  (call-tool role (string-append server "/mcp:prompts") (dictionary)))

;;;> Returns a prompt of a server: `(mcp-prompt role server name [arguments])`, a dictionary with the
;;;> list `messages`, whose members have `role` and `content`.
(define (mcp-prompt role server name . arguments)
  (%check-server 'mcp-prompt server)
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

;;; Asks for each property of a form, the required ones first, until one of these stays empty.
(define (%fill-in message properties required)
  (let loop ((rest (%in-order properties required)) (content (dictionary)))
    (if (null? rest)
        (dictionary 'action "accept" 'content content)
        (let* ((key (caar rest))
               (required? (and (member (%name key) required) #t))
               (schema (cdar rest))
               (title (dictionary-ref schema 'title (%name key)))
               (value (%property (string-append message " " title) schema)))
          (cond ((not (eq? value 'nothing))
                 (dictionary-set! content key value)
                 (loop (cdr rest) content))
                (required? %declined)
                (else (loop (cdr rest) content)))))))

(define (%in-order properties required)
  (define (named name)
    (find (lambda (property) (equal? (%name (car property)) name)) properties))
  (append (filter-map named required)
    (filter (lambda (property) (not (member (%name (car property)) required))) properties)))

;;; Asks for a property; the symbol `nothing` stands for an empty answer.
(define (%property text schema)
  (let ((type (dictionary-ref schema 'type "string"))
        (choices (%choices schema)))
    (cond ((pair? choices)
           (%choose text schema (append choices '(("nothing" . nothing)))))
          ((equal? type "boolean")
           (%choose text schema
             (if (dictionary-contains? schema 'default)
                 '(("yes" . #t) ("no" . #f) ("nothing" . nothing))
                 '((#t . #t) (#f . #f) ("nothing" . nothing)))))
          ((equal? type "array") (%several text schema (dictionary-ref schema 'items (dictionary))))
          ((equal? type "integer") (%typed text schema (%limits schema) (%number schema integer?)))
          ((equal? type "number") (%typed text schema (%limits schema) (%number schema real?)))
          (else (%typed text schema '() (%text schema))))))

;;; Asks for one of the choices. Where there is a default, an empty answer stands for it, so that
;;; the question takes any text.
(define (%choose text schema choices)
  (define (read said)
    (let* ((said (string-trim said))
           (begins (lambda (choice) (string-prefix? said (car choice))))
           (near (filter begins choices)))
      (cond ((assoc said choices) => cdr)
            ((and (pair? near) (null? (cdr near))) (cdar near))
            (else (%complaint "is" "none of the choices")))))
  (if (dictionary-contains? schema 'default)
      (%typed text schema
        (list (string-append "one of these: " (string-join (map car choices) ", ")))
        read)
      (cdr (assoc (%ask (record 'ask (%hinted text schema '()) (map car choices))) choices))))

;;; Asks for a list, whose elements stand between commas.
(define (%several text schema items)
  (let ((choices (%choices items)))
    (define (read said)
      (let* ((parts (filter (lambda (part) (not (string=? part "")))
                      (map string-trim (string-split said #\,))))
             (wrong (find (lambda (part) (not (assoc part choices))) parts)))
        (cond ((null? choices) parts)
              (wrong (%complaint "has" (string-append wrong ", which is no choice")))
              (else (map (lambda (part) (cdr (assoc part choices))) parts)))))
    (%typed text schema
      (list
        (if (null? choices)
            "several with commas between them"
            (string-append "some of these, with commas between them: "
              (string-join (map car choices) ", "))))
      read)))

;;; Asks until `read` makes a value of the answer; an empty one is the default, or nothing.
(define (%typed text schema hints read)
  (let* ((default (dictionary-ref schema 'default 'nothing))
         (empty (and (not (eq? default 'nothing)) (string-append "empty: " (%shown default))))
         (prompt (%hinted text schema (append hints (if empty (list empty) '())))))
    (let again ((asked prompt))
      (let* ((said (%ask asked))
             (value (if (string=? (string-trim said) "") default (read said))))
        (if (vector? value)
            (again (string-append (string-trim said) " " (vector-ref value 0) ". " prompt))
            value)))))

(define (%hinted text schema hints)
  (let* ((description (dictionary-ref schema 'description #f))
         (hints (if description (cons description hints) hints)))
    (if (null? hints)
        (string-append text "?")
        (string-append text " (" (string-join hints "; ") ")?"))))

(define (%shown value)
  (cond ((list? value) (string-join (map %shown value) ", "))
        ((boolean? value) (if value "yes" "no"))
        (else (with-output-to-string (lambda () (display value))))))

;;; Says what is wrong with an answer; no value of a form is a vector.
(define (%complaint verb object) (vector (string-append verb " " object)))

(define (%limits schema)
  (define (limit key word)
    (let ((limit (dictionary-ref schema key #f)))
      (and limit (string-append word " " (number->string limit)))))
  (filter-map values (list (limit 'minimum "from") (limit 'maximum "to"))))

(define (%number schema is-kind?)
  (lambda (said)
    (let ((number (string->number (string-trim said)))
          (least (dictionary-ref schema 'minimum #f))
          (most (dictionary-ref schema 'maximum #f)))
      (cond ((not (and number (real? number))) (%complaint "is not" "a number"))
            ((not (is-kind? number)) (%complaint "is not" "a whole number"))
            ((and least (< number least))
             (%complaint "is less than" (number->string least)))
            ((and most (> number most)) (%complaint "is more than" (number->string most)))
            ((integer? number) (exact number))
            (else number)))))

(define (%text schema)
  (lambda (said)
    (let ((length (string-length said))
          (least (dictionary-ref schema 'minLength 0))
          (most (dictionary-ref schema 'maxLength #f)))
      (cond ((< length least)
             (%complaint "has fewer characters than" (number->string least)))
            ((and most (> length most))
             (%complaint "has more characters than" (number->string most)))
            ((and (equal? (dictionary-ref schema 'format #f) "email")
                  (not (string-index said #\@)))
             (%complaint "is not" "an address of e-mail"))
            (else said)))))

;;; Returns the values that a schema enumerates, by the texts that the person sees.
(define (%choices schema)
  (define (titled choice)
    (and (dictionary-contains? choice 'const)
         (let ((value (dictionary-ref choice 'const)))
           (cons (dictionary-ref choice 'title value) value))))
  (cond ((dictionary-contains? schema 'enum)
         (let* ((all (dictionary-ref schema 'enum))
                (names (dictionary-ref schema 'enumNames all)))
           (map cons (if (= (length names) (length all)) names all) all)))
        (else
         (filter-map titled
           (dictionary-ref schema 'oneOf (dictionary-ref schema 'anyOf '()))))))

(define (%check-server procedure server)
  (if (not (string? server)) (%wrong-type procedure "the name of a server, a string" server)))
