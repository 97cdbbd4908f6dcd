;; How `duet run examples/deploy` runs: it starts a shell in the present directory.
((program "deploy.scm") (tools process/run))
