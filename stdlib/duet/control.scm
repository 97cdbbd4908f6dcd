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

;;; A task is a record of its state, its value or the object it raised, and the coroutines that wait
;;; for it.
(define-record-type task
  (%task state content waiting)
  %task?
  (state %state %set-state!)
  (content %content %set-content!)
  (waiting %waiting %set-waiting!))

;;; The tasks that are ready to run, oldest first, as a pair of a list and a reversed list.
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

;;; The running task, or #f.
(define %current-task #f)

;;; Runs a task until it ends or waits for another one.
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

;;;> Makes a task that evaluates the body when tasks run, in turn with others; `await` returns its
;;;> value.
(define-syntax async
  (syntax-rules () ((_ body ...) (%start (lambda () body ...)))))

;;; Returns the value of a task that has ended, or raises its object.
(define (%outcome task)
  (if (eq? (%state task) 'done) (%content task) (raise (%content task))))

;;;> Returns the value of a task. Inside a task, other tasks run meanwhile; outside, tasks run until
;;;> this one ends. An object that the task raised is raised here. Fails if the task waits for an
;;;> event that never comes.
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

;;;> Runs tasks until none is ready.
(define (run-tasks)
  (let ((next (%dequeue!)))
    (if next
        (begin (next) (run-tasks)))))
