;; How `duet run examples/branching` runs: the program alone; it needs no tools.
((program "plan.scm"))
