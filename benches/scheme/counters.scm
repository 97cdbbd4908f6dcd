;; Assigned variables: counters that loops and closures change, global, local and captured.
(import (scheme base) (scheme write))

(define total 0)

(define (count-up! n)
  (do ((i 0 (+ i 1))) ((= i n))
    (set! total (+ total 1))))

(define (make-counter step)
  (let ((value 0))
    (lambda ()
      (set! value (+ value step))
      value)))

;; Counts with two counters that take turns until they have passed n together.
(define (taken-turns n)
  (let ((left (make-counter 1)) (right (make-counter 3)) (turns 0))
    (let loop ((sum 0))
      (if (> sum n)
          turns
          (begin
            (set! turns (+ turns 1))
            (loop (+ (left) (right))))))))

(define (main)
  (do ((round 0 (+ round 1))) ((= round 8))
    (count-up! 1000000))
  (let ((turns (taken-turns 4000000)))
    (if (and (= total 8000000) (= turns 1000001))
        (display "counters ok")
        (error "counters is wrong" total turns)))
  (newline))

(main)
