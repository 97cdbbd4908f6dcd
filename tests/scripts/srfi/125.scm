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

;; Keys and values are counted before the first of them counts.
(define-syntax told
  (syntax-rules ()
    ((_ e) (guard (c (#t (cons (error-object-message c) (error-object-irritants c)))) e))))
(define none (of))
(told (hash-table-set! none 'a 1 'b))  ; => ("hash-table-set!: the last key has no value" b)
(hash-table-keys none)                 ; => ()
(hash-table-set! none)
(told (hash-table-set! none 'a))       ; => ("hash-table-set!: the last key has no value" a)
(told (hash-table default 1))          ; => ("hash-table: the last key has no value" 1)
(hash-table-set! none 'a 1 'b 2 'a 3)
(hash-table->alist none)               ; => ((a . 3) (b . 2))

;; Errors name the procedure that was called.
(told (hash-table-ref 'x 1))           ; => ("hash-table-ref: expected a hash table" x)
(told (hash-table-set! 'x))            ; => ("hash-table-set!: expected a hash table" x)
(told (hash-table->alist 5))           ; => ("hash-table->alist: expected a hash table" 5)
(told (hash-table-merge! (of 1) 5))    ; => ("hash-table-merge!: expected a hash table" 5)
(told (alist->hash-table 5 default))   ; => ("alist->hash-table: expected a proper list" 5)
(told (alist->hash-table '(5) default))  ; => ("alist->hash-table: expected a list of pairs" 5)
(told (hash-table-size))               ; => ("hash-table-size takes 1 argument, not 0")
(told (string-hash "abc" 10 2 1))
; => ("string-hash: expected 0 <= start <= end <= length" 2 1 3)
(= (string-hash "abc" 0 1) (string-hash "bc"))  ; => #t

;; A search sees the entries that a table has at its start; what it calls may change the table.
(let ((table (hash-table (make-default-comparator) 1 'a 2 'b 3 'c)) (seen '()))
  (hash-table-find
    (lambda (key value)
      (set! seen (cons key seen))
      (hash-table-set! table (+ key 10) value)
      #f)
    table
    (lambda () (list (reverse seen) (hash-table-size table)))))            ; => ((1 2 3) 6)
(let ((table (hash-table (make-default-comparator) 1 'a 2 'b 3 'c)))
  (hash-table-find (lambda (key value) (hash-table-clear! table) (= key 3)) table list))  ; => #t
(let ((table (hash-table (make-comparator number? = #f abs) 1 'a -1 'b 2 'c)))
  (let* ((first (call-with-values (lambda () (hash-table-pop! table)) list))
         (second (call-with-values (lambda () (hash-table-pop! table)) list)))
    (list first second (hash-table->alist table))))
; => ((1 a) (-1 b) ((2 . c)))
(hash-table-pop! (hash-table (make-default-comparator)))                   ; raises: error
