;; How `duet run examples/oncall -- DIRECTORY [PORT]` runs: the program, where its server of tools
;; starts, and what it may use. `ALERT_TOKEN` is the secret that senders of alerts know.
((program "oncall.scm")
 (workspace (argument 1))
 (tools model/chat shop/* webhook/* policy/update)
 (secrets ALERT_TOKEN)
 (server shop "duet" "run" "--memory" "--workspace" "." "server.scm"))
