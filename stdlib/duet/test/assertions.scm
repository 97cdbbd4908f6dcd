;;; Assertions about the calls of the whole run, which `duet test` has seen.

;;;> Returns the calls so far, oldest first, by whatever actor, scripted or not: `(test-calls
;;;> [name])`. Each is a list of the name of the tool, its arguments, and the path of the actor. A
;;;> name that ends in `*` stands for all that begin so. Questions to the person are calls of
;;;> `person` with the prompt, requests for approval calls of `approval` with the list of names.
(define (test-calls . name)
  (%need-test 'test-calls)
  (if (and (pair? name) (not (string? (car name))))
      (%wrong-type 'test-calls "the name of a tool, a string" (car name)))
  (call-tool 'test "test/calls" (if (pair? name) (dictionary 'tool (car name)) (dictionary))))

;;;> Returns the arguments of the calls of a tool so far, oldest first.
(define (calls-of name) (map cadr (test-calls name)))

;;;> Returns the contents of the newest messages with which models were called so far, oldest first.
(define (model-prompts)
  (map (lambda (payload)
         (let ((messages (dictionary-ref payload 'messages '())))
           (and (pair? messages) (dictionary-ref (last messages) 'content #f))))
    (calls-of "model/chat")))

;;; Returns the calls of a tool whose arguments fit all matchers, which are none or one.
(define (%calls-fitting name matchers)
  (filter
    (lambda (call)
      (not (find (lambda (matcher)
                   (not (%matches? matcher (cadr call) (%texts-of (car call) (cadr call)))))
             matchers)))
    (test-calls name)))

(define (%briefly calls)
  (let ((shown (map (lambda (call) (list (car call) (cadr call))) calls)))
    (if (> (length shown) 20)
        (append (list-head shown 20) (list (list 'and (- (length shown) 20) 'more)))
        shown)))

(define (%called name matchers)
  (if (pair? (%calls-fitting name matchers))
      (cons 'called (cons name (%plain matchers)))
      (cons 'calls (%briefly (test-calls name)))))

;;;> Asserts that a tool was called, with arguments that fit a matcher, as for `asked`:
;;;> `(test-called name tool [matcher])`.
(define-syntax test-called
  (syntax-rules ()
    ((_ name tool matcher ...)
     (test-equal name (cons 'called (cons tool (%plain (list matcher ...))))
       (%called tool (list matcher ...))))))

;;;> Asserts that a tool was not called, or not with arguments that fit a matcher:
;;;> `(test-not-called name tool [matcher])`.
(define-syntax test-not-called
  (syntax-rules ()
    ((_ name tool matcher ...)
     (test-equal name '(calls) (cons 'calls (%briefly (%calls-fitting tool (list matcher ...))))))))

;;;> Asserts how often a tool was called, or was called with arguments that fit a matcher:
;;;> `(test-call-count name count tool [matcher])`.
(define-syntax test-call-count
  (syntax-rules ()
    ((_ name count tool matcher ...)
     (test-equal name count (length (%calls-fitting tool (list matcher ...)))))))

;;;> Asserts that calls came in this order; others may have come between them: `(test-call-order
;;;> name step …)`. A step is the name of a tool, or a list of it and a matcher.
(define-syntax test-call-order
  (syntax-rules ()
    ((_ name step ...)
     (test-equal name (%plain (list step ...)) (%in-order (list step ...))))))

;;; Returns the steps if the calls came in their order, else the calls that some step fits.
(define (%in-order steps)
  (define (fits? step call)
    (let ((name (if (pair? step) (car step) step)) (matchers (if (pair? step) (cdr step) '())))
      (and (%names? name (car call))
           (not (find (lambda (matcher)
                        (not (%matches? matcher (cadr call) (%texts-of (car call) (cadr call)))))
                  matchers)))))
  (let ((calls (test-calls)))
    (let walk ((left steps) (rest calls))
      (cond ((null? left) (%plain steps))
            ((null? rest)
             (%briefly
               (filter (lambda (call) (find (lambda (step) (fits? step call)) steps)) calls)))
            ((fits? (car left) (car rest)) (walk (cdr left) (cdr rest)))
            (else (walk left (cdr rest)))))))

;;;> Asserts that no reply of a script is left that serves one call: `(test-scripts-used name)`.
(define-syntax test-scripts-used
  (syntax-rules ()
    ((_ name) (test-equal name '() (%left-replies)))))

(define (%left-replies)
  (append-map
    (lambda (script)
      (map (lambda (reply) (string-append (%script-name script) ": " (%shown-reply reply)))
        (filter (lambda (reply) (not (%reply-lasts? reply))) (%script-replies script))))
    %scripts))
