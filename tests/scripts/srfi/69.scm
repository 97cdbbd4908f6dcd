;; SRFI 69: hash tables.
(import (scheme base) (scheme char) (srfi 69))
(define (filled same?)
  (let ((table (make-hash-table same?)))
    (for-each (lambda (key) (hash-table-update!/default table key (lambda (n) (+ n 1)) 0))
              (list "a" "A" (string #\a) 'a 1 1.0 'a 1 (list 1) (list 1)))
    table))

;; The equivalence of a table decides which keys are the same.
(hash-table-size (filled equal?))               ; => 6
(hash-table-size (filled eqv?))                 ; => 8
(hash-table-ref/default (filled equal?) "a" 0)  ; => 2
(hash-table-ref/default (filled eqv?) "a" 0)    ; => 0

;; A table by an equivalence of one's own keeps the first of equal keys.
(define ci (make-hash-table string-ci=? string-ci-hash))
(hash-table-set! ci "One" 1)
(hash-table-set! ci "ONE" 11)
(hash-table-set! ci "two" 2)
(hash-table-ref ci "oNE")                       ; => 11
(hash-table-size ci)                            ; => 2
(hash-table->alist ci)                          ; => (("One" . 11) ("two" . 2))
(hash-table-delete! ci "TWO")
(hash-table-exists? ci "two")                   ; => #f
(hash-table-keys ci)                            ; => ("One")
(hash-table-values ci)                          ; => (11)
(hash-table-ref ci "none" (lambda () 'failed))  ; => failed
(hash-table-ref ci "none")                      ; raises: error

;; Tables from lists, copies and merges.
(define numbers (alist->hash-table '((1 . one) (2 . two) (1 . uno))))
(hash-table-fold numbers (lambda (key value all) (cons (list key value) all)) '())
; => ((2 two) (1 one))
(hash-table-update! numbers 1 (lambda (value) (list value)))
(let ((copy (hash-table-copy numbers)))
  (hash-table-set! copy 3 'three)
  (list (hash-table-size numbers) (hash-table-ref copy 1)))  ; => (2 (one))
(hash-table->alist (hash-table-merge! (hash-table-copy numbers)
                                      (alist->hash-table '((2 . deux) (4 . quatre)))))
; => ((1 one) (2 . deux) (4 . quatre))

;; A table by `eq?` knows a key by its identity, whatever the key holds.
(let ((pair (list 1)) (table (make-hash-table eq?)))
  (hash-table-set! table pair 'here)
  (set-car! pair 2)
  (list (hash-table-ref/default table pair #f)
        (hash-table-ref/default table (list 2) #f)
        (hash-table-size table)))  ; => (here #f 1)

;; A table by `eq?` finds its keys by what they are, whatever they hold and however many there are.
(let* ((table (make-hash-table eq?))
       (keys (let loop ((n 0) (keys '()))
               (if (= n 5000) keys (loop (+ n 1) (cons (list 'same) keys))))))
  (let loop ((rest keys) (n 0))
    (if (pair? rest) (begin (hash-table-set! table (car rest) n) (loop (cdr rest) (+ n 1)))))
  (for-each (lambda (key) (set-car! key 'changed)) keys)
  (make-vector 200000 #f)
  (list (hash-table-ref/default table (list-ref keys 4321) #f)
        (hash-table-ref/default table (list 'changed) #f)
        (hash-table-size table)
        (equal? (hash-table-keys table) keys)))  ; => (4321 #f 5000 #t)

;; Hashes.
(= (hash "abc") (hash (string #\a #\b #\c)))       ; => #t
(< (hash '(1 2) 10) 10)                            ; => #t
(= (string-ci-hash "AbC") (string-ci-hash "aBc"))  ; => #t
(make-hash-table 5)                                ; raises: wrong-type
