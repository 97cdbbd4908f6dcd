;;; A deployment is done once: whoever goes back and gives the same answer receives the first result.
;;;
;;;   duet run examples/deploy
;;;
;;; As far as Duet knows, it must not start a process twice. "Taking it back" in the book shows what
;;; that means for going back.
(import (duet base) (duet dataspace))

(define how (await (user-input :prompt "How?")))

(call-tool 'shell 'process/run
  (dictionary 'arguments (list "sh" "-c" (string-append "echo " how " >> deployed.txt"))))

(display "deployed")
(newline)
(await (user-input :prompt "Enough?"))
