;; Dictionaries and sets remember the order in which keys came.
(define d (dictionary 'a 1 'b 2))
(dictionary? d)                                                     ; => #t
(dictionary? '())                                                   ; => #f
(dictionary-count d)                                                ; => 2
(dictionary-ref d 'b)                                               ; => 2
(dictionary-ref d 'c 'none)                                         ; => none
(dictionary-ref d 'c)                                               ; raises: key-not-found
(dictionary 'a)                                                     ; raises: missing-value
(define copy (dictionary-copy d))
(dictionary-set! d 'c 3)
(dictionary-set! d 'a 10)
(dictionary->alist d)                                               ; => ((a . 10) (b . 2) (c . 3))
(dictionary-delete! d 'a)
(dictionary-set! d 'a 0)
(dictionary-keys d)                                                 ; => (b c a)
(dictionary-values d)                                               ; => (2 3 0)
(dictionary-contains? d 'b)                                         ; => #t
(dictionary-contains? d 'x)                                         ; => #f
(dictionary->alist copy)                                            ; => ((a . 1) (b . 2))
(dictionary->alist (alist->dictionary '((x . 1) (y . 2) (x . 3))))  ; => ((x . 1) (y . 2))
(dictionary-ref (dictionary "key" 1 '(1 2) 2) (list 1 2))           ; => 2
(dictionary-set! '() 'a 1)                                          ; raises: wrong-type

(define s (set 3 1 2))
(define same (set-copy s))
(set-delete! s 1)
(set-adjoin! s 9)
(set->list s)        ; => (3 2 9)
(set->list same)     ; => (3 1 2)
(set-count s)        ; => 3
(set-contains? s 1)  ; => #f

;; Objects whose members differ only inside are different keys.
(define (object i)
  (list (dictionary 'user (dictionary 'place (list (vector i))) 'why 'same)))
(define seen (dictionary))
(do ((i 0 (+ i 1))) ((= i 3000)) (dictionary-set! seen (object i) i))
(dictionary-count seen)                ; => 3000
(dictionary-ref seen (object 2999) #f) ; => 2999
