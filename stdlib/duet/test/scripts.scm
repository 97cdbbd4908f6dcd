;;; Scripts: the tools whose calls the test answers itself. `duet test` tells of each call as the
;;; message `<test/call id tool arguments actor>`, and the tool `test/answer` answers it.

(define-record-type <script>
  (%make-script name finish replies)
  %script?
  (name %script-name)
  ;; Makes the result of a call of what a reply returns.
  (finish %script-finish)
  ;; The replies that are left, in order.
  (replies %script-replies %script-replies!))

(define %scripts '())

;;; The facet in which calls are heard, or #f before the first script.
(define %home #f)

;;;> Lets replies stand in for a tool: `(script-tool! name reply …)`. The name is a string; one
;;;> that ends in `*` stands for all tools whose names begin so. From then on nothing happens
;;;> outside when any actor of the run calls the tool, and the program may call it. A call takes
;;;> the first reply that fits: the result of `returning` or `failing`, changed by `asked`,
;;;> `always` and `delaying`, or a procedure, which receives the arguments, and the name of the
;;;> tool if the script's ends in `*`, and returns the result or a reply. A reply serves one call, or
;;;> all that fit if `always` makes it. A call that no reply fits fails with `no-script`, and so does
;;;> the test. A result must fit the tool, if it is one of Duet's. A second script of a name adds its
;;;> replies to the first. Raises a condition of kind `not-a-test` unless `duet test` runs the
;;;> program.
(define (script-tool! name . replies)
  (if (not (string? name)) (%wrong-type 'script-tool! "the name of a tool, a string" name))
  (%script! 'script-tool! name (lambda (value) value) replies))

;;;> Lets replies stand in for all models: `(script-model! reply …)`. A reply may be a string, which
;;;> the model says, what `calling` makes, or those of `script-tool!`; a procedure receives the
;;;> payload of `model/chat`. `(returning value)` takes a string or a whole result of `model/chat`.
(define (script-model! . replies)
  (%script! 'script-model! "model/chat"
    (lambda (value) (if (string? value) (%chat-result value "end" '()) value))
    replies))

;;;> Lets replies stand in for the person whom the program asks: `(script-person! reply …)`. A reply
;;;> may be what the person types, a string, which may name a choice by its beginning, or the choice
;;;> itself. Matchers and procedures receive the prompt.
(define (script-person! . replies)
  (%script! 'script-person! "person" (lambda (value) value) replies))

;;;> Lets replies stand in for the person who approves what policy wants approved:
;;;> `(script-approvals! reply …)`. A reply may be `#t`, `#f`, or a string, the reason of a refusal.
;;;> Matchers and procedures receive the list of the names that are to be approved.
(define (script-approvals! . replies)
  (%script! 'script-approvals! "approval" (lambda (value) value) replies))

(define (%script! procedure name finish replies)
  (%need-test procedure)
  (let ((replies (map (lambda (reply) (%reply-of procedure reply)) replies))
        (known (find (lambda (script) (string=? (%script-name script) name)) %scripts)))
    (if known
        (%script-replies! known (append (%script-replies known) replies))
        (begin
          (set! %scripts (append %scripts (list (%make-script name finish replies))))
          (if (not %home) (%listen!))
          (call-tool 'test "test/script" (dictionary 'tools (list name)))))
    (if #f #f)))

(define (%need-test procedure)
  (if (not (eq? (car (%explain '((call "test/script" #f)))) 'allow))
      (raise
        (%make-condition 'not-a-test
          (string-append (symbol->string procedure)
                         ": scripts and lists of calls exist under `duet test` only")
          '()))))

(define (%listen!)
  (set! %home (current-facet))
  (watch (pattern (test/call $id $name $arguments _))
    (lambda (event)
      (let ((call (car (record-fields event))))
        (if (find (lambda (script) (%names? (%script-name script) (cadr call))) %scripts)
            (spawn (lambda () (%serve (car call) (cadr call) (caddr call))) %home))))))

(define (%names? pattern name)
  (if (string-suffix? "*" pattern)
      (string-prefix? (substring pattern 0 (- (string-length pattern) 1)) name)
      (string=? pattern name)))

;;; Answers a call. A fault of the script fails the test, and the call, so that nobody waits for it.
(define (%serve id name arguments)
  (guard (failure (#t (%tell-fault id name failure)))
    (let loop ((scripts %scripts))
      (let ((reply (and (pair? scripts) (%names? (%script-name (car scripts)) name)
                        (%take-reply (car scripts) name arguments))))
        (cond (reply (%perform id name arguments (car scripts) reply))
              ((pair? scripts) (loop (cdr scripts)))
              (else (%tell-misfit id name arguments)))))))

;;; Returns the first reply that fits a call, or #f; one that serves once is used up.
(define (%take-reply script name arguments)
  (let* ((texts (delay (%texts-of name arguments)))
         (reply
           (find (lambda (reply)
                   (not (find (lambda (matcher) (not (%matches? matcher arguments (force texts))))
                          (%reply-matchers reply))))
             (%script-replies script))))
    (if (and reply (not (%reply-lasts? reply)))
        (%script-replies! script (%without reply (%script-replies script))))
    reply))

(define (%without one list)
  (cond ((null? list) '())
        ((eq? (car list) one) (cdr list))
        (else (cons (car list) (%without one (cdr list))))))

(define (%perform id name arguments script reply)
  (if (> (%reply-delay reply) 0) (sleep (%reply-delay reply)))
  (let ((content (%reply-content reply)))
    (case (%reply-kind reply)
      ((returns) (%answer! id 'returns ((%script-finish script) content)))
      ((fails) (%fail! id name content))
      (else
       (let ((value (if (string-suffix? "*" (%script-name script))
                        (content arguments name)
                        (content arguments))))
         (if (%reply? value)
             (%perform id name arguments script value)
             (%answer! id 'returns ((%script-finish script) value))))))))

(define (%answer! id key value)
  (call-tool 'test "test/answer" (dictionary 'call id key value)))

;;; A request for approval has no failure: it is refused for a reason.
(define (%fail! id name failure)
  (if (equal? name "approval")
      (%answer! id 'returns (cadr failure))
      (%answer! id 'fails (apply record 'failure failure))))

(define (%tell-misfit id name arguments)
  (let* ((scripts (filter (lambda (script) (%names? (%script-name script) name)) %scripts))
         (left (append-map %script-replies scripts))
         (message
           (string-append "no reply of the script of " name " fits the call " (%shown arguments)
             (if (null? left)
                 "; none is left"
                 (string-append "; it has left: " (string-join (map %shown-reply left) ", "))))))
    (%fail-test name message)
    (%fail! id name (list 'no-script message '()))))

(define (%tell-fault id name failure)
  (let ((message
          (string-append "the script of " name " failed: "
            (if (condition? failure)
                (string-append (symbol->string (condition-kind failure)) ": "
                  (condition-message failure)
                  (if (pair? (condition-irritants failure))
                      (string-append " "
                                     (string-join (map %shown (condition-irritants failure)) " "))
                      ""))
                (%shown failure)))))
    (%fail-test name message)
    (%fail! id name (list 'no-script message '()))))

(define (%fail-test name message)
  (%report-failure (string-append "the script of " name)
                   (%make-condition 'test-failed message '())))
