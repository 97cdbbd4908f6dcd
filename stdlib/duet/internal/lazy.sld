;;; Promises.
(define-library (duet internal lazy)
  (export delay delay-force make-promise promise? force)
  (import (duet kernel))
  (begin
    ;;; The content is shared by promises that were chained by delay-force: (#t . value) or (#f . thunk).
    (define-record-type promise (%make-promise content) promise? (content %content %set-content!))

    ;;;> A promise of the value of the promise that the expression gives, in constant space however long the chain.
    (define-syntax delay-force
      (syntax-rules () ((_ expression) (%make-promise (cons #f (lambda () expression))))))

    ;;;> A promise of the value of the expression, which is evaluated when first forced.
    (define-syntax delay
      (syntax-rules () ((_ expression) (delay-force (%make-promise (cons #t expression))))))

    ;;;> A promise that is already kept; a promise is its own.
    (define (make-promise value)
      (if (promise? value) value (%make-promise (cons #t value))))

    ;;;> The value of a promise; any other object is its own value.
    (define (force promise)
      (if (promise? promise)
          (let loop ()
            (let ((content (%content promise)))
              (if (car content)
                  (cdr content)
                  (let ((next ((cdr content))) (content (%content promise)))
                    ;; Forcing may have kept the promise meanwhile.
                    (if (not (car content))
                        (let ((inner (%content next)))
                          (set-car! content (car inner))
                          (set-cdr! content (cdr inner))
                          (%set-content! next content)))
                    (loop)))))
          promise))))
