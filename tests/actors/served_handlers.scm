;;; A client never ends the run through a handler of the main program, not even through one that
;;; waits before it fails.
(import (duet base) (duet dataspace) (duet agents) (duet sessions) (scheme process-context))
;; The item that the handler used is free again.
(define pool (make-pool '(item)))
(serve-sessions! :imports '((scheme base) (duet base) (duet dataspace)))
(on-message (boom $how)
  (case how
    ((at-once) (car how))
    ((after-a-wait) (call-with-pool pool (lambda (item) (sleep 2) (car how))))
    ((in-a-strand) (par-map car (list how)))
    ((by-itself) (spawn (lambda () (sleep 2) (car how))))
    ((by-a-tool) (call-tool 'r "workspace/read" (dictionary 'path "none")))))
(define (ask! tag how)
  (let ((said (list 'message! (list 'record ''boom (list 'quote how)))))
    (message! (record 'session/request :session "ada" :payload said :tag tag))))
(on-assert (session/event :session _ :kind $kind :payload _ :tag $tag :number _)
  (log! (list kind tag)))
(for-each
  (lambda (tag how) (ask! tag how) (sleep 20))
  '(1 2 3 4 5)
  '(at-once after-a-wait in-a-strand by-itself by-a-tool))
(log! (call-with-timeout 10 (lambda () (call-with-pool pool (lambda (item) item)))))
(exit 0)
