;;; An agent that asks another agent, which writes a note after a person has approved it.
(import (duet base) (duet dataspace) (duet agents) (duet policy))

(define-constraint "notes_are_approved" :tool 'workspace/write :on-fail 'ask :reason "approval")

(define-model local (budget :turns 20))

(define-agent clerk (model local) (description "Writes notes.") (tools "workspace/write"))

(define-agent boss (model local) (tools clerk))

(display (string-append "boss: " (ask boss "Have it noted.") "\n"))
(assert! (record 'used (dictionary-ref (model-usage local) 'turns)))
(await (user-input :prompt "Enough?"))
