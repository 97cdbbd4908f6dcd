;; SRFI 197: pipelines.
(import (scheme base) (srfi 197))

;; Each step receives the values of the step before it.
(chain 5 (+ _ 1) (list _ 'end))                                    ; => (6 end)
(chain (values 1 2 3) (list _ 0 _ ...) (reverse _))                ; => (3 2 0 1)
(chain (values 1 2) (- _ _))                                       ; => -1
(chain-and 5 (even? _) (car _))                                    ; => #f
(chain-and '((a . 1)) (assq 'a _) (cdr _))                         ; => 1
(chain-when 4 ((even? _) (* _ 10)) ((odd? _) (list _)) ((+ _ 1)))  ; => 41
(map (chain-lambda (* _ 2) (+ _ 1)) '(1 2))                        ; => (3 5)

;; Placeholder and ellipsis can be named.
(chain 5 <> (+ <> 1) (list <> '_))         ; => (6 _)
(chain (values 1 2) - --- (list 0 - ---))  ; => (0 1 2)
(chain-and 5 <> (odd? <>) (list <> '_))    ; => (#t _)
(chain-when 4 <> ((even? <>) (* <> 10)))   ; => 40
((chain-lambda <> (+ <> 1)) 1)             ; => 2

;; Nesting, from the outside and from the inside.
(nest (quote _) (1 2 _) (3 _ 5) (_) 4)  ; => (1 2 (3 (4) 5))
(nest <> (list 1 <>) (+ 2 <>) 3)        ; => (1 5)
(nest-reverse 3 (+ 2 _) (list _ 1))     ; => (5 1)
(nest-reverse 3 <> (list <>))           ; => (3)
(nest (list 1 _) (list 2 _) 3)          ; => (1 (2 3))
(nest-reverse 3 (list 2 _) (list 1 _))  ; => (1 (2 3))
