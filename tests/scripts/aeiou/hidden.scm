;; No tool call can hide: programs made by chance, with calls in every position where an expression
;; can stand, and texts that only look like calls where none can.
(import (duet base) (duet neuroscript))

(define seed 1)
(define (chance below)
  (set! seed (remainder (+ (* seed 1103515245) 12345) 2147483648))
  (quotient (* (quotient seed 128) below) 16777216))
(define (one-of . choices) (list-ref choices (chance (length choices))))
(define (text . parts) (apply string-append parts))

;; The names of the tools that a program calls, newest first.
(define called '())
(define (new-name)
  (let ((name
          (text "h" (number->string (length called)) (one-of ".x" ".Read" ".a.b" ".len" ".if"))))
    (set! called (cons (string-downcase name) called))
    name))

(define (some thing least most between)
  (let loop ((count (+ least (chance (- (+ most 1) least)))) (made '()))
    (if (= count 0) (string-join made between) (loop (- count 1) (cons (thing) made)))))

(define (blank) (one-of "" "" " " "\t" " \\\n "))
(define (call depth)
  (let ((name (new-name)))
    (text "tool" (blank) "." name (blank) "(" (some (lambda () (expression depth)) 0 2 ",") ")")))

(define (leaf)
  (one-of "1" "2.5e3" "x" "self" "nil" "true" "last" "\"s\"" "'tool.not.called()'" "{{x}}"
    "[[{{tool.not.called()}}]]" "```tool.not.called()```" "'''{{x}}'''"
    "\"\\\" + tool.no.call()\""))

(define (expression depth)
  (if (= depth 0)
      (if (= 0 (chance 3)) (call 0) (leaf))
      (let ((depth (- depth 1)))
        (define (part) (expression depth))
        (case (chance 12)
          ((0) (leaf))
          ((1 2) (call depth))
          ((3 4)
           (text (part) " " (one-of "or" "and" "|" "^" "&" "==" "!=" "<" ">" "<=" ">=" "+" "-" "*"
                              "/" "%")
             " " (part)))
          ((5) (text (one-of "- " "not " "no " "some " "~" "typeof ") (part)))
          ((6) (text "(" (part) ")" " ** " "(" (part) ")"))
          ((7) (text "[ " (some part 0 3 ", ") " ]"))
          ((8) (text "{" (some (lambda () (text (part) ":" (part))) 0 3 ",") " }"))
          ((9) (text "(" (part) ")[ " (part) " ]"))
          ((10) (text (one-of "eval" "len" "ln" "f" "is_nil") "(" (part) ")"))
          (else (text "x[ " (part) " ]"))))))

(define (target depth)
  (text (one-of "x" "y")
    (some (lambda () (one-of ".k" (text "[ " (expression depth) " ]"))) 0 2 "")))

(define (statements depth in-loop) (some (lambda () (statement depth in-loop)) 1 3 ""))

(define (statement depth in-loop)
  (define (part) (expression 2))
  (define (block in-loop) (statements (- depth 1) in-loop))
  (text (some (lambda () (one-of "\n" "  " "# tool.not.called()\n" "-- tool.no.call()\n")) 0 2 "")
    (case (chance (if (= depth 0) 9 13))
      ((0 1) (text "emit " (part)))
      ((2) (text "whisper " (part) ", " (part)))
      ((3) (text "set " (some (lambda () (target 1)) 1 2 ", ") " = " (part)))
      ((4) (text "call " (call 2)))
      ((5) (text "must " (part)))
      ((6) (text "fail " (part)))
      ((7) (text "call f(" (part) ")"))
      ((8) (if in-loop (one-of "break" "continue") "fail"))
      ((9) (text "if " (part) "\n" (block in-loop)
             (one-of "" (text "else\n" (block in-loop))) "endif"))
      ((10) (text "while " (part) "\n" (block #t) "endwhile"))
      ((11) (text "for each z in " (part) "\n" (block #t) "endfor"))
      (else (text "on error do\n" (block in-loop) "endon")))
    "\n"))

;; The names in the calls of a program's Scheme.
(define (calls-in form)
  (cond ((not (pair? form)) '())
        ((eq? (car form) 'call-tool!) (cons (cadr form) (append-map calls-in (cddr form))))
        ((list? form) (append-map calls-in form))
        (else '())))

(define (sorted names) (list-sort string<? (delete-duplicates names)))

;; The generator evaluates `one-of` whole, so it also names calls that it drops; those are not in
;; the text. A call of the text is `tool.hN.`, as no other text of the program is.
(define (in-text? program name)
  (let ((number (substring name 0 (+ 1 (string-index name #\.)))))
    (string-contains program (text "." number))))

(define (judge)
  (set! called '())
  (let* ((program (text "command\n" (statements 2 #f) "endcommand\n"))
         (expected (sorted (filter (lambda (name) (in-text? program name)) called)))
         (tree (read-neuroscript program)))
    (cond ((not (equal? (neuroscript-tools tree) expected)) (list 'missed program))
          ((not (equal? (sorted (calls-in (neuroscript->scheme tree))) expected))
           (list 'other-calls program))
          (else (length expected)))))

(define (judge-many count)
  (let loop ((count count) (calls 0))
    (if (= count 0)
        calls
        (let ((found (judge))) (if (number? found) (loop (- count 1) (+ calls found)) found)))))
(< 3000 (judge-many 1000))                        ; => #t
