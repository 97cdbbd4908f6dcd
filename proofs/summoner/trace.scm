;;; Runs a case of the Summoner suite with `(duet routes)`, and makes its trace.
;;;
;;; A case and a trace are JSON as data: an object is an association list with strings as keys, an
;;; array a vector, and `true`, `false` and `null` are symbols. A case plays the application around
;;; an agent: it keeps the tape, commits what a cycle proposes, and its handlers follow scripts.

(define (field object name default)
  (let ((entry (and (list? object) (assoc name object))))
    (if entry (cdr entry) default)))

(define (items value name)
  (cond
    ((vector? value) (vector->list value))
    ((eq? value 'null) '())
    (else (bad-case (string-append name " must be an array") value))))

(define (text value name)
  (if (string? value) value (bad-case (string-append name " must be a string") value)))

;;; An optional array of strings as symbols in lower case, or #f.
(define (filter-names value name convert)
  (if (memq value '(null absent))
      #f
      (map (lambda (it) (string->symbol (convert (text it name)))) (items value name))))

(define (truth value) (if value 'true 'false))

(define (every? predicate list) (null? (remove predicate list)))

;;; Returns whether an object was raised by `bad-case`.
(define (case-fault? object) (and (condition? object) (eq? (condition-kind object) 'error)))

;;; Returns the value of `thunk`, or what `failed` makes of the object that it raises, unless that
;;; says that the case is none.
(define (attempt-unless-fault thunk failed)
  (attempt thunk (lambda (object) (if (case-fault? object) (raise object) (failed object)))))

(define (problem object)
  (if (condition? object)
      (append
        (list (cons "error" (symbol->string (condition-kind object)))
          (cons "message" (condition-message object)))
        (let ((place (memq ':at (condition-irritants object))))
          (if place (list (cons "at" (cadr place))) '())))
      (list (cons "error" "raised") (cons "message" (written object)))))

(define (written object)
  (let ((port (open-output-string))) (write object port) (get-output-string port)))

;;; Payloads: an object is a dictionary, so that a list is a list of payloads.
(define (->payload json)
  (cond
    ((vector? json) (vector-map ->payload json))
    ((or (pair? json) (null? json))
     (let ((fields (dictionary)))
       (for-each (lambda (entry) (dictionary-set! fields (car entry) (->payload (cdr entry)))) json)
       fields))
    (else json)))

(define (payload-> payload)
  (cond
    ((vector? payload) (vector-map payload-> payload))
    ((dictionary? payload)
     (map (lambda (entry) (cons (car entry) (payload-> (cdr entry)))) (dictionary->alist payload)))
    ((not payload) 'null)
    (else payload)))

;; Tokens, routes, styles, triggers.

(define (token-trace it)
  (append (list (cons "in" it))
    (attempt
      (lambda ()
        (let ((token (->token it)))
          (list (cons "kind" (symbol->string (token-kind token)))
                (cons "values"
                  (case (token-kind token)
                    ((all) 'null)
                    ((plain) (vector (token->string token)))
                    (else (list->vector (map symbol->string (token-members token))))))
                (cons "str" (token->string token)))))
      problem)))

(define (names tokens) (list->vector (map token->string tokens)))

(define (route-trace it styles)
  (append (list (cons "in" it))
    (attempt
      (lambda ()
        (let* ((route (->route it styles)) (canonical (route->string route)))
          (define (activates action) (names (route-activates route action)))
          (list (cons "canonical" canonical)
                (cons "source" (names (route-sources route)))
                (cons "label" (names (route-labels route)))
                (cons "target" (names (route-targets route)))
                (cons "is_arrow" (truth (arrow-route? route)))
                (cons "is_object" (truth (not (arrow-route? route))))
                (cons "is_initial" (truth (initial-route? route)))
                (cons "roundtrip" (truth (string=? canonical (route->string (->route canonical)))))
                (cons "activates"
                  (list (cons "MOVE" (activates 'move)) (cons "STAY" (activates 'stay))
                    (cons "TEST" (activates 'test)))))))
      problem)))

(define (pair-trace pair name judge)
  (let ((pair (items pair name)))
    (if (not (= (length pair) 2)) (bad-case (string-append name " has pairs") pair))
    (let ((one (text (car pair) name)) (other (text (cadr pair) name)))
      (vector one other (attempt (lambda () (truth (judge one other))) problem)))))

(define (style-of json)
  (let ((brackets (items (field json "brackets" '#()) "brackets")))
    (if (not (= (length brackets) 2)) (bad-case "a style has two brackets" json))
    (make-arrow-style (text (field json "stem" "") "stem") (car brackets) (cadr brackets)
      (text (field json "separator" "") "separator") (text (field json "tip" "") "tip"))))

;;; The styles of a case that are styles, and the problems of the others.
(define (read-styles case)
  (let loop ((rest (items (field case "styles" '#()) "styles")) (styles '()) (problems '()))
    (if (null? rest)
        (cons (if (null? styles) (list canonical-arrow-style) (reverse styles)) (reverse problems))
        (let ((style
                (attempt (lambda () (style-of (car rest)))
                  (lambda (object) (cons (cons "style" (car rest)) (problem object))))))
          (if (arrow-style? style)
              (loop (cdr rest) (cons style styles) problems)
              (loop (cdr rest) styles (cons style problems)))))))

(define (branches json)
  (map
    (lambda (entry)
      (let ((name (string->symbol (car entry))) (below (cdr entry)))
        (if (pair? below) (cons name (branches below)) name)))
    json))

(define (tree-of json)
  (cond ((string? json) (text->triggers json))
        ((list? json) (make-triggers (branches json)))
        (else (bad-case "triggers must be a text or an object" json))))

(define (signal-trace tree)
  (lambda (pair)
    (let* ((pair (items pair "signals"))
           (one (string->symbol (car pair)))
           (other (string->symbol (cadr pair))))
      (if (not (and (trigger-path tree one) (trigger-path tree other)))
          (bad-case "signals names no trigger" pair))
      (let ((equal (equal? (trigger-path tree one) (trigger-path tree other))))
        (vector (car pair) (cadr pair)
          (list (cons "eq" (truth equal))
                (cons "gt" (truth (and (not equal) (trigger-under? tree other one))))
                (cons "ge" (truth (trigger-under? tree other one)))
                (cons "lt" (truth (and (not equal) (trigger-under? tree one other))))))))))

;; Hooks.

;;; The value at a path such as `content.kind` in a payload, or #f.
(define (at-path payload path)
  (let loop ((payload payload) (names (string-split path #\.)))
    (cond ((null? names) payload)
          ((dictionary? payload) (loop (dictionary-ref payload (car names) #f) (cdr names)))
          (else #f))))

(define (with-fields payload fields)
  (if (dictionary? payload)
      (let ((copy (dictionary-copy payload)))
        (for-each (lambda (entry) (dictionary-set! copy (car entry) (->payload (cdr entry))))
          fields)
        copy)
      payload))

(define (hook-procedure op)
  (cond
    ((equal? op "id") (lambda (payload) payload))
    ((equal? op "drop") (lambda (payload) #f))
    ((equal? op "raise") (lambda (payload) (error "hook")))
    ((and (list? op) (assoc "drop_if" op))
     (let ((path (text (vector-ref (field op "drop_if" #f) 0) "drop_if"))
           (value (->payload (vector-ref (field op "drop_if" #f) 1))))
       (lambda (payload) (if (equal? (at-path payload path) value) #f payload))))
    ((and (list? op) (assoc "set" op))
     (lambda (payload) (with-fields payload (field op "set" '()))))
    (else (bad-case "op is id, drop, raise, drop_if or set" op))))

(define (priority-of json) (map (lambda (it) it) (items (field json "priority" '#()) "priority")))

(define (hook-of json)
  (make-hook (if (equal? (field json "direction" #f) "SEND") 'send 'receive)
    (hook-procedure (field json "op" "id"))
    :priority (priority-of json) :name (string->symbol (text (field json "name" "hook") "name"))))

;; Outcomes and emissions.

;;; Returns the procedure of no arguments that an outcome of a script describes.
(define (outcome-procedure outcome)
  (cond
    ((eq? outcome 'null) (lambda () #f))
    ((not (and (list? outcome) (every? pair? outcome)))
     (bad-case "an outcome is an object or null" outcome))
    ((assoc "action" outcome)
     (let* ((trigger (string->symbol (text (field outcome "trigger" "ok") "trigger")))
            (action (field outcome "action" #f))
            (event
              (cond ((equal? action "MOVE") (move trigger))
                    ((equal? action "STAY") (stay trigger))
                    ((equal? action "TEST") (test trigger))
                    (else (bad-case "action is MOVE, STAY or TEST" action)))))
       (lambda () event)))
    ((assoc "value" outcome)
     (let ((value (->payload (field outcome "value" 'null)))) (lambda () value)))
    ((or (assoc "raise" outcome) (assoc "blocking" outcome))
     (lambda () (error "the receiver raises")))
    (else (bad-case "an outcome has action, value, raise or blocking" outcome))))

;;; Returns the procedures of a script in a list; the last one repeats.
(define (script-of json)
  (let ((outcome (field json "outcome" 'absent)))
    (map outcome-procedure
      (cond ((eq? outcome 'absent) (list '(("action" . "STAY"))))
            ((not (vector? outcome)) (list outcome))
            ((= (vector-length outcome) 0) (bad-case "outcome is empty"))
            (else (vector->list outcome))))))

(define (nth script index)
  (if (or (= index 0) (null? (cdr script))) (car script) (nth (cdr script) (- index 1))))

(define (emission-of json)
  (let ((emit (field json "emit" 'null)))
    (cond ((eq? emit 'null) #f)
          ((vector? emit)
           (map (lambda (it) (if (eq? it 'null) #f (->payload it))) (vector->list emit)))
          (else (->payload emit)))))
