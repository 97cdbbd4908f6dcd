;;; SRFI 43: vectors; procedures that are called with elements receive the index first.
(define-library (srfi 43)
  (export
    make-vector vector vector-unfold vector-unfold-right vector-copy vector-reverse-copy
    vector-append vector-concatenate
    vector? vector-empty? vector= vector-ref vector-length
    vector-fold vector-fold-right vector-map vector-map! vector-for-each vector-count
    vector-index vector-index-right vector-skip vector-skip-right vector-binary-search vector-any
    vector-every vector-set! vector-swap! vector-fill! vector-reverse! vector-copy!
    vector-reverse-copy! vector->list reverse-vector->list list->vector reverse-list->vector)
  (on-demand)
  (import (rename (except (scheme base) vector-map vector-for-each list->vector)
            (vector-copy %vector-copy))
          (scheme case-lambda)
          (rename (only (srfi 133) vector-binary-search list->vector reverse-list->vector)
            (vector-binary-search %binary-search) (list->vector %list->vector)
            (reverse-list->vector %reverse-list->vector))
          (except (srfi 133) vector-binary-search list->vector reverse-list->vector vector-map
            vector-map! vector-for-each vector-fold vector-fold-right vector-count))
  (begin
    (define (%shortest vectors) (apply min (map vector-length vectors)))

    ;;;> Returns a vector of the elements from `start`, by default 0, up to `end`, exclusive, by default
    ;;;> the length. If `end` is behind the length, the elements that are missing are `fill`, by default
    ;;;> #f.
    (define vector-copy
      (case-lambda
        ((vector) (%vector-copy vector))
        ((vector start) (%vector-copy vector start))
        ((vector start end) (vector-copy vector start end #f))
        ((vector start end fill)
         (if (and (exact-integer? end) (> end (vector-length vector)))
             (let* ((part (%vector-copy vector start)) (copy (make-vector (- end start) fill)))
               (vector-copy! copy 0 part)
               copy)
             (%vector-copy vector start end)))))

    (define (%elements vectors index) (map (lambda (vector) (vector-ref vector index)) vectors))

    ;;;> Combines the elements from the left: `(combine index accumulated element …)`.
    (define (vector-fold combine initial . vectors)
      (let ((end (%shortest vectors)))
        (let loop ((index 0) (accumulated initial))
          (if (< index end)
              (loop (+ index 1) (apply combine index accumulated (%elements vectors index)))
              accumulated))))

    ;;;> Combines the elements from the right: `(combine index accumulated element …)`.
    (define (vector-fold-right combine initial . vectors)
      (let loop ((index (- (%shortest vectors) 1)) (accumulated initial))
        (if (< index 0)
            accumulated
            (loop (- index 1) (apply combine index accumulated (%elements vectors index))))))

    ;;;> Returns the vector of the values of `(procedure index element …)`.
    (define (vector-map procedure . vectors)
      (vector-unfold (lambda (index) (apply procedure index (%elements vectors index)))
                     (%shortest vectors)))

    ;;;> Replaces each element of the first vector by the values of `(procedure index element …)`.
    (define (vector-map! procedure vector . vectors)
      (vector-copy! vector 0 (apply vector-map procedure vector vectors)))

    ;;;> Calls `(procedure index element …)` in order.
    (define (vector-for-each procedure . vectors)
      (let ((end (%shortest vectors)))
        (do ((index 0 (+ index 1))) ((= index end))
          (apply procedure index (%elements vectors index)))))

    ;;;> Returns the number of indices that satisfy `(wanted? index element …)`.
    (define (vector-count wanted? . vectors)
      (apply vector-fold
             (lambda (index count . elements) (if (apply wanted? index elements) (+ count 1) count))
             0 vectors))

    ;;; Returns a list, or the part of it from an index up to another, exclusive.
    (define (%part list range)
      (cond ((null? range) list)
            ((null? (cdr range)) (list-tail list (car range)))
            ((> (car range) (cadr range)) (error "the part would end before it begins" range))
            (else
             (let loop ((left (list-tail list (car range)))
                        (count (- (cadr range) (car range)))
                        (part '()))
               (if (= count 0)
                   (reverse part)
                   (loop (cdr left) (- count 1) (cons (car left) part)))))))

    ;;;> Returns a vector of the elements of a list, or of part of it.
    (define (list->vector list . range) (%list->vector (%part list range)))

    ;;;> Returns a vector of the elements of a list, or of part of it, the last one first.
    (define (reverse-list->vector list . range) (%reverse-list->vector (%part list range)))

    ;;;> Returns the index, in a vector or part of it, of an element for which `(compare element
    ;;;> value)` is 0, or #f. The vector must be sorted by the sign of the comparison.
    (define (vector-binary-search vector value compare . range)
      (let* ((start (if (pair? range) (car range) 0))
             (found (%binary-search (if (pair? range) (apply %vector-copy vector range) vector)
                                    value
                                    compare)))
        (and found (+ start found))))))
