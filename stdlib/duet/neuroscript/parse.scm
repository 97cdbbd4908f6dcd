;;; Programs: the commands of a text, as data.
;;;
;;; A statement is a list of its kind, its line and its parts; `e` is an expression and `body` a
;;; list of statements:
;;;
;;;   (set line (target ...) e)   (call line e)        (emit line e)     (whisper line e e)
;;;   (must line e)               (fail line e or #f)  (break line)      (continue line)
;;;   (if line e body body)       (while line e body)  (for line "name" e body)
;;;   (on-error line body)        (clear-error line)
;;;
;;; A target is a list of a name and of accessors, each `(field "name")` or `(index e)`.
;;;
;;; An expression is one of these:
;;;
;;;   (number 1.0)  (string "s")  (raw "s")  (boolean #t)  (nil)  (variable "name")  (last)
;;;   (list e ...)  (map (e e) ...)  (index e e)  (eval e)
;;;   (unary operator e)  (binary operator e e)
;;;   (tool "name" line column e ...)  (procedure "name" line column e ...)

(define-record-type <program>
  (%make-program commands)
  ;;;> Returns whether an object is a NeuroScript program, as `read-neuroscript` returns it.
  neuroscript-program?
  (commands %program-commands))

;;; Tokens that are left, and how deep the present expression or block is.
(define-record-type <reader>
  (%make-reader tokens depth loops handlers)
  %reader?
  (tokens %reader-tokens %set-reader-tokens!)
  (depth %reader-depth %set-reader-depth!)
  (loops %reader-loops %set-reader-loops!)
  (handlers %reader-handlers %set-reader-handlers!))

;;;> The maximum number of levels in a program, of blocks and expressions together, and of the
;;;> operators of one expression: 500.
(define neuroscript-depth-max 500)

(define (%token reader) (car (%reader-tokens reader)))

(define (%advance! reader)
  (let ((token (%token reader)))
    (if (pair? (cdr (%reader-tokens reader)))
        (%set-reader-tokens! reader (cdr (%reader-tokens reader))))
    token))

(define (%is? token kind value)
  (and (eq? (%token-kind token) kind) (eq? (%token-value token) value)))

(define (%word? reader word) (%is? (%token reader) 'word word))
(define (%mark? reader mark) (%is? (%token reader) 'mark mark))

;;; Advances behind a token and returns it, or returns #f if another one stands there.
(define (%accept! reader kind value)
  (and (%is? (%token reader) kind value) (%advance! reader)))

(define (%described token)
  (case (%token-kind token)
    ((newline) "the end of the line")
    ((end) "the end of the program")
    ((string raw) "a string")
    ((note) "metadata")
    ((number) "a number")
    ((name variable) (string-append "`" (%token-value token) "`"))
    (else (string-append "`" (symbol->string (%token-value token)) "`"))))

(define (%token-failure token message)
  (%syntax-failure (%token-line token) (%token-column token) message))

(define (%unexpected reader wanted)
  (let ((token (%token reader)))
    (%token-failure token (string-append "expected " wanted ", found " (%described token)))))

(define (%expect! reader kind value wanted)
  (or (%accept! reader kind value) (%unexpected reader wanted)))

(define (%expect-mark! reader mark)
  (%expect! reader 'mark mark (string-append "`" (symbol->string mark) "`")))

(define (%expect-word! reader word)
  (%expect! reader 'word word (string-append "`" (symbol->string word) "`")))

(define (%expect-name! reader)
  (if (eq? (%token-kind (%token reader)) 'name)
      (%token-value (%advance! reader))
      (%unexpected reader "a name")))

(define (%expect-line-end! reader)
  (if (eq? (%token-kind (%token reader)) 'newline)
      (%advance! reader)
      (%unexpected reader "the end of the line")))

;;; Calls a procedure one level deeper.
(define (%deeper reader thunk)
  (%set-reader-depth! reader (+ (%reader-depth reader) 1))
  (if (> (%reader-depth reader) neuroscript-depth-max)
      (%token-failure (%token reader) "the program is nested too deep"))
  (let ((value (thunk)))
    (%set-reader-depth! reader (- (%reader-depth reader) 1))
    value))

;; Expressions, from the operators that bind least to those that bind most.

(define %levels
  '((or) (and) (|\x7C;|) (^) (&) (== !=) (> < >= <=) (+ -) (* / %)))

(define (%operator? token operators)
  (and (memq (%token-kind token) '(mark word)) (memq (%token-value token) operators)))

(define (%expression reader) (%deeper reader (lambda () (%binary reader %levels))))

(define (%binary reader levels)
  (if (null? levels)
      (%unary reader)
      (let loop ((left (%binary reader (cdr levels))) (count 1))
        (cond
          ((not (%operator? (%token reader) (car levels))) left)
          ((> count neuroscript-depth-max)
           (%token-failure (%token reader) "the expression has too many operators"))
          (else
           (let* ((operator (%token-value (%advance! reader)))
                  (right (%binary reader (cdr levels))))
             (loop (list 'binary operator left right) (+ count 1))))))))

(define (%unary reader)
  (if (%operator? (%token reader) '(- not no some ~ typeof))
      (let ((operator (%token-value (%advance! reader))))
        (list 'unary operator (%deeper reader (lambda () (%unary reader)))))
      (%power reader)))

(define (%power reader)
  (let ((base (%postfix reader)))
    (if (%accept! reader 'mark '**)
        (list 'binary '** base (%deeper reader (lambda () (%power reader))))
        base)))

(define (%postfix reader)
  (let loop ((value (%primary reader)) (count 1))
    (cond
      ((not (%mark? reader '|[|)) value)
      ((> count neuroscript-depth-max)
       (%token-failure (%token reader) "the expression has too many indices"))
      (else
       (%advance! reader)
       (let ((index (%expression reader)))
         (%expect-mark! reader '|]|)
         (loop (list 'index value index) (+ count 1)))))))

(define (%primary reader)
  (let* ((token (%token reader)) (value (%token-value token)))
    (define (leaf . node) (%advance! reader) node)
    (case (%token-kind token)
      ((number) (leaf 'number value))
      ((string) (leaf 'string value))
      ((raw) (leaf 'raw value))
      ((variable) (if (string=? value "last") (leaf 'last) (leaf 'variable value)))
      ((name)
       (%advance! reader)
       (if (%mark? reader '|(|) (%call reader 'procedure value token) (list 'variable value)))
      ((word) (%primary-word reader token))
      ((mark) (%primary-mark reader token))
      (else (%unexpected reader "an expression")))))

(define (%primary-word reader token)
  (let ((word (%token-value token)))
    (case word
      ((true) (%advance! reader) '(boolean #t))
      ((false) (%advance! reader) '(boolean #f))
      ((nil) (%advance! reader) '(nil))
      ((last) (%advance! reader) '(last))
      ((tool) (%tool-call reader))
      ((eval) (%advance! reader) (list 'eval (%parenthesised reader)))
      ((ln log sin cos tan asin acos atan len)
       (%advance! reader)
       (%call reader 'procedure (symbol->string word) token))
      (else (%unexpected reader "an expression")))))

(define (%primary-mark reader token)
  (case (%token-value token)
    ((|(|) (%parenthesised reader))
    ((|[|)
     (%advance! reader)
     (cons 'list (%items reader '|]| %expression)))
    ((|{|)
     (%advance! reader)
     (cons 'map (%items reader '|}| %entry)))
    (else (%unexpected reader "an expression"))))

(define (%parenthesised reader)
  (%expect-mark! reader '|(|)
  (let ((value (%expression reader)))
    (%expect-mark! reader '|)|)
    value))

(define (%entry reader)
  (let ((key (%expression reader)))
    (%expect-mark! reader ':)
    (list key (%expression reader))))

;;; Reads items between commas up to a closing mark, and the mark.
(define (%items reader closing item)
  (if (%accept! reader 'mark closing)
      '()
      (let loop ((items (list (item reader))))
        (if (%accept! reader 'mark '|,|)
            (loop (cons (item reader) items))
            (begin
              (%expect-mark! reader closing)
              (reverse items))))))

;;; Reads `tool.name(...)`. A keyword may be part of the name.
(define (%tool-call reader)
  (let ((token (%advance! reader)))
    (define (part)
      (%expect-mark! reader '|.|)
      (let ((next (%token reader)))
        (case (%token-kind next)
          ((name) (%token-value (%advance! reader)))
          ((word) (symbol->string (%token-value (%advance! reader))))
          (else (%unexpected reader "a part of the name of a tool")))))
    (let loop ((parts (list (part))))
      (if (%mark? reader '|.|)
          (loop (cons (part) parts))
          (%call reader 'tool (string-downcase (string-join (reverse parts) ".")) token)))))

(define (%call reader kind name token)
  (%expect-mark! reader '|(|)
  (append (list kind name (%token-line token) (%token-column token))
    (%items reader '|)| %expression)))

;; Statements.

(define (%target reader)
  (let ((name (%expect-name! reader)))
    (let loop ((accessors '()))
      (cond
        ((%accept! reader 'mark '|.|)
         (loop (cons (list 'field (%expect-name! reader)) accessors)))
        ((%accept! reader 'mark '|[|)
         (let ((index (%expression reader)))
           (%expect-mark! reader '|]|)
           (loop (cons (list 'index index) accessors))))
        (else (cons name (reverse accessors)))))))

(define (%targets reader)
  (let ((target (%target reader)))
    (if (%accept! reader 'mark '|,|)
        (cons target (%targets reader))
        (list target))))

(define (%statement reader)
  (let* ((token (%token reader)) (line (%token-line token)))
    (if (not (eq? (%token-kind token) 'word)) (%unexpected reader "a statement"))
    (case (%token-value token)
      ((set)
       (%advance! reader)
       (let ((targets (%targets reader)))
         (%expect-mark! reader '=)
         (list 'set line targets (%expression reader))))
      ((call) (%advance! reader) (list 'call line (%callable reader)))
      ((emit must)
       (%advance! reader)
       (list (%token-value token) line (%expression reader)))
      ((whisper)
       (%advance! reader)
       (let ((target (%expression reader)))
         (%expect-mark! reader '|,|)
         (list 'whisper line target (%expression reader))))
      ((fail)
       (%advance! reader)
       (list 'fail line
         (if (memq (%token-kind (%token reader)) '(newline end)) #f (%expression reader))))
      ((if while for on) (%deeper reader (lambda () (%block-statement reader token line))))
      ((break continue clear_error) (%plain-statement reader token line))
      ((ask promptuser clear return)
       (%token-failure token
         (string-append (%described token) " is not allowed in an AEIOU command")))
      (else (%unexpected reader "a statement")))))

(define (%callable reader)
  (let* ((token (%token reader)) (is-plain (not (%mark? reader '|(|))) (value (%primary reader)))
    (if (and is-plain (memq (car value) '(tool procedure)))
        value
        (%token-failure token "`call` needs a call, such as `tool.name()`"))))

(define (%plain-statement reader token line)
  (let ((word (%token-value token)))
    (if (eq? word 'clear_error)
        (if (= (%reader-handlers reader) 0)
            (%token-failure token "`clear_error` stands outside of `on error do`"))
        (if (= (%reader-loops reader) 0)
            (%token-failure token (string-append (%described token) " stands outside of a loop"))))
    (%advance! reader)
    (list (if (eq? word 'clear_error) 'clear-error word) line)))

(define (%block-statement reader token line)
  (%advance! reader)
  (case (%token-value token)
    ((if)
     (let ((condition (%expression reader)))
       (%expect-line-end! reader)
       (let* ((then (%body reader '(else endif)))
              (otherwise
                (if (%accept! reader 'word 'else)
                    (begin (%expect-line-end! reader) (%body reader '(endif)))
                    '())))
         (%expect-word! reader 'endif)
         (list 'if line condition then otherwise))))
    ((while)
     (let ((condition (%expression reader)))
       (%expect-line-end! reader)
       (list 'while line condition (%loop-body reader 'endwhile))))
    ((for)
     (%expect-word! reader 'each)
     (let ((name (%expect-name! reader)))
       (%expect-word! reader 'in)
       (let ((items (%expression reader)))
         (%expect-line-end! reader)
         (list 'for line name items (%loop-body reader 'endfor)))))
    (else
     (%expect-word! reader 'error)
     (%expect-word! reader 'do)
     (%expect-line-end! reader)
     (%set-reader-handlers! reader (+ (%reader-handlers reader) 1))
     (let ((body (%body reader '(endon))))
       (%set-reader-handlers! reader (- (%reader-handlers reader) 1))
       (%expect-word! reader 'endon)
       (list 'on-error line body)))))

(define (%loop-body reader end)
  (%set-reader-loops! reader (+ (%reader-loops reader) 1))
  (let ((body (%body reader (list end))))
    (%set-reader-loops! reader (- (%reader-loops reader) 1))
    (%expect-word! reader end)
    body))

(define (%skip-lines! reader)
  (if (eq? (%token-kind (%token reader)) 'newline)
      (begin (%advance! reader) (%skip-lines! reader))))

;;; Reads statements, at least one, up to one of the words that end the block.
(define (%body reader ends)
  (let loop ((statements '()))
    (%skip-lines! reader)
    (if (and (pair? statements) (%operator? (%token reader) ends))
        (reverse statements)
        (let ((statement (%statement reader)))
          (%expect-line-end! reader)
          (loop (cons statement statements))))))

;;; Skips lines of metadata, and with `is-header` empty ones.
(define (%skip-notes! reader is-header)
  (case (%token-kind (%token reader))
    ((note)
     (%advance! reader)
     (%expect-line-end! reader)
     (%skip-notes! reader is-header))
    ((newline)
     (if is-header
         (begin (%advance! reader) (%skip-notes! reader is-header))))
    (else #t)))

(define (%command reader)
  (%expect-word! reader 'command)
  (%expect-line-end! reader)
  (%skip-notes! reader #f)
  (let ((body (%body reader '(endcommand))))
    (%expect-word! reader 'endcommand)
    body))

;;;> Reads the text of a NeuroScript program: any number of `command` blocks. Fails with
;;;> `neuroscript-syntax`, which has the line and the column of the mistake, from 1, as irritants.
;;;> `ask`, `promptuser`, `clear event`, `return` and definitions of functions are mistakes.
;;;> Source: decisions, section 2.
(define (read-neuroscript text)
  (if (not (string? text)) (%wrong-type 'read-neuroscript "a string" text))
  (let ((reader (%make-reader (%tokens text) 0 0 0)))
    (%skip-notes! reader #t)
    (let loop ((commands '()))
      (%skip-lines! reader)
      (if (eq? (%token-kind (%token reader)) 'end)
          (%make-program (reverse commands))
          (let ((command (%command reader)))
            (if (not (memq (%token-kind (%token reader)) '(newline end)))
                (%unexpected reader "the end of the line"))
            (loop (cons command commands)))))))

;;;> Returns the number of `command` blocks of a program.
(define (neuroscript-command-count program) (length (%program-commands program)))

;;;> Returns whether an object is the condition of a mistake in a program's text.
(define (neuroscript-syntax-error? object)
  (and (condition? object) (eq? (condition-kind object) 'neuroscript-syntax)))

;;;> Returns the names of all tools that a program calls, wherever the call stands, sorted and in
;;;> lower case: `tool.Fs.read(...)` calls `"fs.read"`. A call that is never reached counts too.
;;;> Source: decisions, section 5.13.
(define (neuroscript-tools program)
  (let ((names (set)))
    ;; Every list of the tree is visited, whatever it means, so no position can be forgotten.
    (define (visit node)
      (if (pair? node)
          (begin
            (if (and (eq? (car node) 'tool) (pair? (cdr node)))
                (set-adjoin! names (cadr node)))
            (for-each visit node))))
    (for-each visit (%program-commands program))
    (list-sort string<? (set->list names))))
