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
(column 'module)                                  ; => ("shipper" "other" "shipper" "shipper")
(column 'function)                                ; => ("h" "r1" "r2" "s")
(map (lambda (field) (json-ref (list-ref entries 3) field)) '(actions triggers under multi))
; => (("MOVE" "STAY") ("ok") () #t)
;; The order of registration changes nothing.
(string=? text (agent-dna (make-agent 'shipper (reverse (registrations)))))            ; => #t

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
