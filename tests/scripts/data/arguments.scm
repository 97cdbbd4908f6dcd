;; A procedure of a library that is called with something else names itself and what it wanted; no
;; error names what it is made of.
(import (scheme base) (rename (only (srfi 1) every) (every every-of)) (duet base) (duet json)
  (duet mcp) (duet policy) (duet aeiou) (duet agents))

(define (told procedure . arguments)
  (guard (e ((error-object? e) (error-object-message e)) (#t 'raised))
    (apply procedure arguments)
    'nothing))

(told every-of 5 '(1))                 ; => "every: expected a procedure"
(told every-of 5 '(1) '(2))            ; => "every: expected a procedure"
(told every-of list 5)                 ; => "every: expected a proper list"
(told every-of list '(1 . 2))          ; => "every: expected a proper list"
(told take '(1) 2)                     ; => "take: expected a list with as many elements"
(told drop '(1) 2)                     ; => "drop: the list has fewer elements"

;; The names among these whose errors do not begin with them, for some wrong arguments.
(define-syntax silent
  (syntax-rules ()
    ((_ (name argument ...) ...)
     (filter-map
       (lambda (row)
         (let ((said (apply told (cdr row)))
               (begins (string-append (symbol->string (car row)) ":")))
           (and (not (and (string? said) (string-prefix? begins said))) (list (car row) said))))
       (list (list 'name name argument ...) ...)))))

(silent
  (fold 5 0 '(1)) (fold list 0 5) (fold list 0 '(1 . 2)) (fold-left 5 0 '(1)) (fold-left list 0 5)
  (fold-right 5 0 '(1)) (fold-right list 0 5) (fold-right list 0 5 '(1)) (reduce 5 0 '(1))
  (reduce list 0 5) (filter 5 '(1)) (filter list 5) (remove 5 '(1)) (remove list 5)
  (partition 5 '(1)) (partition list 5) (delete 1 5) (delete 1 '(1) 5) (delete-duplicates 5)
  (delete-duplicates '(1 2) 5) (find-tail 5 '(1)) (find-tail not 5) (find 5 '(1)) (find not 5)
  (any 5 '(1)) (any not 5) (any not '(1 . 2)) (count 5 '(1)) (count list 5)
  (count list '(1) 5) (list-index 5 '(1)) (list-index not 5) (filter-map 5 '(1))
  (filter-map list 5) (append-map 5 '(1)) (append-map list 5) (append-map car '((1 . 2) (3)))
  (concatenate 5) (concatenate '(1 (2))) (take 5 1) (drop 5 1) (append-reverse 5 '()))
; => ()

(silent
  (read-json 5) (write-json 1 5) (json-error-line 5) (json-error-column 5) (path->json-pointer 5)
  (mcp-wait 'a 5 1) (mcp-value 5) (mcp-text 5) (mcp-tools 'a 5) (mcp-resources 'a 5)
  (mcp-read 'a 5 "u") (mcp-prompts 'a 5) (mcp-prompt 'a 5 "n") (refusal-code 5)
  (refusal-follows 5) (refusal-key 5) (refusal-explanation 5) (aeiou-error-code 5)
  (neutralise-markers 5) (turn-digest 5 "") (turn-digest "" 5) (sha256 5) (scan-emissions 5)
  (scan-emissions '(5)) (tool-permitted? 5 '()) (tool-permitted? "a" '(5)) (agent-entity 5)
  (tool-entity '()) (flush-output-port 5))
; => ()

;; Accessors and modifiers of records do so too, also where the compiler integrates them.
(define-record-type point (make-point x) point? (x point-x set-point-x!))
(define-record-type (visit :label visit) (make-visit guest) visit? (guest visit-guest))

(told point-x 5)                       ; => "argument 1 of point-x must be a record of type `point`"
(told (lambda (object) (+ 1 (point-x object))) 5)
; => "argument 1 of point-x must be a record of type `point`"
(told (lambda (object) (set-point-x! object 1) 1) '(1))
; => "argument 1 of set-point-x! must be a record of type `point`"
(told visit-guest 5)
; => "argument 1 of visit-guest must be a record `visit` with 1 field"
