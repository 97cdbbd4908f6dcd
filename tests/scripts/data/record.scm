;; Records with a label, keywords, and the parts of conditions.
(define p (record 'point 1 2))
(list (record? p) (record? 'point) (record-label p) (record-fields p))         ; => (#t #f point (1 2))
(list (record-field p 1) (record-length p))                                    ; => (2 2)
(record-field p 2)                                                             ; raises: out-of-range
(equal? p (record 'point 1 2))                                                 ; => #t

(list (keyword? :name) (keyword? 'name) (keyword->symbol :name) (symbol->keyword 'name)) ; => (#t #f name :name)
(keyword->symbol 'name)                                                        ; raises: wrong-type

(define e (guard (e (#t e)) (vector-ref (vector 1 2) 5)))
(list (condition? e) (condition? 'e) (condition-kind e))                       ; => (#t #f out-of-range)
(list (condition-message e) (condition-irritants e))                           ; => ("argument 2 of vector-ref is out of range" (5))
(import (only (duet kernel) condition-origin default-object default-object? bytevector-fill! bitwise-or))
(condition-origin e)                                                           ; => vector-ref
(list (default-object? (default-object)) (default-object? #f))                 ; => (#t #f)
(bitwise-or 5 10)                                                              ; => 15
(let ((bytes (bytevector 1 2 3 4))) (bytevector-fill! bytes 9 1 3) bytes)      ; => #u8(1 9 9 4)
(list (string-trim-left "  a b ") (string-split "a,b,,c" #\,))                 ; => ("a b " ("a" "b" "" "c"))
(import (only (srfi 1) last-pair))
(last-pair '(1 2 . 3))                                                         ; => (2 . 3)
