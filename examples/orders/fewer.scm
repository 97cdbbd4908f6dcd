;; As orders.scm, but eleven masts are too many.
(define (order thing amount)
  (call-tool 'shop 'process/run
    (dictionary 'arguments
      (list "sh" "-c" (string-append "echo " thing " " amount " >> orders.txt"))))
  (display (string-append thing " ordered\n")))

(order "rope" "3")
(order "sail" "2")
(order "mast" "1")
(define enough (await (user-input :prompt "Is that all?")))
(display (string-append "the answer was " enough "\n"))
