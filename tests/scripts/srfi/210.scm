;; SRFI 210: multiple values.
(import (scheme base) (srfi 195) (prefix (srfi 210) v:))

;; Values among arguments.
(v:apply/mv + 1 (values 2 3))     ; => 6
(v:call/mv list (values 1 2) 3)   ; => (1 2 3)
(v:list/mv 1 (values 2 3))        ; => (1 2 3)
(v:vector/mv (values 1 2))        ; => #(1 2)
(v:coarity (values 1 2 3))        ; => 3
(v:value/mv 1 'a (values 'b 'c))  ; => b
(v:value 0 'a 'b)                 ; => a
(let ((a 0) (b 0) (rest 0)) (v:set!-values (a b . rest) (values b 2 3)) (list a b rest))
; => (0 2 (3))

;; Receiving values.
(v:with-values (values 1 2) +)                             ; => 3
(v:case-receive (values 1 2) ((a) 'one) ((a b) 'two))      ; => two
(v:bind/mv (values 1 2) (lambda (a b) (values b a)) list)  ; => (2 1)
(v:bind 3 square -)                                        ; => -9
(v:bind/list '(1 2) +)                                     ; => 3
(v:bind/box (v:box/mv 1 (values 2)) +)                     ; => 3

;; Values from data, and procedures on values.
(v:list/mv (v:list-values '(1 2)))    ; => (1 2)
(v:list/mv (v:vector-values #(1 2)))  ; => (1 2)
(v:list/mv (v:box-values (box 1 2)))  ; => (1 2)
(v:list/mv ((v:map-values -) 1 2))    ; => (-1 -2)
((v:compose-left square -) 2)         ; => -4
((v:compose-right square -) 2)        ; => 4
(v:list/mv (v:identity 1 2))          ; => (1 2)
