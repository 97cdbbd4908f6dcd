;; A macro's own names never capture its user's.
(define-syntax swap!
  (syntax-rules ()
    ((_ a b) (let ((tmp a)) (set! a b) (set! b tmp)))))
(let ((tmp 1) (other 2))
  (swap! tmp other)
  (list tmp other))                    ; => (2 1)

;; Nor do the user's names capture the macro's.
(define-syntax my-or
  (syntax-rules ()
    ((_) #f)
    ((_ e) e)
    ((_ e r ...) (let ((t e)) (if t t (my-or r ...))))))
(let ((t 5) (if list)) (my-or #f t))   ; => 5

;; Ellipses nest.
(define-syntax my-let*-lists
  (syntax-rules ()
    ((_ ((name value ...) ...)) '((name ...) (value ... ...)))))
(my-let*-lists ((a 1 2) (b) (c 3)))    ; => ((a b c) (1 2 3))

;; A tail may follow an ellipsis.
(define-syntax last-of
  (syntax-rules () ((_ first ... last) 'last)))
(last-of 1 2 3)                        ; => 3
