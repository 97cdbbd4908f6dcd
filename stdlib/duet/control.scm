;;; Coroutines are first-class continuations, and generators and tasks are made of them. Entering
;;; and leaving one costs the same however deep the caller's stack is, and the run stores, undoes
;;; and replays all of it.

;;;> Calls `receiver` with a procedure that leaves the call and returns its arguments from it.
;;;> Calling that procedure after the call has returned raises an error.
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

;;;> Returns the same as `call-with-escape-continuation`.
(define (call/ec receiver) (call-with-escape-continuation receiver))

;;;> Evaluates the body with `escape` bound to a procedure that leaves the body with its arguments
;;;> as values.
(define-syntax let/ec
  (syntax-rules ()
    ((_ escape body ...) (call-with-escape-continuation (lambda (escape) body ...)))))

(define-record-type coroutine
  (%coroutine continue return is-done)
  ;;;> Returns whether an object is a coroutine.
  coroutine?
  (continue %continue %set-continue!)
  (return %return %set-return!)
  ;;;> Returns whether a coroutine has returned.
  (is-done coroutine-done? %set-done!))

;;; The running coroutine, the innermost one, or #f.
(define %running #f)

;;;> Makes a coroutine of a procedure. The first `resume` calls the procedure with its value.
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

;;;> Runs a coroutine until it suspends or returns, and returns the value that it passes. The
;;;> coroutine's `suspend`, or at first its procedure, receives `value`. An object that the
;;;> coroutine raises is raised here. Fails if the coroutine has returned or is running.
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

;;;> Leaves the running coroutine and passes a value to its `resume`. Returns the value of the next
;;;> `resume`.
(define suspend
  (case-lambda
    (() (suspend (if #f #f)))
    ((value)
     (if %running (%suspend %running value) (error "suspend: no coroutine is running")))))

;;;> Makes a generator that runs `(body yield)`: each call of `yield` provides one object of the
;;;> generator. After the end it returns end-of-file objects.
(define (make-coroutine-generator body)
  (letrec ((coroutine (make-coroutine (lambda (value) (body (lambda (object) (%suspend coroutine object)))))))
    (lambda ()
      (if (coroutine-done? coroutine)
          (eof-object)
          (let ((object (resume coroutine)))
            (if (coroutine-done? coroutine) (eof-object) object))))))

;;;> Makes a procedure that makes generators; the first name, `yield`, is bound in its body to a
;;;> procedure that provides an object.
(define-syntax generator-lambda
  (syntax-rules ()
    ((_ yield formals body ...)
     (lambda formals (make-coroutine-generator (lambda (yield) body ...))))))

;;;> Defines a procedure that makes generators: `(define-generator (name . formals) yield body …)`.
(define-syntax define-generator
  (syntax-rules ()
    ((_ (name . formals) yield body ...) (define name (generator-lambda yield formals body ...)))))

;;; A task is a record of its state, its value or the object it raised, the fibers that sleep until
;;; it has ended, the task that it awaits, and whether something has awaited it. It runs in a fiber
;;; of its own, so a task that waits for a tool or for time does not stop the others.
;;;
;;; The fiber of a task that has raised an object sleeps until something awaits the task. A failure
;;; that nothing awaits is therefore among the waits of the run, and the run cannot end well.
(define-record-type task
  (%task fiber state content sleepers awaited is-claimed)
  %task?
  (fiber %fiber %set-fiber!)
  (state %state %set-state!)
  (content %content %set-content!)
  (sleepers %sleepers %set-sleepers!)
  (awaited %awaited %set-awaited!)
  (is-claimed %claimed? %set-claimed!))

;;; The task that runs, or #f.
(define %current-task (make-parameter #f))

;;; The number of times that a task has begun or gone on.
(define %steps 0)

(define (%step!) (set! %steps (+ %steps 1)))

(define (%finish! task state content)
  (%set-state! task state)
  (%set-content! task content)
  (for-each %wake (reverse (%sleepers task)))
  (%set-sleepers! task '()))

;;; Returns a raised object as a text for people.
(define (%described object)
  (let ((port (open-output-string)))
    (define (add-irritants separator irritants)
      (when (pair? irritants)
        (write-string separator port)
        (write (car irritants) port)
        (add-irritants " " (cdr irritants))))
    (cond ((error-object? object)
           (write-string (error-object-message object) port)
           (add-irritants ": " (error-object-irritants object)))
          (else (write object port)))
    (get-output-string port)))

;;; Suspends the fiber of a task that has raised an object until something awaits the task.
(define (%sleep-until-claimed task)
  (when (not (%claimed? task))
    (%sleep (string-append "something awaits its task, which failed: " (%described (%content task))))
    (%sleep-until-claimed task)))

(define (%start thunk)
  (let ((task (%task #f 'running #f '() #f #f)))
    (spawn
      (lambda ()
        (%step!)
        (%set-fiber! task (%current-fiber))
        (guard (object (#t (%finish! task 'raised object)))
          (%finish! task 'done (parameterize ((%current-task task)) (thunk))))
        (if (eq? (%state task) 'raised) (%sleep-until-claimed task))))
    task))

;;;> Makes a task that evaluates the body in a fiber of its own, after the current fiber has parked;
;;;> `await` returns its value. Tasks overlap: while one waits for a tool, a person or time, the
;;;> others run. A task that fails waits until something awaits it, and `duet waits` shows it.
(define-syntax async
  (syntax-rules () ((_ body ...) (%start (lambda () body ...)))))

;;; Returns the value of a task that has ended, or raises its object.
(define (%outcome task)
  (cond ((eq? (%state task) 'done) (%content task))
        (else
         (if (not (%claimed? task))
             (begin (%set-claimed! task #t) (%wake (%fiber task))))
         (raise (%content task)))))

;;; Says whether a task awaits another one, directly or not.
(define (%awaits? task other)
  (and task (or (eq? task other) (%awaits? (%awaited task) other))))

;;; Suspends the fiber until a task has ended.
(define (%sleep-until-end task)
  (%set-claimed! task #t)
  (%set-sleepers! task (cons (%current-fiber) (%sleepers task)))
  (%sleep "a task has ended")
  (%step!)
  (if (eq? (%state task) 'running) (%sleep-until-end task)))

;;;> Suspends the fiber until a wait descriptor, such as `(signal 'ready)`, is satisfied; returns the
;;;> value that satisfied it. A descriptor may also be written as data, such as `'(signal ready)`,
;;;> unless it has a procedure or a pattern. A pattern, signal, record or predicate needs the right
;;;> `dataspace/observe` for all that it matches. Of a task that `async` made, returns the value when
;;;> it has ended; an object that the task raised is raised here. Fails if the task waits for itself.
(define (await awaited)
  (cond ((%task? awaited)
         (if (eq? (%state awaited) 'running)
             (let ((self (%current-task)))
               (if (and self (%awaits? awaited self)) (error "await: the task waits for itself"))
               (if self (%set-awaited! self awaited))
               (%sleep-until-end awaited)
               (if self (%set-awaited! self #f))))
         (%outcome awaited))
        (else (%await awaited #f))))

;;;> Lets tasks run until all have ended or wait for something.
(define (run-tasks)
  (let ((before %steps))
    (yield)
    (if (not (= before %steps)) (run-tasks))))
