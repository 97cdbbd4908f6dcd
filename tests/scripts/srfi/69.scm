;; SRFI 69: hash tables.
(import (scheme base) (scheme char) (srfi 69))
(define (filled same?)
  (let ((table (make-hash-table same?)))
    (for-each (lambda (key) (hash-table-update!/default table key (lambda (n) (+ n 1)) 0))
              (list "a" "A" (string #\a) 'a 1 1.0 'a 1 (list 1) (list 1)))
    table))
(map (lambda (same?) (hash-table-size (filled same?))) (list equal? eqv?))                ; => (6 8)
(hash-table-ref/default (filled equal?) "a" 0)                                            ; => 2
(hash-table-ref/default (filled eqv?) "a" 0)                                              ; => 0
(define ci (make-hash-table string-ci=? string-ci-hash))
(hash-table-set! ci "One" 1)
(hash-table-set! ci "ONE" 11)
(hash-table-set! ci "two" 2)
(list (hash-table-ref ci "oNE") (hash-table-size ci) (hash-table->alist ci))              ; => (11 2 (("One" . 11) ("two" . 2)))
(hash-table-delete! ci "TWO")
(list (hash-table-exists? ci "two") (hash-table-keys ci) (hash-table-values ci))          ; => (#f ("One") (11))
(hash-table-ref ci "none" (lambda () 'failed))                                            ; => failed
(hash-table-ref ci "none")                                                                ; raises: error
(define numbers (alist->hash-table '((1 . one) (2 . two) (1 . uno))))
(hash-table-fold numbers (lambda (key value all) (cons (list key value) all)) '())        ; => ((2 two) (1 one))
(hash-table-update! numbers 1 (lambda (value) (list value)))
(let ((copy (hash-table-copy numbers))) (hash-table-set! copy 3 'three) (list (hash-table-size numbers) (hash-table-ref copy 1)))
; => (2 (one))
(hash-table->alist (hash-table-merge! (hash-table-copy numbers) (alist->hash-table '((2 . deux) (4 . quatre)))))
; => ((1 one) (2 . deux) (4 . quatre))
(let ((pair (list 1)) (table (make-hash-table eq?)))
  (hash-table-set! table pair 'here)
  (set-car! pair 2)
  (list (hash-table-ref/default table pair #f) (hash-table-ref/default table (list 2) #f) (hash-table-size table)))
; => (here #f 1)
(list (= (hash "abc") (hash (string #\a #\b #\c))) (< (hash '(1 2) 10) 10) (= (string-ci-hash "AbC") (string-ci-hash "aBc")))
; => (#t #t #t)
(make-hash-table 5)                                                                       ; raises: wrong-type
