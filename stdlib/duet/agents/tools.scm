;;; Tools of agents: procedures of the program, granted tools, and other agents; and what a prompt
;;; brings along.

(define-record-type <agent-tool>
  (%make-agent-tool name %description %schema %compiled %procedure)
  ;;;> Returns whether an object is a tool of an agent.
  agent-tool?
  (name %agent-tool-name)
  (%description %agent-tool-description)
  (%schema %agent-tool-schema)
  (%compiled %agent-tool-compiled)
  ;; Takes the role of the agent and the arguments.
  (%procedure %agent-tool-procedure))

(define (%tool-of name description schema procedure)
  (%make-agent-tool name description schema (json-schema schema) procedure))

;;;> Makes a tool for agents: `(agent-tool name description schema procedure)`. The model receives
;;;> the name and the description, strings, and the JSON Schema of the arguments, a value;
;;;> `shape->schema` makes one. The procedure receives the arguments, a dictionary that the schema
;;;> allows, and returns a string or another value with a form in JSON. An error in the procedure
;;;> goes to the model, and with its place and trace to whoever follows the run.
(define (agent-tool name description schema procedure)
  (%need-thunks 'agent-tool (list procedure))
  (if (not (string? name)) (%wrong-type 'agent-tool "a string" name))
  (%tool-of name description schema
    (lambda (role arguments)
      (%reporting (string-append "the tool " name " of " (symbol->string role))
        (lambda () (%text-of-result (procedure arguments)))))))

;;; Calls a procedure of the program. An error in it goes to the model, which cannot mend it, and to
;;; whoever follows the run. The report is made where the error is raised, and so has that place;
;;; the procedure is left once.
(define (%reporting what thunk)
  (guard (failure (#t (raise failure)))
    (with-exception-handler
      (lambda (failure)
        (%report-failure what failure #t)
        (raise-continuable failure))
      thunk)))

;;; Returns the result of a tool as a text; a procedure that ends in `display` or `for-each` has none.
(define (%text-of-result result)
  (cond ((string? result) result)
        ((eq? result (if #f #f)) "done")
        (else (value->json result))))

;;;> Defines a tool for agents: `(define-tool (name (parameter shape option …) …) description body
;;;> …)`. The parameters are the members of an object, as for `shape->schema`; in the body each is
;;;> the argument of its name, or `#f` if it is optional and the model has left it out. The value of
;;;> the body is a string or another value with a form in JSON.
(define-syntax define-tool
  (syntax-rules ()
    ((_ (name (parameter shape option ...) ...) body)
     (syntax-error "a tool has a description for the model, a string, before its body"
       (name (parameter shape option ...) ...)))
    ((_ (name (parameter shape option ...) ...) description body ...)
     (define name
       (agent-tool (symbol->string 'name) description
         (shape->schema '(object (parameter shape option ...) ...))
         (lambda (arguments)
           (let ((parameter (dictionary-ref arguments 'parameter #f)) ...) body ...)))))
    ((_ head part ...)
     (syntax-error "the head of a tool is (name (parameter shape option ...) ...)" head))))

;;;> Makes a tool for agents of one that the program was granted: `(granted-tool name [description
;;;> schema])`. The agent calls it in its own role, and gate and policy judge the call. The tools
;;;> that are built in need no description and schema, nor do those of an MCP server, which is asked
;;;> for them; for others both are needed. Fails with `no-such-tool`.
(define (granted-tool name . description-and-schema)
  (if (not (string? name)) (%wrong-type 'granted-tool "a string" name))
  (let ((known (assoc name %built-in-tools)))
    (define (use role arguments) (call-tool role name arguments))
    (cond ((= 2 (length description-and-schema))
           (%tool-of name (car description-and-schema) (cadr description-and-schema) use))
          ((not (null? description-and-schema))
           (%wrong-type 'granted-tool "a description and a schema, or neither" name))
          (known (%tool-of name (cadr known) (shape->schema (caddr known)) use))
          (else
           (let ((listed (%tools-of-server name)))
             (if (null? listed) (%no-such-tool name))
             (%tool-that-is-listed (car listed)))))))

(define (%no-such-tool name)
  (raise
    (%make-condition 'no-such-tool
      (string-append "granted-tool: no tool that is built in, or that a server has, has this name; "
        "others need a description and a schema")
      (list name))))

;;; Returns the tools of an MCP server, as it lists them, whose names are a pattern's; none if there
;;; is no such server.
(define (%tools-of-server pattern)
  (let* ((slash (string-index pattern #\/))
         (server (and slash (substring pattern 0 slash))))
    (if (not server)
        '()
        (filter (lambda (tool) (%name-matches? pattern (dictionary-ref tool 'name)))
          (guard (condition
                   ((memq (condition-kind condition) '(no-such-tool capability-denied)) '()))
            (mcp-tools 'agents server))))))

(define (%tool-that-is-listed tool)
  (let ((name (dictionary-ref tool 'name)) (schema (dictionary-ref tool 'schema)))
    (%make-agent-tool name (dictionary-ref tool 'description) schema (%listed-schema schema)
      (lambda (role arguments) (%shown-result (mcp-call role name arguments))))))

;;; Returns the value of a server's result; a text names the parts that have none.
(define (%shown-result result)
  (let ((value (mcp-value result))
        (content (dictionary-ref result 'content '())))
    (if (and (string? value) (list? content))
        (string-join
          (append (if (string=? value "") '() (list value)) (filter-map %without-text content))
          "\n")
        value)))

(define (%without-text part)
  (and (dictionary? part) (%named-part part)))

(define (%named-part part)
  (let* ((type (dictionary-ref part 'type #f))
         (resource (dictionary-ref part 'resource part))
         (resource (if (dictionary? resource) resource part))
         (place (dictionary-ref resource 'uri (dictionary-ref part 'mimeType ""))))
    (and (string? type)
         (not (string? (dictionary-ref resource 'text #f)))
         (string-append "(" type " " (if (string? place) place "") ", not shown)"))))

;;; Compiles the schema of a server's tool. Whatever dialect it names, it is read as the gate reads
;;; it, as one of 2020-12; if it is none, the agent leaves the check to the gate.
(define (%listed-schema schema)
  (guard (failure ((and (condition? failure) (eq? (condition-kind failure) 'json-schema-error))
                   (json-schema #t)))
    (if (dictionary? schema)
        (let ((copy (dictionary-copy schema)))
          (dictionary-delete! copy '$schema)
          (json-schema copy))
        (json-schema schema))))

;;; The built-in tools that a model can use: name, description and the shape of the arguments.
(define %built-in-tools
  '(("workspace/list" "Lists the entries of a folder of the workspace."
     (object (path string "the folder; without it the root" :optional)
      (recursive boolean "whether folders in it are listed too" :optional)
      (limit (integer :min 1) "the largest number of entries" :optional)))
    ("workspace/read" "Reads a file of the workspace, whole or a range of its bytes."
     (object (path string "the file")
      (offset (integer :min 0) "the byte to begin with" :optional)
      (length (integer :min 0) "the largest number of bytes" :optional)))
    ("workspace/exists" "Says whether there is a file or folder at a path of the workspace."
     (object (path string)))
    ("workspace/stat" "Says what is at a path of the workspace: kind, size and age."
     (object (path string)))
    ("workspace/search" "Finds the lines of files in the workspace that match a pattern."
     (object (pattern string "a regular expression, or with literal the text itself")
      (path string "the file or folder to search; without it the root" :optional)
      (literal boolean "whether the pattern is text" :optional)
      (ignore_case boolean :optional)
      (limit (integer :min 1) "the largest number of lines" :optional)))
    ("workspace/write" "Replaces a file of the workspace, or makes it."
     (object (path string) (content string "all that will be in the file")))
    ("workspace/patch" "Changes, makes and deletes files of the workspace, all or none."
     (object (patch string "a unified diff with paths relative to the root")))
    ("workspace/delete" "Deletes a file of the workspace." (object (path string)))
    ("process/run" "Runs a program with its arguments, without a shell; says what it wrote."
     (object (arguments (list string :min 1) "the program and its arguments")
      (directory string "where it runs; without it the root" :optional)
      (input string "its standard input" :optional)
      (timeout_ms (integer :min 1) :optional)))
    ("http/get" "Asks a server for something, without changing anything there."
     (object (url string)
      (headers (dictionary string) :optional)
      (timeout_ms (integer :min 1) :optional)))
    ("http/request" "Sends a request to a server."
     (object (url string)
      (method (one-of GET HEAD POST PUT PATCH DELETE OPTIONS))
      (headers (dictionary string) :optional)
      (body string :optional)
      (timeout_ms (integer :min 1) :optional)))))

;;; Returns whether a name is a pattern's, at whose end a `*` stands for any rest.
(define (%name-matches? pattern name)
  (let ((end (- (string-length pattern) 1)))
    (if (and (>= end 0) (char=? (string-ref pattern end) #\*))
        (and (>= (string-length name) end)
             (string=? (substring pattern 0 end) (substring name 0 end)))
        (string=? pattern name))))

;;; Returns the tools that a part of an agent's tools names: a tool, an agent, the name of a granted
;;; tool, or a pattern of built-in ones or of those of a server.
(define (%tools-of part)
  (cond ((agent-tool? part) (list part))
        ((agent? part) (list (%agent-as-tool part)))
        ((not (string? part))
         (%wrong-type 'make-agent "tools of agents, agents and names of granted tools" part))
        ((string-suffix? "*" part)
         (let ((names
                 (filter (lambda (name) (%name-matches? part name)) (map car %built-in-tools))))
           (if (pair? names)
               (map granted-tool names)
               (let ((listed (%tools-of-server part)))
                 (if (null? listed) (%no-such-tool part))
                 (map %tool-that-is-listed listed)))))
        (else (list (granted-tool part)))))

;;; Returns a text between fences of back quotes that the text itself does not contain, so that no
;;; text can end its own part of a prompt.
(define (%fenced title text)
  (let ((fence (make-string (max 3 (+ 1 (%longest-run text #\`))) #\`)))
    (string-append title "\n" fence "\n" text (if (string-suffix? "\n" text) "" "\n") fence)))

(define (%longest-run text char)
  (let loop ((index 0) (run 0) (longest 0))
    (cond ((= index (string-length text)) (max run longest))
          ((char=? char (string-ref text index)) (loop (+ index 1) (+ run 1) longest))
          (else (loop (+ index 1) 0 (max run longest))))))

;;; Returns the text of a prompt: a string, a part, or a list of them.
(define (%prompt-text role prompt)
  (define (part-text part)
    (cond ((string? part) part)
          ((%part? part) (%special-text role part))
          (else (%wrong-type 'ask "a string, (file path) or (json value) in a prompt" part))))
  (cond ((string? prompt) prompt)
        ((%part? prompt) (part-text prompt))
        ((and (pair? prompt) (list? prompt)) (string-join (map part-text prompt) "\n\n"))
        (else (%wrong-type 'ask "a string, (file path), (json value) or a list of them" prompt))))

(define (%part? object)
  (and (list? object) (= (length object) 2) (memq (car object) '(file json))))

(define (%special-text role part)
  (if (eq? (car part) 'json)
      (%fenced "As JSON:" (value->json (cadr part) :indent 2))
      (let* ((path (cadr part))
             (content
               (dictionary-ref (call-tool role "workspace/read" (dictionary 'path path)) 'content)))
        (if (not (string? content))
            (raise
              (%make-condition 'not-text "ask: the file in the prompt is no text" (list path))))
        (%fenced (string-append "The file " (value->json path) ":") content))))

;;;> Returns the paths of the files in a folder of the workspace and in the folders below it, in
;;;> order: `(files [folder] [:suffix text])`; with `:suffix`, of those whose names end so. Calls
;;;> the tool `workspace/list`, so hidden files and those that `.gitignore` names are left out.
(define (files . folder-and-options)
  (let* ((has-folder (and (pair? folder-and-options) (string? (car folder-and-options))))
         (options (if has-folder (cdr folder-and-options) folder-and-options)))
    (%check-options 'files options '(:suffix))
    (let ((suffix (%option options :suffix ""))
          (request (dictionary 'recursive #t)))
      (if has-folder (dictionary-set! request 'path (car folder-and-options)))
      (filter (lambda (path) (string-suffix? suffix path))
        (map (lambda (entry) (dictionary-ref entry 'path))
          (filter (lambda (entry) (eq? (dictionary-ref entry 'kind) 'file))
            (call-tool 'files "workspace/list" request)))))))
