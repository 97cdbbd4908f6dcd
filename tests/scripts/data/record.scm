;; Records with a label, keywords, and the parts of conditions.
(define p (record 'point 1 2))
(record? p)                     ; => #t
(record? 'point)                ; => #f
(record-label p)                ; => point
(record-fields p)               ; => (1 2)
(record-field p 1)              ; => 2
(record-length p)               ; => 2
(record-field p 2)              ; raises: out-of-range
(equal? p (record 'point 1 2))  ; => #t

(keyword? :name)         ; => #t
(keyword? 'name)         ; => #f
(keyword->symbol :name)  ; => name
(symbol->keyword 'name)  ; => :name
(keyword->symbol 'name)  ; raises: wrong-type

(define e (guard (e (#t e)) (vector-ref (vector 1 2) 5)))
(condition? e)                      ; => #t
(condition? 'e)                     ; => #f
(condition-kind e)                  ; => out-of-range
(condition-message e)               ; => "argument 2 of vector-ref is out of range"
(condition-irritants e)             ; => (5)
(import (only (duet kernel) condition-origin default-object default-object? bytevector-fill!
          bitwise-ior))
(condition-origin e)                ; => vector-ref
(default-object? (default-object))  ; => #t
(default-object? #f)                ; => #f
(bitwise-ior 5 10)                   ; => 15
(let ((bytes (bytevector 1 2 3 4))) (bytevector-fill! bytes 9 1 3) bytes)  ; => #u8(1 9 9 4)
(string-trim-left "  a b ")         ; => "a b "
(string-split "a,b,,c" #\,)         ; => ("a" "b" "" "c")
(import (only (srfi 1) last-pair))
(last-pair '(1 2 . 3))              ; => (2 . 3)

;; What becomes of old records says something only in the text of a patch.
(define-record-type parcel
  (make-parcel item weight)
  parcel?
  (item parcel-item)
  (weight parcel-weight))
(migrate-records parcel (item) (make-parcel item 0))
(parcel-weight (make-parcel 'tea 2))           ; => 2
