;; R7RS 6.10: dynamic-wind.

(let ((path '()) (c #f))
  (let ((add (lambda (s) (set! path (cons s path)))))
    (dynamic-wind
      (lambda () (add 'connect))
      (lambda () (add (call/cc (lambda (c0) (set! c c0) 'talk1))))
      (lambda () (add 'disconnect)))
    (if (< (length path) 4) (c 'talk2) (reverse path))))
; => (connect talk1 disconnect connect talk2 disconnect)
;; From one branch to its sibling: out of one, into the other, innermost first and outermost first.
(let ((trace '()) (k #f) (n 0))
  (define (note x) (set! trace (cons x trace)))
  (define (wind name thunk)
    (dynamic-wind (lambda () (note (list name 'in))) thunk (lambda () (note (list name 'out)))))
  (wind 'a
        (lambda ()
          (wind 'b (lambda () (wind 'c (lambda () (call/cc (lambda (c) (set! k c)))))))
          (if (= n 0) (begin (set! n 1) (wind 'd (lambda () (k 1)))))))
  (reverse trace))
; => ((a in) (b in) (c in) (c out) (b out) (d in) (d out) (b in) (c in) (c out) (b out) (a out))
;; An escape from `before` or `after` counts as outside.
(let ((trace '()))
  (define (note x) (set! trace (cons x trace)))
  (call/cc (lambda (k)
             (dynamic-wind
               (lambda () (note 'in1))
               (lambda ()
                 (dynamic-wind
                   (lambda () (note 'in2) (k 'x))
                   (lambda () (note 'never))
                   (lambda () (note 'out2))))
               (lambda () (note 'out1)))))
  (reverse trace))                                   ; => (in1 in2 out1)
(let ((trace '()))
  (define (note x) (set! trace (cons x trace)))
  (call/cc (lambda (k1)
             (call/cc (lambda (k2)
                        (dynamic-wind (lambda () (note 'in))
                                      (lambda () (k2 1))
                                      (lambda () (note 'out) (k1 2)))))
             (note 'not-reached)))
  (reverse trace))                                   ; => (in out)
;; A raise caught outside unwinds; a continuable one does not.
(let ((trace '()))
  (define (note x) (set! trace (cons x trace)))
  (guard (e (#t (note e)))
    (dynamic-wind (lambda () (note 'in)) (lambda () (raise 'oops)) (lambda () (note 'out))))
  (with-exception-handler
    (lambda (e) (note e) 'ok)
    (lambda ()
      (dynamic-wind
        (lambda () (note 'in))
        (lambda () (note (raise-continuable 'c)))
        (lambda () (note 'out)))))
  (reverse trace))                                   ; => (in out oops in c ok out)
