;; SRFI 235: combinators.
(import (scheme base) (srfi 235))

;; Procedures from procedures.
((constantly 1) 2)      ; => 1
((complement even?) 1)  ; => #t
((swap -) 1 5)          ; => 4
((flip list) 1 2 3)     ; => (3 2 1)
((on-left -) 1 2)       ; => -1
((on-right -) 1 2)      ; => -2

;; Predicates from predicates.
((conjoin positive? even?) 2 4)  ; => #t
((conjoin positive? even?) 2 3)  ; => #f
((disjoin zero? even?) 0 3)      ; => #f
((disjoin zero? odd?) 0 3)       ; => #t
((all-of even?) '(2 3))          ; => #f
((any-of even?) '(1 2))          ; => #t

;; Sections and compositions.
((on + square) 1 2 3)            ; => 14
((left-section list 1 2) 3)      ; => (1 2 3)
((right-section list 1 2) 3)     ; => (3 2 1)
((apply-chain square car) '(3))  ; => 9
((compose car cdr) '(1 2))       ; => 2
(identity 1)                     ; => 1

;; Arguments that are dropped or taken.
((arguments-drop list 1) 1 2 3)        ; => (2 3)
((arguments-drop-right list 1) 1 2 3)  ; => (1 2)
((arguments-take list 1) 1 2 3)        ; => (1)
((arguments-take-right list 1) 1 2 3)  ; => (3)
((group-by odd?) '(1 2 3 4))           ; => ((1 3) (2 4))

;; Syntax as procedures: each runs the thunks that its form would evaluate, in that order.
(let ((seen '()))
  (define (note x) (lambda () (set! seen (cons x seen)) x))
  (let ((values (list (begin-procedure (note 1) (note 2))
                      (if-procedure #f (note 3) (note 4))
                      (when-procedure #t (note 5))
                      (value-procedure 6 - (note 7))
                      (case-procedure 'b (list (cons 'a (note 8)) (cons 'b (note 9))))
                      (case-procedure 'c '() (note 10)))))
    (list values (reverse seen))))  ; => ((2 4 5 -6 9 10) (1 2 4 5 9 10))
(let ((n 0))
  (define (next) (set! n (+ n 1)) (< n 3))
  (while-procedure next)
  (until-procedure (lambda () (next) (> n 5)))
  (unless-procedure #f next)
  n)  ; => 7

;; Logic as procedures.
(define (true) 1)
(define (false) #f)
(and-procedure true false)             ; => #f
(or-procedure false true)              ; => 1
(eager-and-procedure true true)        ; => 1
(eager-or-procedure false true false)  ; => 1
(and-procedure)                        ; => #t
(or-procedure)                         ; => #f
(funcall-procedure true)               ; => 1
(always 1)                             ; => #t
(never 1)                              ; => #f
(boolean 5)                            ; => #t

;; Loops.
(let ((count 0))
  ((each-of (lambda (x) (set! count (+ count x))) (lambda (x) (set! count (* count x)))) 3)
  (call/cc (lambda (k)
             (loop-procedure (lambda () (set! count (+ count 1)) (if (> count 11) (k count)))))))
; => 12
