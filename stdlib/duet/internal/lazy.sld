;;; Promises.
(define-library (duet internal lazy)
  (export delay delay-force make-promise promise? force)
  (on-demand)
  (import (duet kernel))
  (begin
    ;;;> Makes a promise for the value of the promise that the expression returns, in constant space
    ;;;> however long the chain.
    ;;;> If the expression returns another object, works like delay.
    (define-syntax delay-force
      (syntax-rules () ((_ expression) (%make-promise #f (lambda () expression)))))

    ;;;> Makes a promise for the value of the expression, which is evaluated at the first force.
    (define-syntax delay
      (syntax-rules () ((_ expression) (delay-force (%make-promise #t expression)))))

    ;;;> Makes a promise that already has its value; returns a promise unchanged.
    (define (make-promise value)
      (if (promise? value) value (%make-promise #t value)))

    ;;;> Returns the value of a promise; any other object is its own value.
    (define (force promise)
      (cond ((not (promise? promise)) promise)
            ((%promise-state promise) (%promise-content promise))
            (else
             (let ((next ((%promise-content promise))))
               ;; Forcing may have determined the value of the promise meanwhile.
               (if (not (%promise-state promise)) (%promise-take! promise (make-promise next)))
               (force promise)))))))
