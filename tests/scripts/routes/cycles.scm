;; Cycles: hooks, receivers, tape, senders, failures, limits.
(import (duet base) (duet routes))

(define (always outcome) (lambda (message context) outcome))
(define (named name) (lambda (context) name))
(define (activations cycle)
  (map (lambda (it)
         (list (registration-name (activation-receiver it)) (activation-key it)
               (and (activation-state it) (token-name (activation-state it)))))
    (cycle-activations cycle)))
(define (entries tape)
  (map (lambda (entry) (cons (car entry) (map token-name (cdr entry)))) (tape-entries tape)))
(define (failures cycle)
  (map (lambda (it) (cons (car it) (if (condition? (cdr it)) (condition-kind (cdr it)) (cdr it))))
    (cycle-failures cycle)))
(define (run registrations tape . options)
  (run-cycle (apply make-agent 'test registrations options) tape "message"))
(define (hook direction priority name . more)
  (apply make-hook direction (lambda (payload) (string-append payload name)) :priority priority
    :name (string->symbol name) more))

;; Receive hooks transform in the order of their priorities, equal ones as registered.
(define hooked
  (run (list (hook 'receive '(1) "d") (hook 'receive '() "a") (hook 'receive '(0 1) "c")
         (hook 'receive '(0) "b1")
         (hook 'receive '(0) "b2") (hook 'receive '(-1) "z"))
    "A"))
(map (lambda (step) (registration-name (step-hook step))) (cycle-steps hooked))
; => (a z b1 b2 c d)
(step-output (car (reverse (cycle-steps hooked))))           ; => "messageazb1b2cd"

;; A dropped message runs no receiver and no sender, and leaves the tape.
(define (dropping direction) (make-hook direction (lambda (payload) #f) :name 'drop))
(define receiver (make-receiver "A --[f]--> B" (always (move 'ok)) :name 'r))
(define sender (make-sender "/all" (named "s") :name 's))
(define dropped (run (list receiver sender (dropping 'receive)) "A"))
(list (activations dropped) (cycle-payloads dropped) (entries (cycle-after dropped)))
; => (() () ((#f A)))
(define silent (run (list receiver sender (dropping 'send)) "A"))
(list (activations silent) (cycle-payloads silent) (entries (cycle-after silent)))
; => (((r #f A)) () ((#f A B f)))

;; Receivers run once for each key and state that some gate accepts: by priority, route, key, state,
;; then as registered. An initial route runs once.
(define (receiver-of name route . options)
  (apply make-receiver route (always #f) :name name options))
(define ordered
  (list (receiver-of 'late "A --> Z" :priority '(1)) (receiver-of 'second "/all,A --> C")
    (receiver-of 'initial "--> I")
    (receiver-of 'twin-1 "A --> B") (receiver-of 'never "Q") (receiver-of 'twin-2 "A--[]-->B")
    (receiver-of 'first "A --> X" :priority '())))
(define found (activations (run ordered '((k2 . A) (k1 . (B A))))))
(list-head found 4)
; => ((initial #f #f) (second "k1" A) (second "k1" B) (second "k2" A))
(list-head (list-tail found 4) 4)
; => ((twin-1 "k1" A) (twin-2 "k1" A) (twin-1 "k2" A) (twin-2 "k2" A))
(list-tail found 8)
; => ((first "k1" A) (first "k2" A) (late "k1" A) (late "k2" A))
(activations (run (list (receiver-of 'r "/oneof(A,B),A,/all")) '("A" "A")))
; => ((r #f A))
(activations (run ordered '()))                              ; => ((initial #f #f))
;; States that are no identifiers meet the gates that accept them.
(activations
  (run (list (receiver-of 'a "A") (receiver-of 'b "B") (receiver-of 'n "/not(A)")) "/oneof(A,C)"))
; => ((n #f |/oneof(A,C)|) (a #f |/oneof(A,C)|))
(activations
  (run (list (receiver-of 'a "A") (receiver-of 'b "B") (receiver-of 'o "/oneof(A)")) "/not(A)"))
; => ((b #f |/not(A)|))

;; All activations are determined before a receiver runs.
(define chained
  (run (list (make-receiver "A --> B" (always (move 'ok)) :name 'one)
         (receiver-of 'two "B" :priority '(5))) "A"))
(activations chained)                                        ; => ((one #f A))
(entries (cycle-after chained))                              ; => ((#f A B))

;; Actions, and the policies of the tape. Tokens go to the key that made the receiver eligible,
;; those
;; of an initial route to the key #f.
(define (after event tape . options)
  (entries (cycle-after
             (apply run (list (make-receiver "A --[f]--> B" (always event))) tape options))))
(after (test 'ok) "A")                                       ; => ((#f A f))
(after (stay 'ok) '((k . A) (l . B)))                        ; => (("k" A) ("l" B))
(after (move 'ok) '((k . A) (l . B)))                        ; => (("k" A B f) ("l" B))
(after (move 'ok) '((k . A) (l . B)) :policy 'replace)       ; => (("k" B f) ("l" B))
(after #f '((k . A)) :policy 'replace)                       ; => (("k" A))
(after (move 'ok) "A" :policy (lambda (tape proposals) (tape-replace tape '())))       ; => ((#f A))
(entries (cycle-after (run (list (make-receiver "--[f]--> I" (always (move 'ok)))) '((k . A)))))
; => ((#f I f) ("k" A))

;; A receiver may use its context and pass data on.
(define contextual
  (run (list
         (make-receiver "A --> B"
           (lambda (message context)
             (move 'ok (list message (context-key context) (token-name (context-state context))))))
         (make-sender "A"
           (lambda (context)
             (vector (context-agent context) (event-data (context-event context))))))
    '((k . A))))
(cycle-payloads contextual)                                  ; => (#(test ("message" "k" A)))

;; Senders: filters of action and trigger, both of which must match; compatible routes.
(define (emitted event . senders)
  (cycle-payloads
    (run (cons (make-receiver "A --[f]--> B" (always event)) senders) "A" :triggers
      (make-triggers '(ok (error minor major))))))
(define (sends name . options) (apply make-sender "A --> B" (named name) options))
(emitted (move 'ok) (sends "all") (sends "move" :on '(move)) (sends "stay" :on '(stay test))
  (sends "none" :on '()))
; => ("all" "move" "none")
(emitted (move 'minor) (sends "ok" :when '(ok)) (sends "minor" :when '(minor major))
  (sends "error" :when '(error)))
; => ("minor")
(emitted (move 'minor) (sends "both" :on '(move) :when '(minor))
  (sends "one" :on '(stay) :when '(minor)))
; => ("both")
(emitted (move 'minor) (sends "under" :under '(error)) (sends "not" :under '(ok)))
; => ("under")
(emitted (move 'ok) (make-sender "B" (named "no")) (make-sender "A --[g]--> B" (named "no"))
  (make-sender "/all --> /all" (named "yes")))
; => ("yes")
(emitted #f (sends "nothing"))                               ; => ()
(emitted (move 'ok) (sends "p" :priority '(1)) (sends "q") (make-sender "A" (named "r")))
; => ("r" "q" "p")

;; Once for each sender and key; a `multi` sender returns a list.
(define (per-key . senders)
  (cycle-payloads
    (run (append
           (list (make-receiver "A,B --> C" (always (move 'ok)))
             (make-receiver "A --> D" (always (move 'ok)))) senders)
      '((k1 . (A B)) (k2 . A)))))
(per-key (make-sender "A" (lambda (context) (context-key context))))         ; => ("k1" "k2")
(per-key (make-sender "A" (lambda (context) (list 1 #f (context-key context))) :multi #t))
; => (1 "k1" 1 "k2")

;; A cycle drops what a handler gets wrong, adds a failure, and goes on.
(define (fails . ignored) (raise 'oops))
(define broken
  (run (list (make-receiver "A --> B" fails :name 'r1)
         (make-receiver "A --> C" (always "no event") :name 'r2)
         (make-receiver "A --> D" (always (move 'ok)) :name 'r3)
         (make-sender "A --> D" fails :name 's1)
         (make-sender "A --> D" (named '(1 2)) :name 's2)
         (make-sender "A --> D" (named "abc") :name 's3 :multi #t)
         (make-sender "A --> D" (named "fine") :name 's4))
    "A"))
(failures broken)
; => ((r1 . oops) (r2 . bad-outcome) (s1 . oops) (s2 . bad-emission) (s3 . bad-emission))
(entries (cycle-after broken))                               ; => ((#f A D))
(cycle-payloads broken)                                      ; => ("fine")
(define (raising direction) (make-hook direction fails :name 'h))
(failures (run (list receiver sender (raising 'receive)) "A"))               ; => ((h . oops))
(activations (run (list receiver sender (raising 'receive)) "A"))            ; => ()
(cycle-payloads (run (list receiver sender (raising 'send)) "A"))            ; => ()
(activations (run (list receiver sender (raising 'receive)) "A" :on-error 'pass))
; => ((r #f A))
(cycle-payloads (run (list receiver sender (raising 'send)) "A" :on-error 'pass))      ; => ("s")
(failures (run (list (make-receiver "A" (lambda (message context) (raise #f)) :name 'r)) "A"))
; => ((r . raised))
(guard (object (#t object)) (run (list (make-receiver "A" fails)) "A" :on-error 'raise))
; => oops
(failures
  (run (list (make-receiver "A" (always (move 'other)) :name 'r)) "A" :triggers
    (make-triggers '(ok))))
; => ((r . unknown-trigger))

;; Limits: of messages, of emissions, of the tape.
(define (limited . options)
  (apply run
    (list (make-receiver "A --[f]--> B,C" (always (move 'ok)) :name 'r)
      (make-sender "A" (named (make-string 50 #\x)) :name 's)) "A" options))
(failures (limited :message-size 5))                         ; => ((message . message-too-large))
(activations (limited :message-size 5))                      ; => ()
(failures (limited :message-size 40))                        ; => ((s . message-too-large))
(cycle-payloads (limited :message-size 40))                  ; => ()
(failures (limited :message-size 51))                        ; => ()
(failures (limited :tape-size 3))                            ; => ((tape . tape-too-large))
(entries (cycle-after (limited :tape-size 3)))               ; => ((#f A))
(cycle-payloads (limited :tape-size 3))                      ; => ()
(entries (cycle-after (limited :tape-size 4)))               ; => ((#f A B C f))
(limited :tape-size 3 :on-error 'raise)                      ; raises: tape-too-large
(limited :message-size 5 :on-error 'raise)                   ; raises: message-too-large
(define endless (list 1))
(set-cdr! endless endless)
(failures (run-cycle (make-agent 'test '()) "A" endless))    ; => ((message . message-too-large))

;; Registrations are checked.
(make-receiver "A,,B" (always #f))                           ; raises: empty-token
(make-receiver "A" 5)                                        ; raises: bad-registration
(make-receiver "A" (always #f) :priority 1)                  ; raises: bad-registration
(make-receiver "A" (always #f) :on '(move))                  ; raises: wrong-type
(make-sender "A" (named 1) :on '(jump))                      ; raises: bad-registration
(make-sender "A" (named 1) :on 'move)                        ; raises: bad-registration
(make-receiver "A" (always #f) :name "r")                    ; raises: bad-registration
(make-hook 'both (lambda (it) it))                           ; raises: bad-registration
(make-agent "name" '())                                      ; raises: bad-registration
(make-agent 'test (list 5))                                  ; raises: bad-registration
(make-agent 'test '() :policy 'other)                        ; raises: bad-registration
(make-agent 'test '() :on-error 'other)                      ; raises: bad-registration
(make-agent 'test '() :tape-size 0)                          ; raises: bad-registration
(make-agent 'test (list (make-sender "A" (named 1) :when '(other))) :triggers (make-triggers '(ok)))
; raises: bad-registration
(failures (run (list receiver) "A" :policy (lambda (tape proposals) 5)))
; => ((tape . bad-tape))
(move "ok")                                                  ; raises: wrong-type

;; A list of registrations may serve several agents.
(define shared (list receiver sender))
(define one (make-agent 'one shared))
(define other (make-agent 'other (cons (make-sender "A" (named "t") :name 't) shared)))
(map (lambda (agent) (cycle-payloads (run-cycle agent "A" 1))) (list one other one))
; => (("s") ("s" "t") ("s"))

;; The cost of a cycle does not grow with the receivers that are not eligible.
(define (crowd count)
  (make-agent 'crowd
    (map (lambda (index) (make-receiver (string-append "S" (number->string index)) (always #f)))
      (iota count))))
(map registration-name (map car (eligible-receivers (crowd 300) '("S7" "S250"))))
; => (receiver:S250 receiver:S7)
