;; Procedures that concatenate take any number of parts; only a call has a limit of arguments.
(import (except (scheme base) string-map) (scheme char)
        (only (srfi 1) append-map concatenate iota)
        (only (srfi 13) string-concatenate string-concatenate-reverse)
        (only (srfi 133) vector-concatenate)
        (srfi 113) (srfi 115) (srfi 117) (srfi 125) (srfi 128) (srfi 158) (duet json))

(define many 40000)
(length (concatenate (make-list many '(1))))                            ; => 40000
(length (append-map list (iota many)))                                  ; => 40000
(string-length (string-concatenate (make-list many "ab")))              ; => 80000
(string-length (string-concatenate-reverse (make-list many "ab")))      ; => 80000
(vector-length (vector-concatenate (make-list many (vector 1))))        ; => 40000
(define queues (make-list many (list-queue 1)))
(length (list-queue-list (list-queue-concatenate queues)))              ; => 40000

(define bytes (bytevector-accumulator))
(for-each bytes (make-list many 1))
(bytevector-length (bytes (eof-object)))                                ; => 40000

(define by-number (make-comparator number? = < number-hash))
(define table (make-hash-table by-number))
(for-each (lambda (key) (hash-table-set! table key key)) (iota many))
(length (hash-table-keys table))                                        ; => 40000
(hash-table-size (hash-table-copy table))                               ; => 40000

(define counted (list->bag by-number (iota many)))
(list (bag-size counted) (length (bag->list counted)))                  ; => (40000 40000)
(set-size (list->set by-number (iota many)))                            ; => 40000

(string-length (regexp-replace-all "a" (make-string many #\a) "bc"))    ; => 80000

(json-violations
  (json-schema (dictionary "items" (dictionary "type" "integer")))
  (list->vector (iota many)))                                           ; => ()
