;;; Lists as sets, by a predicate `same?`, whose first argument is an element of an earlier list.

(define (%in? same? element list)
  (member element list (lambda (element other) (same? other element))))

(define (%included? same? a b) (every (lambda (element) (member element b same?)) a))

;;; Returns whether every two neighbours in a list of lists satisfy a relation.
(define (%neighbours holds? lists)
  (or (null? lists)
      (let loop ((first (car lists)) (rest (cdr lists)))
        (or (null? rest)
            (and (holds? first (car rest)) (loop (car rest) (cdr rest)))))))

;;;> Returns whether each set is included in the next.
(define (lset<= same? . lists)
  (%neighbours (lambda (a b) (or (eq? a b) (%included? same? a b))) lists))

;;;> Returns whether all sets have the same elements.
(define (lset= same? . lists)
  (%neighbours
    (lambda (a b)
      (or (eq? a b)
          (and (%included? same? a b)
               (%included? (lambda (x y) (same? y x)) b a))))
    lists))

;;;> Returns a set with more elements, which are added at its front.
(define (lset-adjoin same? list . elements)
  (fold (lambda (element list) (if (%in? same? element list) list (cons element list)))
        list
        elements))

;;;> Returns the elements of any of the sets.
(define (lset-union same? . lists)
  (reduce (lambda (list union)
            (cond ((null? list) union)
                  ((null? union) list)
                  ((eq? list union) union)
                  (else
                   (fold (lambda (element union)
                           (if (%in? same? element union) union (cons element union)))
                         union list))))
          '() lists))

;;;> Returns the elements of the first set that are in all others.
(define (lset-intersection same? list . lists)
  (filter (lambda (element) (every (lambda (other) (member element other same?)) lists)) list))

;;;> Returns the elements of the first set that are in none of the others.
(define (lset-difference same? list . lists)
  (filter (lambda (element) (every (lambda (other) (not (member element other same?))) lists))
          list))

;;;> Returns the elements that are in an odd number of the sets.
(define (lset-xor same? . lists)
  (reduce (lambda (list others)
            (append (lset-difference same? list others)
                    (lset-difference (lambda (x y) (same? y x)) others list)))
          '() lists))

;;;> Returns two values: the elements of the first set that are in none of the others, and those
;;;> that are in some.
(define (lset-diff+intersection same? list . lists)
  (partition (lambda (element) (every (lambda (other) (not (member element other same?))) lists))
             list))
