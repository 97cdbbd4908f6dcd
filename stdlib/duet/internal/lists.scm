;;;> The list of the elements of `reversed` in reverse order, with `tail` behind them.
(define (append-reverse reversed tail)
  (if (null? reversed) tail (append-reverse (cdr reversed) (cons (car reversed) tail))))

;;; Merges the sorted elements of `from` at start … middle and middle … end into `to` at start … end; of equal ones the earlier come first.
(define (%merge! less? from to start middle end)
  (let loop ((left start) (right middle) (place start))
    (if (< place end)
        (if (and (< left middle)
                 (or (>= right end) (not (less? (vector-ref from right) (vector-ref from left)))))
            (begin
              (vector-set! to place (vector-ref from left))
              (loop (+ left 1) right (+ place 1)))
            (begin
              (vector-set! to place (vector-ref from right))
              (loop left (+ right 1) (+ place 1)))))))

;;; Sorts what both vectors have at start … end into `to`; `from` is used up.
(define (%sort! less? from to start end)
  (if (> (- end start) 1)
      (let ((middle (quotient (+ start end) 2)))
        (%sort! less? to from start middle)
        (%sort! less? to from middle end)
        (%merge! less? from to start middle end))))

;;;> A sorted copy of a list; the order of equal elements stays.
(define (list-sort less? list)
  (if (not (list? list)) (%wrong-type 'list-sort "a proper list" list))
  (%check-less 'list-sort less?)
  (vector->list (%sorted less? (list->vector list))))

(define (%check-less procedure less?)
  (if (not (procedure? less?)) (%wrong-type procedure "a procedure that compares" less?)))

;;; The elements of `vector`, which nobody else has, sorted.
(define (%sorted less? vector)
  (%sort! less? (vector-copy vector) vector 0 (vector-length vector))
  vector)

;;;> A sorted copy of a vector, or of its elements from `start` to before `end`; the order of equal elements stays.
(define vector-sort
  (case-lambda
    ((less? vector) (vector-sort less? vector 0))
    ((less? vector start)
     (if (not (vector? vector)) (%wrong-type 'vector-sort "a vector" vector))
     (vector-sort less? vector start (vector-length vector)))
    ((less? vector start end)
     (if (not (vector? vector)) (%wrong-type 'vector-sort "a vector" vector))
     (%check-less 'vector-sort less?)
     (%sorted less? (vector-copy vector start end)))))

;;;> A sorted copy of a list or vector.
(define (sort sequence less?)
  (%check-less 'sort less?)
  (cond ((vector? sequence) (vector-sort less? sequence))
        ((list? sequence) (list-sort less? sequence))
        (else (%wrong-type 'sort "a proper list or a vector" sequence))))

;;;> Combines the elements of one or more lists from the left: `(combine element … accumulated)`, up to the end of the shortest.
(define fold
  (case-lambda
    ((combine initial list)
     (let loop ((accumulated initial) (list list))
       (if (null? list) accumulated (loop (combine (car list) accumulated) (cdr list)))))
    ((combine initial . lists)
     (let loop ((accumulated initial) (lists lists))
       (let ((cars (%cars lists)))
         (if cars
             (loop (apply combine (append cars (list accumulated))) (%cdrs lists))
             accumulated))))))

;;;> Combines the elements from the left: `(combine accumulated element)`.
(define (fold-left combine initial list)
  (fold (lambda (element accumulated) (combine accumulated element)) initial list))

;;;> Combines the elements of one or more lists from the right: `(combine element … accumulated)`; of longer lists the first elements.
(define fold-right
  (case-lambda
    ((combine initial list) (fold combine initial (reverse list)))
    ((combine initial . lists)
     (fold (lambda (elements accumulated) (apply combine (append elements (list accumulated))))
           initial
           (reverse (apply map list lists))))))

;;;> Combines the elements of a list, or answers `initial` if it has none.
(define (reduce combine initial list)
  (if (null? list) initial (fold combine (car list) (cdr list))))

;;;> The elements that satisfy a predicate, in order.
(define (filter keep? list)
  (let loop ((list list) (kept '()))
    (cond ((null? list) (reverse kept))
          ((keep? (car list)) (loop (cdr list) (cons (car list) kept)))
          (else (loop (cdr list) kept)))))

;;;> The elements that do not satisfy a predicate, in order.
(define (remove drop? list)
  (filter (lambda (element) (not (drop? element))) list))

;;;> Two values: the elements that satisfy a predicate, and the others.
(define (partition keep? list)
  (let loop ((list list) (kept '()) (others '()))
    (cond ((null? list) (values (reverse kept) (reverse others)))
          ((keep? (car list)) (loop (cdr list) (cons (car list) kept) others))
          (else (loop (cdr list) kept (cons (car list) others))))))

;;;> The list without the elements equal to an object.
(define delete
  (case-lambda
    ((object list) (delete object list equal?))
    ((object list same?) (remove (lambda (element) (same? object element)) list))))

;;;> The list with only the first of equal elements.
(define delete-duplicates
  (case-lambda
    ((list) (delete-duplicates list equal?))
    ((list same?)
     (reverse
       (fold (lambda (element kept)
               (if (member element kept (lambda (new old) (same? old new))) kept (cons element kept)))
             '() list)))))

;;;> The first tail whose first element satisfies a predicate, or #f.
(define (find-tail wanted? list)
  (cond ((null? list) #f)
        ((wanted? (car list)) list)
        (else (find-tail wanted? (cdr list)))))

;;;> The first element that satisfies a predicate, or #f.
(define (find wanted? list)
  (let ((tail (find-tail wanted? list)))
    (if tail (car tail) #f)))

(define (%any wanted? list)
  (cond ((null? list) #f)
        ((null? (cdr list)) (wanted? (car list)))
        (else (or (wanted? (car list)) (%any wanted? (cdr list))))))

;;;> The first true answer of a predicate for the elements of one or more lists, or #f.
(define any
  (case-lambda
    ((wanted? list) (%any wanted? list))
    ((wanted? . lists) (%any (lambda (elements) (apply wanted? elements)) (apply map list lists)))))

(define (%every wanted? list)
  (cond ((null? list) #t)
        ((null? (cdr list)) (wanted? (car list)))
        (else (and (wanted? (car list)) (%every wanted? (cdr list))))))

;;;> The last answer of a predicate for the elements of one or more lists if all are true, otherwise #f.
(define every
  (case-lambda
    ((wanted? list) (%every wanted? list))
    ((wanted? . lists) (%every (lambda (elements) (apply wanted? elements)) (apply map list lists)))))

;;;> How many elements, or elements at the same place of several lists, satisfy a predicate.
(define count
  (case-lambda
    ((wanted? list) (fold (lambda (element sum) (if (wanted? element) (+ sum 1) sum)) 0 list))
    ((wanted? . lists) (count (lambda (elements) (apply wanted? elements)) (apply map list lists)))))

;;;> The index of the first element, or elements at the same place of several lists, that satisfy a predicate, or #f.
(define list-index
  (case-lambda
    ((wanted? list)
     (let loop ((list list) (index 0))
       (cond ((null? list) #f)
             ((wanted? (car list)) index)
             (else (loop (cdr list) (+ index 1))))))
    ((wanted? . lists) (list-index (lambda (elements) (apply wanted? elements)) (apply map list lists)))))

;;;> The true answers of a procedure for the elements of one or more lists, in order.
(define (filter-map procedure . lists)
  (filter (lambda (answer) answer) (apply map procedure lists)))

;;;> The lists that a procedure answers for the elements, appended.
(define (append-map procedure . lists)
  (apply append (apply map procedure lists)))

;;;> The lists in a list, appended.
(define (concatenate lists) (apply append lists))

;;;> All atoms in a tree of lists, in order.
(define (flatten tree)
  (let loop ((tree tree) (rest '()))
    (cond ((null? tree) rest)
          ((pair? tree) (loop (car tree) (loop (cdr tree) rest)))
          (else (cons tree rest)))))

;;;> The last element of a non-empty list.
(define (last list) (car (last-pair list)))

;;;> The first `count` elements.
(define (take list count)
  (let loop ((list list) (count count) (taken '()))
    (if (= count 0) (reverse taken) (loop (cdr list) (- count 1) (cons (car list) taken)))))

;;;> The first `count` elements, as `take`.
(define (list-head list count) (take list count))

;;;> The list without its first `count` elements.
(define (drop list count) (list-tail list count))
