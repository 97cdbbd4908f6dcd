;; SRFI 189: Maybe and Either.
(import (scheme base) (srfi 189))
(define (show object)
  (cond ((just? object) (cons 'just (maybe->list object)))
        ((nothing? object) 'nothing)
        ((right? object) (cons 'right (either->list object)))
        ((left? object) (cons 'left (either->list object)))
        (else object)))

;; Making and converting.
(show (just 1 2))                    ; => (just 1 2)
(show (nothing))                     ; => nothing
(show (right 1))                     ; => (right 1)
(show (left 'why))                   ; => (left why)
(show (list->just '(1)))             ; => (just 1)
(show (list->right '()))             ; => (right)
(show (list->left '(1 2)))           ; => (left 1 2)
(show (either-swap (left 1)))        ; => (right 1)
(show (maybe->either (just 1) 'e))   ; => (right 1)
(show (maybe->either (nothing) 'e))  ; => (left e)
(show (either->maybe (right 1)))     ; => (just 1)
(show (either->maybe (left 1)))      ; => nothing

;; Predicates.
(maybe? (nothing))                        ; => #t
(maybe? (right 1))                        ; => #f
(either? (left 1))                        ; => #t
(maybe= eqv? (just 1) (just 1) (just 1))  ; => #t
(maybe= eqv? (just 1) (just 1 2))         ; => #f
(maybe= eqv? (nothing) (nothing))         ; => #t
(either= eqv? (left 1) (right 1))         ; => #f
(either= eqv? (left 1) (left 1))          ; => #t

;; Looking inside.
(maybe-ref (just 1) (lambda () 'none))                            ; => 1
(maybe-ref (nothing) (lambda () 'none))                           ; => none
(maybe-ref (just 1 2) (lambda () 'none) +)                        ; => 3
(either-ref (left 1 2) + -)                                       ; => 3
(either-ref (right 5 2) + -)                                      ; => 3
(maybe-ref/default (nothing) 7)                                   ; => 7
(either-ref/default (right 1) 7)                                  ; => 1
(guard (e ((maybe-ref-error? e) 'absent)) (maybe-ref (nothing)))  ; => absent
(maybe-ref 5)                                                     ; raises: error

;; Binding and joining.
(define (half n) (if (even? n) (just (/ n 2)) (nothing)))
(show (maybe-bind (just 12) half half))          ; => (just 3)
(show (maybe-bind (just 6) half half half))      ; => nothing
(show ((maybe-compose half half) 4))             ; => (just 1)
(show (maybe-join (just (just 1))))              ; => (just 1)
(show (maybe-join (just (nothing))))             ; => nothing
(show (either-join (right (left 1))))            ; => (left 1)
(show (either-bind (right 1) right left right))  ; => (left 1)
(maybe-join (just 1 2))                          ; raises: error

;; Filtering and sequences.
(show (maybe-filter even? (just 2)))                            ; => (just 2)
(show (maybe-filter even? (just 1)))                            ; => nothing
(show (maybe-remove even? (just 2)))                            ; => nothing
(show (either-filter even? (right 1) 'odd))                     ; => (left odd)
(show (either-remove even? (right 1) 'even))                    ; => (right 1)
(show ((either-compose right) 1))                               ; => (right 1)
(show (maybe-sequence (list (just 1) (just 2)) map))            ; => (just ((1) (2)))
(show (maybe-sequence (list (just 1) (nothing)) map))           ; => nothing
(show (either-sequence (list (right 1) (left 'e)) map))         ; => (left e)
(show (either-sequence (list (right 1) (right 2)) map values))  ; => (right (1 2))

;; Other protocols: truth, lists, generation.
(maybe->truth (just 5))                      ; => 5
(maybe->truth (nothing))                     ; => #f
(either->truth (left 1))                     ; => #f
(show (truth->maybe #f))                     ; => nothing
(show (truth->either #f 'e))                 ; => (left e)
(maybe->list-truth (just 1 2))               ; => (1 2)
(either->list-truth (left 1))                ; => #f
(show (list-truth->maybe #f))                ; => nothing
(show (list-truth->either '(1)))             ; => (right 1)
(show (list->maybe '()))                     ; => nothing
(show (list->either '() 'e))                 ; => (left e)
(maybe-length (just 1))                      ; => 1
(either-length (left 1))                     ; => 0
(eof-object? (maybe->generation (nothing)))  ; => #t
(either->generation (right 1))               ; => 1
(show (generation->maybe (eof-object)))      ; => nothing
(show (generation->either 1))                ; => (right 1)

;; Multiple values.
(define-syntax values-of (syntax-rules () ((_ e) (call-with-values (lambda () e) list))))
(values-of (maybe->values (just 1 2)))                ; => (1 2)
(values-of (either->values (left 1)))                 ; => ()
(values-of (maybe->two-values (just 1)))              ; => (1 #t)
(values-of (maybe->two-values (nothing)))             ; => (#f #f)
(show (values->maybe (lambda () (values))))           ; => nothing
(show (values->either (lambda () (values 1 2))))      ; => (right 1 2)
(show (two-values->maybe (lambda () (values 1 #f))))  ; => nothing

;; Exceptions.
(show (exception->either symbol? (lambda () (raise 'oops))))  ; => (left oops)
(show (exception->either symbol? (lambda () 1)))              ; => (right 1)
(show (either-guard symbol? (raise 'oops)))                   ; => (left oops)
(show (either-guard symbol? 1))                               ; => (right 1)

;; Mapping, folding and unfolding.
(let ((seen '()))
  (maybe-for-each (lambda (x) (set! seen (cons x seen))) (just 1))
  (either-for-each (lambda (x) (set! seen (cons x seen))) (left 2))
  seen)                                      ; => (1)
(show (maybe-map + (just 1 2)))              ; => (just 3)
(show (either-map - (left 1)))               ; => (left 1)
(maybe-fold cons '() (just 1))               ; => (1)
(either-fold cons '() (left 1))              ; => ()
(show (maybe-unfold negative? square - 3))   ; => (just 9)
(show (maybe-unfold negative? square - -3))  ; => nothing
(show (either-unfold negative? square - 3))  ; => (right 9)
(maybe-unfold negative? square + 3)          ; raises: error

;; Syntax: conditions.
(show (maybe-if (just 1) 'yes 'no))              ; => yes
(show (maybe-and (just 1) (nothing) (car '())))  ; => nothing
(show (maybe-or (nothing) (just 2)))             ; => (just 2)
(show (maybe-and))                               ; => (just)
(show (maybe-or))                                ; => nothing
(show (either-and (right 1) (right 2)))          ; => (right 2)
(show (either-and (left 1) (right 2)))           ; => (left 1)
(show (either-or (left 1) (left 2)))             ; => (left 2)
(show (either-or))                               ; => (left)
(show (either-and))                              ; => (right)

;; Syntax: bindings.
(show (maybe-let* ((x (just 1)) (y (just (+ x 1)))) (* x y)))  ; => (just 2)
(show (maybe-let* ((x (nothing)) ((car '()))) x))              ; => nothing
(show (maybe-let* (((just 1))) 5))                             ; => (just 5)
(show (maybe-let* ()))                                         ; => (just #t)
(show (maybe-let*-values (((x y) (just 1 2))) (+ x y)))        ; => (just 3)
(show (either-let* ((x (right 1)) (y (left 'e))) x))           ; => (left e)
(show (either-let*-values (((x . rest) (right 1 2 3))) rest))  ; => (right (2 3))

;; Three-valued logic.
(show (tri-not (just #f)))             ; => (just #t)
(show (tri-not (nothing)))             ; => nothing
(show (tri=? (just 1) (just 2)))       ; => (just #t)
(show (tri=? (just #f) (just 2)))      ; => (just #f)
(show (tri=? (just #f) (nothing)))     ; => (just #f)
(show (tri-and (just 1) (nothing)))    ; => nothing
(show (tri-or (just #f) (just 3)))     ; => (just 3)
(show (tri-and))                       ; => (just #t)
(show (tri-merge (nothing) (just 1)))  ; => (just 1)
