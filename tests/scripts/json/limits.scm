;; A schema whose parts refer to each other in more and more ways takes bounded work.
(import (scheme base) (duet base) (duet json))

(define (name n) (string->symbol (string-append "d" (number->string n))))
(define (reference n)
  (dictionary '$ref (string-append "#/$defs/" (symbol->string (name n)))))

;; Definitions d0 to dn, each of which leads to the one before it twice by a keyword.
(define (definitions n keyword first)
  (let ((parts (dictionary 'd0 first)))
    (do ((i 1 (+ i 1)))
        ((> i n) parts)
      (let ((before (reference (- i 1))))
        (dictionary-set! parts (name i) (dictionary keyword (list before before)))))))

(define (doubling n keyword first)
  (dictionary '$ref "#/$defs/d40" '$defs (definitions n keyword first)))

(define integer (dictionary 'type "integer"))
(json-valid? (doubling 40 'anyOf integer) "x")           ; => #f
(json-valid? (doubling 40 'anyOf integer) 7)             ; => #t
(json-valid? (doubling 40 'allOf integer) 7)             ; => #t
(json-valid? (doubling 40 'oneOf integer) "x")           ; => #f
(json-valid? (dictionary 'items (reference 40) '$defs (definitions 40 'anyOf integer))
  '("x" "y"))                                            ; => #f

;; Each level would pass on twice as many violations.
(define (outcome schema value)
  (guard (e ((condition? e) (condition-kind e))) (length (json-violations schema value))))
(outcome (doubling 40 'allOf integer) "x")               ; => json-schema-error

;; Resources of their own may be entered in twice as many orders with each level.
(define (resources n)
  (let ((parts (dictionary 'a0 integer 'b0 integer)))
    (define (part letter i)
      (string->symbol (string-append letter (number->string i))))
    (define (one letter i)
      (dictionary '$id (string-append "http://example.org/" letter (number->string i))
        'anyOf
        (map (lambda (other)
               (dictionary '$ref
                 (if (= i 1)
                     (string-append "http://example.org/root#/$defs/" other "0")
                     (string-append "http://example.org/" other (number->string (- i 1))))))
          '("a" "b"))))
    (do ((i 1 (+ i 1)))
        ((> i n) parts)
      (for-each (lambda (letter) (dictionary-set! parts (part letter i) (one letter i)))
        '("a" "b")))))
(outcome
  (dictionary '$id "http://example.org/root" '$ref "http://example.org/a40" '$defs (resources 40))
  "x")                                                   ; => 1

;; A large value has leave for as much work as it has parts.
(outcome (dictionary 'items (dictionary 'anyOf (list (dictionary 'type "string") integer)))
  (iota 100000))                                         ; => 0
