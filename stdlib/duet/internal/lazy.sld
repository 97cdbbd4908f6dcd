;;; Promises.
(define-library (duet internal lazy)
  (export delay delay-force make-promise promise? force)
  (on-demand)
  (import (duet kernel))
  (begin
    ;;;> A promise of the value of the promise that the expression gives, in constant space however long the chain.
    ;;;> An expression that gives something else is as with delay.
    (define-syntax delay-force
      (syntax-rules () ((_ expression) (%make-promise #f (lambda () expression)))))

    ;;;> A promise of the value of the expression, which is evaluated when first forced.
    (define-syntax delay
      (syntax-rules () ((_ expression) (delay-force (%make-promise #t expression)))))

    ;;;> A promise that is already kept; a promise is its own.
    (define (make-promise value)
      (if (promise? value) value (%make-promise #t value)))

    ;;;> The value of a promise; any other object is its own value.
    (define (force promise)
      (cond ((not (promise? promise)) promise)
            ((%promise-state promise) (%promise-content promise))
            (else
             (let ((next ((%promise-content promise))))
               ;; Forcing may have kept the promise meanwhile.
               (if (not (%promise-state promise)) (%promise-take! promise (make-promise next)))
               (force promise)))))))
