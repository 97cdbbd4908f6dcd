;; SRFI 189: Maybe and Either.
(import (scheme base) (srfi 189))
(define (show object) (cond ((just? object) (cons 'just (maybe->list object))) ((nothing? object) 'nothing) ((right? object) (cons 'right (either->list object))) ((left? object) (cons 'left (either->list object))) (else object)))
(map show (list (just 1 2) (nothing) (right 1) (left 'why) (list->just '(1)) (list->right '()) (list->left '(1 2)) (either-swap (left 1)))) ; => ((just 1 2) nothing (right 1) (left why) (just 1) (right) (left 1 2) (right 1))
(map show (list (maybe->either (just 1) 'e) (maybe->either (nothing) 'e) (either->maybe (right 1)) (either->maybe (left 1)))) ; => ((right 1) (left e) (just 1) nothing)
(list (maybe? (nothing)) (maybe? (right 1)) (either? (left 1)) (maybe= eqv? (just 1) (just 1) (just 1)) (maybe= eqv? (just 1) (just 1 2)) (maybe= eqv? (nothing) (nothing)) (either= eqv? (left 1) (right 1)) (either= eqv? (left 1) (left 1))) ; => (#t #f #t #t #f #t #f #t)
(list (maybe-ref (just 1) (lambda () 'none)) (maybe-ref (nothing) (lambda () 'none)) (maybe-ref (just 1 2) (lambda () 'none) +) (either-ref (left 1 2) + -) (either-ref (right 5 2) + -) (maybe-ref/default (nothing) 7) (either-ref/default (right 1) 7)) ; => (1 none 3 3 3 7 1)
(guard (e ((maybe-ref-error? e) 'absent)) (maybe-ref (nothing)))              ; => absent
(maybe-ref 5)                                                                 ; raises: error
(define (half n) (if (even? n) (just (/ n 2)) (nothing)))
(map show (list (maybe-bind (just 12) half half) (maybe-bind (just 6) half half half) ((maybe-compose half half) 4) (maybe-join (just (just 1))) (maybe-join (just (nothing))) (either-join (right (left 1))) (either-bind (right 1) right left right)))
; => ((just 3) nothing (just 1) (just 1) nothing (left 1) (left 1))
(maybe-join (just 1 2))                                                       ; raises: error
(map show (list (maybe-filter even? (just 2)) (maybe-filter even? (just 1)) (maybe-remove even? (just 2)) (either-filter even? (right 1) 'odd) (either-remove even? (right 1) 'even) ((either-compose right) 1))) ; => ((just 2) nothing nothing (left odd) (right 1) (right 1))
(map show (list (maybe-sequence (list (just 1) (just 2)) map) (maybe-sequence (list (just 1) (nothing)) map) (either-sequence (list (right 1) (left 'e)) map) (either-sequence (list (right 1) (right 2)) map values))) ; => ((just ((1) (2))) nothing (left e) (right (1 2)))
(list (maybe->truth (just 5)) (maybe->truth (nothing)) (either->truth (left 1)) (show (truth->maybe #f)) (show (truth->either #f 'e)) (maybe->list-truth (just 1 2)) (either->list-truth (left 1)) (show (list-truth->maybe #f)) (show (list-truth->either '(1)))) ; => (5 #f #f nothing (left e) (1 2) #f nothing (right 1))
(list (show (list->maybe '())) (show (list->either '() 'e)) (maybe-length (just 1)) (either-length (left 1)) (eof-object? (maybe->generation (nothing))) (either->generation (right 1)) (show (generation->maybe (eof-object))) (show (generation->either 1))) ; => (nothing (left e) 1 0 #t 1 nothing (right 1))
(define-syntax values-of (syntax-rules () ((_ e) (call-with-values (lambda () e) list))))
(list (values-of (maybe->values (just 1 2))) (values-of (either->values (left 1))) (values-of (maybe->two-values (just 1))) (values-of (maybe->two-values (nothing))) (show (values->maybe (lambda () (values)))) (show (values->either (lambda () (values 1 2)))) (show (two-values->maybe (lambda () (values 1 #f)))))
; => ((1 2) () (1 #t) (#f #f) nothing (right 1 2) nothing)
(map show (list (exception->either symbol? (lambda () (raise 'oops))) (exception->either symbol? (lambda () 1)) (either-guard symbol? (raise 'oops)) (either-guard symbol? 1)))  ; => ((left oops) (right 1) (left oops) (right 1))
(let ((seen '())) (maybe-for-each (lambda (x) (set! seen (cons x seen))) (just 1)) (either-for-each (lambda (x) (set! seen (cons x seen))) (left 2)) seen) ; => (1)
(list (show (maybe-map + (just 1 2))) (show (either-map - (left 1))) (maybe-fold cons '() (just 1)) (either-fold cons '() (left 1)) (show (maybe-unfold negative? square - 3)) (show (maybe-unfold negative? square - -3)) (show (either-unfold negative? square - 3))) ; => ((just 3) (left 1) (1) () (just 9) nothing (right 9))
(maybe-unfold negative? square + 3)                                           ; raises: error
(map show (list (maybe-if (just 1) 'yes 'no) (maybe-and (just 1) (nothing) (car '())) (maybe-or (nothing) (just 2)) (maybe-and) (maybe-or) (either-and (right 1) (right 2)) (either-and (left 1) (right 2)) (either-or (left 1) (left 2)) (either-or) (either-and))) ; => (yes nothing (just 2) (just) nothing (right 2) (left 1) (left 2) (left) (right))
(map show (list (maybe-let* ((x (just 1)) (y (just (+ x 1)))) (* x y)) (maybe-let* ((x (nothing)) ((car '()))) x) (maybe-let* (((just 1))) 5) (maybe-let* ()) (maybe-let*-values (((x y) (just 1 2))) (+ x y)) (either-let* ((x (right 1)) (y (left 'e))) x) (either-let*-values (((x . rest) (right 1 2 3))) rest)))
; => ((just 2) nothing (just 5) (just #t) (just 3) (left e) (right (2 3)))
(map show (list (tri-not (just #f)) (tri-not (nothing)) (tri=? (just 1) (just 2)) (tri=? (just #f) (just 2)) (tri=? (just #f) (nothing)) (tri-and (just 1) (nothing)) (tri-or (just #f) (just 3)) (tri-and) (tri-merge (nothing) (just 1)))) ; => ((just #t) nothing (just #t) (just #f) (just #f) nothing (just 3) (just #t) (just 1))
