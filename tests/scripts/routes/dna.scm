;; DNA: export, and the report on a document.
(import (duet base) (duet json) (duet routes))

(define (handler . ignored) #f)
(define (registrations)
  (list (make-sender "A --> B" handler :name 's :on '(move stay) :when '(ok) :multi #t)
        (make-receiver " A --[ f ]--> B " handler :name 'r2 :priority '(1 2))
        (make-hook 'send handler :name 'h :priority '(0))
        (make-receiver "A--[f]-->B" handler :name 'r1 :module 'other)))
(define text (agent-dna (make-agent 'shipper (registrations))))
(define document (json->value text))
(json-ref document 'profile)                                 ; => "summoner-standard-profile/0.1"
(equal? (json-ref document 'profile) route-profile)          ; => #t
(define entries (json-ref document 'registrations))
(define (column name) (map (lambda (it) (json-ref/default '- it name)) entries))
(column 'kind)                                    ; => ("hook" "receiver" "receiver" "sender")
(column 'route)                                   ; => (- "A--[f]-->B" "A--[f]-->B" "A--[]-->B")
(column 'direction)                               ; => ("SEND" - - -)
(column 'priority)                                ; => ((0) () (1 2) ())
(column 'module)                                  ; => ("(program)" "other" "(program)" "(program)")
(column 'function)                                ; => ("handler" "handler" "handler" "handler")
(column 'name)                                    ; => ("h" "r1" "r2" "s")
(map (lambda (field) (json-ref (list-ref entries 3) field)) '(actions triggers under multi))
; => (("MOVE" "STAY") ("ok") () #t)
;; The order of registration changes nothing.
(string=? text (agent-dna (make-agent 'shipper (reverse (registrations)))))            ; => #t

;; The code of receivers tells their agents apart, wherever it stands and whatever its names are.
(define (dna-of procedure)
  (agent-dna (make-agent 'a (list (make-receiver "A --> B" procedure :name 'r)))))
(define (code-of procedure)
  (json-ref (car (json-ref (json->value (dna-of procedure)) 'registrations)) 'code))
(define (honest message context) (move 'ok))
(define (kind message context)
  (move 'ok))
(define (evil message context) (move 'no))
(define (deep message context) (map (lambda (x) (car x)) message))
(define (deeper message context) (map (lambda (x) (cdr x)) message))
(string=? (dna-of honest) (dna-of evil))                     ; => #f
(string=? (code-of honest) (code-of evil))                   ; => #f
(string=? (code-of honest) (code-of kind))                   ; => #t
(string=? (code-of honest) (code-of (lambda (a b) (move 'ok))))                        ; => #t
(string=? (code-of deep) (code-of deeper))                   ; => #f
(string=? (code-of car) (code-of cdr))                       ; => #f
(string-length (code-of honest))                             ; => 64

;; What a procedure has captured tells it apart, too: data, and the code of other procedures.
(define (answering what) (lambda (message context) (move what)))
(string=? (code-of (answering 'ok)) (code-of (answering 'no)))                         ; => #f
(string=? (code-of (answering 'ok)) (code-of (answering 'ok)))                         ; => #t
(string=? (code-of (answering '(1 "a" #(2)))) (code-of (answering '(1 "a" #(3)))))     ; => #f
(string=? (code-of (answering (list 1.5 (string #\a)))) (code-of (answering '(1.5 "a"))))  ; => #t
(string=? (code-of (answering (dictionary 'a 1))) (code-of (answering (dictionary 'a 2)))) ; => #f
(string=? (code-of (answering (answering 1))) (code-of (answering (answering 2))))     ; => #f
(string=? (code-of (answering car)) (code-of (answering cdr)))                         ; => #f
(define (around inner) (lambda (message context) (inner message)))
(define one (code-of (around (lambda (m) (move 'ok)))))
(string=? one (code-of (around (lambda (m) (move 'no))))) ; => #f
(define ring (list 1 2))
(set-cdr! (cdr ring) ring)
(string=? (code-of (answering ring)) (code-of (answering ring)))                       ; => #t
;; A variable that is assigned is state, not behaviour.
(define (counting) (let ((count 0)) (lambda (message context) (set! count (+ count 1)) (move 'ok))))
(define counted (counting))
(define before (code-of counted))
(counted 1 2)
(string=? before (code-of counted) (code-of (counting)))     ; => #t

(define report (dna-report text))
(dictionary-ref report 'format)                              ; => profile
(dictionary-ref report 'problems)                            ; => ()
(define (all-problems report)
  (append-map (lambda (it) (dictionary-ref it 'problems)) (dictionary-ref report 'registrations)))
(all-problems report)                                        ; => ()

;; A document of the reference implementation.
(define reference
  (list
    (dictionary 'type "upload_states" 'fn_name "up")
    (dictionary 'type "receive" 'route "A --[ f ]--> B" 'route_key "A--[f]-->B" 'priority '(1)
      'module "m" 'fn_name "go" 'source "import os")
    (dictionary 'type "receive" 'route "A--[f]-->B" 'priority '() 'module "m" 'fn_name "again")
    (dictionary 'type "receive" 'route "A >> B" 'priority '() 'module "m" 'fn_name "bad")
    (dictionary 'type "send" 'route "tick" 'multi #f 'use_data #t 'run_while_kind "none"
      'on_triggers '() 'on_actions '() 'fn_name "t")
    (dictionary 'type "hook" 'direction "RECEIVE" 'priority '(0) 'fn_name "h")
    (dictionary 'type "other")))
(define imported (dna-report (value->json reference)))
(dictionary-ref imported 'format)                            ; => reference
(dictionary-ref imported 'problems)
; => ("it names no profile" "the reference keeps only the last receiver of the route A--[f]-->B")
(define (part name)
  (map (lambda (it) (dictionary-ref it name)) (dictionary-ref imported 'registrations)))
(part 'kind)                      ; => (upload_states receiver receiver receiver sender hook other)
(part 'route)                     ; => (#f "A--[f]-->B" "A--[f]-->B" #f "tick" #f #f)
(part 'function)                  ; => ("up" "go" "again" "bad" "t" "h" #f)
(map length (part 'problems))     ; => (1 0 0 1 2 0 1)
(dna-report "{}")                                            ; raises: bad-dna
(dna-report "[1]")                                           ; raises: bad-dna
(dna-report "[")                                             ; raises: json-error
(dictionary-ref (dna-report "{\"profile\":\"other/9\",\"registrations\":[]}") 'problems)
; => ("it is made for other/9, not for summoner-standard-profile/0.1")
