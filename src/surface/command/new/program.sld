;;; What the program knows, in a library, so that the tests reach it.
(define-library (@NAME@)
  (export greeting)
  (import (scheme base))
  (begin
    ;;;> Returns the words that greet a person.
    (define (greeting name) (string-append "Hello, " name "!"))))
