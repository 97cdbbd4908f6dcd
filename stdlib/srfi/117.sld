;;; SRFI 117: queues made of lists.
(define-library (srfi 117)
  (export
    make-list-queue list-queue list-queue-copy list-queue-unfold list-queue-unfold-right
    list-queue? list-queue-empty? list-queue-front list-queue-back list-queue-list
    list-queue-first-last list-queue-add-front! list-queue-add-back! list-queue-remove-front!
    list-queue-remove-back! list-queue-remove-all! list-queue-set-list! list-queue-append
    list-queue-append! list-queue-concatenate list-queue-map list-queue-map! list-queue-for-each)
  (on-demand)
  (import (scheme base) (only (duet internal control) %wrong-type)
    (only (srfi 1) concatenate last-pair unfold unfold-right drop-right))
  (begin
    (define-record-type list-queue-type
      (%queue first last)
      ;;;> Returns whether an object is a queue.
      list-queue?
      (first %first %set-first!)
      (last %last %set-last!))

    ;;; Returns the last pair of a list, or the one that the caller knows, for a procedure that was
    ;;; called with them.
    (define (%last-of procedure list last)
      (cond ((pair? last) (car last))
            ((null? list) '())
            ((pair? list) (last-pair list))
            (else (%wrong-type procedure "a list" list))))

    ;;; Requires that a procedure was called with a queue.
    (define (%check-queue procedure object)
      (if (not (list-queue? object)) (%wrong-type procedure "a queue" object)))

    ;;;> Makes a queue of a list, which it shares, and its last pair, if the caller knows it.
    (define (make-list-queue list . last)
      (%queue list (%last-of 'make-list-queue list last)))

    ;;;> Makes a queue of the arguments.
    (define (list-queue . elements) (make-list-queue elements))

    ;;;> Returns a queue of the same elements.
    (define (list-queue-copy queue) (make-list-queue (list-copy (%first queue))))

    ;;;> Adds the elements of `unfold` before those of a queue, by default a new one; returns it.
    (define (list-queue-unfold stop? element next seed . queue)
      (let ((queue (if (pair? queue) (car queue) (list-queue))))
        (list-queue-set-list! queue (append (unfold stop? element next seed) (%first queue)))
        queue))

    ;;;> Adds the elements of `unfold-right` after those of a queue, by default a new one; returns
    ;;;> it.
    (define (list-queue-unfold-right stop? element next seed . queue)
      (let ((queue (if (pair? queue) (car queue) (list-queue))))
        (list-queue-set-list! queue (append (%first queue) (unfold-right stop? element next seed)))
        queue))

    ;;;> Returns whether a queue has no elements.
    (define (list-queue-empty? queue) (null? (%first queue)))

    ;;; Requires that a queue, with which a procedure was called, has an element.
    (define (%check-filled procedure queue)
      (%check-queue procedure queue)
      (if (null? (%first queue))
          (error (string-append (symbol->string procedure) ": the queue is empty") queue)))

    ;;;> Returns the first element. Fails if there is none.
    (define (list-queue-front queue) (%check-filled 'list-queue-front queue) (car (%first queue)))
    ;;;> Returns the last element. Fails if there is none.
    (define (list-queue-back queue) (%check-filled 'list-queue-back queue) (car (%last queue)))
    ;;;> Returns the list of the elements, which the queue shares.
    (define (list-queue-list queue) (%first queue))
    ;;;> Returns two values: the list of the elements and its last pair.
    (define (list-queue-first-last queue) (values (%first queue) (%last queue)))

    ;;;> Adds an element at the front.
    (define (list-queue-add-front! queue element)
      (let ((pair (cons element (%first queue))))
        (if (null? (%last queue)) (%set-last! queue pair))
        (%set-first! queue pair)))

    ;;;> Adds an element at the back.
    (define (list-queue-add-back! queue element)
      (let ((pair (list element)))
        (if (null? (%last queue)) (%set-first! queue pair) (set-cdr! (%last queue) pair))
        (%set-last! queue pair)))

    ;;;> Removes and returns the first element. Fails if there is none.
    (define (list-queue-remove-front! queue)
      (%check-filled 'list-queue-remove-front! queue)
      (let ((element (car (%first queue))))
        (%set-first! queue (cdr (%first queue)))
        (if (null? (%first queue)) (%set-last! queue '()))
        element))

    ;;;> Removes and returns the last element, in time proportional to the length. Fails if there is
    ;;;> none.
    (define (list-queue-remove-back! queue)
      (%check-filled 'list-queue-remove-back! queue)
      (let ((element (car (%last queue))))
        (list-queue-set-list! queue (drop-right (%first queue) 1))
        element))

    ;;;> Removes all elements; returns a list of them.
    (define (list-queue-remove-all! queue)
      (let ((elements (%first queue)))
        (list-queue-set-list! queue '())
        elements))

    ;;;> Replaces the elements by those of a list, which the queue shares.
    (define (list-queue-set-list! queue list . last)
      (%set-first! queue list)
      (%set-last! queue
                  (%last-of 'list-queue-set-list! list last)))

    ;;; Returns a queue that concatenates queues for a procedure that was called with them.
    (define (%concatenated procedure queues)
      (make-list-queue
        (list-copy
          (concatenate
            (map (lambda (queue) (%check-queue procedure queue) (%first queue)) queues)))))

    ;;;> Returns a queue that concatenates all the queues.
    (define (list-queue-append . queues) (%concatenated 'list-queue-append queues))
    ;;;> Like `list-queue-append`, but the result may share the elements of the queues.
    (define (list-queue-append! . queues) (%concatenated 'list-queue-append! queues))
    ;;;> Returns a queue that concatenates the queues in a list.
    (define (list-queue-concatenate queues)
      (if (not (list? queues))
          (%wrong-type 'list-queue-concatenate "a proper list of queues" queues))
      (%concatenated 'list-queue-concatenate queues))

    ;;;> Returns a queue of the values of `procedure` for the elements.
    (define (list-queue-map procedure queue) (make-list-queue (map procedure (%first queue))))
    ;;;> Replaces each element by the value of `procedure` for it.
    (define (list-queue-map! procedure queue)
      (list-queue-set-list! queue (map procedure (%first queue))))
    ;;;> Calls `procedure` with the elements in order.
    (define (list-queue-for-each procedure queue) (for-each procedure (%first queue)))))
