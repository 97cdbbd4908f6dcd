;; Records: a balanced search tree whose nodes are immutable records, and a counter that changes.
(import (scheme base) (scheme write))

(define-record-type tree
  (make-tree level left key right)
  tree?
  (level level-of)
  (left left-of)
  (key key-of)
  (right right-of))

(define-record-type tally
  (make-tally rotations)
  tally?
  (rotations tally-rotations set-tally-rotations!))

(define (count-rotation! tally)
  (set-tally-rotations! tally (+ (tally-rotations tally) 1)))

(define (level tree) (if (tree? tree) (level-of tree) 0))

;; Turns a left child of the same level into the parent.
(define (skew tree tally)
  (let ((left (left-of tree)))
    (if (= (level left) (level-of tree))
        (begin
          (count-rotation! tally)
          (make-tree (level-of left)
                     (left-of left)
                     (key-of left)
                     (make-tree (level-of tree) (right-of left) (key-of tree) (right-of tree))))
        tree)))

;; Lifts the middle one of three nodes of the same level that lie to the right of one another.
(define (split tree tally)
  (let ((right (right-of tree)))
    (if (and (tree? right) (= (level (right-of right)) (level-of tree)))
        (begin
          (count-rotation! tally)
          (make-tree (+ (level-of right) 1)
                     (make-tree (level-of tree) (left-of tree) (key-of tree) (left-of right))
                     (key-of right)
                     (right-of right)))
        tree)))

(define (balanced tree tally) (split (skew tree tally) tally))

(define (insert tree key tally)
  (if (not (tree? tree))
      (make-tree 1 'leaf key 'leaf)
      (let ((own (key-of tree)))
        (cond ((= key own) tree)
              ((< key own)
               (balanced
                 (make-tree (level-of tree) (insert (left-of tree) key tally) own (right-of tree))
                 tally))
              (else
               (balanced
                 (make-tree (level-of tree) (left-of tree) own (insert (right-of tree) key tally))
                 tally))))))

(define (in-tree? tree key)
  (and (tree? tree)
       (cond ((= key (key-of tree)) #t)
             ((< key (key-of tree)) (in-tree? (left-of tree) key))
             (else (in-tree? (right-of tree) key)))))

(define (size tree)
  (if (tree? tree) (+ 1 (size (left-of tree)) (size (right-of tree))) 0))

;; 7919 and 10007 are coprime, so the first 10007 keys all differ.
(define (filled count tally)
  (let loop ((i 0) (tree 'leaf))
    (if (= i count) tree (loop (+ i 1) (insert tree (modulo (* i 7919) 10007) tally)))))

(define (found tree limit)
  (let loop ((key 0) (count 0))
    (if (= key limit) count (loop (+ key 1) (if (in-tree? tree key) (+ count 1) count)))))

(define (main)
  (let* ((tally (make-tally 0)) (tree (filled 10000 tally)))
    (let repeat ((rounds 12) (answer 0))
      (cond ((> rounds 0) (repeat (- rounds 1) (found tree 10007)))
            ((and (= answer 10000) (= (size tree) 10000) (= (tally-rotations tally) 23378))
             (display "records ok"))
            (else (error "records is wrong" answer (tally-rotations tally))))))
  (newline))

(main)
