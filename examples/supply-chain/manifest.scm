((program "supply-chain.scm")
 (workspace (argument 1))
 (tools workspace/write model/chat policy/update))
