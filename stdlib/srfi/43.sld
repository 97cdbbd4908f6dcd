;;; SRFI 43: vectors; procedures that are called with elements get the index first.
(define-library (srfi 43)
  (export
    make-vector vector vector-unfold vector-unfold-right vector-copy vector-reverse-copy vector-append vector-concatenate
    vector? vector-empty? vector= vector-ref vector-length
    vector-fold vector-fold-right vector-map vector-map! vector-for-each vector-count
    vector-index vector-index-right vector-skip vector-skip-right vector-binary-search vector-any vector-every
    vector-set! vector-swap! vector-fill! vector-reverse! vector-copy! vector-reverse-copy!
    vector->list reverse-vector->list list->vector reverse-list->vector)
  (on-demand)
  (import (except (scheme base) vector-map vector-for-each)
          (except (srfi 133) vector-map vector-map! vector-for-each vector-fold vector-fold-right vector-count))
  (begin
    (define (%shortest vectors) (apply min (map vector-length vectors)))

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

    ;;;> The vector of what `(procedure index element …)` answers.
    (define (vector-map procedure . vectors)
      (vector-unfold (lambda (index) (apply procedure index (%elements vectors index))) (%shortest vectors)))

    ;;;> Replaces each element of the first vector by what `(procedure index element …)` answers.
    (define (vector-map! procedure vector . vectors)
      (vector-copy! vector 0 (apply vector-map procedure vector vectors)))

    ;;;> Calls `(procedure index element …)` in order.
    (define (vector-for-each procedure . vectors)
      (let ((end (%shortest vectors)))
        (do ((index 0 (+ index 1))) ((= index end))
          (apply procedure index (%elements vectors index)))))

    ;;;> For how many places `(wanted? index element …)` holds.
    (define (vector-count wanted? . vectors)
      (apply vector-fold
             (lambda (index count . elements) (if (apply wanted? index elements) (+ count 1) count))
             0 vectors))))
