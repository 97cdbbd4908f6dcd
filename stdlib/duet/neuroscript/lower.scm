;;; Programs as Scheme.
;;;
;;; A command becomes one `lambda` expression over the operators of `(duet internal neuroscript)`.
;;; Its parameters are all that the command can do: `(line! n)` receives the line of each statement
;;; and `(line! #f)` returns the last one, `(emit! value)` and `(whisper! target value)` what the
;;; program says, and `(call-tool! name arguments)` returns what a tool does. A variable of the
;;; program is a variable of the expression, with `$` in front of its name.

(define %operators
  '((or . ns-or) (and . ns-and) (|\x7C;| . ns-bit-or) (^ . ns-bit-xor) (& . ns-bit-and)
    (== . ns-equal?) (!= . ns-unequal?) (> . ns-greater?) (< . ns-less?) (>= . ns-at-least?)
    (<= . ns-at-most?) (+ . ns-add) (- . ns-subtract) (* . ns-multiply) (/ . ns-divide)
    (% . ns-remainder) (** . ns-power)))

(define %unary-operators
  '((- . ns-negate) (not . ns-not) (no . ns-not) (some . ns-true?) (~ . ns-bit-not)
    (typeof . ns-type)))

(define %procedures
  '(("len" . ns-length) ("ln" . ns-ln) ("log" . ns-log) ("sin" . ns-sin) ("cos" . ns-cos)
    ("tan" . ns-tan) ("asin" . ns-asin) ("acos" . ns-acos) ("atan" . ns-atan)
    ("is_string" . ns-is-string?) ("is_number" . ns-is-number?) ("is_bool" . ns-is-bool?)
    ("is_list" . ns-is-list?) ("is_map" . ns-is-map?) ("is_nil" . ns-is-nil?)
    ("is_int" . ns-is-int?) ("is_float" . ns-is-float?)))

(define (%variable name) (string->symbol (string-append "$" name)))

;;; The variables that a program need not set.
(define %own-variables
  '(("self" . "default_self_buffer") ("system_error_message" . null) ("system_error_code" . null)))

;;; Returns the names of the variables of a command: those that it mentions, once each.
(define (%variables command)
  (let ((names (set)))
    (define (visit node)
      (if (pair? node)
          (begin
            (case (car node)
              ((variable) (set-adjoin! names (cadr node)))
              ((for) (if (pair? (cdr node)) (set-adjoin! names (caddr node))))
              ((set) (for-each (lambda (target) (set-adjoin! names (car target))) (caddr node)))
              ((raw)
               (for-each (lambda (name) (set-adjoin! names name)) (%names-within (cadr node))))
              ((on-error)
               (set-adjoin! names "system_error_message")
               (set-adjoin! names "system_error_code")))
            (for-each visit node))))
    (for-each visit command)
    (list-sort string<? (set->list names))))

;;; Returns the names that stand in `{{...}}` of a text.
(define (%names-within text)
  (let ((names '()))
    (ns-interpolate text (lambda (name) (set! names (cons name names)) 'null))
    (filter %name? names)))

(define (%name? text)
  (and (< 0 (string-length text)) (%name-start? (string-ref text 0))
       (null? (remove %name-part? (string->list text)))))

;;; Returns whether a node of some kind stands in a tree, not looking into nodes of other kinds.
(define (%mentions? kind tree except)
  (and (pair? tree)
       (or (eq? (car tree) kind)
           (and (not (memq (car tree) except))
                (any (lambda (part) (%mentions? kind part except)) tree)))))

;;; A program of one `eval` can name any of its variables at run time.
(define (%lookup names)
  (list 'lambda '(name)
    (cons 'cond
      (append
        (map (lambda (name) (list (list 'equal? 'name name) (%variable name))) names)
        '((else 'null))))))

(define (%lower-command command)
  (let* ((names (%variables command)) (uses-last (%mentions? 'last command '())))
    (define (initial name)
      (let ((own (assoc name %own-variables)))
        (list (%variable name) (if own (list 'quote (cdr own)) ''null))))
    `(lambda (line! emit! whisper! call-tool!)
       (let (,@(map initial names) ,@(if uses-last '((last 'null)) '()))
         ,@(if (%mentions? 'eval command '()) `((define lookup ,(%lookup names))) '())
         ,@(%lower-block command uses-last)))))

;;; Lowers statements in sequence. Those behind `on error do` run one by one under its handler: if
;;; the handler clears the error, the next one follows.
(define (%lower-block statements uses-last)
  (cond
    ((null? statements) '('null))
    ((eq? (caar statements) 'on-error)
     (let ((rest (cdr statements)))
       (list
         `(let ((handler ,(%lower-handler (car statements) uses-last)))
            ,@(%lower-guarded rest uses-last)))))
    (else
     (append (%parts (%lower-statement (car statements) uses-last))
       (if (null? (cdr statements)) '() (%lower-block (cdr statements) uses-last))))))

;;; Returns the forms of a `begin`, or the form alone.
(define (%parts form) (if (eq? (car form) 'begin) (cdr form) (list form)))

(define (%lower-guarded statements uses-last)
  (cond
    ((null? statements) '('null))
    ((eq? (caar statements) 'on-error) (%lower-block statements uses-last))
    (else
     (cons `(ns-try (lambda () ,(%lower-statement (car statements) uses-last)) handler line!)
       (%lower-guarded (cdr statements) uses-last)))))

(define (%lower-handler statement uses-last)
  `(lambda (code message)
     (let ((is-clear #f))
       (set! $system_error_code code)
       (set! $system_error_message message)
       ,@(%lower-block (caddr statement) uses-last)
       is-clear)))

(define (%lower-body statements uses-last) (cons 'begin (%lower-block statements uses-last)))

(define (%lower-statement statement uses-last)
  (let ((line (list 'line! (cadr statement))) (parts (cddr statement)))
    (define (value part) (%lower-expression part uses-last))
    (define (act . form) (list 'begin line form))
    (case (car statement)
      ((emit) (act 'emit! (value (car parts))))
      ((whisper) (act 'whisper! (value (car parts)) (value (cadr parts))))
      ((must) (act 'ns-must (value (car parts))))
      ((fail) (if (car parts) (act 'ns-fail (value (car parts))) (act 'ns-fail)))
      ((call) (list 'begin line (value (car parts))))
      ((set) (list 'begin line (%lower-set (car parts) (value (cadr parts)) value)))
      ((if)
       (list 'begin line
         (list 'if (list 'ns-true? (value (car parts)))
           (%lower-body (cadr parts) uses-last)
           (%lower-body (caddr parts) uses-last))))
      ((while) (%lower-while line (value (car parts)) (cadr parts) uses-last))
      ((for) (%lower-for line parts (value (cadr parts)) uses-last))
      ((break) '(break 'null))
      ((continue) '(continue 'null))
      ((clear-error) '(set! is-clear #t))
      (else (error "no such statement" statement)))))

(define (%lower-set targets value lower)
  (define (assign target form)
    (let ((name (%variable (car target))))
      (list 'set! name
        (if (null? (cdr target))
            form
            (list 'ns-updated name (cons 'list (map accessor (cdr target))) form)))))
  (define (accessor it)
    (if (eq? (car it) 'field) (cadr it) (lower (cadr it))))
  (if (null? (cdr targets))
      (if (null? (cdar targets))
          (assign (car targets) value)
          `(let ((value ,value)) ,(assign (car targets) 'value)))
      `(let ((values (ns-destructured ,value ,(length targets))))
         ,@(map (lambda (target index) (assign target (list 'list-ref 'values index)))
             targets (iota (length targets))))))

;;; Makes a loop out of its parts; only a loop that breaks or continues pays for an escape.
(define (%loop-form statements loop body-of again)
  (let* ((breaks (%mentions? 'break statements '(while for)))
         (continues (%mentions? 'continue statements '(while for)))
         (body (if continues `(call/ec (lambda (continue) ,body-of)) body-of))
         (form (loop `(begin ,@(%parts body) ,again))))
    (if breaks `(call/ec (lambda (break) ,form)) form)))

(define (%lower-while line condition statements uses-last)
  (%loop-form statements
    (lambda (body)
      `(let loop ((round 0))
         ,line
         (ns-check-round round)
         (if (ns-true? ,condition) ,body 'null)))
    (%lower-body statements uses-last)
    '(loop (+ round 1))))

(define (%lower-for line parts items uses-last)
  (let ((name (car parts)))
    (%loop-form (caddr parts)
      (lambda (body)
        `(begin
           ,line
           (let loop ((items (ns-items ,items ,name)) (round 0))
             (if (pair? items)
                 (begin
                   (ns-check-round round)
                   (set! ,(%variable name) (car items))
                   ,body)
                 'null))))
      (%lower-body (caddr parts) uses-last)
      '(loop (cdr items) (+ round 1)))))

(define (%lower-expression node uses-last)
  (define (lower part) (%lower-expression part uses-last))
  (define (all parts) (map lower parts))
  (case (car node)
    ((number string boolean) (cadr node))
    ((nil) ''null)
    ((variable) (%variable (cadr node)))
    ((last) 'last)
    ((raw)
     (if (%position (cadr node) "{{" 0)
         (list 'ns-interpolate (cadr node) (%lookup (%names-within (cadr node))))
         (cadr node)))
    ((list) (cons 'ns-list (all (cdr node))))
    ((map) (cons 'ns-map (append-map all (cdr node))))
    ((index) (cons 'ns-element (all (cdr node))))
    ((eval) (list 'ns-interpolate (list 'ns-text (lower (cadr node))) 'lookup))
    ((unary) (list (cdr (assq (cadr node) %unary-operators)) (lower (caddr node))))
    ((binary) (cons (cdr (assq (cadr node) %operators)) (all (cddr node))))
    ((tool procedure) (%lower-call node (all (cddddr node)) uses-last))
    (else (error "no such expression" node))))

(define (%lower-call node arguments uses-last)
  (let* ((name (cadr node))
         (known (assoc name %procedures))
         (form
           (cond
             ((eq? (car node) 'tool) `(call-tool! ,name (list ,@arguments)))
             ((not known) `(begin ,@arguments (ns-no-procedure ,name)))
             ((= (length arguments) 1) (cons (cdr known) arguments))
             (else `(begin ,@arguments (ns-bad-count ,name))))))
    (if uses-last
        `(let ((value ,form)) (set! last value) value)
        form)))

;;;> Returns a program as Scheme: an expression, for the environment of `neuroscript-environment`,
;;;> whose value is a list of a procedure for each command. Such a procedure takes the procedures
;;;> that the command can use: `(line! n)` receives the line of the statement that begins and
;;;> `(line! #f)` returns the last one, `(emit! value)` and `(whisper! target value)` receive the
;;;> values that the program says, and `(call-tool! name arguments)` returns the result of a tool.
(define (neuroscript->scheme program)
  (if (not (neuroscript-program? program))
      (%wrong-type 'neuroscript->scheme "a program of read-neuroscript" program))
  (cons 'list (map %lower-command (%program-commands program))))

;;;> Returns the environment in which a program's Scheme is evaluated: forms, operators and no
;;;> procedure with an effect.
(define (neuroscript-environment)
  (environment
    '(only (scheme base)
      lambda let begin if cond else define set! quote list list-ref pair? car cdr equal? +)
    '(only (duet control) call/ec)
    '(only (duet internal neuroscript)
      ns-text ns-type ns-interpolate ns-true? ns-and ns-or ns-not ns-add ns-subtract ns-multiply
      ns-divide ns-remainder ns-power ns-bit-and ns-bit-or ns-bit-xor ns-bit-not ns-negate
      ns-equal? ns-unequal? ns-less? ns-greater? ns-at-most? ns-at-least? ns-list ns-map
      ns-element ns-updated ns-destructured ns-items ns-check-round ns-must ns-fail ns-try
      ns-no-procedure ns-bad-count ns-length ns-ln ns-log ns-sin ns-cos ns-tan ns-asin ns-acos
      ns-atan ns-is-string? ns-is-number? ns-is-bool? ns-is-list? ns-is-map? ns-is-nil?
      ns-is-int? ns-is-float?)))
