;; SRFI 125 and 128: hash tables by comparators.
(import (scheme base) (scheme char) (srfi 125) (srfi 128))
(define default (make-default-comparator))
(define table (hash-table default 'a 1 "b" 2 '(c) 3))

;; Looking up.
(hash-table-size table)                       ; => 3
(hash-table-ref/default table '(c) #f)        ; => 3
(hash-table-contains? table "b")              ; => #t
(hash-table-empty? table)                     ; => #f
(hash-table-ref table 'a (lambda () 0) list)  ; => (1)
(hash-table-ref table 'z (lambda () 'none))   ; => none
(hash-table-ref table 'z)                     ; raises: error

;; Changing.
(hash-table-delete! table 'a 'z)             ; => 1
(hash-table-intern! table 'd (lambda () 4))  ; => 4
(hash-table-intern! table 'd (lambda () 5))  ; => 4
(hash-table-update! table 'd - (lambda () 0))
(hash-table-update!/default table 'e (lambda (n) (+ n 1)) 10)

;; Tables as wholes, in the order of insertion.
(hash-table-map->list cons table)                ; => (("b" . 2) ((c) . 3) (d . -4) (e . 11))
(hash-table-fold (lambda (key value sum) (+ value sum)) 0 table)  ; => 12
(hash-table-count (lambda (k v) (> v 0)) table)  ; => 3
(hash-table-find (lambda (k v) (and (< v 0) k)) table (lambda () #f))  ; => d
(hash-table-prune! (lambda (key value) (< value 0)) table)
(call-with-values (lambda () (hash-table-entries table)) list)  ; => (("b" (c) e) (2 3 11))

;; The algebra of tables; the first one is changed.
(define (of . keys) (apply hash-table default (append-each keys)))
(define (append-each keys)
  (if (null? keys) '() (cons (car keys) (cons (car keys) (append-each (cdr keys))))))
(hash-table-keys (hash-table-union! (of 1 2) (of 2 3)))         ; => (1 2 3)
(hash-table-keys (hash-table-intersection! (of 1 2) (of 2 3)))  ; => (2)
(hash-table-keys (hash-table-difference! (of 1 2) (of 2 3)))    ; => (1)
(hash-table-keys (hash-table-xor! (of 1 2) (of 2 3)))           ; => (1 3)

;; Comparing, making and taking apart.
(hash-table=? default (of 1 2) (of 2 1))                      ; => #t
(hash-table->alist (hash-table-unfold (lambda (n) (= n 3))
                                      (lambda (n) (values n (* n n)))
                                      (lambda (n) (+ n 1))
                                      0
                                      default))               ; => ((0 . 0) (1 . 1) (2 . 4))
(call-with-values (lambda () (hash-table-pop! (of 1))) list)  ; => (1 1)
(hash-table-pop! (of))                                        ; raises: error
