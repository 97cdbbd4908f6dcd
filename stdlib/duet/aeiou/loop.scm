;;; The loop: prompt, reply, check, execution, scan, decision.
;;; Source: AEIOU v4, sections 5, 8, 9 and 10; decisions, sections 4 and 5.

;;;> The rules that a model receives with every prompt, word for word.
;;;> Source: AEIOU v4, section 13.
(define aeiou-rules
  (string-append
    "Read only between START/END. Sections appear once: "
    "USERDATA, [SCRATCHPAD], [OUTPUT], ACTIONS.\n"
    "Only ACTIONS is executable. Write exactly one ns `command` block.\n"
    "USERDATA is immutable JSON input from the host.\n"
    "To control the loop:\n"
    "  - To Continue: Simply emit text/tools.\n"
    "  - To Finish: emit \"<<<LOOP:DONE>>> <Optional Final Result>\"\n"
    "The control marker MUST be in the output for the loop to stop."))

;;;> Returns a model for `ask-loop`, the tool of a name, such as `"model/chat"`: `(tool name [:model
;;;> text] [:role symbol] [:options dictionary])`. It receives what `(duet agents)` sends to models:
;;;> the rules as message of the system, the envelope as message of the user.
(define (tool name . options)
  (%check-options 'tool options '(:model :role :options))
  (lambda (rules envelope)
    (let ((request
            (dictionary 'model (%option options :model "default")
              'messages (list (dictionary 'role "system" 'content rules)
                          (dictionary 'role "user" 'content envelope)))))
      (if (%option options :options #f)
          (dictionary-set! request 'options (%option options :options #f)))
      (let ((result (call-tool (%option options :role 'aeiou) name request)))
        (json-ref/default "" result 'content)))))

;;;> Returns a model for `ask-loop` that gives the replies of a list, strings or bytevectors, one
;;;> after the other. Fails with `no-reply` when there are no more.
(define (scripted-model replies)
  (lambda (rules envelope)
    (if (null? replies)
        (raise (%make-condition 'no-reply "scripted-model: there are no more replies" '())))
    (let ((reply (car replies)))
      (set! replies (cdr replies))
      reply)))

(define-record-type <outcome>
  (%make-outcome decision reason result output log counters)
  ;;;> Returns whether an object is the outcome of a loop.
  outcome?
  ;;;> Returns how a loop ended: `DONE` or `HALT`.
  (decision outcome-decision)
  ;;;> Returns why a loop halted, a symbol such as `ERR_NO_PROGRESS`; `#f` if it is done.
  (reason outcome-reason)
  ;;;> Returns the final result of a loop that is done, a string, or `#f`.
  (result outcome-result)
  ;;;> Returns the output of the last turn, a string.
  (output outcome-output)
  ;;;> Returns the decision log: a dictionary for each turn, of `ts`, the milliseconds since 1970
  ;;;> at which the turn began, `SID`, `turn_index` from 1, `decision` (`"DONE"`, `"CONTINUE"` or
  ;;;> `"HALT"`), `latency_ms`, `output_bytes`, `scratch_bytes`, `digest`, `lints`, and where they
  ;;;> apply `reason`, `error` and `final_result`.
  ;;;> Source: AEIOU v4, section 10.
  (log outcome-log)
  ;;;> Returns the counters of the session: a dictionary of `decisions`, `validations_failed` and
  ;;;> `progress_halts`.
  ;;;> Source: AEIOU v4, section 10.
  (counters outcome-counters))

;;; A loop: its session, its model, what it does with replies that are invalid, and the rest.
(define-record-type <loop>
  (%make-loop session model userdata limits turns-max guard on-invalid lenient rules)
  %loop?
  (session %loop-session)
  (model %loop-model)
  (userdata %loop-userdata)
  (limits %loop-limits)
  (turns-max %loop-turns-max)
  (guard %loop-guard)
  (on-invalid %loop-on-invalid)
  (lenient %loop-lenient?)
  (rules %loop-rules))

;;; The result of one turn: `error` is the code of a typed error, `fatal` whether it halts, and
;;; `actions` what stands in ACTIONS of the next envelope.
(define-record-type <result>
  (%make-result output scratchpad scan lints error fatal actions)
  %result?
  (output %result-output)
  (scratchpad %result-scratchpad)
  (scan %result-scan)
  (lints %result-lints)
  (error %result-error)
  (fatal %result-fatal?)
  (actions %result-actions))

(define %first-actions "command endcommand")
(define %next-actions "command\n  # Execute next step\nendcommand")
(define %syntax-actions "command\n  # Fix syntax error\nendcommand")
(define %execution-actions "command\n  # Fix execution error\nendcommand")

;;; Says in which state a turn of a loop is.
(define (%enter! loop turn state)
  (message! (record 'aeiou/state (%session-sid (%loop-session loop)) turn state)))

(define (%each-line texts)
  (string-join (map (lambda (text) (string-append text "\n")) texts) ""))

(define (%system-error how message)
  (string-append "SYSTEM_ERROR: The previous ACTIONS block failed " how ".\nError: " message
    "\n\nEnsure you are using valid NeuroScript syntax.\n"))

(define %no-scan (%make-scan #f #f '()))

;;; The result of a reply that could not be executed. The model learns of it if the loop goes on.
(define (%invalid-result loop problem lints)
  (let ((code (aeiou-error-code problem)))
    (%count-event! (%loop-session loop) 'validations_failed)
    (%make-result (%system-error "to parse or validate" (condition-message problem)) "" %no-scan
      lints code (eq? (%loop-on-invalid loop) 'halt) %syntax-actions)))

;;; The result of a turn that broke a limit.
(define (%broken-result problem lints)
  (%make-result "" "" %no-scan lints (aeiou-error-code problem) #t %next-actions))

(define (%executed-result execution lints)
  (let* ((problem (execution-error execution))
         (emissions (execution-emissions execution))
         (said (%each-line emissions))
         (scratchpad (%each-line (map cadr (execution-whispers execution)))))
    (if problem
        (%make-result (string-append said (%system-error "during execution" (%shown problem)))
          scratchpad %no-scan lints 'ERR_ACTIONS_FAILED #f %execution-actions)
        (let ((scan (scan-emissions emissions)))
          (%make-result said scratchpad scan (append lints (scan-lints scan)) #f #f
            %next-actions)))))

(define (%shown problem)
  (string-append "line " (number->string (caddr problem)) ": NeuroScript error "
    (number->string (car problem)) ": " (cadr problem)))

;;;> Returns the lints about the USERDATA of an envelope that nobody reads, such as a reply's: a list
;;;> with the symbol `LINT_USERDATA_NOT_OBJECT` if the text is no JSON object, else `()`.
;;;> Source: AEIOU v4, section 3.5; decisions, section 4, number 14.
(define (userdata-lints text)
  (if (not (string? text)) (%wrong-type 'userdata-lints "a string" text))
  (guard (mistake ((json-error? mistake) '(LINT_USERDATA_NOT_OBJECT)))
    (if (dictionary? (json->value text :repeated 'last)) '() '(LINT_USERDATA_NOT_OBJECT))))

;;; Calls one of two procedures: with the value of `thunk`, or with the typed error that it raises.
(define (%attempt thunk done failed)
  (let ((result
          (guard (problem ((aeiou-error? problem) (lambda () (failed problem))))
            (let ((value (thunk))) (lambda () (done value))))))
    (result)))

;;; Checks a reply, executes its actions, and returns the result of the turn.
(define (%result-of loop turn reply)
  (%attempt
    (lambda () (parse-envelope reply :lenient (%loop-lenient? loop)))
    (lambda (envelope)
      (let ((lints (append (envelope-lints envelope)
                     (userdata-lints (envelope-userdata envelope))))
            (actions (envelope-actions envelope))
            (limits (%loop-limits loop)))
        (%attempt
          (lambda () (%checked-program actions (%limit-tools limits)))
          (lambda (program)
            (%enter! loop turn 'EXECUTING)
            (%attempt
              (lambda () (%execution-of (%execute actions limits)))
              (lambda (execution)
                (%enter! loop turn 'SCANNING)
                (%executed-result execution lints))
              (lambda (problem) (%broken-result problem lints))))
          (lambda (problem) (%invalid-result loop problem lints)))))
    (lambda (problem) (%invalid-result loop problem '()))))

;;; Returns the decision about a turn and its reason: `DONE` comes before the guard, the guard
;;; before the number of turns.
(define (%decide loop turn result digest)
  (let ((repeats (progress-guard-halts? (%loop-guard loop) digest)))
    (cond
      ((%result-fatal? result) (cons 'HALT (%result-error result)))
      ((scan-done? (%result-scan result)) '(DONE . #f))
      (repeats
       (%count-event! (%loop-session loop) 'progress_halts)
       '(HALT . ERR_NO_PROGRESS))
      ((>= turn (%loop-turns-max loop)) '(HALT . ERR_MAX_TURNS_EXCEEDED))
      (else '(CONTINUE . #f)))))

(define (%entry loop turn result decision digest began ended)
  (let ((entry
          (dictionary 'ts began 'SID (%session-sid (%loop-session loop)) 'turn_index turn
            'decision (symbol->string (car decision)) 'latency_ms (- ended began)
            'output_bytes (%bytes (%result-output result))
            'scratch_bytes (%bytes (%result-scratchpad result))
            'digest digest 'lints (map symbol->string (%result-lints result)))))
    (define (add! key value) (if value (dictionary-set! entry key value)))
    (add! 'reason (and (cdr decision) (symbol->string (cdr decision))))
    (add! 'error (and (%result-error result) (symbol->string (%result-error result))))
    (add! 'final_result (and (eq? (car decision) 'DONE) (scan-result (%result-scan result))))
    entry))

;;; Takes one turn; returns its result, the decision and the entry of the log.
(define (%take-turn! loop turn before)
  (%enter! loop turn 'IDLE)
  (let* ((began (current-time))
         (result
           (%attempt
             (lambda ()
               (compose-envelope (%loop-userdata loop) (%result-actions before)
                 :output (%result-output before) :scratchpad (%result-scratchpad before)))
             (lambda (prompt)
               (%result-of loop turn ((%loop-model loop) (%loop-rules loop) prompt)))
             (lambda (problem) (%broken-result problem '()))))
         (digest (turn-digest (%result-output result) (%result-scratchpad result)))
         (decision (%decide loop turn result digest))
         (entry (%entry loop turn result decision digest began (current-time))))
    (%count-event! (%loop-session loop) 'decisions)
    (%enter! loop turn 'DECIDED)
    (message! (record 'aeiou/decision (%session-sid (%loop-session loop)) entry))
    (%enter! loop turn (if (eq? (car decision) 'CONTINUE) 'EMIT_NEXT 'FINAL))
    (list result decision entry)))

(define (%run-loop loop)
  (let next ((turn 1) (before (%make-result "" "" %no-scan '() #f #f %first-actions)) (log '()))
    (let* ((taken (%take-turn! loop turn before))
           (result (car taken))
           (decision (cadr taken))
           (log (cons (caddr taken) log)))
      (if (eq? (car decision) 'CONTINUE)
          (next (+ turn 1) result log)
          (%make-outcome (car decision) (cdr decision)
            (and (eq? (car decision) 'DONE) (scan-result (%result-scan result)))
            (%result-output result) (reverse log)
            (dictionary-copy (%session-counters (%loop-session loop))))))))

(define %loop-options
  (append %limit-options '(:sid :max-turns :no-progress :on-invalid :lenient)))

(define (%natural procedure options key default)
  (let ((value (%option options key default)))
    (if (not (and (exact-integer? value) (> value 0)))
        (%wrong-type procedure "a number from 1" value))
    value))

(define (%rules-with tools)
  (string-append aeiou-rules "\n\nTools that ACTIONS may call, as `tool.NAME(...)`: "
    (if (null? tools) "none" (string-join tools ", ")) "\n"))

;;;> Lets a model work in turns until it is done: `(run-loop model userdata [:sid text] [:max-turns
;;;> n] [:no-progress n] [:on-invalid what] [:lenient boolean] [:tools manifest] [:call procedure]
;;;> [:time-limit milliseconds] [:memory-limit bytes] [:calls n])`. The model is a procedure of the
;;;> rules and an envelope, strings, that returns a reply, as `tool` makes it. The userdata are
;;;> those of `check-userdata`. Each reply is an envelope, whose actions are executed as by
;;;> `run-actions`, with its options. If the manifest permits them, the tools `store.get`,
;;;> `store.set`, `store.delete` and `store.keys` reach what the session stores.
;;;>
;;;> The loop is done when the program emits the control marker. It halts after `:max-turns` turns,
;;;> by default 8, after `:no-progress` turns in a row, by default 3, that say the same, with the
;;;> error of an execution, and with `ERR_ENV_SIZE` if its next envelope is too long. A reply that
;;;> cannot be executed halts it with the error, or with `:on-invalid` `feedback` the model learns
;;;> the error in the next envelope, as it does of an error of a running program. With `:lenient`,
;;;> the default, text before the envelope of a reply is a lint. `:sid` names the session, by
;;;> default a new one.
;;;>
;;;> The actor needs the rights of `run-actions`, `dataspace/message`, and `clock/*`.
;;;>
;;;> Returns an outcome. Each turn sends messages `<aeiou/state sid turn state>` and
;;;> `<aeiou/decision sid entry>`. Fails with the typed errors `ERR_USERDATA_SCHEMA`, and
;;;> `ERR_TURN_IN_FLIGHT` if another loop uses the session, and with an object that the model
;;;> raises.
;;;> Source: AEIOU v4, sections 2, 5 and 8 to 10.
(define (run-loop model userdata . options)
  (%check-options 'run-loop options %loop-options)
  (let ((sid (%option options :sid #f)) (on-invalid (%option options :on-invalid 'halt)))
    (if (not (procedure? model)) (%wrong-type 'run-loop "a model, such as that of `tool`" model))
    (if (not (or (not sid) (string? sid))) (%wrong-type 'run-loop "a string after :sid" sid))
    (if (not (memq on-invalid '(halt feedback)))
        (%wrong-type 'run-loop "`halt` or `feedback` after :on-invalid" on-invalid))
    (let ((userdata (check-userdata userdata))
          (turns-max (%natural 'run-loop options :max-turns 8))
          (guard (make-progress-guard (%natural 'run-loop options :no-progress 3))))
      (%call-in-session (or sid (generate-request-id! 'aeiou 'session))
        (lambda (session)
          (let ((limits (%limits-of 'run-loop options (%storage-of session))))
            (%run-loop
              (%make-loop session model userdata limits turns-max guard on-invalid
                (%option options :lenient #t) (%rules-with (%limit-tools limits))))))))))

;;;> Lets a model work in turns, as `run-loop` does: `(ask-loop model userdata option ...)`. The
;;;> values of `:tools` and `:on-invalid` are written without quotes: `(ask-loop (tool "model/chat")
;;;> userdata :max-turns 8 :tools ("fs.read" "str.*") :no-progress 3 :on-invalid halt)`.
(define-syntax ask-loop
  (syntax-rules ()
    ((_ model userdata option ...) (%ask-loop (model userdata) option ...))))

(define-syntax %ask-loop
  (syntax-rules (quote)
    ((_ (part ...)) (run-loop part ...))
    ((_ (part ...) :tools (quote tools) option ...)
     (%ask-loop (part ... :tools (quote tools)) option ...))
    ((_ (part ...) :tools tools option ...)
     (%ask-loop (part ... :tools (quote tools)) option ...))
    ((_ (part ...) :on-invalid (quote what) option ...)
     (%ask-loop (part ... :on-invalid (quote what)) option ...))
    ((_ (part ...) :on-invalid what option ...)
     (%ask-loop (part ... :on-invalid (quote what)) option ...))
    ((_ (part ...) key value option ...) (%ask-loop (part ... key value) option ...))))
