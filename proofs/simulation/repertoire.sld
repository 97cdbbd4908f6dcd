;;; The procedures of simulated programs. Each takes a small natural number and does one thing that
;;; can be in flight, parked, captured, stopped or failed when the run is interrupted.
(define-library (simulation repertoire)
  (export
    repeat fact unfact change tell observe unobserve derive relay token bomb
    fiber nest stop hooked call fire lose ask listen edge choose guess
    capture reenter generate advance wind bound delayed
    keep churn table weigh shout line
    nap tick hurry pick-first during-facts entity inner meet synchronise
    constrain lift settle put together explore narrowed pass take-back versions things
    spin eat fail refuse ungranted evaluate leave clock)
  (import (scheme base) (scheme write) (scheme lazy) (scheme eval) (scheme time) (duet base) (duet dataspace)
          (duet policy) (duet capability) (only (duet control) make-coroutine-generator))
  (begin
    ;; The memory of the program: what went wrong with it shows in `weigh`.
    (define handles '())
    (define facets '())
    (define watches '())
    (define kept '())
    (define generators '())
    (define promises '())
    (define cells (make-vector 8 0))
    (define names (dictionary))
    (define depth (make-parameter 0))

    (define (pick list n) (if (null? list) #f (list-ref list (modulo n (length list)))))
    (define (count! n) (vector-set! cells (modulo n 8) (+ 1 (vector-ref cells (modulo n 8)))))
    (define (repeat n thunk) (when (> n 0) (thunk) (repeat (- n 1) thunk)))
    (define (told failure) (if (condition? failure) (condition-kind failure) failure))

    ;; Facts, messages, watches.
    (define (fact n) (set! handles (cons (assert! (record 'fact (modulo n 5))) handles)))
    (define (unfact n) (let ((handle (pick handles n))) (when handle (retract! handle))))
    (define (change n)
      (let ((handle (pick handles n)))
        (when handle (set! handles (cons (update! handle (record 'fact n)) handles)))))
    (define (tell n) (message! (record 'told n (list 'a n "text" (vector n 2.5)))))
    (define (observe n)
      (set! watches
            (cons (watch (pattern (fact $x)) (lambda (event) (count! n) (log! (list 'seen n event)))) watches)))
    (define (unobserve n)
      (let ((token (pick watches n)))
        (when token
          (set! watches (filter (lambda (other) (not (eq? other token))) watches))
          (unwatch token))))
    (define (derive n)
      (on-assert (fact $x) (set! handles (cons (assert! (record 'derived n x)) handles)))
      (on-message (told $x _) (count! x)))
    (define (relay n)
      (on-message (token ,n $count)
        (count! n)
        (when (> count 0) (message! (record 'token (modulo (+ n 1) 3) (- count 1))))))
    (define (token n) (message! (record 'token (modulo n 3) n)) (message! (record 'token (modulo (+ n 1) 3) (+ n 1))))
    (define (bomb n) (on-message (bomb) (count! n) (car n)) (message! (record 'bomb)))

    ;; Fibers and facets.
    (define (home n) (let ((facet (pick facets n))) (or facet (current-facet))))
    (define (fiber n)
      (spawn (lambda ()
               (repeat (modulo n 4) (lambda () (count! n) (assert! (record 'step n)) (yield)))
               (await (record 'told :field 0 :equals n))
               (log! (list 'fiber n 'goes 'on)))))
    (define (nest n)
      (set! facets (cons (if (even? n) (spawn-facet!) (spawn-facet! (home n))) facets))
      (spawn (lambda () (assert! (record 'inside n)) (await (signal 'never))) (car facets)))
    (define (stop n)
      (let ((facet (pick facets n)))
        (when facet
          (set! facets (filter (lambda (other) (not (eq? other facet))) facets))
          (stop-facet! facet))))
    (define (hooked n)
      (let ((facet (spawn-facet!)))
        (set! facets (cons facet facets))
        (spawn (lambda ()
                 (on-stop (lambda () (count! n) (assert! (record 'stopped n))))
                 (assert! (record 'hooked n))
                 (await (signal 'never)))
               facet)))

    ;; Requests to the world.
    (define (call n)
      (guard (failure (#t (log! (list 'call n 'failed (told failure)))))
        (log! (list 'call n (call-tool 'role (if (even? n) 'counter/add 'workspace/read) n)))))
    (define (fire n) (invoke-tool! 'role 'workspace/read n :tag (if (even? n) 'fired 'forgotten)))
    (define (lose n) (spawn (lambda () (call n))) (yield) (count! n))
    (define (ask n) (log! (list 'answer (await (user-input :prompt (list 'question n))))))
    (define (clock n) (log! (list 'at (current-second))))
    (define (listen n) (log! (read-line)))

    ;; Waits.
    (define (edge n) (log! (list 'edge (await-next (record 'fact)))))
    (define (choose n)
      (log! (list 'chosen (await (list (record 'fact :field 0 :equals (modulo n 5)) (record 'token) (tool-result :tag 'fired))))))
    (define (guess n)
      (log! (list 'guessed
                  (await (predicate (lambda (x) (if (= n 3) (car x)) (> (record-field x 0) (modulo n 4))) :pattern (pattern (fact $x)))))))

    ;; Continuations that outlive their turn.
    (define (capture n)
      (let ((value
             (call-with-prompt (default-prompt-tag)
               (lambda ()
                 (let ((got (call-with-composable-continuation (lambda (k) (set! kept (cons k kept)) n) (default-prompt-tag))))
                   (dynamic-wind (lambda () (count! 1)) (lambda () (yield) (list 'got got (depth))) (lambda () (count! 2)))))
               list)))
        (log! value)))
    (define (reenter n)
      (let ((k (pick kept n)))
        (when k (parameterize ((depth n)) (log! (call-with-prompt (default-prompt-tag) (lambda () (k (list 'again n))) list))))))
    (define (generate n)
      (set! generators
            (cons (make-coroutine-generator (lambda (give) (let next ((i n)) (count! i) (give i) (next (+ i 1)))))
                  generators)))
    (define (advance n)
      (let ((generator (pick generators n)))
        (when generator (log! (list 'generated (generator))) (yield) (log! (list 'generated (generator))))))
    (define (wind n)
      (dynamic-wind
        (lambda () (count! 3))
        (lambda () (guard (failure (#t (count! 4))) (await (record 'told :field 0 :equals n)) (raise 'enough)))
        (lambda () (count! 5))))
    (define (bound n) (parameterize ((depth (+ n (depth)))) (yield) (log! (list 'depth (depth)))))
    (define (delayed n)
      (set! promises (cons (delay (begin (count! n) (* n n))) promises))
      (log! (force (pick promises n))))

    ;; The heap.
    (define (keep n) (vector-set! cells (modulo n 8) 0) (set! kept (cons (lambda (x) (list x (make-vector (* 50 (+ n 1)) n))) kept)))
    (define (churn n)
      (let loop ((i 0) (garbage '()))
        (if (< i (* 400 (+ n 1)))
            (loop (+ i 1) (if (= 0 (modulo i 100)) (list i (number->string i)) (cons (vector i 1.5e300 "x") garbage)))
            (vector-set! cells (modulo n 8) (length garbage)))))
    (define (table n)
      (dictionary-set! names (string->symbol (string-append "name-" (number->string n))) (list n (depth)))
      (dictionary-set! names (list n 'key) (vector-ref cells (modulo n 8)))
      (when (= 0 (modulo n 3)) (dictionary-delete! names (list (- n 1) 'key))))
    (define (weigh n)
      (log! (list (vector->list cells) (dictionary->alist names) (length handles) (length facets) (length watches) (length kept))))

    ;; Output commits a main program's turn.
    (define (shout n) (display (list 'shout n)) (newline))
    ;; The longest line makes a record that is stored in parts.
    (define (line n) (log! (make-string (if (= n 9) 20000 (* 10 n)) #\x)) (progress! "line" n 9))

    ;; Time.
    (define (nap n) (sleep (* 100 n)) (log! (list 'slept n)))
    (define (tick n)
      (set! facets
            (cons (if (even? n) (every (* 10 n) (lambda () (count! n))) (after (* 10 n) (lambda () (fact n)))) facets)))
    (define (hurry n) (log! (list 'in 'time (with-timeout (* 20 n) (record 'fact :field 0 :equals (modulo n 5))))))
    (define (pick-first n)
      (log! (select ((record 'told :field 0 :equals n) 'told) ((elapsed 50) 'elapsed) ((record 'derived) => list))))
    (define (during-facts n)
      (during (fact $x) (set! handles (cons (assert! (record 'while x n)) handles))))

    ;; Actors of their own, and entities inside this one.
    (define (worker n)
      (assert! (record 'working n))
      (on-message (told $x _)
        (count! x)
        (if (= x 7) (car x) (assert! (record 'heard n x (vector-ref cells (modulo x 8))))))
      (when (= 0 (modulo n 3)) (spawn (lambda () (call n))))
      (when (= n 8) (nap 1) (fail 4)))
    (define actors '())
    (define (entity n)
      (register-entity! 'worker worker)
      (set! actors
            (cons (spawn-entity! 'worker :config n :on-exit (lambda (failure) (count! n) (log! (list 'ended n (told failure))))) actors)))
    (define (inner n)
      (register-entity! 'worker worker)
      (guard (failure (#t (log! (told failure)) (detach-entity! 'worker))) (attach-entity! 'worker :config n)))
    (define (meet n) (let ((actor (pick actors n))) (when actor (sync! actor) (log! (list 'met n)))))
    (define (synchronise n) (sync!) (count! n))

    ;; Policy: constraints that block, put off or ask a person; what is proposed together.
    (define constraints '())
    (define (constrain n)
      (let ((name (string-append "c" (number->string (length constraints)))))
        (set! constraints
              (cons (define-constraint name
                      :tool (if (even? n) 'counter/add 'workspace/read)
                      :when (list 'in 'args (vector n (modulo (+ n 1) 10) (modulo (+ n 2) 10)))
                      :on-fail (list-ref '(ask block defer ask) (modulo n 4)))
                    constraints))))
    (define (lift n)
      (let ((handle (pick constraints n)))
        (when handle
          (set! constraints (filter (lambda (other) (not (eq? other handle))) constraints))
          (remove-constraint! handle))))
    (define (settle n)
      (let ((proposal (pick (pending-approvals) n)))
        (when proposal (if (even? n) (approve! (car proposal)) (reject! (car proposal) "no")))))
    (define (put n) (guard (failure (#t (log! (told failure)))) (set-goal! (number->string (modulo n 3)) (list (cons 'value n)))))
    (define (together n)
      (guard (failure (#t (log! (told failure))))
        (log! (propose! (list 'entry (record 'goal (number->string n) (entry-text '((value . 1)))))
                        (list 'call 'counter/add n)
                        (list 'call 'workspace/read (+ n 1))))))
    (define (explore n) (log! (car (explain (list 'call 'counter/add n)))))

    ;; Capabilities: narrowed, passed on to another actor, taken back.
    (define capabilities '())
    (define (narrowed n)
      (guard (failure (#t (log! (told failure))))
        (set! capabilities
              (cons (if (even? n)
                        (attenuate (tool-capability "counter/add") (reject (lit n)))
                        (attenuate (or (pick capabilities n) (dataspace-capability))
                                   (rewrite (rec 'fact (bind (anything))) (rec 'narrowed (ref 0)))))
                    capabilities))))
    (define (pass n)
      (let ((capability (pick capabilities n)))
        (when capability
          (guard (failure (#t (log! (told failure)))) (log! (assert! (record 'fact n) capability)))
          (guard (failure (#t (log! (told failure)))) (log! (call-tool 'role capability n))))))
    (define (take-back n)
      (let ((capability (pick capabilities n)))
        (when capability
          (guard (failure (#t (log! (told failure)))) (revoke! capability)))))

    ;; Records of one label and first field are versions of one thing, which merges can be at odds about.
    (define (versions n)
      (let ((handle (pick handles n)))
        (when handle (retract! handle))
        (set! handles (cons (assert! (record 'version (modulo n 2) n)) handles))))

    ;; Records of a type of its own.
    (define-record-type thing (make-thing a) thing? (a thing-a))
    (migrate-records thing (a) (make-thing a))
    (define made '())
    (define (things n)
      (set! made (cons (make-thing n) made))
      (log! (map (lambda (one) (if (thing? one) (thing-a one) 'other)) made)))

    ;; Failures of every kind.
    (define (spin n) (let loop ((i (* n 4000))) (when (> i 0) (loop (- i 1)))) (count! n))
    ;; Close to its limit a heap is collected at nearly every step, so this is seldom. The vectors
    ;; vary in length, so that the space left in the end does too.
    (define (eat n)
      (assert! (record 'lost n))
      (let ((length (if (= n 0) 1000 (+ 90 (modulo (vector-ref cells 1) 9)))))
        (if (> n 1) (keep n) (let loop ((all '())) (loop (cons (make-vector length n) all))))))
    (define (fail n) (assert! (record 'lost n)) (count! n) (if (even? n) (car n) (raise (list 'failed n))))
    (define (refuse n) (assert! (record 'lost n)) (assert! (record 'refused (lambda () n))))
    (define (ungranted n) (assert! (record 'lost n)) (invoke-tool! 'role 'forbidden n))
    (define (evaluate n) (log! (eval (list 'let '((x 3)) (list '* 'x n)) (environment '(scheme base)))))
    (define (leave n) (if (= n 9) (spawn (lambda () (car n))) (count! n)))))
