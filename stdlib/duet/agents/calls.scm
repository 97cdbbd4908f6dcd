;;; The calls that a model asks for: their ids, their progress, and what they answer.

;;; Returns the calls of one reply with ids that differ and are not empty, because an answer names
;;; the call by its id: a list of pairs of a call and, if the model gave its id to an earlier call
;;; too, that id, else #f. A call with such an id is not performed, because a model that repeats an
;;; id may have repeated a call by mistake.
(define (%distinct-calls calls)
  (let loop ((rest calls) (taken (filter-map %given-id calls)) (seen '()) (distinct '()))
    (if (null? rest)
        (reverse distinct)
        (let* ((call (dictionary-copy (car rest)))
               (given (%given-id call))
               (is-new (and given (not (member given seen))))
               (id (if is-new given (%free-id (or given "call") taken))))
          (dictionary-set! call 'id id)
          (loop (cdr rest) (cons id taken) (cons id seen)
            (cons (cons call (if is-new #f given)) distinct))))))

(define (%given-id call)
  (let ((id (dictionary-ref call 'id #f)))
    (and (string? id) (not (string=? id "")) id)))

;;; Returns an id that is not taken: the given one, or one with a number behind.
(define (%free-id id taken)
  (let try ((candidate id) (number 2))
    (if (member candidate taken)
        (try (string-append id "-" (number->string number)) (+ number 1))
        candidate)))

;;; Returns the names and arguments of calls, without their ids.
(define (%wanted calls)
  (map (lambda (call)
         (list (dictionary-ref (car call) 'name) (dictionary-ref (car call) 'arguments #f)))
    calls))

;;; Fails if the same calls had the same results too often.
(define (%check-progress run messages calls)
  (let ((known (dictionary-ref (%run-results run) (%wanted calls) #f)))
    (if (and known (>= (+ 1 (car known)) (%run-repeats run)))
        (%agent-failure messages 'no-progress
          "the model asks for the same calls again and again, with the same results"
          (%wanted calls)))))

;;; Counts how often in a row calls had the same results.
(define (%note-results! run calls answers)
  (let* ((wanted (%wanted calls))
         (results (map (lambda (answer) (dictionary-ref answer 'content)) answers))
         (known (dictionary-ref (%run-results run) wanted #f)))
    (dictionary-set! (%run-results run) wanted
      (cons (if (and known (equal? (cdr known) results)) (+ 1 (car known)) 1) results))))

;;; Performs a call that the model asked for, a pair of `%distinct-calls`; returns the message of
;;; the tool, which says what went wrong.
(define (%perform-call agent pair)
  (let* ((call (car pair))
         (name (dictionary-ref call 'name))
         (tool (find (lambda (tool) (equal? (%agent-tool-name tool) name)) (%agent-tools agent))))
    (%message "tool"
      (cond ((cdr pair)
             (string-append "error: two calls have the id " (value->json (cdr pair))
               "; this one was not performed"))
            (tool (%use-tool agent tool (dictionary-ref call 'arguments (dictionary))))
            (else
             (string-append "error: there is no tool " (value->json name) "; there are "
               (value->json (map %agent-tool-name (%agent-tools agent))))))
      'tool_call_id (dictionary-ref call 'id))))

(define (%use-tool agent tool arguments)
  (guard (failure ((condition? failure) (string-append "error: " (condition-message failure)))
           (else (string-append "error: the tool raised an object: " (%written failure))))
    (let* ((arguments (%arguments-of arguments))
           (violations (json-violations (%agent-tool-compiled tool) arguments)))
      (if (pair? violations)
          (string-append "error: the arguments do not fit the schema: " (%listed violations))
          (%text-of-result ((%agent-tool-procedure tool) (%agent-name agent) arguments))))))

;;; Returns the arguments as a dictionary; a provider passes on as text what it cannot read.
(define (%arguments-of arguments)
  (let ((value (if (string? arguments) (%read-arguments arguments) arguments)))
    (if (not (dictionary? value)) (%refuse-arguments "" value))
    value))

(define (%read-arguments text)
  (guard (mistake ((json-error? mistake)
                   (%refuse-arguments (string-append ": " (condition-message mistake)) text)))
    (json->value text)))

(define (%refuse-arguments reason arguments)
  (raise
    (%make-condition 'bad-argument (string-append "the arguments are no JSON object" reason)
      (list arguments))))
