;; SRFI 232, 235 and 210: currying, combinators, multiple values.
(import (scheme base) (srfi 232) (srfi 195) (prefix (srfi 210) v:) (srfi 235))
(define-curried (add a b c) (list a b c))
(list (add 1 2 3) (((add 1) 2) 3) ((add) 1 2 3) ((curried (a . rest) (list a rest)) 1 2) ((curried (x y) (curried (z) (list x y z))) 1 2 3) ((curried args args) 1) (curried () 5)) ; => ((1 2 3) (1 2 3) (1 2 3) (1 (2)) (1 2 3) (1) 5)

(list ((constantly 1) 2) ((complement even?) 1) ((swap -) 1 5) ((flip list) 1 2 3) ((on-left -) 1 2) ((on-right -) 1 2)) ; => (1 #t 4 (3 2 1) -1 -2)
(list ((conjoin positive? even?) 2 4) ((conjoin positive? even?) 2 3) ((disjoin zero? even?) 0 3) ((disjoin zero? odd?) 0 3) ((all-of even?) '(2 3)) ((any-of even?) '(1 2))) ; => (#t #f #f #t #f #t)
(list ((on + square) 1 2 3) ((left-section list 1 2) 3) ((right-section list 1 2) 3) ((apply-chain square car) '(3)) ((compose car cdr) '(1 2)) (identity 1)) ; => (14 (1 2 3) (3 2 1) 9 2 1)
(list ((arguments-drop list 1) 1 2 3) ((arguments-drop-right list 1) 1 2 3) ((arguments-take list 1) 1 2 3) ((arguments-take-right list 1) 1 2 3) ((group-by odd?) '(1 2 3 4))) ; => ((2 3) (1 2) (1) (3) ((1 3) (2 4)))
(let ((seen '())) (define (note x) (lambda () (set! seen (cons x seen)) x)) (let ((values (list (begin-procedure (note 1) (note 2)) (if-procedure #f (note 3) (note 4)) (when-procedure #t (note 5)) (value-procedure 6 - (note 7)) (case-procedure 'b (list (cons 'a (note 8)) (cons 'b (note 9)))) (case-procedure 'c '() (note 10))))) (list values (reverse seen)))) ; => ((2 4 5 -6 9 10) (1 2 4 5 9 10))
(let ((n 0)) (define (next) (set! n (+ n 1)) (< n 3)) (while-procedure next) (until-procedure (lambda () (next) (> n 5))) (unless-procedure #f next) n) ; => 7
(define (true) 1) (define (false) #f)
(list (and-procedure true false) (or-procedure false true) (eager-and-procedure true true) (eager-or-procedure false true false) (and-procedure) (or-procedure) (funcall-procedure true) (always 1) (never 1) (boolean 5)) ; => (#f 1 1 1 #t #f 1 #t #f #t)
(let ((count 0)) ((each-of (lambda (x) (set! count (+ count x))) (lambda (x) (set! count (* count x)))) 3) (call/cc (lambda (k) (loop-procedure (lambda () (set! count (+ count 1)) (if (> count 11) (k count))))))) ; => 12

(list (v:apply/mv + 1 (values 2 3)) (v:call/mv list (values 1 2) 3) (v:list/mv 1 (values 2 3)) (v:vector/mv (values 1 2)) (v:coarity (values 1 2 3)) (v:value/mv 1 'a (values 'b 'c)) (v:value 0 'a 'b))  ; => (6 (1 2 3) (1 2 3) #(1 2) 3 b a)
(let ((a 0) (b 0) (rest 0)) (v:set!-values (a b . rest) (values b 2 3)) (list a b rest))       ; => (0 2 (3))
(list (v:with-values (values 1 2) +) (v:case-receive (values 1 2) ((a) 'one) ((a b) 'two)) (v:bind/mv (values 1 2) (lambda (a b) (values b a)) list) (v:bind 3 square -) (v:bind/list '(1 2) +) (v:bind/box (v:box/mv 1 (values 2)) +)) ; => (3 two (2 1) -9 3 3)
(list (v:list/mv (v:list-values '(1 2))) (v:list/mv (v:vector-values #(1 2))) (v:list/mv (v:box-values (box 1 2))) (v:list/mv ((v:map-values -) 1 2)) ((v:compose-left square -) 2) ((v:compose-right square -) 2) (v:list/mv (v:identity 1 2))) ; => ((1 2) (1 2) (1 2) (-1 -2) -4 4 (1 2))
