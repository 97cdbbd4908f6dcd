;;; A deployment is done once: whoever goes back and says the same again is told what came of it.
;;;
;;;   duet run examples/deploy
;;;
;;; Starting a process must not be repeated, as far as Duet knows. "Taking it back" in the book shows what that means for going back.
(import (duet base) (duet dataspace))

(define how (await (user-input :prompt "How?")))

(call-tool 'shell 'process/run
  (dictionary 'arguments (list "sh" "-c" (string-append "echo " how " >> deployed.txt"))))

(display "deployed")
(newline)
(await (user-input :prompt "Enough?"))
