;;; Programs of `(duet aeiou)` that use too much fuel or memory; the host goes on.
(import (duet base) (duet dataspace) (duet aeiou))
(define (outcome . lines)
  (guard (problem ((aeiou-error? problem) (aeiou-error-code problem)))
    (execution-emissions
      (run-actions (string-join (append '("command") lines '("endcommand")) "\n")
        :memory-limit 20000000))))
(log! (outcome "while true" "set i = 0" "while i < 90000" "set i = i + 1" "endwhile" "endwhile"))
(log! (outcome "set l = []" "set t = \"a\" * 100000" "for each c in t" "set l[len(l)] = t + len(l)"
        "endfor"))
(log! (outcome "emit 1"))
(log! "what it says is too long when its markers have become text")
(define reply
  (string-append "<<<NSENV:V4:START>>>\n<<<NSENV:V4:USERDATA>>>\n{}\n<<<NSENV:V4:ACTIONS>>>\n"
    "command\nemit \"<<<NSENV:V4:ACTIONS>>>\\n\" * 22500\nendcommand\n<<<NSENV:V4:END>>>\n"))
(log! (outcome-reason (run-loop (scripted-model (list reply reply))
                                (dictionary 'subject "s" 'fields (dictionary)))))
