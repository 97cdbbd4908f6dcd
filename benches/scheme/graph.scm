;; Lists and vectors: breadth-first search from every vertex of a graph.
(import (scheme base) (scheme write))

;; Vertices 0, …, size - 1; each has edges both ways to two others that arithmetic picks.
(define (make-graph size)
  (let ((graph (make-vector size '())))
    (define (connect! a b)
      (vector-set! graph a (cons b (vector-ref graph a)))
      (vector-set! graph b (cons a (vector-ref graph b))))
    (do ((i 0 (+ i 1))) ((= i size) graph)
      (connect! i (modulo (+ i 1) size))
      (connect! i (modulo (+ (* i i) 7) size)))))

;; How many edges the farthest vertex is away from `start`.
(define (eccentricity graph start)
  (let ((seen (make-vector (vector-length graph) #f)))
    (define (unseen-neighbours vertices)
      (let next-vertex ((vertices vertices) (found '()))
        (if (null? vertices)
            found
            (let next-neighbour ((neighbours (vector-ref graph (car vertices))) (found found))
              (cond ((null? neighbours) (next-vertex (cdr vertices) found))
                    ((vector-ref seen (car neighbours)) (next-neighbour (cdr neighbours) found))
                    (else
                     (vector-set! seen (car neighbours) #t)
                     (next-neighbour (cdr neighbours) (cons (car neighbours) found))))))))
    (vector-set! seen start #t)
    (let loop ((frontier (list start)) (distance 0))
      (let ((next (unseen-neighbours frontier)))
        (if (null? next) distance (loop next (+ distance 1)))))))

(define (diameter graph)
  (let loop ((vertex 0) (longest 0))
    (if (= vertex (vector-length graph))
        longest
        (loop (+ vertex 1) (max longest (eccentricity graph vertex))))))

(define (main)
  (let ((answer (diameter (make-graph 1009))))
    (if (= answer 9)
        (display "graph ok")
        (error "graph is wrong" answer)))
  (newline))

(main)
