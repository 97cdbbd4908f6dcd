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
        (list (string-append "one of these: " (%listed choices)))
        read)
      (cdr (assoc (%ask (record 'ask (%hinted text schema '()) (map car choices))) choices))))

;;; Returns the names of choices for people. Where a name has a comma itself, semicolons part them.
(define (%listed choices)
  (let ((names (map car choices)))
    (string-join names (if (find (lambda (name) (string-index name #\,)) names) "; " ", "))))

;;; Asks for a list, whose elements stand between commas.
(define (%several text schema items)
  (let ((choices (%choices items))
        (least (dictionary-ref schema 'minItems 0))
        (most (dictionary-ref schema 'maxItems #f)))
    (define (read said)
      (let* ((values (if (null? choices) (%parts said) (%named said choices)))
             (count (if (vector? values) least (length values))))
        (cond ((< count least) (%complaint "has fewer parts than" (number->string least)))
              ((and most (> count most)) (%complaint "has more parts than" (number->string most)))
              (else values))))
    (%typed text schema
      (append
        (list
          (if (null? choices)
              "several with commas between them"
              (string-append "some of these, with commas between them: " (%listed choices))))
        (if (> least 0) (list (string-append "at least " (number->string least))) '())
        (if most (list (string-append "at most " (number->string most))) '()))
      read)))

;;; Returns the parts of a text between commas, without empty ones.
(define (%parts said)
  (filter (lambda (part) (not (string=? part ""))) (map string-trim (string-split said #\,))))

;;; Returns the values of the choices that a text names between commas, or a complaint. A name may
;;; have commas itself: of several that fit, the longest counts.
(define (%named said choices)
  (define (from text start) (string-trim-left (substring text start (string-length text))))
  ;; Returns what follows a name at the start of a text, or #f if it is not there as a whole.
  (define (behind name text)
    (and (string-prefix? name text)
         (let ((rest (from text (string-length name))))
           (and (or (string=? rest "") (string-prefix? "," rest)) rest))))
  (define (fits text) (lambda (choice) (behind (string-trim (car choice)) text)))
  (define (longer one other)
    (if (> (string-length (car other)) (string-length (car one))) other one))
  (let next ((text (string-trim said)) (found '()))
    (cond ((string=? text "") (reverse found))
          ((string-prefix? "," text) (next (from text 1) found))
          (else
           (let ((fitting (filter (fits text) choices)))
             (if (null? fitting)
                 (%complaint "has" (string-append (car (%parts text)) ", which is no choice"))
                 (let pick ((best (car fitting)) (rest (cdr fitting)))
                   (if (pair? rest)
                       (pick (longer best (car rest)) (cdr rest))
                       (next ((fits text) best) (cons (cdr best) found))))))))))

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
      (cond ((not (and number (real? number) (< -inf.0 number +inf.0)))
             (%complaint "is not" "a number"))
            ((not (is-kind? number)) (%complaint "is not" "a whole number"))
            ;; JSON has no ratios.
            ((and (exact? number) (not (integer? number)))
             (%complaint "is not" "a decimal number, such as 0.5"))
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
            ((assoc (dictionary-ref schema 'format #f) %formats)
             => (lambda (format)
                  (if ((cadr format) (string-trim said))
                      (string-trim said)
                      (%complaint "is not" (cddr format)))))
            (else said)))))

(define (%format name fits? words) (cons name (cons fits? words)))

;;; The formats of texts, each with a test and words.
;;; Source: Model Context Protocol, "Elicitation"; RFC 3339.
(define %formats
  (list
    (%format "email" (lambda (said) (string-index said #\@)) "an address of e-mail")
    (%format "uri" (lambda (said) (%address? said)) "an address, such as https://example.org/")
    (%format "date" (lambda (said) (%time? (string-append said "T00:00:00Z")))
      "a date, such as 2026-12-24")
    (%format "date-time" (lambda (said) (%time? (%without-fraction said)))
      "a time, such as 2026-12-24T18:00:00Z")))

;;; Returns whether a text begins with the scheme of an address, and has no blank.
(define (%address? text)
  (let ((colon (string-index text #\:)) (letter (if (string=? text "") #\: (string-ref text 0))))
    (and colon
         (or (char<=? #\a letter #\z) (char<=? #\A letter #\Z))
         (not (string-index text #\space)))))

(define (%time? text) (guard (failure (#t #f)) (and (text->time text) #t)))

;;; Returns a time without the fraction of its second.
(define (%without-fraction text)
  (let ((dot (string-index text #\.)) (end (string-length text)))
    (let skip ((i (if dot (+ dot 1) end)))
      (cond ((and (< i end) (char<=? #\0 (string-ref text i) #\9)) (skip (+ i 1)))
            ((and dot (> i (+ dot 1)))
             (string-append (substring text 0 dot) (substring text i end)))
            (else text)))))

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
