;;; Answers a question from a folder of documents, with citations that were checked.
;;;
;;;   duet run examples/research --double examples/research/model.pr -- examples/research/documents
;;;
;;; A planner divides the question into eight. For each the program searches the documents, and a
;;; searcher answers from the lines that were found. The program compares every citation with the
;;; documents and drops those that are not there; a claim without a citation is dropped too. A judge
;;; answers the question from the claims that are left.
(import (duet base) (duet dataspace) (duet agents) (duet json))

(define question "Why does green tea taste bitter when it is made with boiling water?")

(define-agent research-planner
  (instructions "Divide the question into eight that documents can answer. Give each a regular
expression that finds lines about it.")
  (result (object (parts (list (object (question string) (pattern string)) :min 8 :max 8)))))

(define-agent searcher
  (instructions "Answer from these lines alone. Cite each line that you use, word for word.")
  (result
    (object
      (claim string "one sentence")
      (citations (list (object (file string) (line integer) (quote string)))))))

;;; Documents

(define (find-lines part)
  (json-ref
    (call-tool 'library "workspace/search"
      (dictionary 'pattern (json-ref part 'pattern) 'ignore_case #t))
    'matches))

(define (answer-from part lines)
  (ask searcher (list (json-ref part 'question) (list 'json lines))))

(define (is-there? citation lines)
  (find
    (lambda (line)
      (and (equal? (json-ref line 'path) (json-ref citation 'file))
           (equal? (json-ref line 'line) (json-ref citation 'line))
           (string-contains (json-ref line 'text) (json-ref citation 'quote))))
    lines))

;; Returns the claim with the citations that are there, or `#f` if none is.
(define (checked finding lines)
  (let-values (((true false)
                (partition (lambda (it) (is-there? it lines)) (json-ref finding 'citations))))
    (for-each
      (lambda (it)
        (assert! (record 'dropped (json-ref it 'file) (json-ref it 'line) (json-ref it 'quote))))
      false)
    (and (pair? true) (json-set finding 'citations true))))

;;; The answer

(define (numbered claims) (map cons (iota (length claims) 1) claims))

(define (judge-of count)
  (make-agent 'judge
    :instructions "Answer the question from the numbered claims. Say which ones you use."
    :result `(object (answer string) (used (list (integer :min 1 :max ,count) :min 1)))))

(define (show-claim number claim)
  (display (list number (json-ref claim 'claim)))
  (newline)
  (for-each
    (lambda (it)
      (display (string-append "    " (json-ref it 'file) ":" (number->string (json-ref it 'line))
                 " \"" (json-ref it 'quote) "\"\n")))
    (json-ref claim 'citations)))

(define (main)
  (let* ((parts (json-ref (ask research-planner question) 'parts))
         (found (par-map find-lines parts))
         (findings
           (par-map (lambda (pair) (answer-from (car pair) (cdr pair))) (map cons parts found)))
         (claims (filter values (map checked findings found))))
    (when (null? claims) (error "no claim has a citation that is in the documents"))
    (let ((verdict
            (ask (judge-of (length claims))
              (list question
                (list 'json
                  (map (lambda (it) (list (car it) (json-ref (cdr it) 'claim)))
                    (numbered claims)))))))
      (display (string-append (json-ref verdict 'answer) "\n"))
      (for-each
        (lambda (it)
          (if (member (car it) (json-ref verdict 'used)) (show-claim (car it) (cdr it))))
        (numbered claims)))))

(main)
