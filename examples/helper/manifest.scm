;; How `duet run examples/helper -- DIRECTORY` runs: where the agent works, and what it may use.
((program "helper.scm")
 (workspace (argument 1))
 (tools model/chat workspace/list workspace/read workspace/search process/run policy/update))
