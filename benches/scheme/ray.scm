;; Flonum vectors, records and closures: a ray tracer draws spheres over a plane, with shadows and mirrors.
(import (scheme base) (scheme inexact) (scheme write))

(define (point x y z) (vector x y z))
(define (x-of p) (vector-ref p 0))
(define (y-of p) (vector-ref p 1))
(define (z-of p) (vector-ref p 2))

(define (plus a b) (point (+ (x-of a) (x-of b)) (+ (y-of a) (y-of b)) (+ (z-of a) (z-of b))))
(define (minus a b) (point (- (x-of a) (x-of b)) (- (y-of a) (y-of b)) (- (z-of a) (z-of b))))
(define (times k a) (point (* k (x-of a)) (* k (y-of a)) (* k (z-of a))))
(define (dot a b) (+ (* (x-of a) (x-of b)) (* (y-of a) (y-of b)) (* (z-of a) (z-of b))))
(define (unit a) (times (/ 1.0 (sqrt (dot a a))) a))

;; `meet` gives the distance along a ray to the surface, or #f; `normal` the unit normal at a place.
(define-record-type surface
  (make-surface meet normal shade mirror)
  surface?
  (meet surface-meet)
  (normal surface-normal)
  (shade surface-shade)
  (mirror surface-mirror))

(define (sphere centre radius shade mirror)
  (make-surface
    (lambda (origin direction)
      (let* ((offset (minus origin centre))
             (b (dot offset direction))
             (discriminant (- (* b b) (- (dot offset offset) (* radius radius)))))
        (and (> discriminant 0.0)
             (let ((distance (- (- b) (sqrt discriminant))))
               (and (> distance 1e-4) distance)))))
    (lambda (place) (unit (minus place centre)))
    (lambda (place) shade)
    mirror))

(define (chequered-plane height)
  (make-surface
    (lambda (origin direction)
      (and (< (y-of direction) -1e-4)
           (let ((distance (/ (- height (y-of origin)) (y-of direction))))
             (and (> distance 1e-4) distance))))
    (lambda (place) (point 0.0 1.0 0.0))
    (lambda (place)
      (if (even? (+ (exact (floor (x-of place))) (exact (floor (z-of place))))) 0.9 0.3))
    0.2))

(define scene
  (list (sphere (point 0.0 0.0 6.0) 1.0 0.8 0.5)
        (sphere (point 1.8 -0.3 5.0) 0.7 0.6 0.3)
        (sphere (point -1.7 -0.4 4.5) 0.6 0.9 0.1)
        (chequered-plane -1.0)))

(define light (unit (point 1.0 2.0 -1.5)))

;; The distance to the nearest surface, and the surface; or #f.
(define (nearest origin direction)
  (let loop ((rest scene) (found #f))
    (if (null? rest)
        found
        (let ((distance ((surface-meet (car rest)) origin direction)))
          (loop (cdr rest)
                (if (and distance (or (not found) (< distance (car found))))
                    (cons distance (car rest))
                    found))))))

(define (brightness origin direction depth)
  (let ((found (nearest origin direction)))
    (if found
        (brightness-at (plus origin (times (car found) direction)) (cdr found) direction depth)
        (* 0.5 (+ 1.0 (y-of direction))))))

(define (brightness-at place surface direction depth)
  (let* ((normal ((surface-normal surface) place))
         (lit (dot normal light))
         (shade ((surface-shade surface) place))
         (own (if (and (> lit 0.0) (not (nearest place light)))
                  (* shade (+ 0.2 (* 0.8 lit)))
                  (* shade 0.2)))
         (mirror (surface-mirror surface)))
    (if (= depth 0)
        own
        (+ (* (- 1.0 mirror) own)
           (* mirror
              (brightness place
                          (minus direction (times (* 2.0 (dot normal direction)) normal))
                          (- depth 1)))))))

(define (picture-sum size)
  (let ((scale (/ 2.0 (inexact size))))
    (let rows ((row 0) (sum 0))
      (if (= row size)
          sum
          (let columns ((column 0) (sum sum))
            (if (= column size)
                (rows (+ row 1) sum)
                (let* ((x (- (* (inexact column) scale) 1.0))
                       (y (- 1.0 (* (inexact row) scale)))
                       (level (brightness (point 0.0 0.3 0.0) (unit (point x y 1.5)) 3)))
                  (columns (+ column 1) (+ sum (exact (floor (* 255.0 level))))))))))))

(define (main)
  (let repeat ((rounds 2) (answer 0))
    (cond ((> rounds 0) (repeat (- rounds 1) (picture-sum 160)))
          ((= answer 3685912) (display "ray ok"))
          (else (error "ray is wrong" answer))))
  (newline))

(main)
