;; The program may run processes, because such a call is never repeated: after a kill nobody knows
;; whether it happened.
((program "main.scm")
 (workspace (argument 1))
 (tools clock/* console dataspace/* person process/run workspace/*))
