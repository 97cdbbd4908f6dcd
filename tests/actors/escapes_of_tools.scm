;;; A procedure of an agent's tool that calls a continuation of whoever asked the agent: the calls
;;; of tools end, and the agent is not asked again.
(import (duet base) (duet dataspace) (duet agents) (duet control))
(define (says content . fields) (apply dictionary 'content content fields))
(define (wants id name) (dictionary 'id id 'name name 'arguments (dictionary)))
(define (noting name thunk)
  (dynamic-wind (lambda () #f) thunk (lambda () (log! (list name 'after)))))
;; An agent whose model wants two tools at once: one that waits, and one that calls `procedure`.
(define (agent-that-calls procedure)
  (make-agent 'clerk
    :tools
    (list
      (agent-tool "slow" "Waits." (shape->schema '(object))
        (lambda (arguments) (noting 'slow (lambda () (sleep 1000) "late"))))
      (agent-tool "act" "Acts." (shape->schema '(object))
        (lambda (arguments) (noting 'act (lambda () (sleep 1) (procedure))))))
    :options
    (dictionary 'replies
      (list (says "" 'tool_calls (list (wants "1" "slow") (wants "2" "act")))
        (says "the model was asked again")))))
(define (ask-it procedure) (ask (agent-that-calls procedure) "Go."))
(define (leave-from name start)
  (log! (list name (let/ec out (start out) 'none)))
  (log! (list name (call/cc (lambda (k) (start k) 'none)))))
(leave-from 'ask (lambda (out) (ask-it (lambda () (out 'left)))))
(leave-from 'run-agent (lambda (out) (run-agent (agent-that-calls (lambda () (out 'left))) "Go.")))
(leave-from 'converse
  (lambda (out) (converse (agent-that-calls (lambda () (out 'left))) '() "Go.")))
;; An agent that is the tool of another one, and strands and tasks in between.
(leave-from 'agent-in-between
  (lambda (out)
    (ask-it (lambda () (ask-it (lambda () (out 'through)))))))
(leave-from 'strand-in-between
  (lambda (out) (ask-it (lambda () (race (lambda () (sleep 1) (out 'up)))))))
(leave-from 'agents-in-par-map
  (lambda (out)
    (par-map (lambda (n) (ask-it (lambda () (sleep n) (out n)))) '(3 2))))
(leave-from 'task-in-between
  (lambda (out) (await (async (ask-it (lambda () (out 'task)))))))
(leave-from 'timeout-in-between
  (lambda (out) (call-with-timeout 500 (lambda () (ask-it (lambda () (out 'in-time)))))))
;; A guard around the agent does not see an escape; an object that is raised goes to the model.
(log! (let/ec out (guard (object (#t 'seen)) (ask-it (lambda () (out 'unseen))))))
(log! (guard (object (#t (list 'seen object))) (ask-it (lambda () (raise 'thing)))))
;; A place in the tool's own procedure is left to inside it; the model receives what it returns.
(log! (ask-it (lambda () (let/ec out (race (lambda () (out "inside"))) "never"))))
;; A place whose caller has ended, or that nobody waits at.
(define (kind-of thunk) (guard (object ((condition? object) (condition-kind object))) (thunk)))
(define old #f)
(let/ec out (set! old out))
(define why #f)
(ask-it (lambda () (set! why (kind-of (lambda () (old 1)))) "refused"))
(log! why)
(define other #f)
(spawn (lambda () (call/cc (lambda (k) (set! other k))) (sleep 50) (log! 'other)))
(sleep 1)
(ask-it (lambda () (set! why (kind-of (lambda () (other 1)))) "refused"))
(log! why)
;; The caller's continuation, re-entered by each call of the tool, goes on once for each.
(define again #f)
(define rounds 0)
(log! (list 'from (call/cc (lambda (k) (set! again k) 'first))))
(set! rounds (+ rounds 1))
(if (< rounds 3) (ask-it (lambda () (again rounds))))
(log! (list 'rounds rounds))
(sleep 100)
