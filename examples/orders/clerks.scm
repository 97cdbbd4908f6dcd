;;; Clerks that count their orders, for the chapter about changing the code.

(define (clerk name)
  (define count 0)
  (on-message (order $who)
    (if (equal? who name)
        (begin
          (set! count (+ count 1))
          (display (string-append name ": " (number->string count) "\n"))))))
(register-entity! 'clerk clerk)
(spawn-entity! 'clerk :config "ada")
(await (signal 'close))
