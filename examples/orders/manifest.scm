;; The orders may run commands.
((program "orders.scm") (tools process/run))
