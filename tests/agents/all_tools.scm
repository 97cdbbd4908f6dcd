;;; An agent with all built-in tools that a model can use.
(import (duet base) (duet dataspace) (duet agents))
(define-agent all (tools "workspace/*" "process/*" "http/*"))
(display (ask all "Which tools do you have?"))
