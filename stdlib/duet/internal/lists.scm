;;; Requires that a walk along a list has come to its end.
(define (%check-end procedure rest)
  (if (not (null? rest)) (%wrong-type procedure "a proper list" rest)))

(define (%check-procedure procedure object)
  (if (not (procedure? object)) (%wrong-type procedure "a procedure" object)))

;;;> Returns the elements of `reversed` in reverse order, followed by `tail`.
(define (append-reverse reversed tail)
  (if (pair? reversed)
      (append-reverse (cdr reversed) (cons (car reversed) tail))
      (begin (%check-end 'append-reverse reversed) tail)))

;;; Conses the elements of two lists onto `merged`. If `up?`, the lists descend, and the greater
;;; element goes first, of equal ones that of `b`; otherwise they ascend, and the lesser goes first,
;;; of equal ones that of `a`.
(define (%merged less? up? a b merged)
  (cond ((null? a) (append-reverse b merged))
        ((null? b) (append-reverse a merged))
        ((if (less? (car b) (car a)) up? (not up?))
         (%merged less? up? (cdr a) b (cons (car a) merged)))
        (else (%merged less? up? a (cdr b) (cons (car b) merged)))))

;;; Returns a sorted list of the elements of `vector` at start … end, descending unless `up?`. It
;;; changes nothing, so a predicate whose continuation is called again sorts as if it were the first
;;; time.
(define (%sorted less? up? vector start end)
  (if (= (- end start) 1)
      (cons (vector-ref vector start) '())
      (let* ((middle (quotient (+ start end) 2))
             (a (%sorted less? (not up?) vector start middle))
             (b (%sorted less? (not up?) vector middle end)))
        (%merged less? up? a b '()))))

;;; Returns a sorted list of the elements of `vector`, which nobody else uses.
(define (%sorted-list less? vector)
  (let ((length (vector-length vector)))
    (if (= length 0) '() (%sorted less? #t vector 0 length))))

;;;> Returns a sorted copy of a list; equal elements keep their order.
(define (list-sort less? list)
  (if (not (list? list)) (%wrong-type 'list-sort "a proper list" list))
  (%check-less 'list-sort less?)
  (%sorted-list less? (list->vector list)))

(define (%check-less procedure less?)
  (if (not (procedure? less?)) (%wrong-type procedure "a procedure that compares" less?)))

;;;> Returns a sorted copy of a vector, or of its elements from `start` up to `end`, exclusive;
;;;> equal elements keep their order.
(define vector-sort
  (case-lambda
    ((less? vector) (vector-sort less? vector 0))
    ((less? vector start)
     (if (not (vector? vector)) (%wrong-type 'vector-sort "a vector" vector))
     (vector-sort less? vector start (vector-length vector)))
    ((less? vector start end)
     (if (not (vector? vector)) (%wrong-type 'vector-sort "a vector" vector))
     (%check-less 'vector-sort less?)
     (list->vector (%sorted-list less? (vector-copy vector start end))))))

;;;> Returns a sorted copy of a list or vector.
(define (sort sequence less?)
  (%check-less 'sort less?)
  (cond ((vector? sequence) (vector-sort less? sequence))
        ((list? sequence) (list-sort less? sequence))
        (else (%wrong-type 'sort "a proper list or a vector" sequence))))

;;; The lists of the elements at the same index of one or more lists.
(define (%rows procedure first lists)
  (%check-lists procedure first lists)
  (apply map list first lists))

;;; Requires that a procedure was called with lists; of some it may not see the end.
(define (%check-lists procedure first lists)
  (if (not (or (pair? first) (null? first))) (%wrong-type procedure "a proper list" first))
  (if (pair? lists) (%check-lists procedure (car lists) (cdr lists))))

;;; Calls `(use elements index next)` for the elements at index 0 of several lists. `next` does so for
;;; the following index; it is #f if one of the lists ends there. Returns `default` if there are none.
;;; The last call is a tail call.
(define (%walk-rows procedure lists default use)
  (let loop ((elements (%cars lists)) (lists lists) (index 0))
    (if elements
        (let* ((rests (%cdrs lists)) (following (%cars rests)))
          (if (not following) (%check-rests procedure rests))
          (use elements index (and following (lambda () (loop following rests (+ index 1))))))
        (begin (%check-rests procedure lists) default))))

;;; Combines the elements of a list for a procedure, which an error names.
(define (%fold procedure combine initial list)
  (let loop ((accumulated initial) (list list))
    (if (pair? list)
        (loop (combine (car list) accumulated) (cdr list))
        (begin (%check-end procedure list) accumulated))))

;;;> Combines the elements of one or more lists from the left: `(combine element … accumulated)`, up
;;;> to the end of the shortest.
(define fold
  (case-lambda
    ((combine initial list)
     (%check-procedure 'fold combine)
     (%fold 'fold combine initial list))
    ((combine initial list . lists)
     (%check-procedure 'fold combine)
     (let loop ((accumulated initial) (lists (cons list lists)))
       (let ((cars (%cars lists)))
         (if cars
             (loop (apply combine (append cars (cons accumulated '()))) (%cdrs lists))
             (begin (%check-rests 'fold lists) accumulated)))))))

;;;> Combines the elements from the left: `(combine accumulated element)`.
(define (fold-left combine initial list)
  (%check-procedure 'fold-left combine)
  (%fold 'fold-left (lambda (element accumulated) (combine accumulated element)) initial list))

;;;> Combines the elements of one or more lists from the right: `(combine element … accumulated)`;
;;;> ignores the last elements of longer lists.
(define fold-right
  (case-lambda
    ((combine initial list)
     (%check-procedure 'fold-right combine)
     (if (not (list? list)) (%wrong-type 'fold-right "a proper list" list))
     (fold combine initial (reverse list)))
    ((combine initial list . lists)
     (%check-procedure 'fold-right combine)
     (fold (lambda (elements accumulated) (apply combine (append elements (cons accumulated '()))))
           initial
           (reverse (%rows 'fold-right list lists))))))

;;;> Combines the elements of a list; returns `initial` if it has none.
(define (reduce combine initial list)
  (%check-procedure 'reduce combine)
  (if (pair? list)
      (%fold 'reduce combine (car list) (cdr list))
      (begin (%check-end 'reduce list) initial)))

(define (%filter procedure keep? list)
  (let loop ((list list) (kept '()))
    (cond ((not (pair? list)) (%check-end procedure list) (reverse kept))
          ((keep? (car list)) (loop (cdr list) (cons (car list) kept)))
          (else (loop (cdr list) kept)))))

;;;> Returns the elements that satisfy a predicate, in order.
(define (filter keep? list)
  (%check-procedure 'filter keep?)
  (%filter 'filter keep? list))

;;;> Returns the elements that do not satisfy a predicate, in order.
(define (remove drop? list)
  (%check-procedure 'remove drop?)
  (%filter 'remove (lambda (element) (not (drop? element))) list))

;;;> Returns two values: the elements that satisfy a predicate, and the others.
(define (partition keep? list)
  (%check-procedure 'partition keep?)
  (let loop ((list list) (kept '()) (others '()))
    (cond ((not (pair? list)) (%check-end 'partition list) (values (reverse kept) (reverse others)))
          ((keep? (car list)) (loop (cdr list) (cons (car list) kept) others))
          (else (loop (cdr list) kept (cons (car list) others))))))

;;;> Returns the list without the elements equal to an object.
(define delete
  (case-lambda
    ((object list) (delete object list equal?))
    ((object list same?)
     (%check-procedure 'delete same?)
     (%filter 'delete (lambda (element) (not (same? object element))) list))))

;;;> Returns the list with only the first of equal elements.
(define delete-duplicates
  (case-lambda
    ((list) (delete-duplicates list equal?))
    ((list same?)
     (%check-procedure 'delete-duplicates same?)
     (reverse
       (%fold 'delete-duplicates (lambda (element kept)
                                   (if (member element kept (lambda (new old) (same? old new)))
                                       kept
                                       (cons element kept)))
              '() list)))))

;;;> Returns the first tail whose first element satisfies a predicate, or #f.
(define (find-tail wanted? list)
  (%check-procedure 'find-tail wanted?)
  (%find-tail 'find-tail wanted? list))

(define (%find-tail procedure wanted? list)
  (cond ((not (pair? list)) (%check-end procedure list) #f)
        ((wanted? (car list)) list)
        (else (%find-tail procedure wanted? (cdr list)))))

;;;> Returns the first element that satisfies a predicate, or #f.
(define (find wanted? list)
  (%check-procedure 'find wanted?)
  (let ((tail (%find-tail 'find wanted? list)))
    (if tail (car tail) #f)))

(define (%any wanted? list)
  (cond ((not (pair? list)) (%check-end 'any list) #f)
        ((null? (cdr list)) (wanted? (car list)))
        (else (or (wanted? (car list)) (%any wanted? (cdr list))))))

;;;> Returns the first true value of a predicate for the elements of one or more lists, or #f.
(define any
  (case-lambda
    ((wanted? list)
     (%check-procedure 'any wanted?)
     (%any wanted? list))
    ((wanted? list . lists)
     (%check-procedure 'any wanted?)
     (%walk-rows 'any (cons list lists) #f
       (lambda (elements index next)
         (if next (or (apply wanted? elements) (next)) (apply wanted? elements)))))))

(define (%every wanted? list)
  (cond ((not (pair? list)) (%check-end 'every list) #t)
        ((null? (cdr list)) (wanted? (car list)))
        (else (and (wanted? (car list)) (%every wanted? (cdr list))))))

;;;> Returns the last value of a predicate for the elements of one or more lists if all are true,
;;;> otherwise #f.
(define every
  (case-lambda
    ((wanted? list)
     (%check-procedure 'every wanted?)
     (%every wanted? list))
    ((wanted? list . lists)
     (%check-procedure 'every wanted?)
     (%walk-rows 'every (cons list lists) #t
       (lambda (elements index next)
         (if next (and (apply wanted? elements) (next)) (apply wanted? elements)))))))

;;;> Returns the number of elements that satisfy a predicate; of several lists, elements at the same
;;;> index count together.
(define count
  (case-lambda
    ((wanted? list)
     (%check-procedure 'count wanted?)
     (%fold 'count (lambda (element sum) (if (wanted? element) (+ sum 1) sum)) 0 list))
    ((wanted? list . lists)
     (%check-procedure 'count wanted?)
     (count (lambda (elements) (apply wanted? elements)) (%rows 'count list lists)))))

;;;> Returns the index of the first element that satisfies a predicate, or #f; of several lists,
;;;> elements at the same index are tested together.
(define list-index
  (case-lambda
    ((wanted? list)
     (%check-procedure 'list-index wanted?)
     (let loop ((list list) (index 0))
       (cond ((not (pair? list)) (%check-end 'list-index list) #f)
             ((wanted? (car list)) index)
             (else (loop (cdr list) (+ index 1))))))
    ((wanted? list . lists)
     (%check-procedure 'list-index wanted?)
     (%walk-rows 'list-index (cons list lists) #f
       (lambda (elements index next) (if (apply wanted? elements) index (and next (next))))))))

;;;> Returns the true values of a procedure for the elements of one or more lists, in order.
(define (filter-map procedure list . lists)
  (%check-procedure 'filter-map procedure)
  (%check-lists 'filter-map list lists)
  (filter (lambda (answer) answer) (apply map procedure list lists)))

;;;> Concatenates the lists that a procedure returns for the elements.
(define (append-map procedure list . lists)
  (%check-procedure 'append-map procedure)
  (%check-lists 'append-map list lists)
  (%concatenate 'append-map (apply map procedure list lists)))

;;;> Concatenates the lists in a list.
(define (concatenate lists) (%concatenate 'concatenate lists))

(define (%concatenate procedure lists)
  (define (joined list rest)
    (if (not (list? list)) (%wrong-type procedure "lists" list))
    (append list rest))
  (if (not (list? lists)) (%wrong-type procedure "a proper list of lists" lists))
  (if (null? lists)
      '()
      ;; From the end, so that each list is copied once; a call has no room for any number of lists.
      (let ((reversed (reverse lists))) (%fold procedure joined (car reversed) (cdr reversed)))))

;;;> Returns all atoms in a tree of lists, in order.
(define (flatten tree)
  (let loop ((tree tree) (rest '()))
    (cond ((null? tree) rest)
          ((pair? tree) (loop (car tree) (loop (cdr tree) rest)))
          (else (cons tree rest)))))

;;;> Returns the last element of a non-empty list.
(define (last list) (car (last-pair list)))

;;;> Returns the first `count` elements.
(define (take list count) (%taken 'take list count))

(define (%taken procedure list count)
  (%check-natural procedure "number of elements" count)
  (let loop ((list list) (count count) (taken '()))
    (if (and (> count 0) (not (pair? list)))
        (%wrong-type procedure "a list with as many elements" list))
    (if (= count 0) (reverse taken) (loop (cdr list) (- count 1) (cons (car list) taken)))))

;;;> Returns the first `count` elements, as `take`.
(define (list-head list count) (%taken 'list-head list count))

;;;> Returns the list without its first `count` elements.
(define (drop list count)
  (%check-natural 'drop "number of elements" count)
  (let loop ((rest list) (left count))
    (cond ((= left 0) rest)
          ((pair? rest) (loop (cdr rest) (- left 1)))
          ((null? rest) (%out-of-range 'drop "the list has fewer elements" count))
          (else (%wrong-type 'drop "a list" list)))))
