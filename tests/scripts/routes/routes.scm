;; Tokens and routes: grammar, canonical form, refusals, activation, compatibility.
(import (duet base) (duet routes))

(define (canonical text) (route->string (->route text)))
(canonical "A --[ f ]--> B")                      ; => "A--[f]-->B"
(canonical "A, B, C --[ f, g ]--> X, Y, Z")       ; => "A,B,C--[f,g]-->X,Y,Z"
(canonical "A --> B")                             ; => "A--[]-->B"
(canonical "--> B")                               ; => "--[]-->B"
(canonical "--[f]-->")                            ; => "--[f]-->"
(canonical "A --[f]-->")                          ; => "A--[f]-->"
(canonical " A , B ")                             ; => "A,B"
(canonical "A --[]-->")                           ; => "A"
(canonical "/not( A , B )--[ /all ]-->/oneof(X , Y)")       ; => "/not(A,B)--[/all]-->/oneof(X,Y)"
;; Whitespace is ignored everywhere but inside an identifier.
(canonical "A\n- -[ f ] - ->\t/ oneof ( X )")     ; => "A--[f]-->/oneof(X)"
(canonical "A B")                                 ; raises: bad-token
(canonical "f --> / al l")                        ; raises: bad-token

;; The condition names the kind, the text and the offset of the fault.
(define (refusal text)
  (guard (object ((condition? object) (cons (condition-kind object) (condition-irritants object))))
    (->route text)))
(refusal "A,,B")                                  ; => (empty-token "A,,B" :at 2)
(refusal "A --[f]--> B, ")                        ; => (empty-token "A --[f]--> B, " :at 14)
(refusal "")                                      ; => (empty-token "" :at 0)
(refusal "/oneof()")                              ; => (empty-list "/oneof()" :at 7)
(refusal "X, /oneof(A,,B)")                       ; => (empty-token "X, /oneof(A,,B)" :at 12)
(refusal "/not(/all)")                            ; => (nested-token "/not(/all)" :at 5)
(refusal "/oneof(1)")                             ; => (bad-token "/oneof(1)" :at 7)
(refusal "/oneof(A")                              ; => (bad-token "/oneof(A" :at 7)
(refusal "--[ ]-->")                              ; => (empty-arrow "--[ ]-->" :at 0)
(refusal "A --[f --> B")                          ; => (bad-arrow "A --[f --> B" :at 2)
(refusal "A --> B --> C")                         ; => (bad-token "A --> B --> C" :at 6)
(refusal "A ==> B")                               ; => (bad-token "A ==> B" :at 0)
(refusal "\xe9;")                                 ; => (bad-token "é" :at 0)
(refusal "A\xe9;")                                ; => (bad-token "Aé" :at 0)
(->route (make-string 65537 #\A))                 ; raises: route-too-long
(string-length (token->string (->token (make-string 65536 #\A))))         ; => 65536
(->route (string-join (make-list 1001 "A") ","))  ; raises: route-too-long
(length (route-sources (->route (string-join (make-list 1000 "A") ","))))  ; => 1000
(->token 5)                                       ; raises: wrong-type

;; A canonical text reads back as itself.
(define texts
  '("A" "A,B" "A-->B" "-->B" "--[f]-->" "A--[f]-->" "A,B--[f,g]-->C" "/all-->/not(A,B)"
    "/oneof(A)--[/all]-->B" "A,A"))
(define (unstable? text) (not (string=? (canonical text) (canonical (canonical text)))))
(filter unstable? texts)                          ; => ()

;; Object routes, arrow routes, initial routes.
(define kinds '("A" "A-->" "A-->B" "-->B" "--[f]-->"))
(map (lambda (text) (arrow-route? (->route text))) kinds)    ; => (#f #f #t #t #t)
(map (lambda (text) (initial-route? (->route text))) kinds)  ; => (#f #f #f #t #t)

;; The table of activation.
(define (activates text)
  (map (lambda (action) (map token->string (route-activates (->route text) action)))
    '(test stay move)))
(activates "A,B")                                 ; => (() ("A" "B") ("A" "B"))
(activates "A --[f,g]--> B")                      ; => (("f" "g") ("A") ("f" "g" "B"))
(activates "A --> B")                             ; => (() ("A") ("B"))
(activates "/not(B) --[f]-->")                    ; => (("f") ("/not(B)") ("f"))
(route-activates (->route "A") 'jump)             ; raises: wrong-type

;; Acceptance: every kind of gate with every kind of state.
(define gates '("A" "/all" "/not(A)" "/not(A,B)" "/oneof(A)" "/oneof(A,B)"))
(define (row gate)
  (map (lambda (state) (if (accepts? (->token gate) (->token state)) 1 0))
    (append gates '("B" "/oneof(B)"))))
(row "A")                                         ; => (1 1 0 0 1 1 0 0)
(row "/all")                                      ; => (1 1 1 1 1 1 1 1)
(row "/not(A)")                                   ; => (0 1 1 1 1 1 1 1)
(row "/not(A,B)")                                 ; => (0 1 1 1 1 1 0 1)
(row "/oneof(A)")                                 ; => (1 1 0 0 1 1 0 0)
(row "/oneof(A,B)")                               ; => (1 1 1 0 1 1 1 1)

;; Compatibility: each token of the sender accepts some token of the receiver, part by part.
(define (fits sender receiver) (compatible? (->route sender) (->route receiver)))
(fits "A" "A--[f]-->B")                           ; => #t
(fits "A--[f]-->B" "A")                           ; => #f
(fits "A-->B" "A--[f]-->B")                       ; => #t
(fits "A--[f]-->B" "A-->B")                       ; => #f
(fits "/all-->/all" "A--[f]-->B")                 ; => #t
(fits "/all-->/all" "-->B")                       ; => #f
(fits "A,B" "A")                                  ; => #f
(fits "A" "A,B")                                  ; => #t
(fits "-->B" "A-->B")                             ; => #t

;; Other styles of arrows are recognised; the canonical form is one.
(define double (make-arrow-style "=" "{" "}" ";" ")"))
(define (styled text) (route->string (->route text (list canonical-arrow-style double))))
(styled "A;C =={ f ; g }==) B")                   ; => "A,C--[f,g]-->B"
(styled "/not(A,B) ; C ==) D")                    ; => "/not(A,B),C--[]-->D"
(styled "A --[f]--> B")                           ; => "A--[f]-->B"
(styled "A,C =={f}==) B")                         ; raises: bad-token
(make-arrow-style "--" "[" "]" "," ">")           ; raises: bad-arrow-style
(make-arrow-style "-" "[" "]" "-" ">")            ; raises: bad-arrow-style
(make-arrow-style "-" "[" "[>" "," ">")           ; raises: bad-arrow-style
(make-arrow-style "-" "" "]" "," ">")             ; raises: bad-arrow-style
