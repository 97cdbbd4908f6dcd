;; A procedure that is called with something wrong says its own name, not that of another procedure
;; which it is made of.
(import (scheme base) (scheme char) (only (duet base) condition-kind) (srfi 117) (srfi 141)
        (srfi 151) (srfi 152) (srfi 158))

(define-syntax told
  (syntax-rules () ((_ e) (guard (c (#t (error-object-message c))) e))))

;; SRFI 117.
(told (list-queue-append 5))                        ; => "list-queue-append: expected a queue"
(told (list-queue-concatenate 5))
; => "list-queue-concatenate: expected a proper list of queues"
(told (list-queue-front 5))                         ; => "list-queue-front: expected a queue"
(told (list-queue-remove-back! (list-queue)))
; => "list-queue-remove-back!: the queue is empty"
(told (make-list-queue 5))                          ; => "make-list-queue: expected a list"

;; SRFI 141.
(told (round/ 1 0))                                 ; => "round/: division by zero"
(guard (c (#t (condition-kind c))) (round/ 1 0))    ; => divide-by-zero
(told (balanced-remainder 'a 1))                    ; => "balanced-remainder: expected an integer"
(call-with-values (lambda () (ceiling/ 7.0 2)) list)  ; => (4.0 -1.0)

;; SRFI 151.
(told (bit-field-set 1 3 2))                        ; => "bit-field-set: expected 0 <= start <= end"
(told (bit-field-reverse 'a 0 2))
; => "bit-field-reverse: expected an exact integer"
(told (bit-swap -1 0 5))                            ; => "bit-swap: the index is negative"
(told (bits->vector 5 -1))
; => "bits->vector: the number of bits is negative"
(bit-field-rotate #b110 1 1 2)                      ; => 6
(bit-swap 0 2 4)                                    ; => 1

;; SRFI 152.
(told (string-take-while "abc" char-alphabetic? 5))
; => "string-take-while: expected 0 <= start <= end <= length"
(told (string-break 5 char-alphabetic?))            ; => "string-break: expected a string"

;; SRFI 158.
(told (vector->generator #(1 2) 5))
; => "vector->generator: expected 0 <= start <= end <= length"
(told (reverse-vector->generator #(1 2) 2 1))
; => "reverse-vector->generator: expected 0 <= start <= end <= length"
(told (string->generator 5))                        ; => "string->generator: expected a string"
(told (gmerge <))                                   ; => "gmerge does not take 1 argument"
(generator->list (gmerge < (generator 1 3)))        ; => (1 3)

;; R7RS.
(told (vector-map car '(1)))                        ; => "vector-map: expected a vector"
(told (vector-for-each list #(1) 5))                ; => "vector-for-each: expected a vector"
(told (string-map char-upcase 'a))                  ; => "string-map: expected a string"
(told (string-for-each list "a" 5))                 ; => "string-for-each: expected a string"
