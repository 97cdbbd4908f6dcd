;; Tapes in their four shapes, their changes, and triggers.
(import (duet base) (duet routes))

(define (entries tape)
  (map (lambda (entry) (cons (car entry) (map token-name (cdr entry)))) (tape-entries tape)))
(define (described object) (let ((tape (->tape object))) (cons (tape-shape tape) (entries tape))))
(described "A")                                   ; => (single (#f A))
(described 'A)                                    ; => (single (#f A))
(described '(C A "B" A))                          ; => (many (#f A B C))
(described '())                                   ; => (many)
(described '((k2 . A) (k1 . B)))                  ; => (index-single ("k1" B) ("k2" A))
(described '(("k" . (B A)) (k2 . A)))             ; => (index-many ("k" A B) ("k2" A))
(described (dictionary 'k "A"))                   ; => (index-single ("k" A))
(described (dictionary "k" '("A" "/not(B)")))     ; => (index-many ("k" |/not(B)| A))
(->tape 5)                                        ; raises: bad-tape
(->tape '((k . 5)))                               ; raises: bad-tape
(->tape '((5 . A)))                               ; raises: bad-tape
(->tape "A B")                                    ; raises: bad-token
(tape-indexed? (->tape '((k . A))))               ; => #t
(tape-indexed? (->tape '(A)))                     ; => #f
(map token-name (tape-ref (->tape '((k . (A B)))) "k"))      ; => (A B)
(tape-ref (->tape '((k . A))) "other")            ; => ()
(tape-size (->tape '((k . (A B)) (l . A))))       ; => 3

(define indexed (->tape '((k . (A B)) (l . A))))
(define (proposal key . states) (cons key (map ->token states)))
(entries (tape-union indexed (list (proposal "l" "C" "A") (proposal #f "I"))))
; => ((#f I) ("k" A B) ("l" A C))
(entries (tape-replace indexed (list (proposal "k" "C"))))   ; => (("k" C) ("l" A))
(tape-shape (tape-union (->tape "A") '()))        ; => many
(define (names pairs) (map (lambda (pair) (list (car pair) (token-name (cdr pair)))) pairs))
(let ((delta (tape-delta indexed (tape-replace indexed (list (proposal "k" "B" "C"))))))
  (list (names (car delta)) (names (cdr delta))))
; => ((("k" C)) (("k" A)))

;; Triggers are names in a tree.
(define tree (make-triggers '(ok (error minor (major lost)))))
(map (lambda (name) (trigger-path tree name)) '(ok error minor major lost other))
; => ((0) (1) (1 0) (1 1) (1 1 0) #f)
(trigger-under? tree 'lost 'error)                ; => #t
(trigger-under? tree 'error 'error)               ; => #t
(trigger-under? tree 'error 'lost)                ; => #f
(trigger-under? tree 'ok 'error)                  ; => #f
(trigger-path (make-triggers '((ok x) (error x))) 'x)        ; => (1 0)
(make-triggers '(ok ok))                          ; raises: bad-triggers
(make-triggers '(|two words|))                    ; raises: bad-triggers
(define text "OK\n    acceptable # fine\n    all_good\n\nerror\n\tminor\n        major\n")
(map (lambda (name) (trigger-path (text->triggers text) name))
  '(OK acceptable all_good error minor major))
; => ((0) (0 0) (0 1) (1) (1 0) (1 1))
(text->triggers "a\n    b\n  c\n")                ; raises: bad-triggers
(text->triggers "  a\nb\n")                       ; raises: bad-triggers
(trigger-tree? (text->triggers ""))               ; => #t
