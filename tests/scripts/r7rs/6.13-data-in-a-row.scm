;; R7RS 6.13: several data from one port.

;; Any datum can be read, `#f` too, and case folding lasts until it is switched off.
(let ((port (open-input-string "#f #false (#f)")))
  (let* ((a (read port)) (b (read port)) (c (read port))) (list a b c (eof-object? (read port)))))
; => (#f #f (#f) #t)
(let ((port (open-input-string "#!fold-case ABC DEF #!no-fold-case GHI")))
  (let* ((a (read port)) (b (read port)) (c (read port))) (list a b c)))  ; => (abc def GHI)
(call-with-values
  (lambda () (call-with-port (open-input-string "x") (lambda (port) (values 1 2))))
  list)                                              ; => (1 2)
