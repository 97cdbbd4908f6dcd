((program "approval.scm")
 (workspace (argument 1))
 (tools workspace/read workspace/list workspace/write policy/update))
