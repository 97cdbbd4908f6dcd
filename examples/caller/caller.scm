;; Calls a server of the Model Context Protocol; here the server is Duet itself.
;;
;;   duet run examples/caller
(import (duet base) (duet mcp))

(define (ask tool . fields)
  (mcp-call 'caller (string-append "duet/" tool) (apply dictionary fields)))

;; A run of another program, as a client sees it.
(define result (ask "run" 'program "examples/caller/hello.scm" 'name "below"))
(display (dictionary-ref (mcp-value result) 'output))

;; What that run did, newest first.
(display (mcp-text (ask "log" 'address "below" 'limit 1)))
