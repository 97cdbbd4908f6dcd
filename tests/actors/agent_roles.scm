;;; register-agent-roles! agent-entity tool-entity person-entity
(import (duet base) (duet dataspace) (duet agents) (duet json))
(define (attempt thunk)
  (guard (object ((condition? object) (list (condition-kind object) (condition-message object))))
    (thunk)))
(register-agent-roles!)
;; An agent, a tool and a person answer requests by name.
(define replies (list (dictionary 'content "{\"verdict\": \"good\"}")))
(spawn-entity! 'agent
  :config (list 'reviewer :model '(writer :model "small" :turns 2) :tools '("workspace/read")
            :result '(object (verdict string)) :options (dictionary 'replies replies)))
(spawn-entity! 'tool :config '(disk "workspace/write"))
(attach-entity! 'person :config 'ann)
(log! (json-ref (request 'reviewer "Is it good?") 'verdict))
(log! (json-ref (request 'disk (dictionary 'path "a.txt" 'content "tea")) 'size_bytes))
(log! (request 'ann (record 'question "Is it good?" '("yes" "no"))))
(log! (json-ref (request 'reviewer '(file "a.txt")) 'verdict))
;; Its budget is its own; failures come back with their kinds.
(log! (attempt (lambda () (request 'reviewer "Once more?"))))
(log! (attempt (lambda () (request 'disk (dictionary 'path "a.txt" 'content "x") :timeout 1000))))
;; Whoever answers to a name can be replaced by another.
(spawn-entity! 'agent
  :config (list 'decider :options (dictionary 'replies (list (dictionary 'content "yes")))))
(define (decide name) (equal? "yes" (request name "Shall we?")))
(log! (map decide '(ann decider)))
