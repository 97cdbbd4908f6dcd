;;; Programs of NeuroScript in the sandbox of `(duet aeiou)`.
(import (duet base) (duet dataspace) (duet aeiou) (duet neuroscript) (scheme eval))
(define (say object) (write object) (newline))
(define (run . lines)
  (say
    (guard (problem ((aeiou-error? problem) (aeiou-error-code problem)))
      (let ((done (run-actions (string-join (append '("command") lines '("endcommand")) "\n")
                               :tools '("a.*")
                               :call (lambda (name arguments) (list name arguments)))))
        (append (execution-emissions done) (execution-whispers done)
          (if (execution-error done) (list (execution-error done)) '()))))))
(run "emit -2**2" "emit 2**3**2" "emit 1 + 2 * 3" "emit 6 & 3 | 8 ^ 1" "emit not 1 == 2")
(run "for each x in [1,2,3,4]" "if x == 2" "continue" "endif" "if x == 4" "break" "endif" "emit x"
  "endfor" "emit x")
(run "set n = 0" "while true" "set n = n + 1" "for each x in \"ab\"" "if n > 2" "break" "endif"
  "emit x + n" "endfor" "if n > 3" "break" "endif" "endwhile")
(run "on error do" "emit system_error_code + \": \" + system_error_message" "clear_error" "endon"
  "fail \"boom\"" "emit \"after\"" "if true" "emit 1/0" "emit \"not reached\"" "endif"
  "emit \"end\"")
(run "on error do" "emit \"seen\"" "endon" "set x = [1][2]" "emit \"not reached\"")
(run "emit 1" "on error do" "emit 2" "endon" "emit 3")
(run "set x = 5" "emit eval(\"{{x}}, {{ y }}{{x}}\")" "emit {{x}}" "emit [[{{x}}{{@tab}}]]")
(run "emit last" "set r = tool.A.b(7, {\"k\": [nil]})" "emit last" "emit r[1][1][\"k\"]" "emit 1")
(run "set r = tool.a.b({\"k\": [nil, 1.5]})" "emit r" "emit last[0]" "emit typeof r[1]")
(run "set a[2] = 1" "set b = a" "set b[0].k = \"v\"" "emit a" "emit b" "set p, q.r = [1, 2]"
  "emit q")
(run "emit false and tool.a.one()" "emit true or tool.a.two()")
(run "emit tool.a.b() == tool.a.b(tool.a.b())" "emit tool.a.b()" "emit tool.a.b()")
(run "whisper self, 1" "whisper other, [1]" "whisper self, nil")
(run "emit undefined" "emit typeof undefined" "emit is_nil(undefined)" "call f(1)")
(run "set i = 0" "while i < 100000" "set i = i + 1" "endwhile")
(run "emit len(1, 2)")
(run "set l = []" "set i = 0" "while i < 600" "set l = [l]" "set i = i + 1" "endwhile"
  "call tool.a.b(l)")
(say "a fresh interpreter for each execution")
(run "set x = 1" "emit x")
(run "emit x")
(say "a call is checked again when it is made")
(on-assert (aeiou/call $id $number $name _)
  (if (equal? name "a.b") (assert! (record 'aeiou/call id 9 "c.d" '()))))
(say
  (guard (problem ((aeiou-error? problem)
                   (list (aeiou-error-code problem) (condition-message problem))))
    (run-actions "command\nemit tool.a.b()\nemit 1\nendcommand" :tools '("a.b")
      :call (lambda (name arguments) (sleep 20) "called"))))
(say "a program's Scheme reaches no procedure with an effect")
(define (reached? name)
  (guard (problem (#t #f)) (eval name (neuroscript-environment)) #t))
(say (filter reached?
       '(ns-add car call/ec assert! message! spawn call-tool invoke-tool! open-input-file load eval
         current-time current-jiffy random get-environment-variable exit)))
