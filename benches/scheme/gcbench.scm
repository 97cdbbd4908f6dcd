;; Allocation: short-lived binary trees made beside a long-lived tree and a long-lived vector.
(import (scheme base) (scheme write))

(define-record-type node
  (make-node left right)
  node?
  (left node-left set-node-left!)
  (right node-right set-node-right!))

;; A tree whose children are made before their parents.
(define (tree depth)
  (if (= depth 0)
      (make-node #f #f)
      (make-node (tree (- depth 1)) (tree (- depth 1)))))

;; Gives a node subtrees, so that parents are older than their children.
(define (populate! node depth)
  (if (> depth 0)
      (begin
        (set-node-left! node (make-node #f #f))
        (set-node-right! node (make-node #f #f))
        (populate! (node-left node) (- depth 1))
        (populate! (node-right node) (- depth 1)))))

(define (count node)
  (if node
      (+ 1 (count (node-left node)) (count (node-right node)))
      0))

(define (short-lived depth rounds)
  (let loop ((i 0) (nodes 0))
    (if (= i rounds)
        nodes
        (let ((grown (make-node #f #f)))
          (populate! grown depth)
          (loop (+ i 1) (+ nodes (count grown) (count (tree depth))))))))

(define (main)
  (let* ((long-lived (tree 14))
         (array (make-vector 100000 1.5))
         (nodes (let loop ((depth 4) (nodes 0))
                  (if (> depth 12)
                      nodes
                      (loop (+ depth 2) (+ nodes (short-lived depth (expt 2 (- 16 depth)))))))))
    (if (and (= (count long-lived) 32767) (= (vector-ref array 99999) 1.5) (= nodes 1299808))
        (display "gcbench ok")
        (error "gcbench is wrong" nodes)))
  (newline))

(main)
