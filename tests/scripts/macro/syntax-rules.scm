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

;; A variable may have more ellipses in the template than in the pattern. The outermost repeat it,
;; if the others have something to repeat.
(define-syntax each-with
  (syntax-rules () ((_ (a b ...) ...) '(((a b) ...) ...))))
(each-with (1 2 3) (4 5))              ; => (((1 2) (1 3)) ((4 5)))
;; Otherwise the innermost repeat it.
(define-syntax kons
  (syntax-rules () ((_ (a ...) (b ...)) '((a b ...) ...))))
(kons (1 2) (3 4))                     ; => ((1 3 4) (2 3 4))
(kons () (3 4))                        ; => ()
(kons (1 2) ())                        ; => ((1) (2))
(define-syntax grid
  (syntax-rules () ((_ (a ...) (b ...) (c ...)) '((a #((b c ...) ...)) ...))))
(grid (1 2) (3 4) (5))                 ; => ((1 #((3 5) (4 5))) (2 #((3 5) (4 5))))
;; Each occurrence of a variable is repeated for itself.
(define-syntax heads
  (syntax-rules () ((_ a ...) '((a a ...) ...))))
(heads 1 2)                            ; => ((1 1 2) (2 1 2))
(define-syntax flat
  (syntax-rules () ((_ (a ...) (b ...)) '((a b ...) ... b ...))))
(flat (1 2) (3))                       ; => ((1 3) (2 3) 3)
(define-syntax deep
  (syntax-rules () ((_ (a ...) ((b ...) ...)) '((a (b ...) ...) ...))))
(deep (1 2) ((3 4) (5)))               ; => ((1 (3 4) (5)) (2 (3 4) (5)))

;; A tail may follow an ellipsis.
(define-syntax last-of
  (syntax-rules () ((_ first ... last) 'last)))
(last-of 1 2 3)                        ; => 3
