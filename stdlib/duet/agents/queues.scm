;;; Queues of fibers that wait for something of which there is not enough: the items of a pool, a
;;; place in time, room in a channel.
;;;
;;; A fiber that waits has an entry. The entry's place is a facet beside the fiber, whose stop hook
;;; takes the entry out of the queue or gives back what was granted; so whatever ends the fiber,
;;; nothing is lost. The place's own fiber puts the entry into the queue, after the hook is in
;;; place.

(define-record-type <entry>
  (%make-entry fiber state content)
  %entry?
  (fiber %entry-fiber)
  (state %entry-state %set-entry-state!)
  (content %entry-content %set-entry-content!))

(define-record-type <queue>
  (%make-queue front back)
  %queue?
  (front %queue-front %set-queue-front!)
  (back %queue-back %set-queue-back!))

(define (%new-queue) (%make-queue '() '()))

(define (%enqueue! queue object) (%set-queue-back! queue (cons object (%queue-back queue))))

(define (%enqueue-first! queue object) (%set-queue-front! queue (cons object (%queue-front queue))))

(define (%settle! queue)
  (if (null? (%queue-front queue))
      (begin
        (%set-queue-front! queue (reverse (%queue-back queue)))
        (%set-queue-back! queue '()))))

(define (%queue-empty? queue)
  (and (null? (%queue-front queue)) (null? (%queue-back queue))))

;;; Returns the first object of a queue and removes it.
(define (%dequeue! queue)
  (%settle! queue)
  (let ((first (car (%queue-front queue))))
    (%set-queue-front! queue (cdr (%queue-front queue)))
    first))

(define (%remove! queue object)
  (define (without list)
    (cond ((null? list) '())
          ((eq? (car list) object) (cdr list))
          (else (cons (car list) (without (cdr list))))))
  (%set-queue-front! queue (without (%queue-front queue)))
  (%set-queue-back! queue (without (%queue-back queue))))

;;; Grants something to an entry and lets its fiber go on.
(define (%grant! entry content)
  (%set-entry-state! entry 'granted)
  (%set-entry-content! entry content)
  (%wake (%entry-fiber entry)))

;;; Waits until an entry of this fiber is granted and returns its place. `(enter! entry)` puts the
;;; entry into a queue or grants it; `(leave! entry)` is called when the place stops.
(define (%wait-as entry enter! leave! reason)
  (let ((place (%spawn-facet-for! (current-facet) (%entry-fiber entry))))
    (spawn
      (lambda ()
        (on-stop (lambda () (leave! entry)))
        (enter! entry))
      place)
    (%wait-until (lambda () (eq? (%entry-state entry) 'granted)) reason)
    place))

(define-record-type <pool>
  (%make-pool %free %waiting)
  ;;;> Returns whether an object is a pool.
  pool?
  (%free %pool-free)
  (%waiting %pool-waiting))

(define (%queue-of list)
  (%make-queue list '()))

;;;> Makes a pool of items, of which each is in use at most once at a time: `(make-pool items)`. The
;;;> items are a list, such as the names of models or directories, or a number `n`, for the integers
;;;> from 0 to `n` - 1.
(define (make-pool items)
  (let ((list
          (if (%count? items)
              (let up ((i 0)) (if (= i items) '() (cons i (up (+ i 1)))))
              items)))
    (if (not (and (pair? list) (list? list)))
        (%wrong-type 'make-pool "a list with an item, or a number from 1" items))
    (%make-pool (%queue-of list) (%new-queue))))

(define (%give-back! pool item)
  (if (%queue-empty? (%pool-waiting pool))
      (%enqueue! (%pool-free pool) item)
      (%grant! (%dequeue! (%pool-waiting pool)) item)))

;;;> Calls a procedure with a free item of a pool and returns its value: `(call-with-pool pool
;;;> procedure)`. Waits while all items are in use; those who wait are served in their order. The
;;;> item is free again when the procedure returns, raises an object or is left by an escape, and
;;;> when the facet of the caller stops, also while it waits.
(define (call-with-pool pool procedure)
  (if (not (pool? pool)) (%wrong-type 'call-with-pool "a pool" pool))
  (%need-thunks 'call-with-pool (list procedure))
  (let* ((waiting (%pool-waiting pool))
         (entry (%make-entry (%current-fiber) 'waiting #f))
         (place
           (%wait-as entry
             (lambda (entry)
               (if (%queue-empty? (%pool-free pool))
                   (%enqueue! waiting entry)
                   (%grant! entry (%dequeue! (%pool-free pool)))))
             (lambda (entry)
               (if (eq? (%entry-state entry) 'granted)
                   (%give-back! pool (%entry-content entry))
                   (%remove! waiting entry)))
             "an item of the pool is free")))
    (dynamic-wind
      (lambda () #f)
      (lambda () (procedure (%entry-content entry)))
      (lambda () (stop-facet! place)))))

;;;> Returns a procedure that calls `procedure` with its arguments, but begins at most `count` calls
;;;> in any span of this many milliseconds: `(rate-limit procedure count milliseconds)`. Further
;;;> calls wait their turn. The limit is that of the returned procedure, whoever calls it in this
;;;> actor. It ends with the facet in which it was made; calls that still wait then wait for ever.
;;;> Fails with `capability-denied` without `clock/timer`, and with `bad-descriptor`.
(define (rate-limit procedure count milliseconds)
  (%need-thunks 'rate-limit (list procedure))
  (if (not (%count? count)) (%wrong-type 'rate-limit "a number of calls from 1" count))
  (%check-time 'rate-limit milliseconds)
  (%check-await (elapsed milliseconds))
  (let ((home (current-facet)) (free count) (waiting (%new-queue)))
    (define (release!)
      (if (%queue-empty? waiting)
          (set! free (+ free 1))
          (%grant! (%dequeue! waiting) #t)))
    (define (enter! entry)
      (cond ((> free 0)
             (set! free (- free 1))
             (%grant! entry #t))
            (else (%enqueue! waiting entry))))
    (define (leave! entry)
      (case (%entry-state entry)
        ((waiting) (%remove! waiting entry))
        ((granted) (release!))))
    (lambda arguments
      (let* ((entry (%make-entry (%current-fiber) 'waiting #f))
             (place (%wait-as entry enter! leave! "the rate limit allows a call")))
        ;; A call that has begun counts, also if its caller is stopped.
        (%set-entry-state! entry 'begun)
        (spawn (lambda () (sleep milliseconds) (release!)) home)
        (stop-facet! place)
        (apply procedure arguments)))))
