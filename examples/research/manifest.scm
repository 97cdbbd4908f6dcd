;; How `duet run examples/research -- DIRECTORY` runs: the program, where the documents are, and
;; what it may use.
((program "research.scm")
 (workspace (argument 1))
 (tools model/chat workspace/search))
