;;; Coroutines are first-class continuations, and generators and tasks are made of them. Entering
;;; and leaving one costs the same however deep the caller's stack is, and the run stores, undoes
;;; and replays all of it.

(define-record-type coroutine
  (%coroutine continue is-left winders)
  ;;;> Returns whether an object is a coroutine.
  coroutine?
  ;; A procedure that runs the coroutine until it suspends or returns; #f unless it is suspended.
  (continue %continue %set-continue!)
  ;; Whether it has returned or was left, by an object that it raised or an escape.
  (is-left %left? %set-left!)
  ;; The winders of the `resume` that runs it, which tell the fiber.
  (winders %resumed-at %set-resumed-at!))

;;;> Makes a coroutine of a procedure. The first `resume` calls the procedure with its value.
(define (make-coroutine procedure) (%coroutine procedure #f '()))

;;;> Returns whether a coroutine has returned or was left, by an object that it raised or an escape,
;;;> or was stopped with the fiber that ran it.
(define (coroutine-done? coroutine)
  (or (%left? coroutine) (%stopped? coroutine)))

;;; Whether the fiber that runs a coroutine is no more: it is not this one, and does not wait.
(define (%stopped? coroutine)
  (and (not (%continue coroutine))
       (not (%left? coroutine))
       (let ((base (%base (%resumed-at coroutine))))
         (and (not (eq? base (%base (%winders))))
              (not (%fiber-waits? (if (pair? base) (caar base) #f)))))))

;;;> Runs a coroutine until it suspends or returns, and returns the value that it passes. The
;;;> coroutine's `suspend`, or at first its procedure, receives `value`. An object that the
;;;> coroutine raises is raised here, where handlers see it and may return to `raise-continuable`. The
;;;> coroutine runs in the fiber that resumes it. Fails if the coroutine has returned or is running,
;;;> and with `facet-stopped` if it was stopped with the fiber that ran it.
(define resume
  (case-lambda
    ((coroutine) (resume coroutine (if #f #f)))
    ((coroutine value)
     (if (not (coroutine? coroutine)) (%wrong-type 'resume "a coroutine" coroutine))
     (if (%left? coroutine) (error "resume: the coroutine has returned" coroutine))
     (if (%stopped? coroutine)
         (raise
           (%make-condition 'facet-stopped
             "resume: the coroutine was stopped with the fiber that ran it" (list coroutine))))
     (let ((continue (%continue coroutine)))
       (if (not continue) (error "resume: the coroutine is running" coroutine))
       ;; Whoever leaves without suspending has ended the coroutine; who comes back has not.
       (dynamic-wind
         (lambda ()
           (%set-left! coroutine #f)
           (%set-resumed-at! coroutine (%winders))
           (%set-continue! coroutine #f))
         (lambda () (call-with-prompt coroutine (lambda () (continue value)) %suspended))
         (lambda () (if (not (%continue coroutine)) (%set-left! coroutine #t))))))))

;;; The prompt of a coroutine has the coroutine for its tag.
(define (%suspended continue coroutine value)
  (%set-continue! coroutine continue)
  value)

(define (%suspend coroutine value)
  (%abort-with-continuation coroutine (list coroutine value) %suspend-through-extents))

(define (%suspend-through-extents coroutine vals)
  (if (%barred? coroutine)
      (error "suspend: a before or after thunk cannot suspend while its extent is entered or left"))
  (%abort-through-extents coroutine vals))

;;; Returns the innermost coroutine that runs in a dynamic state, or #f.
(define (%running frames)
  (cond ((null? frames) #f)
        ((and (eq? (caar frames) '%prompt) (coroutine? (cdar frames))) (cdar frames))
        (else (%running (cdr frames)))))

;;;> Leaves the coroutine that runs in this fiber, the innermost one, and passes a value to its
;;;> `resume`. Returns the value of the next `resume`.
(define suspend
  (case-lambda
    (() (suspend (if #f #f)))
    ((value)
     (let ((coroutine (%running (%dynamic))))
       (if coroutine (%suspend coroutine value) (error "suspend: no coroutine is running"))))))

;;;> Makes a generator that runs `(body yield)`: each call of `yield` provides one object of the
;;;> generator. After the end it returns end-of-file objects.
(define (make-coroutine-generator body)
  (letrec ((coroutine (make-coroutine
                        (lambda (value) (body (lambda (object) (%suspend coroutine object)))))))
    (lambda ()
      (if (%left? coroutine)
          (eof-object)
          (let ((object (resume coroutine)))
            (if (%left? coroutine) (eof-object) object))))))

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

;;; A task is a record of its facet, its fiber once it has begun, its state, its value or the object
;;; it raised, the fibers that sleep until it has ended, each with the place where it does, the task
;;; that it awaits, and whether something has awaited it. It runs in a fiber of its own, so a task
;;; that waits for a tool or for time does not stop the others.
;;;
;;; The fiber of a task that has raised an object sleeps until something awaits the task. A failure
;;; that nothing awaits is therefore among the waits of the run, and the run cannot end well.
(define-record-type task
  (%task facet fiber state content sleepers awaited is-claimed)
  %task?
  (facet %facet)
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
  (for-each (lambda (sleeper) (%wake (car sleeper))) (reverse (%sleepers task)))
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
    (%sleep
      (string-append "something awaits its task, which failed: " (%described (%content task))))
    (%sleep-until-claimed task)))

;;; Returns the places where fibers wait for a task.
(define (%places task)
  (let loop ((sleepers (%sleepers task)))
    (cond ((null? sleepers) '())
          ((%fiber-waits? (caar sleepers)) (cons (cdar sleepers) (loop (cdr sleepers))))
          (else (loop (cdr sleepers))))))

(define (%start thunk)
  (let* ((facet (current-facet))
         (thunk (%as-part thunk))
         (task (%task facet #f 'running #f '() #f #f)))
    (spawn
      (lambda ()
        (%step!)
        (%set-fiber! task (%current-fiber))
        (call-with-values
          (lambda ()
            (%run-joined (lambda () (%places task))
              (lambda () (parameterize ((%current-task task)) (thunk)))))
          (lambda (state content) (%finish! task state content)))
        (if (eq? (%state task) 'raised) (%sleep-until-claimed task)))
      facet
      'async)
    task))

;;;> Makes a task that evaluates the body in a fiber of its own, after the current fiber has parked;
;;;> `await` returns its value. Tasks overlap: while one waits for a tool, a person or time, the
;;;> others run. A task that fails waits until something awaits it, and `duet waits` shows it.
(define-syntax async
  (syntax-rules () ((_ body ...) (%start (lambda () body ...)))))

;;; Returns the value of a task that has ended, raises its object, or goes where it has left to.
(define (%outcome task)
  (cond ((eq? (%state task) 'done) (%content task))
        ((eq? (%state task) 'left) ((%content task)))
        ((eq? (%state task) 'stopped)
         (raise
           (%make-condition 'facet-stopped "await: the task was stopped with its facet" '())))
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
  (call/cc
    (lambda (place)
      (%set-sleepers! task (cons (cons (%current-fiber) place) (%sleepers task)))))
  (%sleep-on task))

(define (%sleep-on task)
  (cond ((equal? (%facet task) (current-facet)) (%sleep "a task has ended"))
        ((%waits? task) (%sleep "a task has ended" (%fiber task)))
        (else
         (yield)
         (if (and (eq? (%state task) 'running) (not (%waits? task)))
             (%set-state! task 'stopped))))
  (%step!)
  (if (eq? (%state task) 'running) (%sleep-on task)))

;;; Whether the fiber of a task waits. If it does not, and still does not in a later turn, the task
;;; was stopped, perhaps before it began.
(define (%waits? task)
  (and (%fiber task) (%fiber-waits? (%fiber task))))

;;;> Suspends the fiber until a wait descriptor, such as `(signal 'ready)`, is satisfied; returns the
;;;> value that satisfied it. A descriptor may also be written as data, such as `'(signal ready)`,
;;;> unless it has a procedure or a pattern. A pattern, signal, record or predicate needs the right
;;;> `dataspace/observe` for all that it matches. Of a task that `async` made, returns the value when
;;;> it has ended; an object that the task raised is raised here. Fails if the task waits for itself,
;;;> and with `facet-stopped` if it was stopped with its facet.
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
