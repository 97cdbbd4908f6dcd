;;; The procedures that mappings and hashmaps share. `(fold combine initial entries)` and `adjoin`,
;;; which adds a key and a value, are those of one of the two.

;;; Calls `each` with the alternating keys and values of a list. An error names `procedure`.
(define (%in-pairs procedure entries accumulated each)
  (cond ((null? entries) accumulated)
        ((null? (cdr entries))
         (error (string-append (symbol->string procedure) ": the last key has no value")
                (car entries)))
        (else
         (%in-pairs procedure
                    (cddr entries)
                    (each (car entries) (cadr entries) accumulated)
                    each))))

;;; Adds the key and the value that `entry` returns.
(define (%adjoined adjoin entries entry)
  (call-with-values entry (lambda (key value) (adjoin entries key value))))

;;; Adds the entries `(entry seed)`, for seeds `(next seed)`, until `(stop? seed)`.
(define (%unfolded adjoin stop? entry next seed entries)
  (if (stop? seed)
      entries
      (%unfolded adjoin
                 stop?
                 entry
                 next
                 (next seed)
                 (%adjoined adjoin entries (lambda () (entry seed))))))

(define (%found fold wanted? entries failure)
  ((call/ec
     (lambda (return)
       (fold (lambda (key value ignored)
               (if (wanted? key value) (return (lambda () (values key value))) #f))
             #f entries)
       failure))))

(define (%counted fold wanted? entries)
  (fold (lambda (key value count) (if (wanted? key value) (+ count 1) count)) 0 entries))

(define (%any? fold wanted? entries)
  (call/ec
    (lambda (return)
      (fold (lambda (key value ignored) (if (wanted? key value) (return #t) #f)) #f entries))))

(define (%mapped fold adjoin procedure empty entries)
  (fold (lambda (key value mapped) (%adjoined adjoin mapped (lambda () (procedure key value))))
        empty
        entries))

(define (%for-each fold procedure entries)
  (fold (lambda (key value ignored) (procedure key value) #f) #f entries)
  (if #f #f))

(define (%listed fold procedure entries)
  (reverse (fold (lambda (key value list) (cons (procedure key value) list)) '() entries)))

;;; Makes a procedure that compares neighbours.
(define (%chain holds?)
  (lambda (comparator first . rest)
    (let loop ((first first) (rest rest))
      (or (null? rest)
          (and (holds? comparator first (car rest)) (loop (car rest) (cdr rest)))))))

;;; Makes a procedure that compares neighbours by their sizes, then by `within?`.
(define (%sized compare size within?)
  (%chain (lambda (comparator a b) (and (compare (size a) (size b)) (within? comparator a b)))))

(define (%reversed within?) (lambda (comparator a b) (within? comparator b a)))
