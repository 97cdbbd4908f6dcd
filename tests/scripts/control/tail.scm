;; A tail call needs no stack: a million of them return.
(define (count n) (if (= n 0) 'done (count (- n 1))))
(count 1000000)                        ; => done

;; So do mutual ones, and those in `cond`, `and`, `or`, `case` and `when`.
(define (even-count? n) (or (= n 0) (odd-count? (- n 1))))
(define (odd-count? n) (and (not (= n 0)) (even-count? (- n 1))))
(even-count? 1000001)                  ; => #f

;; Deep recursion that is no tail call is limited by memory only.
(define (depth n) (if (= n 0) 0 (+ 1 (depth (- n 1)))))
(depth 100000)                         ; => 100000
