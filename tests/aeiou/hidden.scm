;;; No tool call can hide: programs made by chance, with calls in every position where an expression
;;; can stand, and texts that only look like calls where none can.
;;;
;;; The arguments are a seed and a number of programs, each a positive integer. Three lists of tools
;;; must be the same for each program: those that the generator put there, those that
;;; `neuroscript-tools` finds, and those that the program's Scheme can call. Every tenth program
;;; also runs, as it is and with a few characters changed, and may call no tool that
;;; `neuroscript-tools` did not find. The exit code is 1 if a call was hidden.
(import (duet base) (duet neuroscript) (only (duet control) call/ec) (only (srfi 1) every)
  (scheme eval) (scheme process-context))

(define-values (seed count) (apply values (map string->number (cdr (command-line)))))
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

(define (blank) (one-of "" "" " " "\t" " \\\n " "\\\r\n"))
(define (call depth)
  (let ((name (new-name)))
    (text "tool" (blank) "." name (blank) "(" (some (lambda () (expression depth)) 0 2 ",") ")")))

(define (leaf)
  (one-of "1" "2.5e3" "x" "self" "nil" "true" "last" "\"s\"" "'tool.not.called()'" "{{x}}"
    "[[{{tool.not.called()}}]]" "```tool.not.called()```" "'''{{x}}'''"
    "\"\\\" + tool.no.call()\"" "'\\'+tool.no.call()#'" "[[\ntool.not.called()\n\"]]"
    "```'\n# tool.not.called()```"))

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
  (text (some (lambda ()
                (one-of "\n" "  " "# tool.not.called()\n" "-- tool.no.call()\n"
                        "// \" tool.no.call()\n" "\r" "# \\\n" "\\\n"))
          0 2 "")
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

(define (failed what program) (write (list what program)) (newline) (exit 1))

;; Puts up to three characters of a program in the place of others, or between them.
(define (changed program)
  (let loop ((left (+ 1 (chance 3))) (program program))
    (if (= left 0)
        program
        (let* ((length (string-length program))
               (at (chance length))
               (end (min length (+ at (chance 3))))
               (piece
                 (one-of "\"" "'" "[[" "]]" "```" "{{" "}}" "\\" "\n" "#" "//" "tool" "." "(" ")"
                   "[" "]" "")))
          (loop (- left 1)
            (text (substring program 0 at) piece (substring program end length)))))))

;; Runs a program for at most 200 statements; its tools return whatever chance says.
(define (run-recording tree)
  (define names '())
  (define (call-tool! name arguments)
    (set! names (cons name names))
    (one-of 1. "1" #t #f 'null (vector 1. "b") (dictionary "k" 1.)))
  (define steps 0)
  (for-each
    (lambda (command)
      (guard (problem (#t #f))
        (call/ec
          (lambda (stop)
            (command
              (lambda (line) (set! steps (+ steps 1)) (if (> steps 200) (stop #f) line))
              (lambda (value) #t) (lambda (target value) #t) call-tool!)))))
    (eval (neuroscript->scheme tree) (neuroscript-environment)))
  names)

(define (check-run program tree)
  (let ((tools (neuroscript-tools tree)))
    (if (not (every (lambda (name) (member name tools)) (run-recording tree)))
        (failed 'called program))))

;; Returns whether the changed program is still a program.
(define (check-changed program)
  (let ((tree
          (guard (problem ((neuroscript-syntax-error? problem) #f)) (read-neuroscript program))))
    (if tree
        (begin
          (if (not (equal? (neuroscript-tools tree) (sorted (calls-in (neuroscript->scheme tree)))))
              (failed 'other-calls program))
          (check-run program tree)))
    (and tree #t)))

;; Returns the number of calls in a program made by chance.
(define (check-one)
  (set! called '())
  (let* ((program (text "command\n" (statements 2 #f) "endcommand\n"))
         (expected (sorted (filter (lambda (name) (in-text? program name)) called)))
         (tree (read-neuroscript program)))
    (if (not (equal? (neuroscript-tools tree) expected)) (failed 'missed program))
    (if (not (equal? (sorted (calls-in (neuroscript->scheme tree))) expected))
        (failed 'other-calls program))
    (if (= 0 (chance 10))
        (begin
          (check-run program tree)
          (let loop ((left 5))
            (if (> left 0)
                (begin
                  (if (check-changed (changed program)) (set! readable (+ readable 1)))
                  (loop (- left 1)))))
          (set! runs (+ runs 1))))
    (length expected)))

(define runs 0)
(define readable 0)
(let loop ((left count) (calls 0))
  (if (> left 0)
      (loop (- left 1) (+ calls (check-one)))
      (begin
        (display (list count 'programs calls 'calls runs 'executed readable 'changed))
        (newline))))
