;;; A release note is written only when a person has approved it.
;;;
;;;   duet run examples/approval --workspace DIR
;;;
;;; The program may write files, but a constraint turns each call into a question. Until it is answered the run waits, if need be for weeks and across
;;; restarts; after a yes the call is made and the program goes on where it stood, after a no it is told why.
(import (duet base) (duet dataspace) (duet policy))

(define-constraint "notes_are_approved"
  ':tool 'workspace/write ':on-fail 'ask ':reason "a person reads what is published")

(define-constraint "nothing_hidden"
  ':tool 'workspace/write ':when '(schema args.path (lit "hidden")) ':on-fail 'block)
