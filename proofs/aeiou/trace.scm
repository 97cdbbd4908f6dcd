;;; The AEIOU suite of `duet conform`: a program that runs cases with `(duet aeiou)`, makes their
;;; traces, and compares them with those of the reference implementation.
;;;
;;; Its arguments are the path and the text of the cases and, if there are any, the text of the
;;; expected traces. A case and a trace are values of `(duet json)`.
(import
  (duet base) (scheme process-context) (duet json) (duet aeiou) (duet neuroscript))

(define (field value key default) (json-ref/default default value key))

(define (text-of case key)
  (let ((value (field case key 'absent)))
    (if (string? value)
        value
        (bad-case (string-append "a case of this kind needs a string `" key "`")))))

(define (list-of case key)
  (let ((value (field case key '())))
    (if (list? value) value (bad-case (string-append "`" key "` must be an array")))))

(define (code-of object)
  (cond ((aeiou-error? object) (symbol->string (aeiou-error-code object)))
        ((neuroscript-syntax-error? object) "ERR_ACTIONS_INVALID")
        ((condition? object) (symbol->string (condition-kind object)))
        (else "raised")))

(define (message-of object)
  (if (condition? object) (condition-message object) (value->json object)))

(define (error-trace object)
  (dictionary 'code (code-of object) 'message (message-of object)))

(define (trace case . fields)
  (apply dictionary 'name (field case "name" 'null) 'op (field case "op" 'null) fields))

(define (names symbols) (map symbol->string symbols))

;; Envelopes, userdata, digests.

(define (envelope-trace case)
  (attempt
    (lambda ()
      (let ((it (parse-envelope (text-of case "text"))))
        (trace case
          'env
          (dictionary 'USERDATA (envelope-userdata it) 'SCRATCHPAD (envelope-scratchpad it)
            'OUTPUT (envelope-output it) 'ACTIONS (envelope-actions it))
          'error 'null 'lints (names (envelope-lints it)))))
    (lambda (object)
      (if (aeiou-error? object)
          (trace case 'error (error-trace object) 'lints '())
          (raise object)))))

(define (userdata-trace case)
  (attempt
    (lambda () (check-userdata (text-of case "text")) (trace case 'ok #t 'error 'null))
    (lambda (object)
      (if (aeiou-error? object)
          (trace case 'ok #f 'error (error-trace object))
          (raise object)))))

(define (digest-trace case)
  (trace case 'digest (turn-digest (text-of case "out") (text-of case "scr"))))

(define (track-trace case)
  (let ((guard (make-progress-guard (field case "n" 0))))
    (trace case 'halts
      (map (lambda (digest) (progress-guard-halts? guard digest)) (list-of case "digests")))))

;; Programs.

;;; The tools of the suite take one argument, ignore others, and return it.
(define (echo calls)
  (lambda (name arguments)
    (let ((used (if (pair? arguments) (list (car arguments)) '())))
      (set-car! calls (cons (list name used) (car calls)))
      (if (pair? used) (car used) 'null))))

(define (run-trace case)
  (let* ((source (text-of case "src")) (manifest (list-of case "tools")) (calls (list '())))
    (attempt
      (lambda ()
        (let* ((program (read-neuroscript source))
               (required (neuroscript-tools program))
               (missing (remove (lambda (name) (tool-permitted? name manifest)) required)))
          (attempt
            (lambda ()
              (let ((done (run-actions source :tools manifest :call (echo calls))))
                (trace case 'required_tools required 'missing_tools missing
                  'calls (reverse (car calls)) 'emits (execution-emissions done)
                  'whispers (execution-whispers done)
                  'error (run-error (execution-error done)))))
            (lambda (object)
              (if (aeiou-error? object)
                  (trace case 'required_tools required 'missing_tools missing
                    'refused (error-trace object))
                  (raise object))))))
      (lambda (object)
        (if (neuroscript-syntax-error? object)
            (trace case 'parse_error (error-trace object))
            (raise object))))))

(define (run-error problem)
  (if problem
      (dictionary 'ns_code (car problem) 'message (cadr problem) 'line (caddr problem))
      'null))

;; Loops.

;;; The number of turns by the rules of the reference.
(define (turns-max case) (max 1 (min 25 (field case "max_turns" 1))))

(define (prompt-text number prompt)
  (string-append "--- PROMPT (SID: *, Turn: " (number->string number) ") ---\n" prompt
    "\n--- END PROMPT ---\n\n"))

(define (loop-trace case)
  (let* ((prompts '())
         (replies (list-of case "turns"))
         (model (scripted-model replies))
         (calls (list '()))
         (limit (min (turns-max case) (length replies))))
    (define (spy rules prompt)
      (set! prompts (cons prompt prompts))
      (model rules prompt))
    (if (= limit 0) (bad-case "a loop needs at least one reply in `turns`"))
    (let* ((done
             (run-loop spy (dictionary 'subject "ask" 'fields (dictionary 'prompt "start"))
               :max-turns limit :on-invalid 'feedback :lenient #f
               :tools (list-of case "tools") :call (echo calls)))
           (reason (outcome-reason done)))
      (trace case
        'decision (symbol->string (outcome-decision done))
        'reason
        (cond ((not reason) 'null)
              ;; The replies of the case end before the loop would.
              ((and (eq? reason 'ERR_MAX_TURNS_EXCEEDED) (< limit (turns-max case))) "no-reply")
              (else (symbol->string reason)))
        'result (or (outcome-result done) 'null) 'output (outcome-output done)
        'turns_used (length prompts)
        'transcript (string-join (map prompt-text (iota (length prompts) 1) (reverse prompts)) "")
        'turns (map turn-trace (outcome-log done))))))

;;; What the log of decisions says of a turn, without times.
(define (turn-trace entry)
  (let ((kept (dictionary)))
    (for-each
      (lambda (key)
        (if (dictionary-contains? entry key)
            (dictionary-set! kept key (dictionary-ref entry key #f))))
      '(turn_index decision reason error final_result output_bytes scratch_bytes digest lints))
    kept))

(define (trace-of case)
  (let ((op (field case "op" 'null)))
    (define (make)
      (cond
        ((equal? op "envelope") (envelope-trace case))
        ((equal? op "userdata") (userdata-trace case))
        ((equal? op "digest") (digest-trace case))
        ((equal? op "track") (track-trace case))
        ((equal? op "run") (run-trace case))
        ((equal? op "loop") (loop-trace case))
        (else
         (bad-case "the `op` of a case is envelope, userdata, digest, track, run or loop"))))
    (make)))
