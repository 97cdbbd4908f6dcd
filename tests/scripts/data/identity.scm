;; Tables by identity: what is in a key may change, and many keys do not slow them down.
(import (scheme base)
        (scheme write)
        (rename (srfi 69) (hash-by-identity identity))
        (prefix (srfi 125) t:))
(define-record-type point (point x y) point? (x point-x set-point-x!) (y point-y))
(define table (make-hash-table eq?))
(define keys
  (list (vector 1 2) (string #\a) (list 1) (bytevector 1) (point 1 2) car (string->symbol "a") #\a
        7))
(for-each (lambda (key) (hash-table-set! table key (list 'of key))) keys)
(begin
  (vector-set! (list-ref keys 0) 0 5)
  (string-set! (list-ref keys 1) 0 #\b)
  (set-car! (list-ref keys 2) 9)
  (bytevector-u8-set! (list-ref keys 3) 0 0)
  (set-point-x! (list-ref keys 4) 3))
(map (lambda (key) (eq? key (cadr (hash-table-ref table key)))) keys)
; => (#t #t #t #t #t #t #t #t #t)
(hash-table-size table)                            ; => 9
(hash-table-exists? table (vector 5 2))            ; => #f
(hash-table-exists? table (list 9))                ; => #f
(for-each (lambda (key) (hash-table-delete! table key)) (cdr keys))
(hash-table-keys table)                            ; => (#(5 2))

;; Clearing a table leaves its copies alone.
(let ((copy (t:hash-table-copy table)))
  (t:hash-table-clear! table)
  (list (hash-table-size table) (t:hash-table-keys copy)))  ; => (0 (#(5 2)))

;; The hash of an object by identity outlives a change of its content.
(let ((key (list 1 2)))
  (list (eqv? (identity key) (begin (set-car! key 5) (identity key)))
        (= (identity (vector 1)) (identity (vector 1)))))  ; => (#t #f)

;; Keys of equal content, and many of them.
(define (fill count)
  (let ((table (make-hash-table eqv?)))
    (let loop ((n 0) (made '()))
      (if (= n count)
          (list (hash-table-size table)
                (eqv? (hash-table-ref table (list-ref made 10)) (- count 11)))
          (let ((key (make-vector 1 n)))
            (hash-table-set! table key n)
            (loop (+ n 1) (cons key made)))))))
(fill 30000)                                       ; => (30000 #t)

;; Hashes by content.
(< -1 (t:string-hash "a" 10) 10)                   ; => #t
(= (t:string-ci-hash "A") (t:string-ci-hash "a"))  ; => #t
(= (t:hash (list 1)) (t:hash (list 1)))            ; => #t

;; A type may have the name of its constructor, which then means the constructor, or a name with
;; a colon.
(point-x (point 4 5))                          ; => 4
(point? (point 1 2))                           ; => #t
(define-record-type :pare (kons x y) pare? (x kar set-kar!) (y kdr))
(pare? (kons 1 2))                             ; => #t
(pare? (cons 1 2))                             ; => #f
(let ((k (kons 1 2))) (set-kar! k 3) (kar k))  ; => 3
(let ()
  (define-record-type :node (node left) node? (left node-left))
  (define-record-type leaf (leaf value) leaf? (value leaf-value))
  (list (node-left (node 1)) (leaf-value (leaf 2)) (node? (leaf 2))))  ; => (1 2 #f)
