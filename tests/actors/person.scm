;;; user-input
(log! (list 'answer (await (user-input :prompt "go on?" :tag "first"))))
(spawn (lambda () (await (user-input :prompt "and this?")) (log! "never")))
(yield)
