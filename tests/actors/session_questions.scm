;;; A session asks its clients: questions, approvals and lines of input. It also says what becomes
;;; of its calls of tools.
(import (duet base) (duet dataspace) (duet sessions) (duet policy) (scheme process-context))
(serve-sessions!)

(define (ask! tag payload)
  (message! (record 'session/request :session "ada" :payload payload :tag tag)))
(define (answer! question payload)
  (message! (record 'session/answer :session "ada" :question question :payload payload)))

(define questions '())
(on-assert (session/event :session "ada" :kind $kind :payload $payload :tag $tag :number $number)
  (if (memq kind '(question approval))
      (set! questions (cons (record-field payload 0) questions)))
  (log! (list number tag kind payload)))
(on-retract (session/event :session "ada" :kind _ :payload _ :tag _ :number $number)
  (log! (list number 'removed)))

;; The answer comes before the result. The question is kept until then, although it was seen.
(ask! 1
  '(begin (import (duet dataspace) (duet base)) (list 'hello (await (user-input :prompt "Name?")))))
(yield) (yield) (yield) (yield) (yield) (yield)
(message! (record 'session/seen :session "ada" :number 1))
(answer! (car questions) "Ada")
(sleep 10)
;; The first answer counts; another session's questions cannot be answered.
(answer! (car questions) "Bob")
(answer! "nothing" "Bob")
(sleep 10)
;; A line of input is a question, too, and a line can be the end of the input, which is over with
;; the request.
(ask! 2
  '(let* ((first (read-line)) (second (read)))
     (list first second (read-line) (eof-object? (read-line)))))
(yield) (yield) (yield) (yield)
(answer! (car questions) "one")
(yield) (yield) (yield) (yield)
(answer! (car questions) "(two")
(yield) (yield) (yield) (yield)
(answer! (car questions) "three)")
(yield) (yield) (yield) (yield)
(answer! (car questions) #f)
(sleep 10)
(ask! 3 '(read-line))
(yield) (yield) (yield) (yield)
(answer! (car questions) "again")
(sleep 10)
;; A question that nobody waits for any more is closed.
(ask! 4 '(with-timeout 5 (user-input :prompt "Quick?")))
(ask! 5 '(read-line))
(yield) (yield) (yield) (yield) (yield)
(message! (record 'session/cancel :session "ada" :tag 5))
(sleep 10)
;; Tools are called, return, and fail.
(ask! 6 '(begin (call-tool 'worker 'counter/add 2) (call-tool 'worker 'no/such/tool 1)))
(sleep 10)
(ask! 7 '(exact? (current-time)))
(sleep 10)
;; No record of a client approves an attempt that policy wants approved.
(define careful
  (define-constraint "careful" :tool "counter/add" :on-fail 'ask :reason "numbers are precious"))
(ask! 8 '(begin (call-tool 'worker 'counter/add 3) 'counted))
(yield) (yield) (yield) (yield) (yield) (yield)
(answer! (car questions) #t)
(yield) (yield)
(reject! (car questions) "not today")
(sleep 10)
(ask! 9 '(begin (call-tool 'worker 'counter/add 3) 'counted))
(yield) (yield) (yield) (yield) (yield) (yield)
(approve! (car questions))
(sleep 10)
(define-constraint "never" :tool "counter/get" :reason "it is private")
(ask! 10 '(guard (e (#t (condition-kind e))) (call-tool 'worker 'counter/get 1)))
(sleep 10)
(remove-constraint! careful)
;; News of a question or a call stay, although the turn that goes on with it fails.
(ask! 11 '(begin (await (user-input :prompt "m")) (car 5)))
(yield) (yield) (yield) (yield) (yield) (yield)
(answer! (car questions) "Ada")
(sleep 10)
(ask! 12 '(begin (call-tool 'worker 'counter/add 2) (car 5)))
(sleep 10)
(ask! 13 '(error "p" (guard (e (#t (condition-kind e))) (call-tool 'worker 'counter/get 1))))
(sleep 10)
(ask! 14 '(call-tool 'worker 'counter/get 1))
(sleep 10)
;; The clients hear what a session logs.
(ask! 15 '(begin (log! "a line") (log! "another")))
(sleep 10)
;; Data without a notation is its own value.
(ask! 16 (record 'point 1 2))
(ask! 17 (dictionary 'a 1))
(sleep 10)
(exit 0)
