;; Calls of which nobody knows whether they happened are what this program is about: it may run
;; processes, and a call of that kind is never repeated.
((program "main.scm")
 (workspace (argument 1))
 (tools clock/* console dataspace/* person process/run workspace/*))
