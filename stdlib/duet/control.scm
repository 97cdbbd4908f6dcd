;;; Coroutines, and generators and tasks made of them, are first-class continuations: going in and out costs the same however deep
;;; the caller's stack is, and all of it can be stored with the run, undone and replayed.

;;;> Calls `receiver` with a procedure that leaves the call with the values given to it. Called later, it raises an error.
(define (call-with-escape-continuation receiver)
  (let ((is-over #f))
    (call-with-values
      (lambda ()
        (call/cc
          (lambda (k)
            (receiver
              (lambda vals
                (if is-over (error "an escape was called after its extent had ended"))
                (apply k vals))))))
      (lambda vals
        (set! is-over #t)
        (apply values vals)))))

;;;> The same as `call-with-escape-continuation`.
(define (call/ec receiver) (call-with-escape-continuation receiver))

;;;> Evaluates the body with `escape` bound to a procedure that leaves it with values.
(define-syntax let/ec
  (syntax-rules ()
    ((_ escape body ...) (call-with-escape-continuation (lambda (escape) body ...)))))

(define-record-type coroutine
  (%coroutine continue return is-done)
  ;;;> Whether an object is a coroutine.
  coroutine?
  (continue %continue %set-continue!)
  (return %return %set-return!)
  ;;;> Whether a coroutine has returned.
  (is-done coroutine-done? %set-done!))

;;; The coroutine that is running, innermost, or #f.
(define %running #f)

;;;> Makes a coroutine of a procedure, which is called with the value of the first `resume`.
(define (make-coroutine procedure)
  (letrec ((coroutine
            (%coroutine
              (lambda (value)
                (let ((outcome
                       (guard (object (#t (lambda () (raise object))))
                         (let ((result (procedure value))) (lambda () result)))))
                  (%set-done! coroutine #t)
                  ((%return coroutine) outcome)))
              #f
              #f)))
    coroutine))

;;;> Runs a coroutine until it suspends or returns: the value that it gives. `value` is what its `suspend` returns, or its procedure is called
;;;> with. What it raises is raised here. Fails if it has returned or is running.
(define resume
  (case-lambda
    ((coroutine) (resume coroutine (if #f #f)))
    ((coroutine value)
     (if (coroutine-done? coroutine) (error "resume: the coroutine has returned" coroutine))
     (let ((continue (%continue coroutine)) (outer %running))
       (if (not continue) (error "resume: the coroutine is running" coroutine))
       (%set-continue! coroutine #f)
       (let ((outcome
              (call/cc
                (lambda (return)
                  (%set-return! coroutine return)
                  (set! %running coroutine)
                  (continue value)))))
         (set! %running outer)
         (outcome))))))

(define (%suspend coroutine value)
  (let* ((running %running)
         (resumed
          (call/cc
            (lambda (continue)
              (%set-continue! coroutine continue)
              ((%return coroutine) (lambda () value))))))
    (set! %running running)
    resumed))

;;;> Leaves the running coroutine with a value for whoever resumed it; the value of the `resume` that goes on with it.
(define suspend
  (case-lambda
    (() (suspend (if #f #f)))
    ((value)
     (if %running (%suspend %running value) (error "suspend: no coroutine is running")))))

;;;> Makes a generator: `(body yield)` is run as far as each object given to `yield`; at its end come end-of-file objects.
(define (make-coroutine-generator body)
  (letrec ((coroutine (make-coroutine (lambda (value) (body (lambda (object) (%suspend coroutine object)))))))
    (lambda ()
      (if (coroutine-done? coroutine)
          (eof-object)
          (let ((object (resume coroutine)))
            (if (coroutine-done? coroutine) (eof-object) object))))))

;;;> A procedure that makes generators: in its body, `yield`, the name that comes first, gives an object.
(define-syntax generator-lambda
  (syntax-rules ()
    ((_ yield formals body ...)
     (lambda formals (make-coroutine-generator (lambda (yield) body ...))))))

;;;> Defines a procedure that makes generators: `(define-generator (name . formals) yield body …)`.
(define-syntax define-generator
  (syntax-rules ()
    ((_ (name . formals) yield body ...) (define name (generator-lambda yield formals body ...)))))

;;; A task is a record of whether it is over, its value or what it raised, and what waits for it.
(define-record-type task
  (%task state content waiting)
  %task?
  (state %state %set-state!)
  (content %content %set-content!)
  (waiting %waiting %set-waiting!))

;;; The tasks that can go on, oldest first, as a pair of a list and a reversed list.
(define %ready (cons '() '()))

(define (%enqueue! thunk) (set-cdr! %ready (cons thunk (cdr %ready))))

(define (%dequeue!)
  (if (null? (car %ready))
      (begin
        (set-car! %ready (reverse (cdr %ready)))
        (set-cdr! %ready '())))
  (if (null? (car %ready))
      #f
      (let ((thunk (car (car %ready))))
        (set-car! %ready (cdr (car %ready)))
        thunk)))

(define (%finish! task state content)
  (%set-state! task state)
  (%set-content! task content)
  (for-each %enqueue! (reverse (%waiting task)))
  (%set-waiting! task '()))

;;; The task that is running, or #f.
(define %current-task #f)

;;; Runs a task until it is over or waits for another one.
(define (%step task coroutine)
  (let ((outer %current-task))
    (set! %current-task task)
    (let ((awaited
           (guard (object (#t (%finish! task 'raised object) #f))
             (let ((value (resume coroutine)))
               (if (coroutine-done? coroutine)
                   (begin (%finish! task 'done value) #f)
                   value)))))
      (set! %current-task outer)
      (if awaited
          (%set-waiting! awaited (cons (lambda () (%step task coroutine)) (%waiting awaited)))))))

(define (%start thunk)
  (let ((task (%task 'running #f '())) (coroutine (make-coroutine (lambda (value) (thunk)))))
    (%enqueue! (lambda () (%step task coroutine)))
    task))

;;;> A task that evaluates the body once tasks run, in turn with others; `await` gives its value.
(define-syntax async
  (syntax-rules () ((_ body ...) (%start (lambda () body ...)))))

;;; The value of a task that is over.
(define (%outcome task)
  (if (eq? (%state task) 'done) (%content task) (raise (%content task))))

;;;> The value of a task: inside of a task, after others have run meanwhile; outside, after running tasks until it is over.
;;;> What the task raised is raised here. Fails if the task waits for something that never comes.
(define (await task)
  (cond ((not (%task? task)) task)
        ((not (eq? (%state task) 'running)) (%outcome task))
        (%current-task (suspend task) (%outcome task))
        (else
         (let loop ()
           (let ((next (%dequeue!)))
             (cond ((not next) (error "await: the task waits for itself"))
                   (else (next) (if (eq? (%state task) 'running) (loop))))))
         (%outcome task))))

;;;> Runs tasks until none can go on.
(define (run-tasks)
  (let ((next (%dequeue!)))
    (if next
        (begin (next) (run-tasks)))))
