;;; Calls `procedure` as `vector-unfold` does, with the index and the seeds.
(define (%unfold-into! vector procedure start end step seeds)
  (let loop ((index start) (seeds seeds))
    (if (not (= index end))
        (call-with-values
          (lambda () (apply procedure index seeds))
          (lambda (element . seeds)
            (vector-set! vector index element)
            (loop (+ index step) seeds))))))

;;; Returns a list of the elements that `vector-unfold` makes for the indices from `start` on, the
;;; last first.
(define (%unfolded procedure start end step seeds)
  (let loop ((index start) (seeds seeds) (elements '()))
    (if (= index end)
        elements
        (call-with-values
          (lambda () (apply procedure index seeds))
          (lambda (element . seeds) (loop (+ index step) seeds (cons element elements)))))))

;;;> Makes a vector of `length` elements: `(procedure index seed …)` returns the element and the
;;;> next seeds.
(define (vector-unfold procedure length . seeds)
  (%check-natural 'vector-unfold "length" length)
  (reverse-list->vector (%unfolded procedure 0 length 1 seeds)))

;;;> Makes a vector from its end: `(procedure index seed …)` returns the element and the next seeds.
(define (vector-unfold-right procedure length . seeds)
  (%check-natural 'vector-unfold-right "length" length)
  (list->vector (%unfolded procedure (- length 1) -1 -1 seeds)))

;;;> Fills the elements from `start` up to but not including `end` as `vector-unfold` does.
(define (vector-unfold! procedure vector start end . seeds)
  (%range 'vector-unfold! (list start end) (vector-length vector)
    (lambda (start end) (%unfold-into! vector procedure start end 1 seeds))))

;;;> Fills the elements from `start` up to but not including `end` as `vector-unfold-right` does.
(define (vector-unfold-right! procedure vector start end . seeds)
  (%range 'vector-unfold-right! (list start end) (vector-length vector)
    (lambda (start end) (%unfold-into! vector procedure (- end 1) (- start 1) -1 seeds))))

;;;> Returns a vector of the elements in reverse order, or of those from `start` up to but not
;;;> including `end`.
(define (vector-reverse-copy vector . range)
  (list->vector (apply reverse-vector->list vector range)))

;;;> Concatenates the vectors in a list.
(define (vector-concatenate vectors) (list->vector (concatenate (map vector->list vectors))))

;;;> Concatenates parts of vectors; the arguments repeat vector, start and end.
(define (vector-append-subvectors . arguments)
  (let loop ((rest arguments) (parts '()))
    (if (null? rest)
        (vector-concatenate (reverse parts))
        (loop (cdr (cddr rest))
              (cons (vector-copy (car rest) (cadr rest) (car (cddr rest))) parts)))))

;;;> Returns whether a vector has no elements.
(define (vector-empty? vector) (= (vector-length vector) 0))

;;;> Returns whether vectors have the same length and elements that are the same.
(define (vector= same? . vectors)
  (define (equal a b)
    (let ((length (vector-length a)))
      (and (= length (vector-length b))
           (let loop ((index 0))
             (or (= index length)
                 (and (same? (vector-ref a index) (vector-ref b index)) (loop (+ index 1))))))))
  ;; An argument that is no vector is refused even behind a difference.
  (for-each vector-length vectors)
  (or (null? vectors)
      (let loop ((first (car vectors)) (rest (cdr vectors)))
        (or (null? rest)
            (and (equal first (car rest)) (loop (car rest) (cdr rest)))))))

(define (%shortest vectors) (apply min (map vector-length vectors)))

(define (%elements vectors index) (map (lambda (vector) (vector-ref vector index)) vectors))

;;;> Combines the elements from the left: `(combine accumulated element …)`.
(define vector-fold
  (case-lambda
    ((combine initial vector)
     (let ((end (vector-length vector)))
       (let loop ((index 0) (accumulated initial))
         (if (< index end)
             (loop (+ index 1) (combine accumulated (vector-ref vector index)))
             accumulated))))
    ((combine initial . vectors)
     (let ((end (%shortest vectors)))
       (let loop ((index 0) (accumulated initial))
         (if (< index end)
             (loop (+ index 1) (apply combine accumulated (%elements vectors index)))
             accumulated))))))

;;;> Combines the elements from the right: `(combine accumulated element …)`.
(define (vector-fold-right combine initial . vectors)
  (let loop ((index (- (%shortest vectors) 1)) (accumulated initial))
    (if (< index 0)
        accumulated
        (loop (- index 1) (apply combine accumulated (%elements vectors index))))))

;;;> Replaces each element of the first vector by the value of `procedure` for the elements at its
;;;> index.
(define (vector-map! procedure vector . vectors)
  (let ((end (%shortest (cons vector vectors))))
    (do ((index 0 (+ index 1))) ((= index end))
      (vector-set! vector
                   index
                   (apply procedure (vector-ref vector index) (%elements vectors index))))))

;;;> Returns the number of elements that satisfy a predicate; of several vectors, elements at the
;;;> same index count together.
(define (vector-count wanted? . vectors)
  (apply vector-fold
         (lambda (count . elements) (if (apply wanted? elements) (+ count 1) count))
         0
         vectors))

;;;> Returns the vector of the accumulated values of `vector-fold` after each element.
(define (vector-cumulate combine initial vector)
  (let ((length (vector-length vector)))
    (let loop ((index 0) (accumulated initial) (cumulated '()))
      (if (< index length)
          (let ((next (combine accumulated (vector-ref vector index))))
            (loop (+ index 1) next (cons next cumulated)))
          (reverse-list->vector cumulated)))))

;;; Returns the first index from `start` on, by `step`, whose elements satisfy `holds?`, or #f.
(define (%search holds? vectors start end step)
  (let loop ((index start))
    (cond ((= index end) #f)
          ((apply holds? (%elements vectors index)) index)
          (else (loop (+ index step))))))

(define (%opposite wanted?) (lambda elements (not (apply wanted? elements))))

;;;> Returns the index of the first elements that satisfy a predicate, or #f.
(define (vector-index wanted? . vectors) (%search wanted? vectors 0 (%shortest vectors) 1))

;;;> Returns the index of the last elements that satisfy a predicate, or #f.
(define (vector-index-right wanted? . vectors)
  (%search wanted? vectors (- (%shortest vectors) 1) -1 -1))

;;;> Returns the index of the first elements that do not satisfy a predicate, or #f.
(define (vector-skip unwanted? . vectors) (apply vector-index (%opposite unwanted?) vectors))

;;;> Returns the index of the last elements that do not satisfy a predicate, or #f.
(define (vector-skip-right unwanted? . vectors)
  (apply vector-index-right (%opposite unwanted?) vectors))

;;;> Returns the index of `value` in a sorted vector, or #f; `(compare element value)` is negative,
;;;> zero or positive.
(define (vector-binary-search vector value compare)
  (let loop ((start 0) (end (vector-length vector)))
    (if (= start end)
        #f
        (let* ((middle (quotient (+ start end) 2))
               (order (compare (vector-ref vector middle) value)))
          (cond ((= order 0) middle)
                ((< order 0) (loop (+ middle 1) end))
                (else (loop start middle)))))))

;;;> Returns the first true value of a predicate for the elements, or #f.
(define (vector-any wanted? . vectors)
  (let ((end (%shortest vectors)))
    (let loop ((index 0))
      (and (< index end)
           (or (apply wanted? (%elements vectors index)) (loop (+ index 1)))))))

;;;> Returns the last value of a predicate for the elements if all are true, otherwise #f.
(define (vector-every wanted? . vectors)
  (let ((end (%shortest vectors)))
    (let loop ((index 0) (answer #t))
      (if (and answer (< index end))
          (loop (+ index 1) (apply wanted? (%elements vectors index)))
          answer))))

;;;> Returns two values: a vector with the elements that satisfy a predicate before the others, and
;;;> the number of the former.
(define (vector-partition wanted? vector)
  (let* ((elements (map (lambda (element) (cons (wanted? element) element)) (vector->list vector)))
         (first (filter car elements)))
    (values (list->vector (map cdr (append first (remove car elements)))) (length first))))

;;;> Exchanges two elements.
(define (vector-swap! vector i j)
  (let ((element (vector-ref vector i)))
    (vector-set! vector i (vector-ref vector j))
    (vector-set! vector j element)))

;;;> Reverses the order of the elements, or of those from `start` up to but not including `end`.
(define (vector-reverse! vector . range)
  (vector-copy! vector (if (pair? range) (car range) 0) (apply vector-reverse-copy vector range)))

;;;> Copies elements of the second vector in reverse order into the first, from index `at` on.
(define (vector-reverse-copy! to at from . range)
  (vector-copy! to at (apply vector-reverse-copy from range)))

;;;> Returns a list of the elements in reverse order.
(define (reverse-vector->list vector . range) (reverse (apply vector->list vector range)))

;;;> Returns a vector of the elements of a list in reverse order.
(define (reverse-list->vector list) (list->vector (reverse list)))
