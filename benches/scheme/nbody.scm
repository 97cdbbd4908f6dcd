;; Flonums in vectors: five bodies that attract one another, moved in small steps.
(import (scheme base) (scheme inexact) (scheme write))

;; A body is a vector: position x y z, velocity x y z, mass.
(define (body x y z vx vy vz mass) (vector x y z vx vy vz mass))

(define (sun-and-planets)
  (list (body 0.0 0.0 0.0 0.0 0.0 0.0 40.0)
        (body 5.0 -1.0 -0.1 0.6 2.8 -0.02 0.04)
        (body 8.3 4.1 -0.4 -1.0 1.8 0.008 0.01)
        (body 12.9 -15.1 -0.2 1.1 0.9 -0.01 0.002)
        (body 15.4 -25.9 0.2 1.0 0.6 -0.03 0.002)))

(define (add! vector index change)
  (vector-set! vector index (+ (vector-ref vector index) change)))

;; Changes the velocities of two bodies by what each pulls at the other in `dt`.
(define (attract! a b dt)
  (let* ((dx (- (vector-ref a 0) (vector-ref b 0)))
         (dy (- (vector-ref a 1) (vector-ref b 1)))
         (dz (- (vector-ref a 2) (vector-ref b 2)))
         (square (+ (* dx dx) (* dy dy) (* dz dz)))
         (pull (/ dt (* square (sqrt square))))
         (from-a (* pull (vector-ref a 6)))
         (from-b (* pull (vector-ref b 6))))
    (add! a 3 (- (* dx from-b)))
    (add! a 4 (- (* dy from-b)))
    (add! a 5 (- (* dz from-b)))
    (add! b 3 (* dx from-a))
    (add! b 4 (* dy from-a))
    (add! b 5 (* dz from-a))))

(define (move! body dt)
  (add! body 0 (* dt (vector-ref body 3)))
  (add! body 1 (* dt (vector-ref body 4)))
  (add! body 2 (* dt (vector-ref body 5))))

(define (step! bodies dt)
  (let each ((rest bodies))
    (if (pair? rest)
        (let ((a (car rest)))
          (for-each (lambda (b) (attract! a b dt)) (cdr rest))
          (each (cdr rest)))))
  (for-each (lambda (body) (move! body dt)) bodies))

(define (square-of-distance a b from)
  (let loop ((index from) (sum 0.0))
    (if (= index (+ from 3))
        sum
        (let ((d (- (vector-ref a index) (vector-ref b index))))
          (loop (+ index 1) (+ sum (* d d)))))))

(define origin (make-vector 7 0.0))

;; Kinetic less potential energy, which the steps should keep.
(define (energy bodies)
  (let each ((rest bodies) (sum 0.0))
    (if (null? rest)
        sum
        (let* ((a (car rest))
               (kinetic (* 0.5 (vector-ref a 6) (square-of-distance a origin 3))))
          (let others ((others-left (cdr rest)) (sum (+ sum kinetic)))
            (if (null? others-left)
                (each (cdr rest) sum)
                (let ((b (car others-left)))
                  (others (cdr others-left)
                          (- sum (/ (* (vector-ref a 6) (vector-ref b 6))
                                    (sqrt (square-of-distance a b 0))))))))))))

(define (main)
  (let* ((bodies (sun-and-planets))
         (before (energy bodies))
         (start (body 5.0 -1.0 0.0 0.0 0.0 0.0 0.0)))
    (do ((i 0 (+ i 1))) ((= i 50000)) (step! bodies 0.001))
    (let ((change (abs (- (energy bodies) before)))
          (moved (square-of-distance (cadr bodies) start 0)))
      (if (and (< change 1e-4) (> moved 1.0))
          (display "nbody ok")
          (error "nbody is wrong" change moved))))
  (newline))

(main)
