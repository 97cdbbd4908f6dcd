;;; Trees of entries in the order of their keys, balanced by weight: no subtree has more than three
;;; times the entries of its sibling. They are immutable. An empty tree is #f. The procedures
;;; receive the order of the keys, `less?`.
;;;
;;; Source: Stephen Adams, "Efficient sets: a balancing act", 1993.
(define-record-type node
  (%node key value left right size)
  %node?
  (key %key)
  (value %value)
  (left %left)
  (right %right)
  (size %node-size))

(define (%size tree) (if tree (%node-size tree) 0))

(define (%make key value left right) (%node key value left right (+ 1 (%size left) (%size right))))

(define (%rotate-left key value left right)
  (%make (%key right) (%value right) (%make key value left (%left right)) (%right right)))

(define (%rotate-right key value left right)
  (%make (%key left) (%value left) (%left left) (%make key value (%right left) right)))

(define (%turn-left key value left right)
  (if (< (%size (%left right)) (* 2 (%size (%right right))))
      (%rotate-left key value left right)
      (%rotate-left key
                    value
                    left
                    (%rotate-right (%key right) (%value right) (%left right) (%right right)))))

(define (%turn-right key value left right)
  (if (< (%size (%right left)) (* 2 (%size (%left left))))
      (%rotate-right key value left right)
      (%rotate-right key
                     value
                     (%rotate-left (%key left) (%value left) (%left left) (%right left))
                     right)))

;;; Makes a node of subtrees of which one has gained or lost an entry.
(define (%balanced key value left right)
  (let ((l (%size left)) (r (%size right)))
    (cond ((<= (+ l r) 1) (%make key value left right))
          ((> r (* 3 l)) (%turn-left key value left right))
          ((> l (* 3 r)) (%turn-right key value left right))
          (else (%make key value left right)))))

;;; The node of a key, or #f.
(define (%find less? tree key)
  (cond ((not tree) #f)
        ((less? key (%key tree)) (%find less? (%left tree) key))
        ((less? (%key tree) key) (%find less? (%right tree) key))
        (else tree)))

(define (%insert less? tree key value)
  (cond ((not tree) (%make key value #f #f))
        ((less? key (%key tree))
         (%balanced (%key tree) (%value tree) (%insert less? (%left tree) key value) (%right tree)))
        ((less? (%key tree) key)
         (%balanced (%key tree) (%value tree) (%left tree) (%insert less? (%right tree) key value)))
        (else (%make key value (%left tree) (%right tree)))))

(define (%first tree) (if (%left tree) (%first (%left tree)) tree))
(define (%last tree) (if (%right tree) (%last (%right tree)) tree))

(define (%without-first tree)
  (if (%left tree)
      (%balanced (%key tree) (%value tree) (%without-first (%left tree)) (%right tree))
      (%right tree)))

;;; Joins two trees of similar size; the keys of the first come before those of the second.
(define (%glue left right)
  (cond ((not left) right)
        ((not right) left)
        (else
         (let ((first (%first right)))
           (%balanced (%key first) (%value first) left (%without-first right))))))

(define (%remove less? tree key)
  (cond ((not tree) #f)
        ((less? key (%key tree))
         (%balanced (%key tree) (%value tree) (%remove less? (%left tree) key) (%right tree)))
        ((less? (%key tree) key)
         (%balanced (%key tree) (%value tree) (%left tree) (%remove less? (%right tree) key)))
        (else (%glue (%left tree) (%right tree)))))

;;; Joins two trees of any sizes with an entry between them.
(define (%join key value left right)
  (cond ((not left) (%with-first right key value))
        ((not right) (%with-last left key value))
        ((> (%size right) (* 3 (%size left)))
         (%balanced (%key right)
                    (%value right)
                    (%join key value left (%left right))
                    (%right right)))
        ((> (%size left) (* 3 (%size right)))
         (%balanced (%key left) (%value left) (%left left) (%join key value (%right left) right)))
        (else (%make key value left right))))

(define (%with-first tree key value)
  (if tree
      (%balanced (%key tree) (%value tree) (%with-first (%left tree) key value) (%right tree))
      (%make key value #f #f)))

(define (%with-last tree key value)
  (if tree
      (%balanced (%key tree) (%value tree) (%left tree) (%with-last (%right tree) key value))
      (%make key value #f #f)))

;;; Joins two trees of any sizes.
(define (%concatenated left right)
  (cond ((not left) right)
        ((not right) left)
        (else
         (let ((first (%first right)))
           (%join (%key first) (%value first) left (%without-first right))))))

;;; Returns three values: the entries before a key, its node or #f, and the entries after it.
(define (%split less? tree key)
  (cond ((not tree) (values #f #f #f))
        ((less? key (%key tree))
         (call-with-values
           (lambda () (%split less? (%left tree) key))
           (lambda (before found behind)
             (values before found (%join (%key tree) (%value tree) behind (%right tree))))))
        ((less? (%key tree) key)
         (call-with-values
           (lambda () (%split less? (%right tree) key))
           (lambda (before found behind)
             (values (%join (%key tree) (%value tree) (%left tree) before) found behind))))
        (else (values (%left tree) tree (%right tree)))))

;;; Calls `use` with the left subtrees of two trees, the right ones, the first's root, and the
;;; second's node of the same key or #f.
(define (%along less? a b use)
  (call-with-values
    (lambda () (%split less? b (%key a)))
    (lambda (before found behind)
      (use (lambda (combine) (combine less? (%left a) before))
           (lambda (combine) (combine less? (%right a) behind))
           found))))

;;; Returns the entries of both; of equal keys, the first tree's entry.
(define (%union less? a b)
  (cond ((not a) b)
        ((not b) a)
        (else
         (%along less? a b
           (lambda (left right found) (%join (%key a) (%value a) (left %union) (right %union)))))))

;;; The entries of the first whose keys the second has.
(define (%intersection less? a b)
  (if (or (not a) (not b))
      #f
      (%along less? a b
        (lambda (left right found)
          (let ((left (left %intersection)) (right (right %intersection)))
            (if found (%join (%key a) (%value a) left right) (%concatenated left right)))))))

;;; The entries of the first whose keys the second lacks.
(define (%difference less? a b)
  (cond ((not a) #f)
        ((not b) a)
        (else
         (%along less? a b
           (lambda (left right found)
             (let ((left (left %difference)) (right (right %difference)))
               (if found (%concatenated left right) (%join (%key a) (%value a) left right))))))))

;;; Combines the entries from the first on: `(combine key value accumulated)`.
(define (%fold combine initial tree)
  (if tree
      (%fold combine
             (combine (%key tree) (%value tree) (%fold combine initial (%left tree)))
             (%right tree))
      initial))

;;; Combines the entries from the last on.
(define (%fold-reverse combine initial tree)
  (if tree
      (%fold-reverse combine
                     (combine (%key tree)
                              (%value tree)
                              (%fold-reverse combine initial (%right tree)))
                     (%left tree))
      initial))

;;; The entries that satisfy `(wanted? key value)`.
(define (%filter wanted? tree)
  (if tree
      (let* ((left (%filter wanted? (%left tree)))
             (wanted (wanted? (%key tree) (%value tree)))
             (right (%filter wanted? (%right tree))))
        (if wanted (%join (%key tree) (%value tree) left right) (%concatenated left right)))
      #f))
