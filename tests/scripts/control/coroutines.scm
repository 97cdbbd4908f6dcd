;; (duet control): escapes, generators, coroutines, tasks.
(import (scheme base) (duet control))

;; Escapes.
(call/ec (lambda (k) (+ 1 (k 42))))                                       ; => 42
(let/ec out (for-each (lambda (x) (if (> x 1) (out x))) '(1 2 3)) 'none)  ; => 2
(call/ec (lambda (k) 7))                                                  ; => 7
(call-with-values (lambda () (call/ec (lambda (k) (k 1 2)))) list)        ; => (1 2)
((call/ec (lambda (k) k)) 1)                                              ; raises: error
(let ((trace '()))
  (call/ec (lambda (k)
             (dynamic-wind
               (lambda () (set! trace (cons 'in trace)))
               (lambda () (k 1))
               (lambda () (set! trace (cons 'out trace))))))
  trace)                                                                  ; => (out in)

;; Generators.
(define (take generator count)
  (if (= count 0)
      '()
      (let ((object (generator)))
        (if (eof-object? object) '() (cons object (take generator (- count 1)))))))
(define-generator (leaves tree) yield
  (let loop ((tree tree))
    (cond ((pair? tree) (loop (car tree)) (loop (cdr tree)))
          ((null? tree) #f)
          (else (yield tree)))))
(take (leaves '((1 2) (3 (4)))) 10)  ; => (1 2 3 4)
(define naturals ((generator-lambda yield () (let loop ((n 0)) (yield n) (loop (+ n 1))))))
(let loop ((n 0)) (if (= n 20000) (naturals) (begin (naturals) (loop (+ n 1)))))  ; => 20000
(define outer
  (make-coroutine-generator
    (lambda (yield)
      (take (make-coroutine-generator (lambda (inner) (yield 'through) (inner 1) (yield 'again))) 3)
      (yield 'end))))
(take outer 5)                       ; => (through again end)
(define faulty (make-coroutine-generator (lambda (yield) (yield 1) (error "broken"))))
(faulty)                             ; => 1
(guard (e (#t 'caught)) (faulty))    ; => caught
(eof-object? (faulty))               ; => #t

;; Coroutines.
(define c
  (make-coroutine (lambda (first)
                    (let ((second (suspend (list 'got first)))) (list 'then second)))))
(resume c 1)         ; => (got 1)
(coroutine-done? c)  ; => #f
(resume c 2)         ; => (then 2)
(coroutine-done? c)  ; => #t
(resume c)           ; raises: error
(suspend 1)          ; raises: error
(define self (make-coroutine (lambda (value) (resume self))))
(resume self)        ; raises: error

;; A thunk that runs because an extent is left is no place to suspend at. After a return it is one.
(define (around thunk after)
  (make-coroutine (lambda (value) (dynamic-wind (lambda () #f) thunk after) 'end)))
(define (message-of thunk) (guard (e ((error-object? e) (error-object-message e))) (thunk)))
(define (suspend-out) (suspend 'out))
(define leaving (around (lambda () (suspend 1)) suspend-out))
(message-of (lambda () (resume leaving)))
; => "suspend: a before or after thunk cannot suspend while its extent is entered or left"
(coroutine-done? leaving)   ; => #t
(define returning (around (lambda () 1) suspend-out))
(resume returning)          ; => out
(resume returning)          ; => end
(define entries 0)
(define (suspend-again)
  (set! entries (+ entries 1))
  (if (= entries 2) (suspend 'in)))
(define entering
  (make-coroutine
    (lambda (value) (dynamic-wind suspend-again (lambda () (suspend 1)) (lambda () #f)))))
(resume entering)           ; => 1
(message-of (lambda () (resume entering)))
; => "suspend: a before or after thunk cannot suspend while its extent is entered or left"
;; A coroutine that such a thunk runs is its own.
(define inner (make-coroutine (lambda (value) (suspend 'inside) 'inner)))
(define seen '())
(define outside (around (lambda () (suspend 1)) (lambda () (set! seen (cons (resume inner) seen)))))
(resume outside)            ; => 1
(resume outside)            ; => end
seen                        ; => (inner inside)
