;;;> Runs `duet` with these words in the workspace and returns its standard output. Exit codes 0 and
;;;> 4 (the run waits for a person) mean success; any other raises a condition with the command's
;;;> message. The program needs the tool `process/run`, and a journal of its own (`--memory` or
;;;> `--journal`), because a journal has one writer.
(define (history-command . words)
  (let* ((done (call-tool 'history "process/run" (dictionary 'arguments (cons "duet" words))))
         (code (dictionary-ref done 'exit)))
    (if (memv code '(0 4))
        (dictionary-ref done 'stdout)
        (error (string-append "duet " (%words words) " failed")
               code
               (dictionary-ref done 'stderr)))))

(define (%words words)
  (if (null? (cdr words))
      (car words)
      (string-append (car words) " " (%words (cdr words)))))

;;;> Starts a run of a program under a name; returns its output until it waits or ends.
(define (run-program! program name)
  (history-command "run" program "--name" name))

;;;> Starts a branch at a turn: `(fork-branch! "plan/main@1" "other")`; several names start several
;;;> branches at once.
(define (fork-branch! address branch . others)
  (apply history-command "fork" address branch others))

;;;> Answers the oldest open question of a branch and continues the branch; returns its output.
(define (answer! address text)
  (history-command "answer" address text))

;;;> Starts a branch on which the input in the addressed turn is replaced by another text; returns
;;;> its output.
(define (amend! address text branch)
  (history-command "amend" address text "--branch" branch))

;;;> Moves the head of a branch to a turn.
(define (goto! address)
  (history-command "goto" address))

;;;> Copies the facts of one branch to another, which continues; returns the facts and its output.
(define (merge-branch! from into)
  (history-command "merge" from "--into" into))

;;;> Returns the facts at a turn that match a pattern in Preserves text, as a list of Scheme values.
(define (branch-facts address pattern)
  (map (lambda (fact) (text->value (dictionary-ref fact 'text)))
       (json->value (history-command "facts" address pattern "--json"))))

;;;> Returns the differences between two turns or branches: the lines of `duet diff`.
(define (branch-difference one other)
  (%lines (history-command "diff" one other)))

;;;> Returns the branches of a run, as addresses with their newest turns.
(define (branch-heads address)
  (map (lambda (line) (substring line 2 (string-length line)))
       (%lines (history-command "branches" address))))

(define (%lines text)
  (let loop ((start 0) (at 0) (lines '()))
    (cond ((= at (string-length text))
           (reverse (if (= start at) lines (cons (substring text start at) lines))))
          ((char=? (string-ref text at) #\newline)
           (loop (+ at 1) (+ at 1) (cons (substring text start at) lines)))
          (else (loop start (+ at 1) lines)))))

;;;> Reads a value from Preserves text, as the commands print it: numbers, strings, symbols, booleans,
;;;> bytevectors, sequences as lists, records, dictionaries, sets. Fails with `read-error` if the text
;;;> is not one value.
(define (text->value text)
  (%text->value text))
