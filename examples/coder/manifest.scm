;; How `duet run examples/coder -- DIRECTORY` runs: the program, where the agent works, and what it
;; may use.
((program "coder.scm")
 (workspace (argument 1))
 (tools model/chat workspace/list workspace/read workspace/search workspace/write process/run))
