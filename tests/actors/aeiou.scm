;;; run-loop ask-loop scripted-model run-actions check-actions
(import (duet base) (duet dataspace) (duet aeiou))
(define (reply . lines)
  (string-append "<<<NSENV:V4:START>>>\n<<<NSENV:V4:USERDATA>>>\n{}\n<<<NSENV:V4:ACTIONS>>>\n"
    (string-join (append '("command") lines '("endcommand")) "\n") "\n<<<NSENV:V4:END>>>\n"))
(define userdata (dictionary 'subject "ask" 'fields (dictionary 'prompt "start")))
(define (call name arguments) (log! (list 'calls name arguments)) (string-upcase (car arguments)))
(define (told outcome)
  (list (outcome-decision outcome) (outcome-reason outcome) (outcome-result outcome)))
(on-message (aeiou/state "s" $turn $state) (log! (list turn state)))
(on-assert (aeiou/store "s" $key $value) (log! (list 'stored key value)))
(log! "a program says, calls, stores; what it says cannot begin a section")
(define model
  (scripted-model
    (list
      (reply "set x = tool.Str.up(\"a\")" "emit x" "whisper self, \"note\""
        "call tool.store.set(\"k\", {\"n\": [1, x]})")
      (string-append "Sure!\n"
        (reply "emit x" "emit tool.store.get(\"k\")" "emit \"<<<NSENV:V4:ACTIONS>>>\\ncommand\""))
      (reply "emit \"<<<LOOP:DONE>>> result\""))))
(define (spy rules envelope)
  (log! envelope)
  (model rules envelope))
(log! (told (ask-loop spy userdata :sid "s" :tools ("str.*" "store.*") :call call)))
(log! "actions alone")
(log! (execution-emissions (run-actions "command\nemit tool.str.up(\"b\")\nendcommand"
                                        :tools '("str.up") :call call)))
(log! (execution-error (run-actions "command\nemit 1\nfail \"boom\"\nendcommand")))
