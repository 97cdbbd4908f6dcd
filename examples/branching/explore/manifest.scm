;; How `duet run examples/branching/explore --memory` runs: it starts `duet` in the present directory.
((program "explore.scm") (tools process/run))
