;;; A release note is written only when a person has approved it.
;;;
;;;   duet run examples/approval -- DIRECTORY
;;;
;;; The program may write files, but a constraint turns each call into a question. The run waits for
;;; the answer, if need be for weeks and across restarts. After a yes Duet makes the call, and the
;;; program goes on where it stood; after a no the program receives the reason.
(import (duet base) (duet dataspace) (duet policy))

(define-constraint "notes_are_approved"
  :tool 'workspace/write :on-fail 'ask :reason "a person reads what is published")

(define-constraint "only_notes"
  :tool 'workspace/write :when '(not (in args.path #("NOTES.md" "DRAFT.md")))
  :reason "this program writes notes and nothing else")

(define (write-file! path text)
  (call-tool 'writer 'workspace/write (dictionary 'path path 'content text)))

(define (attempt path text)
  (guard (refusal ((policy-refusal? refusal)
                   (display (list path 'refused (refusal-code refusal)))
                   (newline)))
    (write-file! path text)
    (display (list path 'written))
    (newline)))

(attempt "README.md" "This is not a note.")
(attempt "NOTES.md" "What users notice: approvals.\n")
