;; How `duet run examples/review -- DIRECTORY` runs: the program, where the tools work, and which tools it gets.
((program "review.scm")
 (workspace (argument 1))
 (tools workspace/list workspace/read workspace/write))
