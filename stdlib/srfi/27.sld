;;; SRFI 27: pseudo-random numbers, by L'Ecuyer's MRG32k3a. A run is the same each time: a new
;;; source has a fixed state, and only random-source-randomize! reads the clock, whose time is an
;;; input of the run.
(define-library (srfi 27)
  (export
    random-integer random-real default-random-source make-random-source random-source?
    random-source-state-ref random-source-state-set! random-source-randomize!
    random-source-pseudo-randomize! random-source-make-integers random-source-make-reals)
  (on-demand)
  (import (scheme base) (scheme time))
  (begin
    (define %m1 4294967087)
    (define %m2 4294944443)

    (define-record-type %source
      (%make-source state)
      ;;;> Returns whether an object is a source of random numbers.
      random-source?
      (state %state %set-state!))

    ;;; The next number from 1 to %m1.
    (define (%next! source)
      (let* ((s (%state source))
             (a (modulo (- (* 1403580 (vector-ref s 1)) (* 810728 (vector-ref s 0))) %m1))
             (b (modulo (- (* 527612 (vector-ref s 5)) (* 1370589 (vector-ref s 3))) %m2))
             (difference (modulo (- a b) %m1)))
        (vector-set! s 0 (vector-ref s 1))
        (vector-set! s 1 (vector-ref s 2))
        (vector-set! s 2 a)
        (vector-set! s 3 (vector-ref s 4))
        (vector-set! s 4 (vector-ref s 5))
        (vector-set! s 5 b)
        (if (= difference 0) %m1 difference)))

    ;;; Returns a number from 0 up to `bound`, exclusive, uniformly distributed.
    (define (%below! source bound)
      (let-values (((range digits)
                    (let loop ((range %m1) (digits 1))
                      (if (< range bound)
                          (loop (* range %m1) (+ digits 1))
                          (values range digits)))))
        (let ((most (* bound (quotient range bound))))
          (let again ()
            (let loop ((digits digits) (number 0))
              (cond ((> digits 0) (loop (- digits 1) (+ (* number %m1) (- (%next! source) 1))))
                    ((< number most) (modulo number bound))
                    (else (again))))))))

    (define (%check-source source procedure)
      (if (not (random-source? source)) (error "not a source of random numbers" procedure source)))

    ;;;> Makes a source of random numbers, in the state of every new source.
    (define (make-random-source) (%make-source (vector 12345 12345 12345 12345 12345 12345)))

    ;;;> Returns the state of a source, a list that can be written and read.
    (define (random-source-state-ref source)
      (%check-source source 'random-source-state-ref)
      (cons 'mrg32k3a (vector->list (%state source))))

    ;;;> Sets a source to a state from `random-source-state-ref`.
    (define (random-source-state-set! source state)
      (%check-source source 'random-source-state-set!)
      (if (not (and (list? state) (= (length state) 7) (eq? (car state) 'mrg32k3a)))
          (error "not a state of a source of random numbers" state))
      (%set-state! source (list->vector (cdr state))))

    ;;; Makes a state from a number, all of whose bits matter.
    (define (%scatter! source number)
      (let ((s (vector 1 1 1 1 1 1)))
        (do ((index 0 (+ index 1)) (rest number (quotient rest 4294944443)))
            ((and (>= index 6) (= rest 0)))
          (let ((place (modulo index 6)))
            (vector-set! s
                         place
                         (+ 1 (modulo (+ (* 69069 (vector-ref s place)) rest index) 4294944442)))))
        (%set-state! source s)
        (do ((steps 24 (- steps 1))) ((= steps 0)) (%next! source))))

    ;;;> Sets a source to a state that depends on the clock.
    (define (random-source-randomize! source)
      (%check-source source 'random-source-randomize!)
      (%scatter! source
                 (+ (* 4294944443 (current-jiffy)) (exact (floor (* 1000 (current-second)))))))

    ;;;> Sets a source to the state for two non-negative exact integers.
    (define (random-source-pseudo-randomize! source i j)
      (%check-source source 'random-source-pseudo-randomize!)
      (%scatter! source (+ (* (+ i j) (+ i j 1)) (* 2 j) 1)))

    ;;;> Makes a procedure that returns, for a positive exact integer, a random one from 0 up to it,
    ;;;> exclusive.
    (define (random-source-make-integers source)
      (%check-source source 'random-source-make-integers)
      (lambda (bound)
        (if (not (and (exact-integer? bound) (> bound 0)))
            (error "random-integer: the bound must be a positive exact integer" bound))
        (%below! source bound)))

    ;;;> Makes a procedure without arguments that returns random numbers between 0 and 1, or
    ;;;> multiples of `unit` between them.
    (define (random-source-make-reals source . unit)
      (%check-source source 'random-source-make-reals)
      (if (null? unit)
          (lambda () (/ (+ 1.0 (%below! source 9007199254740991)) 9007199254740992.0))
          (let* ((unit (car unit)) (steps (- (exact (floor (/ 1 unit))) 1)))
            (if (not (< 0 unit 1))
                (error "random-source-make-reals: the unit must be between 0 and 1" unit))
            (lambda () (* unit (+ 1 (%below! source (max 1 steps))))))))

    ;;;> The source of `random-integer` and `random-real`.
    (define default-random-source (make-random-source))
    ;;;> Returns a random exact integer from 0 up to the argument, exclusive.
    (define random-integer (random-source-make-integers default-random-source))
    ;;;> Returns a random number between 0 and 1, both excluded.
    (define random-real (random-source-make-reals default-random-source))))
