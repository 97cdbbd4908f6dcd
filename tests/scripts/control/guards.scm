;; Guards and escapes in a continuation that is re-instated leave by their own place in it.
(import (scheme base) (duet control) (srfi 146) (srfi 128) (srfi 189) (only (srfi 1) fold))

(define (tell x) (shift k (cons x (k #f))))
(define (collect thunk) (reset (thunk) '()))
(collect (lambda () (tell 1) (guard (e (#t (tell 'repaired))) (tell 2) (raise 'x)) (tell 3)))
; => (1 2 repaired 3)
(collect (lambda () (tell 1) (guard (e (else (tell 'repaired))) (tell 2) (raise 'x)) (tell 3)))
; => (1 2 repaired 3)
(collect (lambda ()
           (guard (e ((symbol? e) (tell e)))
             (guard (e ((string? e) 'no)) (tell 2) (raise 'x)))
           (tell 3)))
; => (2 x 3)
(define k (reset (guard (e (#t (list 'caught e))) (shift c c) (raise 'x))))
(list (k 1) (list (k 2)))  ; => ((caught x) ((caught x)))
(define k2 (reset (list (guard (e (else (list 'caught e))) (raise (shift c c))))))
(list (k2 1) (k2 2))       ; => (((caught 1)) ((caught 2)))

;; A copy of a guard inside itself.
(define k3 (reset (guard (e ((number? e) (list 'number e))) (list 'value ((shift c c))))))
(k3 (lambda () (k3 (lambda () (raise 1)))))                         ; => (value (number 1))
(guard (e (#t (list 'outside e))) (k3 (lambda () (k3 (lambda () (raise 'x))))))  ; => (outside x)
(define k4 (reset (guard (e ((eq? e 'x) 'one)) (list 'value ((shift c c))))))
(k4 (lambda () (guard (e ((eq? e 'y) 'two)) (k4 (lambda () (raise 'x))))))        ; => (value one)

;; An object that no clause takes is raised again at its place, under the guard.
(with-exception-handler
  (lambda (e) 10)
  (lambda () (guard (e ((string? e) 'no)) (+ 1 (raise-continuable 'x)))))         ; => 11
(with-exception-handler
  (lambda (e) 10)
  (lambda () (guard (e ((string? e) e)) (raise-continuable 'x) (raise "later")))) ; => "later"
(with-exception-handler
  (lambda (e) 10)
  (lambda ()
    (let ((trace '()))
      (define (note x) (set! trace (cons x trace)))
      (guard (e ((string? e) 'no))
        (dynamic-wind
          (lambda () (note 'in))
          (lambda () (raise-continuable 'x))
          (lambda () (note 'out))))
      (reverse trace))))                                           ; => (in out in out)
(guard (e (#t (list 'outer e))) (guard (e ((string? e) 'no)) (raise 'x)))          ; => (outer x)
(guard (e ((assq 'a e) => cdr) ((assq 'b e))) (raise (list (cons 'a 42))))         ; => 42
(call-with-values (lambda () (guard (e (#t 'no)) (values 1 2))) list)              ; => (1 2)
(call-with-values (lambda () (guard (e (#t (values e 2))) (raise 1))) list)        ; => (1 2)
;; A clause runs outside the guard, in its dynamic environment.
(define p (make-parameter 'outside))
(guard (e (#t (list e (p)))) (parameterize ((p 'inside)) (raise 'x)))              ; => (x outside)
(guard (e (#t (list 'again e))) (guard (e (#t (raise (list e)))) (raise 'x)))      ; => (again (x))
;; Entering an extent again, its guard takes what the before thunk raises.
(define entered 0)
(define k5
  (reset
    (guard (e (#t (list 'refused e)))
      (dynamic-wind
        (lambda () (set! entered (+ entered 1)) (if (> entered 1) (raise 'closed)))
        (lambda () (shift c c))
        (lambda () #f)))))
(k5 1)                                                             ; => (refused closed)
(define back #f)
(define again 0)
(let ((value (guard (e (#t (list 'refused e)))
               (dynamic-wind
                 (lambda () (set! again (+ again 1)) (if (= again 2) (raise 'closed)))
                 (lambda () (call/cc (lambda (c) (set! back c))) 'through)
                 (lambda () #f)))))
  (if (= again 1) (back #f) (list value again)))                     ; => ((refused closed) 2)

;; Escapes.
(collect (lambda () (tell 1) (tell (let/ec out (tell 2) (out 'left) (tell 'never))) (tell 3)))
; => (1 2 left 3)
(collect (lambda () (tell (call/ec (lambda (out) (out (begin (tell 1) 2))))) (tell 3)))
; => (1 2 3)
(define e (reset (list (let/ec out (out (shift c c)) 'no))))
(list (e 1) (e 2))                                                                 ; => ((1) (2))
(define kept #f)
(let/ec out (set! kept out))
(kept 1)                                                                           ; raises: error
(let/ec outer (+ 1 (let/ec inner (outer 5))))                                      ; => 5
(define (deep n) (let/ec out (if (= n 0) (out 0) (+ 1 (deep (- n 1))))))
(deep 1000)                                                                        ; => 1000
;; A full continuation brings the places of an escape back.
(define into #f)
(define times 0)
(let ((value (let/ec out (call/cc (lambda (c) (set! into c))) (out 'left))))
  (set! times (+ times 1))
  (if (< times 3) (into #f) (list value times)))                                   ; => (left 3)

;; Escapes inside libraries.
(define numbers (mapping (make-default-comparator) 1 'one 2 'two 3 'three))
(collect (lambda () (tell (mapping-any? (lambda (k v) (tell k) (= k 2)) numbers)) (tell 'end)))
; => (1 2 #t end)
(collect (lambda ()
           (tell (call-with-values
                   (lambda ()
                     (mapping-find (lambda (k v) (tell k) (= k 2)) numbers (lambda () 'none)))
                   list))
           (tell 'end)))
; => (1 2 (2 two) end)
(define (map-telling procedure list) (map (lambda (x) (tell 'next) (procedure x)) list))
(collect (lambda ()
           (tell (nothing? (maybe-sequence (list (just 1) (nothing) (just 2)) map-telling)))
           (tell 'end)))
; => (next next #t end)

;; The text of a condition says its kind, its message and its irritants.
(define (said thunk) (condition->string (guard (e (#t e)) (thunk))))
(said (lambda () (error "no such row:" 7 "b")))  ; => "error: no such row: 7 \"b\""
(said (lambda () (raise '(7 "b"))))              ; => "(7 \"b\")"
(said (lambda () (vector-ref (vector) 0)))
; => "out-of-range: argument 2 of vector-ref is out of range 0"

;; An object that passes guards is raised at its place for a handler outside of them, and each guard
;; is there again when the body goes on.
(define (through-guards body)
  (with-exception-handler
    (lambda (e) (list 'handled e))
    (lambda ()
      (guard (e ((string? e) (list 'outer e)))
        (list 'in (guard (e ((number? e) (list 'inner e))) (body (raise-continuable 'x))))))))
(through-guards values)                                             ; => (in (handled x))
(through-guards (lambda (v) (raise 1)))                             ; => (in (inner 1))
(through-guards (lambda (v) (raise "s")))                           ; => (outer "s")
(through-guards (lambda (v) (list v (raise-continuable 'y))))
; => (in ((handled x) (handled y)))
(guard (e (#t (list 'returned (condition-kind e)))) (through-guards (lambda (v) (raise 'z))))
; => (returned handler-returned)
;; Extents between the guards are entered again before the next guard is asked.
(let ((trace '()))
  (define (note x) (set! trace (cons x trace)) #f)
  (guard (e ((note 'third)) ((symbol? e) #f))
    (dynamic-wind
      (lambda () (note 'in))
      (lambda () (guard (e ((note 'second))) (guard (e ((note 'first))) (raise 'x))))
      (lambda () (note 'out))))
  (reverse trace))                            ; => (in first second out third)
(let ((trace '()))
  (define (note x) (set! trace (cons x trace)) #f)
  (guard (e ((note 'third)) ((symbol? e) #f))
    (guard (e ((note 'second)))
      (dynamic-wind
        (lambda () (note 'in))
        (lambda () (guard (e ((note 'first))) (raise 'x)))
        (lambda () (note 'out)))))
  (reverse trace))                            ; => (in first out second in out third)
