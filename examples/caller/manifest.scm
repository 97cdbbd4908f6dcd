;; How `duet run examples/caller` runs: the program, the server that it starts, and its tools.
((program "caller.scm")
 (tools duet/*)
 (server duet "duet" "mcp"))
