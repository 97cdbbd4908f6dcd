;;; Requests and replies between actors, planners and workers.
;;;
;;; A request is the assertion `<agent-request id name payload>`, which lasts as long as somebody
;;; waits for the reply, the message `<agent-reply id state content>`. A worker asserts
;;; `<agent-worker kind name>` and answers requests to its name.

;;;> Sends a request to whoever answers to a name and returns the reply: `(request name payload
;;;> [:timeout milliseconds] [:heartbeat milliseconds])`. The name is any value, the payload what the
;;;> dataspace can hold. If the procedure of the one who answers raises a condition, one with the same
;;;> kind, message and irritants is raised here. Waits until there is somebody who answers; with
;;;> `:timeout`, raises a condition of kind `timeout` after that time, and with `:heartbeat`, when the
;;;> work on the request has not called its `current-heartbeat` for that time. If this facet stops, or
;;;> the time is over, the work on the request is stopped.
(define (request name payload . options)
  (%check-options 'request options '(:timeout :heartbeat))
  (let ((timeout (%option options :timeout #f)) (heartbeat (%option options :heartbeat #f)))
    (define (exchange id)
      (assert! (record 'agent-request id name payload))
      (record-fields (await (record 'agent-reply ':field 0 ':equals id))))
    (define (heard-exchange)
      (let ((id (generate-request-id! 'request 'reply)))
        (if heartbeat
            (%while-heard 'request id heartbeat (lambda () (exchange id))
              (lambda () (%no-reply name "the work on it has not been heard of in time" heartbeat)))
            (exchange id))))
    (if heartbeat (%check-heartbeat 'request heartbeat))
    (let ((reply
            (if timeout
                (call-with-timeout timeout heard-exchange
                  (lambda () (%no-reply name "no reply came in time" timeout)))
                (race heard-exchange))))
      (case (cadr reply)
        ((done) (caddr reply))
        ((nothing) (if #f #f))
        (else (raise (apply %make-condition (caddr reply))))))))

(define (%no-reply name why milliseconds)
  (raise (%make-condition 'timeout (string-append "request: " why) (list name milliseconds))))

;;;> Answers requests to a name: calls `procedure` with the payload of each and replies with its
;;;> value, if it has one: `(reply-to name procedure)`. Requests are answered at the same time, each
;;;> in a facet of its own, which stops when nobody waits for the reply any more. Ends with the
;;;> current facet. If the actor ends while it works on a request, whoever answers to the name next
;;;> gets the request again. Fails with `capability-denied` without `dataspace/observe` for requests
;;;> and `dataspace/message` for replies.
(define (reply-to name procedure)
  (%need-thunks 'reply-to (list procedure))
  ;; An actor that may not send replies is refused here, where the program can catch it. Nobody waits
  ;; for this one.
  (%send-reply #f 'nothing #f)
  (let ((active (dictionary)) (home (current-facet)))
    (watch (pattern (agent-request $id ,name $payload))
      (lambda (event)
        (let* ((captures (car (record-fields event))) (id (car captures)))
          (case (record-label event)
            ((added)
             (dictionary-set! active id
               (%start-strand home #f (%request-name name) '()
                 (lambda ()
                   (parameterize ((%heartbeat (lambda () (%beat! id))))
                     (procedure (cadr captures))))
                 (lambda (state content) (%reply! id state content)))))
            ((removed)
             (let ((facet (dictionary-ref active id #f)))
               (dictionary-delete! active id)
               (if facet (stop-facet! facet))))))))))

;;; Names the strands that answer requests to a name.
(define (%request-name name)
  (let ((text
          (cond ((symbol? name) (symbol->string name)) ((string? name) name) (else "reply-to"))))
    (if (> (string-length text) 100) (substring text 0 100) text)))

;;; Sends a reply. A value that the dataspace cannot hold is a failure of the request.
(define (%reply! id state content)
  (guard (failure (#t (%send-reply id 'raised (%described failure))))
    (cond ((not (eq? state 'done)) (%send-reply id 'raised (%described content)))
          ;; A procedure that ends in `display` or `for-each` has no value to send.
          ((eq? content (if #f #f)) (%send-reply id 'nothing #f))
          (else (%send-reply id 'done content)))))

(define (%send-reply id state content) (message! (record 'agent-reply id state content)))

;;; Returns the kind, message and irritants of a raised object. Irritants that the dataspace cannot
;;; hold are left out.
(define (%described object)
  (if (condition? object)
      (list (condition-kind object) (condition-message object)
        (%sendable (condition-irritants object)))
      (list 'error "the procedure raised an object" (%sendable (list object)))))

(define (%sendable irritants) (filter %sendable? irritants))

(define (%sendable? irritant)
  (guard (failure (#t #f))
    (retract! (assert! (record 'agent-irritant irritant)))
    #t))

;;;> Offers to work: `(worker kind procedure)` lets each planner of this kind call `procedure`, in
;;;> this actor, with one task at a time, and asserts `<agent-worker kind name>` until the current
;;;> facet stops. Returns the name, which `request` takes as well.
(define (worker kind procedure)
  (%need-thunks 'worker (list procedure))
  (let ((name (generate-request-id! 'worker 'name)))
    (reply-to name procedure)
    (assert! (record 'agent-worker kind name))
    name))

;;;> Distributes tasks among the workers of a kind and returns the list of their results, in the
;;;> order of the tasks: `(planner kind tasks [:retry n])`. Each worker has one task at a time;
;;;> workers may come and go meanwhile. A task whose worker goes away is given to another one. A
;;;> task whose procedure raises a condition that is `retryable?` is given out again up to `:retry`
;;;> times, by default 0. When a task fails for good, the others are stopped, and its condition is
;;;> raised here. Waits while there is no worker.
(define (planner kind tasks . options)
  (if (not (list? tasks)) (%wrong-type 'planner "a list of tasks" tasks))
  (%check-options 'planner options '(:retry))
  (let ((retries (%option options :retry 0)))
    (if (null? tasks)
        '()
        (car
          (%collect 'planner
            (list
              (lambda ()
                (let ((workers (%workers kind)))
                  (par-map (lambda (task) (%have-done workers task retries)) tasks))))
            1)))))

;;; The workers of a kind: those that are there, by their names, with the facets of their tasks; the
;;; idle ones; the fibers that wait for one.
(define-record-type <workers>
  (%make-workers present idle waiting)
  %workers?
  (present %workers-present)
  (idle %workers-idle)
  (waiting %workers-waiting))

;;; Watches the workers of a kind until the current facet stops.
(define (%workers kind)
  (let ((workers (%make-workers (dictionary) (%new-queue) (%new-queue))))
    (watch (pattern (agent-worker ,kind $name))
      (lambda (event)
        (let ((name (caar (record-fields event))))
          (case (record-label event)
            ((added)
             (dictionary-set! (%workers-present workers) name #f)
             (%free! workers name))
            ((removed)
             (let ((lost (dictionary-ref (%workers-present workers) name #f)))
               (dictionary-delete! (%workers-present workers) name)
               (%remove! (%workers-idle workers) name)
               (if lost (lost))))))))
    workers))

;;; Gives a worker the next task, or lets it be idle.
(define (%free! workers name)
  (cond ((not (dictionary-contains? (%workers-present workers) name)) #f)
        ((%queue-empty? (%workers-waiting workers)) (%enqueue! (%workers-idle workers) name))
        (else (%grant! (%dequeue! (%workers-waiting workers)) name))))

;;; Returns the result of a task, from whichever worker does it.
(define (%have-done workers task retries)
  (let* ((entry (%make-entry (%current-fiber) 'waiting #f))
         (place
           (%wait-as entry
             (lambda (entry)
               (if (%queue-empty? (%workers-idle workers))
                   (%enqueue! (%workers-waiting workers) entry)
                   (%grant! entry (%dequeue! (%workers-idle workers)))))
             (lambda (entry)
               (if (eq? (%entry-state entry) 'granted)
                   (%free! workers (%entry-content entry))
                   (%remove! (%workers-waiting workers) entry)))
             "a worker is free"))
         (name (%entry-content entry))
         (outcome
           (guard (failure (#t (lambda () (%fail-or-repeat workers task retries failure))))
             (let ((result (race (lambda () (request name task))
                             (lambda () (%until-lost workers name)))))
               (lambda () result)))))
    (stop-facet! place)
    (outcome)))

(define (%fail-or-repeat workers task retries failure)
  (cond ((and (condition? failure) (eq? (condition-kind failure) 'worker-lost))
         (%have-done workers task retries))
        ((and (> retries 0) (retryable? failure)) (%have-done workers task (- retries 1)))
        (else (raise failure))))

;;; Waits until a worker goes away, and fails then.
(define (%until-lost workers name)
  (let ((self (%current-fiber)) (present (%workers-present workers)))
    (if (dictionary-contains? present name)
        (dictionary-set! present name (lambda () (%wake self))))
    (%wait-until (lambda () (not (dictionary-contains? present name))) "the worker has gone away")
    (raise (%make-condition 'worker-lost "planner: the worker has gone away" (list name)))))
