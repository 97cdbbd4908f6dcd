;;; A set is a predicate and a promise of its ranges: a sorted list of pairs of the first and last
;;; code point, with gaps between them. Membership needs only the predicate, so the ranges of large
;;; sets are computed only on demand.
(define-record-type char-set-type
  (%char-set contains ranges)
  ;;;> Returns whether an object is a set of characters.
  char-set?
  (contains %contains)
  (ranges %promised-ranges))

(define (%ranges set) (force (%promised-ranges set)))

;;;> Returns whether a character is in a set.
(define (char-set-contains? set char) ((%contains set) char))

(define (%in-ranges? ranges code)
  (let loop ((ranges ranges))
    (and (pair? ranges)
         (>= code (car (car ranges)))
         (or (<= code (cdr (car ranges))) (loop (cdr ranges))))))

(define (%of-ranges ranges)
  (%char-set (lambda (char) (%in-ranges? ranges (char->integer char))) (make-promise ranges)))

;;; Returns sorted ranges that neither overlap nor touch.
(define (%normal ranges)
  (let loop ((rest (sort ranges (lambda (a b) (< (car a) (car b))))) (normal '()))
    (cond ((null? rest) (reverse normal))
          ((and (pair? normal) (<= (car (car rest)) (+ (cdr (car normal)) 1)))
           (loop (cdr rest)
                 (cons (cons (car (car normal)) (max (cdr (car normal)) (cdr (car rest))))
                       (cdr normal))))
          (else (loop (cdr rest) (cons (car rest) normal))))))

;;; The ranges of characters: code points without surrogates.
(define %all '((0 . #xD7FF) (#xE000 . #x10FFFF)))

;;; Returns the ranges of the characters in some ranges that satisfy a predicate; tests each of them.
(define (%scan wanted? ranges)
  (define (scan code last ranges)
    (let loop ((code code) (start #f) (ranges ranges))
      (cond ((> code last) (if start (cons (cons start last) ranges) ranges))
            ((wanted? (integer->char code)) (loop (+ code 1) (or start code) ranges))
            (start (loop (+ code 1) #f (cons (cons start (- code 1)) ranges)))
            (else (loop (+ code 1) #f ranges)))))
  (%normal (fold (lambda (range found) (scan (car range) (cdr range) found)) '() ranges)))

;;; The predicate must always give the same answer, because it is called whenever the set is used.
(define (%of-predicate wanted?) (%char-set wanted? (delay (%scan wanted? %all))))

(define (%common a b)
  (cond ((or (null? a) (null? b)) '())
        ((< (cdr (car a)) (car (car b))) (%common (cdr a) b))
        ((< (cdr (car b)) (car (car a))) (%common a (cdr b)))
        (else
         (cons (cons (max (car (car a)) (car (car b))) (min (cdr (car a)) (cdr (car b))))
               (if (< (cdr (car a)) (cdr (car b))) (%common (cdr a) b) (%common a (cdr b)))))))

(define (%gaps ranges first)
  (cond ((null? ranges) (if (> first #x10FFFF) '() (list (cons first #x10FFFF))))
        ((> (car (car ranges)) first)
         (cons (cons first (- (car (car ranges)) 1)) (%gaps (cdr ranges) (+ (cdr (car ranges)) 1))))
        (else (%gaps (cdr ranges) (+ (cdr (car ranges)) 1)))))

;;;> Returns the set of the characters that are not in a set.
(define (char-set-complement set)
  (%char-set (lambda (char) (not (char-set-contains? set char)))
             (delay (%common %all (%gaps (%ranges set) 0)))))

(define (%union a b)
  (%char-set (lambda (char) (or (char-set-contains? a char) (char-set-contains? b char)))
             (delay (%normal (append (%ranges a) (%ranges b))))))

(define (%intersection a b)
  (%char-set (lambda (char) (and (char-set-contains? a char) (char-set-contains? b char)))
             (delay (%common (%ranges a) (%ranges b)))))

;;;> Returns the set of the characters that are in any of the sets.
(define (char-set-union . sets) (fold (lambda (set union) (%union union set)) char-set:empty sets))

;;;> Returns the set of the characters that are in all of the sets.
(define (char-set-intersection . sets)
  (fold (lambda (set common) (%intersection common set)) char-set:full sets))

;;;> Returns the set of the characters of the first set that are in none of the others.
(define (char-set-difference set . sets)
  (fold (lambda (set left) (%intersection left (char-set-complement set))) set sets))

;;;> Returns the set of the characters that are in an odd number of the sets.
(define (char-set-xor . sets)
  (fold
    (lambda (set others) (%union (char-set-difference set others) (char-set-difference others set)))
    char-set:empty
    sets))

;;;> Returns two values: the difference, and the characters of the first set that are in some of the
;;;> others.
(define (char-set-diff+intersection set . sets)
  (values (apply char-set-difference set sets)
          (%intersection set (apply char-set-union sets))))
