;;; SRFI 117: queues made of lists.
(define-library (srfi 117)
  (export
    make-list-queue list-queue list-queue-copy list-queue-unfold list-queue-unfold-right
    list-queue? list-queue-empty? list-queue-front list-queue-back list-queue-list list-queue-first-last
    list-queue-add-front! list-queue-add-back! list-queue-remove-front! list-queue-remove-back! list-queue-remove-all!
    list-queue-set-list! list-queue-append list-queue-append! list-queue-concatenate
    list-queue-map list-queue-map! list-queue-for-each)
  (on-demand)
  (import (scheme base) (only (srfi 1) last-pair unfold unfold-right drop-right))
  (begin
    (define-record-type list-queue-type
      (%queue first last)
      ;;;> Whether an object is a queue.
      list-queue?
      (first %first %set-first!)
      (last %last %set-last!))

    ;;;> Makes a queue of a list, which it shares, and its last pair, if that is known.
    (define (make-list-queue list . last)
      (%queue list (cond ((pair? last) (car last)) ((null? list) '()) (else (last-pair list)))))

    ;;;> Makes a queue of the arguments.
    (define (list-queue . elements) (make-list-queue elements))

    ;;;> A queue of the same elements.
    (define (list-queue-copy queue) (make-list-queue (list-copy (%first queue))))

    ;;;> A queue of the elements that `unfold` gives, in front of those of another queue.
    (define (list-queue-unfold stop? element next seed . queue)
      (let ((elements (unfold stop? element next seed)))
        (make-list-queue (if (pair? queue) (append elements (%first (car queue))) elements))))

    ;;;> A queue of the elements that `unfold-right` gives, behind those of another queue.
    (define (list-queue-unfold-right stop? element next seed . queue)
      (let ((elements (unfold-right stop? element next seed)))
        (make-list-queue (if (pair? queue) (append (%first (car queue)) elements) elements))))

    ;;;> Whether a queue has no elements.
    (define (list-queue-empty? queue) (null? (%first queue)))

    (define (%check queue)
      (if (list-queue-empty? queue) (error "the queue is empty" queue)))

    ;;;> The first element. Fails if there is none.
    (define (list-queue-front queue) (%check queue) (car (%first queue)))
    ;;;> The last element. Fails if there is none.
    (define (list-queue-back queue) (%check queue) (car (%last queue)))
    ;;;> The list of the elements, which the queue shares.
    (define (list-queue-list queue) (%first queue))
    ;;;> Two values: the list of the elements and its last pair.
    (define (list-queue-first-last queue) (values (%first queue) (%last queue)))

    ;;;> Puts an element at the front.
    (define (list-queue-add-front! queue element)
      (let ((pair (cons element (%first queue))))
        (if (null? (%last queue)) (%set-last! queue pair))
        (%set-first! queue pair)))

    ;;;> Puts an element at the back.
    (define (list-queue-add-back! queue element)
      (let ((pair (list element)))
        (if (null? (%last queue)) (%set-first! queue pair) (set-cdr! (%last queue) pair))
        (%set-last! queue pair)))

    ;;;> Takes the first element off. Fails if there is none.
    (define (list-queue-remove-front! queue)
      (%check queue)
      (let ((element (car (%first queue))))
        (%set-first! queue (cdr (%first queue)))
        (if (null? (%first queue)) (%set-last! queue '()))
        element))

    ;;;> Takes the last element off, in time proportional to the length. Fails if there is none.
    (define (list-queue-remove-back! queue)
      (%check queue)
      (let ((element (car (%last queue))))
        (list-queue-set-list! queue (drop-right (%first queue) 1))
        element))

    ;;;> Takes all elements off: a list of them.
    (define (list-queue-remove-all! queue)
      (let ((elements (%first queue)))
        (list-queue-set-list! queue '())
        elements))

    ;;;> Replaces the elements by those of a list, which the queue shares.
    (define (list-queue-set-list! queue list . last)
      (%set-first! queue list)
      (%set-last! queue (cond ((pair? last) (car last)) ((null? list) '()) (else (last-pair list)))))

    ;;;> A queue of the elements of queues in turn.
    (define (list-queue-append . queues) (list-queue-concatenate queues))
    ;;;> The same; the queues may share what it has.
    (define (list-queue-append! . queues) (list-queue-concatenate queues))
    ;;;> A queue of the elements of the queues in a list.
    (define (list-queue-concatenate queues)
      (make-list-queue (list-copy (apply append (map %first queues)))))

    ;;;> A queue of what `procedure` answers for the elements.
    (define (list-queue-map procedure queue) (make-list-queue (map procedure (%first queue))))
    ;;;> Replaces each element by what `procedure` answers for it.
    (define (list-queue-map! procedure queue) (list-queue-set-list! queue (map procedure (%first queue))))
    ;;;> Calls `procedure` with the elements in order.
    (define (list-queue-for-each procedure queue) (for-each procedure (%first queue)))))
