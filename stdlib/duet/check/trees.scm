;;; A drawn value with the smaller values that may take its place, each with smaller ones in turn.
;;; The smaller ones are made when somebody asks for them.

(define-record-type <tree>
  (%make-tree value promise)
  %tree?
  (value %tree-value)
  (promise %tree-promise))

(define-syntax %tree
  (syntax-rules () ((_ value smaller) (%make-tree value (delay smaller)))))

(define (%smaller tree) (force (%tree-promise tree)))

(define (%tree-map procedure tree)
  (%tree (procedure (%tree-value tree))
    (map (lambda (smaller) (%tree-map procedure smaller)) (%smaller tree))))

;;; The tree of what `grow` makes of a tree's value; both shrink, the outer one first.
(define (%tree-bind tree grow)
  (let ((inner (grow (%tree-value tree))))
    (%tree (%tree-value inner)
      (append (map (lambda (smaller) (%tree-bind smaller grow)) (%smaller tree))
              (%smaller inner)))))

;;; The tree of the wanted values. One that is not wanted has those below it in its place, so that
;;; even numbers shrink to even ones.
(define (%tree-filter wanted? tree)
  (define (kept tree) (wanted? (%tree-value tree)))
  (%tree (%tree-value tree)
    (map (lambda (smaller) (%tree-filter wanted? smaller))
      (append-map
        (lambda (smaller) (if (kept smaller) (list smaller) (filter kept (%smaller smaller))))
        (%smaller tree)))))

;;; The tree of an exact integer: it shrinks towards another by halves of the distance.
(define (%integer-tree number origin)
  (%tree number
    (let loop ((distance (- number origin)))
      (if (= distance 0)
          '()
          (cons (%integer-tree (- number distance) origin) (loop (quotient distance 2)))))))

;;; The tree of one of several values: it shrinks to those before it.
(define (%index-tree values index)
  (%tree-map (lambda (index) (vector-ref values index)) (%integer-tree index 0)))

;;; The tree of a list of this minimal length: elements are left out, many at first, then each
;;; shrinks.
(define (%list-tree trees least)
  (%tree (map %tree-value trees)
    (map (lambda (trees) (%list-tree trees least))
         (append (%shorter trees least) (%shrunk trees)))))

;;; The lists without some neighbours, of at least a length.
(define (%shorter trees least)
  (let ((total (length trees)))
    (let sizes ((size (- total least)))
      (if (<= size 0)
          '()
          (let places ((start 0))
            (if (> (+ start size) total)
                (sizes (quotient size 2))
                (cons (%without trees start size) (places (+ start size)))))))))

(define (%without trees start size)
  (cond
    ((> start 0) (cons (car trees) (%without (cdr trees) (- start 1) size)))
    ((> size 0) (%without (cdr trees) 0 (- size 1)))
    (else trees)))

;;; The lists of which one element is smaller.
(define (%shrunk trees)
  (if (null? trees)
      '()
      (append
        (map (lambda (smaller) (cons smaller (cdr trees))) (%smaller (car trees)))
        (map (lambda (rest) (cons (car trees) rest)) (%shrunk (cdr trees))))))
