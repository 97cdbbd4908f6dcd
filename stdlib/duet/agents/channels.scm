;;; Channels: queues of values between the fibers of an actor, with a bound and an end.

(define-record-type <channel>
  (%make-channel %capacity %home %values %putters %takers %is-closed %readiness)
  ;;;> Returns whether an object is a channel.
  channel?
  (%capacity %channel-capacity)
  (%home %channel-home)
  (%values %channel-values)
  (%putters %channel-putters)
  (%takers %channel-takers)
  ;;;> Returns whether a channel is closed; it may still have values.
  (%is-closed channel-closed? %set-channel-closed!)
  (%readiness %channel-readiness %set-channel-readiness!))

;;;> Makes a channel between the fibers of this actor: `(make-channel [capacity])`. It holds at most
;;;> `capacity` values, by default 1, that nobody has taken yet.
(define (make-channel . capacity)
  (let ((capacity (if (pair? capacity) (car capacity) 1)))
    (if (not (%count? capacity)) (%wrong-type 'make-channel "a number of values from 1" capacity))
    (%make-channel capacity (current-facet) (%new-counted) (%new-queue) (%new-queue) #f #f)))

;;; A queue with a count of its objects: the pair of both.
(define (%new-counted) (cons 0 (%new-queue)))
(define (%counted-put! counted object)
  (set-car! counted (+ (car counted) 1))
  (%enqueue! (cdr counted) object))
(define (%counted-put-first! counted object)
  (set-car! counted (+ (car counted) 1))
  (%enqueue-first! (cdr counted) object))
(define (%counted-take! counted)
  (set-car! counted (- (car counted) 1))
  (%dequeue! (cdr counted)))

(define (%check-channel procedure object)
  (if (not (channel? object)) (%wrong-type procedure "a channel" object)))

(define (%channel-full? channel) (>= (car (%channel-values channel)) (%channel-capacity channel)))
(define (%channel-empty? channel) (= 0 (car (%channel-values channel))))

;;; Moves values: from those who wait to put into the channel, from the channel to those who wait to
;;; take.
(define (%flow! channel)
  (let ((values (%channel-values channel))
        (putters (%channel-putters channel))
        (takers (%channel-takers channel)))
    (cond ((and (not (%queue-empty? putters)) (not (%channel-full? channel)))
           (let ((putter (%dequeue! putters)))
             (%counted-put! values (%entry-content putter))
             (%grant! putter #f))
           (%flow! channel))
          ((and (not (%queue-empty? takers)) (not (%channel-empty? channel)))
           (%grant! (%dequeue! takers) (%counted-take! values))
           (%flow! channel))
          ((and (not (%queue-empty? takers)) (channel-closed? channel))
           (%grant! (%dequeue! takers) (eof-object))
           (%flow! channel))
          (else (%show-readiness! channel)))))

(define (%refuse-closed)
  (raise (%make-condition 'channel-closed "channel-put!: the channel is closed" '())))

;;;> Puts a value into a channel; waits while the channel is full. Fails with `channel-closed` if
;;;> the channel is closed, or is closed while this waits.
(define (channel-put! channel value)
  (%check-channel 'channel-put! channel)
  (cond ((channel-closed? channel) (%refuse-closed))
        ((and (not (%channel-full? channel)) (%queue-empty? (%channel-putters channel)))
         (%counted-put! (%channel-values channel) value)
         (%flow! channel))
        (else
         (let ((entry (%make-entry (%current-fiber) 'waiting value)))
           (stop-facet!
             (%wait-as entry
               (lambda (entry)
                 (if (channel-closed? channel)
                     (%grant! entry 'closed)
                     (begin
                       (%enqueue! (%channel-putters channel) entry)
                       (%flow! channel))))
               (lambda (entry) (%remove! (%channel-putters channel) entry))
               "the channel has room"))
           (if (eq? (%entry-content entry) 'closed) (%refuse-closed))))))

;;;> Takes the oldest value out of a channel; waits while the channel is empty. Returns the
;;;> end-of-file object if the channel is empty and closed. Those who wait are served in their
;;;> order; a value that was given to one whose facet then stops goes to the next one.
(define (channel-take! channel)
  (%check-channel 'channel-take! channel)
  (cond ((and (not (%channel-empty? channel)) (%queue-empty? (%channel-takers channel)))
         (let ((value (%counted-take! (%channel-values channel))))
           (%flow! channel)
           value))
        ((and (channel-closed? channel) (%channel-empty? channel)) (eof-object))
        (else
         (let* ((entry (%make-entry (%current-fiber) 'waiting #f))
                (place
                  (%wait-as entry
                    (lambda (entry)
                      (%enqueue! (%channel-takers channel) entry)
                      (%flow! channel))
                    (lambda (entry) (%end-taking! channel entry))
                    "the channel has a value")))
           (%set-entry-state! entry 'taken)
           (stop-facet! place)
           (%entry-content entry)))))

;;; Puts back a value that was granted to a fiber that is no more.
(define (%end-taking! channel entry)
  (case (%entry-state entry)
    ((waiting) (%remove! (%channel-takers channel) entry))
    ((granted)
     (if (not (eof-object? (%entry-content entry)))
         (begin
           (%counted-put-first! (%channel-values channel) (%entry-content entry))
           (%flow! channel))))))

;;;> Closes a channel. Its values can still be taken; then those who take get the end-of-file
;;;> object. Those who wait to put a value fail with `channel-closed`.
(define (close-channel! channel)
  (%check-channel 'close-channel! channel)
  (%set-channel-closed! channel #t)
  (let refuse ()
    (if (not (%queue-empty? (%channel-putters channel)))
        (begin
          (%grant! (%dequeue! (%channel-putters channel)) 'closed)
          (refuse))))
  (%flow! channel))

;;; The facts by which others see that a channel is ready: the name of the channel in the dataspace,
;;; the number of times that it became ready, whether the last fact says so, and that fact's handle.
(define-record-type <readiness>
  (%make-readiness id count is-shown handle)
  %readiness?
  (id %readiness-id)
  (count %readiness-count %set-readiness-count!)
  (is-shown %shown? %set-shown!)
  (handle %readiness-handle %set-readiness-handle!))

;;;> Describes a wait until a channel has a value or is closed, for `await`, `select` and
;;;> `with-timeout`: `(select ((channel-ready jobs) (channel-take! jobs)) ((elapsed 100) 'late))`.
;;;> It takes nothing; if another fiber takes the value first, `channel-take!` waits. While the
;;;> channel is ready, its facet asserts the record `<channel-ready id count>`, so an actor with
;;;> grants needs the rights to assert and to observe it.
(define (channel-ready channel)
  (%check-channel 'channel-ready channel)
  (if (not (%channel-readiness channel))
      (let ((id (generate-request-id! 'channel 'ready)))
        ;; The program can catch here that the channel's facet may not assert the fact.
        (retract! (assert! (record 'channel-ready id 0)))
        (%set-channel-readiness! channel (%make-readiness id 0 #f #f))
        (%show-readiness! channel)))
  (let ((id (%readiness-id (%channel-readiness channel))))
    ;; The fact may still be there although the value has just been taken.
    (predicate (lambda (fact) (%ready? channel)) ':pattern (pattern (channel-ready ,id _)))))

;;; Asserts or retracts that a channel is ready, if anybody has asked for it. A fiber of the
;;; channel's facet does so, because the fact outlives whoever put the value. Each fact has a
;;; number, so that a retraction and an assertion in one turn are two events and not none.
(define (%show-readiness! channel)
  (let ((readiness (%channel-readiness channel)) (is-ready (%ready? channel)))
    (if (and readiness (not (eq? is-ready (%shown? readiness))))
        (begin
          (%set-shown! readiness is-ready)
          (spawn
            (lambda () (if is-ready (%show! readiness) (retract! (%readiness-handle readiness))))
            (%channel-home channel))))))

(define (%show! readiness)
  (let ((count (+ 1 (%readiness-count readiness))))
    (%set-readiness-count! readiness count)
    (%set-readiness-handle! readiness
      (assert! (record 'channel-ready (%readiness-id readiness) count)))))

(define (%ready? channel) (or (channel-closed? channel) (not (%channel-empty? channel))))

;;;> Sends the elements of a list through procedures, which work at the same time, each on one
;;;> element: `(pipeline list procedure … [:capacity n])`. Returns the list of what the last one
;;;> returns, in the order of the elements. Between two procedures at most `:capacity` values wait,
;;;> by default 1. When a procedure raises an object, the others are stopped, as by `race`, and the
;;;> object is raised here.
(define (pipeline list . stages)
  (if (not (list? list)) (%wrong-type 'pipeline "a list" list))
  (let split ((rest stages) (procedures '()))
    (cond ((and (pair? rest) (procedure? (car rest)))
           (split (cdr rest) (cons (car rest) procedures)))
          (else
           (%check-options 'pipeline rest '(:capacity))
           (%run-pipeline list (reverse procedures) (%option rest :capacity 1))))))

(define (%run-pipeline elements procedures capacity)
  ;; Values travel in vectors, because a value may be the end-of-file object.
  (define (feed out)
    (lambda ()
      (for-each (lambda (element) (channel-put! out (vector element))) elements)
      (close-channel! out)))
  (define (stage procedure in out)
    (lambda ()
      (let loop ()
        (let ((box (channel-take! in)))
          (if (eof-object? box)
              (close-channel! out)
              (begin
                (channel-put! out (vector (procedure (vector-ref box 0))))
                (loop)))))))
  (define (gather in)
    (lambda ()
      (let loop ((results '()))
        (let ((box (channel-take! in)))
          (if (eof-object? box) (reverse results) (loop (cons (vector-ref box 0) results)))))))
  (let ((first (make-channel capacity)))
    (let build ((procedures procedures) (in first) (strands (list (feed first))))
      (if (null? procedures)
          (car (%collect 'pipeline (cons (gather in) strands) (+ 1 (length strands))))
          (let ((out (make-channel capacity)))
            (build (cdr procedures) out (cons (stage (car procedures) in out) strands)))))))
