;;; One execution of ACTIONS in a sandbox.
;;;
;;; The sandbox is an actor of its own, made for the execution and ended with it. It may observe
;;; `<aeiou/result id n status value>`, assert `<aeiou/call id n name arguments>` and
;;; `<aeiou/outcome id emissions whispers problem>`, all with its own id, and nothing else. So a
;;; tool is called by the actor that made the sandbox, which checks the name once more.
;;; Source: AEIOU v4, sections 2 and 11; decisions, sections 5.11 to 5.13.

;;; Mail from one fiber of an actor to another one.
(define-record-type <mailbox>
  (%make-mailbox letters fiber)
  %mailbox?
  (letters %letters %set-letters!)
  (fiber %mailbox-fiber %set-mailbox-fiber!))

(define (%mail! mailbox letter)
  (%set-letters! mailbox (append (%letters mailbox) (list letter)))
  (if (%mailbox-fiber mailbox) (%wake (%mailbox-fiber mailbox))))

;;; Waits for a letter and takes it; `reason` says for people what is awaited.
(define (%take-letter! mailbox reason)
  (%set-mailbox-fiber! mailbox (%current-fiber))
  (let loop ()
    (if (null? (%letters mailbox))
        (begin (%sleep reason) (loop))
        (let ((letter (car (%letters mailbox))))
          (%set-letters! mailbox (cdr (%letters mailbox)))
          (%set-mailbox-fiber! mailbox #f)
          letter))))

;; Inside.

(define (%kind object) (and (condition? object) (condition-kind object)))

;;; The emissions and whispers of a program, the newest first, and how much it has done.
(define-record-type <saying>
  (%make-saying emissions whispers bytes line calls)
  %saying?
  (emissions %emissions %set-emissions!)
  (whispers %whispers %set-whispers!)
  (bytes %said-bytes %set-said-bytes!)
  (line %saying-line %set-saying-line!)
  (calls %saying-calls %set-saying-calls!))

;;; Counts a text that a program says; what it says must fit into a section.
(define (%count-text! saying text)
  (%set-said-bytes! saying (+ (%said-bytes saying) (%bytes text) 1))
  (if (> (%said-bytes saying) (- section-bytes-max 4096))
      (ns-quota "the program says more than fits into a section")))

(define (%emit! saying value)
  (let ((text (ns-text value)))
    (%count-text! saying text)
    (%set-emissions! saying (cons text (%emissions saying)))))

(define (%whisper! saying target value)
  (let ((text (ns-text value)))
    (%count-text! saying text)
    (%set-whispers! saying (cons (list (ns-text target) text) (%whispers saying)))))

;;; Asks the actor outside to call a tool, and returns the result.
(define (%request! id saying mailbox name arguments)
  (let ((number (+ (%saying-calls saying) 1)))
    (%set-saying-calls! saying number)
    (guard (object ((condition? object)
                    (ns-error 21 (string-append "tool '" name "': " (condition-message object)))))
      (assert! (record 'aeiou/call id number name (map ns->value arguments))))
    (let ((answer (%take-letter! mailbox (string-append "the tool " name " has answered"))))
      (if (eq? (car answer) 'done)
          (value->ns (cadr answer))
          (ns-error 21 (string-append "tool '" name "': " (cadr answer)))))))

;;; Returns `#f`, or a list of what ended the program: `error`, the code, the message and the line,
;;; or `quota` and the message.
(define (%problem-of program id saying mailbox)
  (guard (object
           ((eq? (%kind object) 'neuroscript-error)
            (list 'error (car (condition-irritants object)) (condition-message object)
              (%saying-line saying)))
           ((memq (%kind object) '(neuroscript-quota too-large too-many-arguments))
            (list 'quota (condition-message object))))
    (let ((command (car (eval (neuroscript->scheme program) (neuroscript-environment)))))
      (command
        (lambda (line)
          (if line (%set-saying-line! saying line))
          (%saying-line saying))
        (lambda (value) (%emit! saying value))
        (lambda (target value) (%whisper! saying target value))
        (lambda (name arguments) (%request! id saying mailbox name arguments)))
      #f)))

;;; The entity inside the sandbox. Its configuration is a list of its id and the actions. They run
;;; in a fiber whose fuel in one turn of the actor is limited.
(define (%sandbox config)
  (let ((id (car config)) (mailbox (%make-mailbox '() #f)) (saying (%make-saying '() '() 0 1 0)))
    ;; The number is captured too, because an equal answer to a later call would be no new match.
    (on-assert (aeiou/result ,id $number $status $value) (%mail! mailbox (list status value)))
    (%spawn-undivided
      (lambda ()
        (let ((problem (%problem-of (read-neuroscript (cadr config)) id saying mailbox)))
          (assert!
            (record 'aeiou/outcome id (reverse (%emissions saying))
              (reverse (%whispers saying)) problem)))))))

;; Outside.

;;;> Returns whether a manifest permits a tool: `(tool-permitted? name manifest)`. The manifest is a
;;;> list of names, strings such as `"fs.read"`; a `*` at the end stands for any rest, as in
;;;> `"str.*"`. Upper and lower case are the same.
;;;> Source: decisions, section 5.12.
(define (tool-permitted? name manifest)
  (if (not (string? name)) (%wrong-type 'tool-permitted? "the name of a tool, a string" name))
  (if (not (and (list? manifest) (every string? manifest)))
      (%wrong-type 'tool-permitted? "a list of strings" manifest))
  (let ((name (string-downcase name)))
    (define (permits? entry)
      (let* ((entry (string-downcase entry)) (last (- (string-length entry) 1)))
        (if (string-suffix? "*" entry)
            (string-prefix? (substring entry 0 last) name)
            (string=? entry name))))
    (any permits? manifest)))

;;; The limits of an execution: `tools` is the manifest, `call` the procedure that calls a tool.
(define-record-type <limits>
  (%make-limits tools call time-limit memory-limit calls-max)
  %limits?
  (tools %limit-tools)
  (call %limit-call)
  (time-limit %time-limit)
  (memory-limit %memory-limit)
  (calls-max %calls-max))

(define (%written object)
  (if (condition? object)
      (condition-message object)
      (let ((port (open-output-string)))
        (write object port)
        (get-output-string port))))

;;; Answers a call of a program. A call that is not permitted has no answer, because the turn is
;;; over.
(define (%answer! id number name arguments limits mailbox)
  (define (failed problem) (assert! (record 'aeiou/result id number 'failed (%written problem))))
  (cond
    ((not (tool-permitted? name (%limit-tools limits)))
     (%mail! mailbox (list 'denied name)))
    ((> number (%calls-max limits))
     (%mail! mailbox (list 'quota "the program calls too many tools")))
    (else
     (guard (problem (#t (failed problem)))
       (assert!
         (record 'aeiou/result id number 'done ((%limit-call limits) name arguments)))))))

(define (%grants id)
  (define (right name . templates)
    (cons name (map (lambda (template) (list 'pattern template)) templates)))
  (list (right 'dataspace/observe (list 'aeiou/result id '_ '_ '_))
        (right 'dataspace/assert (list 'aeiou/call id '_ '_ '_)
          (list 'aeiou/outcome id '_ '_ '_))))

(define (%begin-sandbox! id actions limits mailbox)
  (on-assert (aeiou/call ,id $number $name $arguments)
    (%answer! id number name arguments limits mailbox))
  (on-assert (aeiou/outcome ,id $emissions $whispers $problem)
    (%mail! mailbox (list 'ended emissions whispers problem)))
  (spawn-entity! 'aeiou-sandbox :config (list id actions) :grants (%grants id)
    :memory-limit (%memory-limit limits)
    :on-exit (lambda (reason) (if reason (%mail! mailbox (list 'failed reason)))))
  (if (%time-limit limits)
      (after (%time-limit limits) (lambda () (%mail! mailbox '(late))))))

;;; Executes actions in a sandbox, and returns how that ended: `(ended emissions whispers problem)`,
;;; `(failed condition)`, `(denied name)`, `(quota message)`, `(late)`, or `(raised object)` if it
;;; could not begin.
(define (%execute actions limits)
  (let ((home (%spawn-facet-for! (current-facet) (%current-fiber)))
        (mailbox (%make-mailbox '() #f))
        (id (generate-request-id! 'aeiou 'execution)))
    (register-entity! 'aeiou-sandbox %sandbox)
    (spawn
      (lambda ()
        (guard (problem (#t (%mail! mailbox (list 'raised problem))))
          (%begin-sandbox! id actions limits mailbox)))
      home)
    (let ((letter (%take-letter! mailbox "the ACTIONS have ended")))
      (stop-facet! home)
      letter)))

(define-record-type <execution>
  (%make-execution emissions whispers error)
  ;;;> Returns whether an object is the result of `run-actions`.
  execution?
  ;;;> Returns the emissions of a program: a list of strings, in order.
  (emissions execution-emissions)
  ;;;> Returns the whispers of a program: a list of lists of the target and the text.
  (whispers execution-whispers)
  ;;;> Returns the error that ended a program, a list of its code, an integer, its message and its
  ;;;> line from 1, or `#f`.
  (error execution-error))

(define %quota-kinds '(out-of-fuel out-of-memory memory-exhausted too-large))

;;; Returns the execution that ended so, or fails with a typed error.
(define (%execution-of letter)
  (define (arguments) (cdr letter))
  (case (car letter)
    ((ended)
     (let ((problem (caddr (arguments))))
       (if (and problem (eq? (car problem) 'quota)) (%fail 'ERR_QUOTA (cadr problem)))
       (%make-execution (car (arguments)) (cadr (arguments)) (and problem (cdr problem)))))
    ((denied)
     (%fail 'ERR_PERMISSIONS
       (string-append "the program calls " (cadr letter) ", which is not permitted")
       (cadr letter)))
    ((quota) (%fail 'ERR_QUOTA (cadr letter)))
    ((late) (%fail 'ERR_TIMEOUT "the program has not ended in time"))
    ((raised) (raise (cadr letter)))
    (else
     (%fail (if (memq (%kind (cadr letter)) %quota-kinds) 'ERR_QUOTA 'ERR_INTERPRETER)
       (%written (cadr letter))))))

;;; Returns the program of actions, or fails with a typed error.
(define (%checked-program actions tools)
  (let* ((program
           (guard (mistake ((neuroscript-syntax-error? mistake)
                            (%fail 'ERR_ACTIONS_INVALID (condition-message mistake))))
             (read-neuroscript actions)))
         (count (neuroscript-command-count program))
         (missing
           (remove (lambda (name) (tool-permitted? name tools)) (neuroscript-tools program))))
    (if (not (= count 1))
        (%fail 'ERR_ACTIONS_INVALID
          (string-append "ACTIONS must have exactly one command, not " (number->string count))))
    (if (pair? missing)
        (%fail 'ERR_PERMISSIONS
          (string-append "the program calls what is not permitted: "
            (string-join missing ", "))
          missing))
    program))

;;;> Checks actions, a string, without executing them: `(check-actions actions manifest)`. Returns
;;;> the names of the tools that they call. The manifest is that of `tool-permitted?`.
;;;> Fails with a typed error: `ERR_ACTIONS_INVALID` unless they are exactly one `command` block,
;;;> `ERR_PERMISSIONS` if they call a tool, anywhere, that is not permitted.
;;;> Source: AEIOU v4, sections 3.3, 8 and 11.1.
(define (check-actions actions manifest)
  (if (not (string? actions)) (%wrong-type 'check-actions "a string" actions))
  (neuroscript-tools (%checked-program actions manifest)))

;;; Returns the Duet tool and the payload of a call: `fs.read` is the tool `fs/read`; one map is the
;;; payload, other arguments are a list under `arguments`.
(define (%call-duet-tool name arguments)
  (call-tool 'aeiou (string-map (lambda (char) (if (char=? char #\.) #\/ char)) name)
    (cond ((null? arguments) (dictionary))
          ((and (null? (cdr arguments)) (dictionary? (car arguments))) (car arguments))
          (else (dictionary 'arguments arguments)))))

(define %limit-options '(:tools :call :time-limit :memory-limit :calls))

;;; Returns the limits that options name; `provided` are procedures by the names of tools, which
;;; come before others.
(define (%limits-of procedure options provided)
  (let ((tools (%option options :tools '())) (call (%option options :call %call-duet-tool)))
    (if (not (and (list? tools) (null? (remove string? tools))))
        (%wrong-type procedure "a list of strings after :tools" tools))
    (if (not (procedure? call)) (%wrong-type procedure "a procedure after :call" call))
    (%make-limits tools
      (lambda (name arguments)
        (let ((own (assoc name provided)))
          (if own (apply (cdr own) arguments) (call name arguments))))
      (%option options :time-limit 60000)
      (%option options :memory-limit 67108864)
      (%option options :calls 1000))))

;;;> Executes actions once in a sandbox: `(run-actions actions [:tools manifest] [:call procedure]
;;;> [:time-limit milliseconds] [:memory-limit bytes] [:calls n])`. Before anything is executed the
;;;> actions are checked as by `check-actions`; every call is checked again when it is made.
;;;>
;;;> `:call` receives the name of a tool, in lower case, and its arguments, a list, and returns the
;;;> result; if it fails, the statement of the program fails with code 21. By default `fs.read` is
;;;> Duet's tool `fs/read`, whose payload is the argument if that is one map, and otherwise a
;;;> dictionary of `arguments`. `:time-limit` is 60000 by default, `#f` for none; `:memory-limit` 64
;;;> MiB; `:calls`, the maximum number of calls, 1000.
;;;>
;;;> The actor needs the rights `spawn`, `dataspace/observe` and `dataspace/assert`, and with a time
;;;> limit `clock/timer`.
;;;>
;;;> Returns an execution. Fails with a typed error: those of `check-actions`, `ERR_TIMEOUT`, and
;;;> `ERR_QUOTA` if the program uses too much fuel or memory, says more than 508 KiB, or calls too
;;;> many tools.
;;;> Source: AEIOU v4, sections 2, 4 and 11; decisions, section 1, A1 to A5 and A25.
(define (run-actions actions . options)
  (if (not (string? actions)) (%wrong-type 'run-actions "a string" actions))
  (%check-options 'run-actions options %limit-options)
  (let ((limits (%limits-of 'run-actions options '())))
    (%checked-program actions (%limit-tools limits))
    (%execution-of (%execute actions limits))))
