;; SRFI 27: random numbers, the same ones in each run.
(import (scheme base) (srfi 27))

;; A source begins in the state that the authors of the generator chose.
(random-source? (make-random-source))           ; => #t
(random-source? 1)                              ; => #f
(random-source-state-ref (make-random-source))  ; => (mrg32k3a 12345 12345 12345 12345 12345 12345)

;; A state that is put back yields the same numbers.
(let* ((s (make-random-source)) (next (random-source-make-integers s)))
  (let* ((a (next 100)) (saved (random-source-state-ref s)) (b (next (expt 10 30))))
    (random-source-state-set! s saved)
    (= b (next (expt 10 30)))))  ; => #t

;; Integers and reals are in their ranges.
(let loop ((n 0) (seen '()))
  (if (= n 1000)
      (length seen)
      (let ((x (random-integer 6))) (loop (+ n 1) (if (memv x seen) seen (cons x seen))))))  ; => 6
(let loop ((n 0)) (cond ((= n 1000) 'all) ((< 0 (random-real) 1) (loop (+ n 1))) (else 'not)))
; => all

;; The two indices of a source decide its numbers.
(let ((a (make-random-source)) (b (make-random-source)))
  (random-source-pseudo-randomize! a 1 2)
  (random-source-pseudo-randomize! b 1 3)
  (let ((x ((random-source-make-integers a) (expt 2 60)))
        (y ((random-source-make-integers b) (expt 2 60))))
    (random-source-pseudo-randomize! a 1 2)
    (list (= x y) (= x ((random-source-make-integers a) (expt 2 60))))))  ; => (#f #t)
(random-integer 0)  ; raises: error
