;;; SRFI 132: sorting. Every sort keeps the order of equal elements.
(define-library (srfi 132)
  (export
    list-sorted? vector-sorted? list-sort vector-sort
    (rename list-sort list-stable-sort) (rename vector-sort vector-stable-sort)
    (rename list-sort list-sort!) (rename list-sort list-stable-sort!)
    vector-sort! (rename vector-sort! vector-stable-sort!)
    list-merge (rename list-merge list-merge!) vector-merge vector-merge!
    list-delete-neighbor-dups (rename list-delete-neighbor-dups list-delete-neighbor-dups!)
    vector-delete-neighbor-dups vector-delete-neighbor-dups!
    vector-find-median vector-find-median! vector-select! vector-separate!)
  (on-demand)
  (import (scheme base) (scheme case-lambda)
          (only (duet internal lists) list-sort vector-sort append-reverse) (duet internal ranges))
  (begin
    ;;;> Returns whether no element of a list comes before an earlier one.
    (define (list-sorted? less? list)
      (or (null? list)
          (let loop ((first (car list)) (rest (cdr list)))
            (or (null? rest)
                (and (not (less? (car rest) first)) (loop (car rest) (cdr rest)))))))

    ;;;> Returns whether no element of a vector, from `start` up to but not including `end`, comes
    ;;;> before an earlier one.
    (define (vector-sorted? less? vector . range)
      (%range 'vector-sorted? range (vector-length vector)
        (lambda (start end)
          (let loop ((index (+ start 1)))
            (or (>= index end)
                (and (not (less? (vector-ref vector index) (vector-ref vector (- index 1))))
                     (loop (+ index 1))))))))

    ;;;> Sorts the elements of a vector from `start` up to but not including `end` in place.
    (define vector-sort!
      (case-lambda
        ((less? vector) (vector-sort! less? vector 0))
        ((less? vector start) (vector-sort! less? vector start (vector-length vector)))
        ((less? vector start end)
         (vector-copy! vector start (vector-sort less? vector start end)))))

    ;;;> Merges two sorted lists into one; of equal elements those of the first come first.
    (define (list-merge less? a b)
      (let loop ((a a) (b b) (merged '()))
        (cond ((null? a) (append-reverse merged b))
              ((null? b) (append-reverse merged a))
              ((less? (car b) (car a)) (loop a (cdr b) (cons (car b) merged)))
              (else (loop (cdr a) b (cons (car a) merged))))))

    ;;; Merges the selected parts of two vectors into a list.
    (define (%merged less? a b range)
      (let* ((start-a (if (pair? range) (car range) 0))
             (range (if (pair? range) (cdr range) '()))
             (end-a (if (pair? range) (car range) (vector-length a)))
             (range (if (pair? range) (cdr range) '())))
        (list-merge less? (vector->list a start-a end-a) (apply vector->list b range))))

    ;;;> Merges two sorted vectors, or the parts `start1`, `end1`, `start2`, `end2` of them, into
    ;;;> one.
    (define (vector-merge less? a b . range) (list->vector (%merged less? a b range)))

    ;;;> Merges two sorted vectors, or parts of them, into `to` from index `start` on.
    (define (vector-merge! less? to a b . options)
      (vector-copy! to
                    (if (pair? options) (car options) 0)
                    (list->vector (%merged less? a b (if (pair? options) (cdr options) '())))))

    ;;;> Returns a list with only the first of neighbours that are the same.
    (define (list-delete-neighbor-dups same? list)
      (let loop ((list list) (kept '()))
        (cond ((null? list) (reverse kept))
              ((and (pair? kept) (same? (car kept) (car list))) (loop (cdr list) kept))
              (else (loop (cdr list) (cons (car list) kept))))))

    ;;;> Returns a vector with only the first of neighbours that are the same.
    (define (vector-delete-neighbor-dups same? vector . range)
      (list->vector (list-delete-neighbor-dups same? (apply vector->list vector range))))

    ;;;> Like `vector-delete-neighbor-dups`, but in place; returns the index after the last
    ;;;> remaining element.
    (define (vector-delete-neighbor-dups! same? vector . range)
      (let ((kept (apply vector-delete-neighbor-dups same? vector range))
            (start (if (pair? range) (car range) 0)))
        (vector-copy! vector start kept)
        (+ start (vector-length kept))))

    (define (%median sorted nothing mean)
      (let* ((length (vector-length sorted)) (half (quotient length 2)))
        (cond ((= length 0) nothing)
              ((odd? length) (vector-ref sorted half))
              (else (mean (vector-ref sorted (- half 1)) (vector-ref sorted half))))))

    ;;;> Returns the middle element of the sorted vector; of an even number the value of `mean` for
    ;;;> the two; of none, `nothing`.
    (define vector-find-median
      (case-lambda
        ((less? vector nothing)
         (vector-find-median less? vector nothing (lambda (a b) (/ (+ a b) 2))))
        ((less? vector nothing mean) (%median (vector-sort less? vector) nothing mean))))

    ;;;> Like `vector-find-median`, but sorts the vector.
    (define (vector-find-median! less? vector nothing . mean)
      (vector-sort! less? vector)
      (apply vector-find-median less? vector nothing mean))

    ;;;> Sorts the part of the vector and returns its element at index `k`.
    (define (vector-select! less? vector k . range)
      (%range 'vector-select! range (vector-length vector)
        (lambda (start end)
          (if (not (< -1 k (- end start)))
              (%out-of-range 'vector-select! "there is no such element" k))
          (vector-sort! less? vector start end)
          (vector-ref vector (+ k start)))))

    ;;;> Moves the `k` smallest elements of the part of the vector to the front.
    (define (vector-separate! less? vector k . range)
      (%range 'vector-separate! range (vector-length vector)
        (lambda (start end)
          (if (not (<= 0 k (- end start)))
              (%out-of-range 'vector-separate! "there are not as many elements" k))
          (vector-sort! less? vector start end))))))
