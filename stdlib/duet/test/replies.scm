;;; The replies of scripts, and the calls that they fit.

(define-record-type <reply>
  (%make-reply kind content delay matchers lasts?)
  %reply?
  ;; `returns`, `fails` or `computes`, and the value, the list of kind, message and irritants, or the
  ;; procedure.
  (kind %reply-kind)
  (content %reply-content)
  (delay %reply-delay)
  ;; What a call must fit, all of it.
  (matchers %reply-matchers)
  ;; Whether it serves more than one call.
  (lasts? %reply-lasts?))

;;;> Returns a reply of a script: the call returns this value.
(define (returning value) (%make-reply 'returns value 0 '() #f))

;;;> Returns a reply of a script: the call fails with a condition of this kind, a symbol, and
;;;> message: `(failing kind message irritant …)`.
(define (failing kind message . irritants)
  (if (not (symbol? kind)) (%wrong-type 'failing "a symbol" kind))
  (if (not (string? message)) (%wrong-type 'failing "a string" message))
  (%make-reply 'fails (list kind message irritants) 0 '() #f))

;;;> Returns a reply of a script for a model: it wants to call tools, each given by its name and a
;;;> dictionary of arguments: `(calling name arguments name arguments …)`.
(define (calling name arguments . more)
  (returning
    (%chat-result "" "tools"
      (let collect ((rest (cons name (cons arguments more))))
        (cond ((null? rest) '())
              ((not (string? (car rest)))
               (%wrong-type 'calling "the name of a tool, a string" (car rest)))
              ((not (and (pair? (cdr rest)) (dictionary? (cadr rest))))
               (%wrong-type 'calling "a dictionary of arguments after each name" rest))
              (else
               (cons (dictionary 'name (car rest) 'arguments (cadr rest))
                     (collect (cddr rest)))))))))

;;;> Returns a reply that comes this many milliseconds later, by the clock of the test.
(define (delaying milliseconds reply)
  (%check-time 'delaying milliseconds)
  (let ((reply (%reply-of 'delaying reply)))
    (%make-reply (%reply-kind reply) (%reply-content reply) (+ milliseconds (%reply-delay reply))
      (%reply-matchers reply) (%reply-lasts? reply))))

;;;> Returns a reply for calls that fit a matcher: `(asked matcher reply)`. A string fits if it
;;;> stands in a string of the arguments; in the script of a model, if it stands in the instructions
;;;> or the newest message. A dictionary fits arguments with at least its entries, a procedure those
;;;> for which it returns true, another value equal ones; so do those within a dictionary or list.
(define (asked matcher reply)
  (let ((reply (%reply-of 'asked reply)))
    (%make-reply (%reply-kind reply) (%reply-content reply) (%reply-delay reply)
      (cons matcher (%reply-matchers reply)) (%reply-lasts? reply))))

;;;> Returns a reply that serves any number of calls; others, procedures too, serve one:
;;;> `(always (lambda (arguments) …))` computes the result of each.
(define (always reply)
  (let ((reply (%reply-of 'always reply)))
    (%make-reply (%reply-kind reply) (%reply-content reply) (%reply-delay reply)
      (%reply-matchers reply) #t)))

;;; Returns a reply: a procedure computes it.
(define (%reply-of procedure object)
  (cond ((%reply? object) object)
        ((procedure? object) (%make-reply 'computes object 0 '() #f))
        ((or (string? object) (symbol? object) (boolean? object)) (returning object))
        (else (%wrong-type procedure "a reply, such as (returning value), or a procedure" object))))

;;; Returns the result of a model.
(define (%chat-result content stop calls)
  (dictionary 'content content 'stop stop 'tool_calls (%numbered calls)
    'usage (dictionary 'input_tokens 0 'output_tokens 0 'usd 0)))

(define (%numbered calls)
  (let number ((rest calls) (n 1))
    (if (null? rest)
        '()
        (begin
          (dictionary-set! (car rest) 'id (string-append "call-" (number->string n)))
          (cons (car rest) (number (cdr rest) (+ n 1)))))))

;;; Returns whether arguments fit a matcher; `texts` are the strings in which a string may stand.
(define (%matches? matcher arguments texts)
  (if (string? matcher)
      (and (find (lambda (text) (string-contains text matcher)) texts) #t)
      (%fits? matcher arguments)))

(define (%fits? matcher value)
  (cond ((procedure? matcher) (and (matcher value) #t))
        ((dictionary? matcher)
         (and (dictionary? value)
              (not (find (lambda (key)
                           (not (and (dictionary-contains? value key)
                                     (%fits? (dictionary-ref matcher key)
                                             (dictionary-ref value key)))))
                     (dictionary-keys matcher)))))
        ((pair? matcher)
         (and (pair? value) (%fits? (car matcher) (car value)) (%fits? (cdr matcher) (cdr value))))
        (else (equal? matcher value))))

;;; Returns the strings in a value.
(define (%texts-in value)
  (cond ((string? value) (list value))
        ((pair? value) (append (%texts-in (car value)) (%texts-in (cdr value))))
        ((vector? value) (append-map %texts-in (vector->list value)))
        ((dictionary? value)
         (append (append-map %texts-in (dictionary-keys value))
                 (append-map %texts-in (dictionary-values value))))
        ((record? value) (append-map %texts-in (record-fields value)))
        ((set? value) (append-map %texts-in (set->list value)))
        (else '())))

;;; Returns the strings of a call: for a model those of the instructions and the newest message.
(define (%texts-of name arguments)
  (if (and (equal? name "model/chat") (dictionary? arguments))
      (let ((messages (dictionary-ref arguments 'messages '())))
        (append
          (append-map (lambda (message) (if (%from-system? message) (%texts-in message) '()))
                      messages)
          (if (pair? messages) (%texts-in (last messages)) '())))
      (%texts-in arguments)))

(define (%from-system? message)
  (and (dictionary? message) (equal? (dictionary-ref message 'role #f) "system")))

;;; Returns a matcher as a value that a record can hold.
(define (%plain matcher)
  (cond ((procedure? matcher) 'a-procedure)
        ((pair? matcher) (cons (%plain (car matcher)) (%plain (cdr matcher))))
        ((dictionary? matcher)
         (let ((copy (dictionary-copy matcher)))
           (for-each (lambda (key) (dictionary-set! copy key (%plain (dictionary-ref matcher key))))
             (dictionary-keys matcher))
           copy))
        (else matcher)))

;;; Returns a value as a text that is not too long to read.
(define (%shown value)
  (let ((port (open-output-string)))
    (write (%plain value) port)
    (let ((text (get-output-string port)))
      (if (> (string-length text) 300) (string-append (substring text 0 300) "…") text))))

;;; Returns a reply as the text that makes it.
(define (%shown-reply reply)
  (let* ((text
           (case (%reply-kind reply)
             ((returns) (string-append "(returning " (%shown (%reply-content reply)) ")"))
             ((fails)
              (string-append "(failing '" (symbol->string (car (%reply-content reply))) " …)"))
             (else "a procedure")))
         (text
           (let wrap ((matchers (%reply-matchers reply)))
             (if (null? matchers)
                 text
                 (string-append "(asked " (%shown (car matchers)) " " (wrap (cdr matchers)) ")")))))
    (if (%reply-lasts? reply)
        (string-append "(always " text ")")
        text)))
