;; R7RS 4.2.1: cond, case, and, or, when, unless, cond-expand.
(cond ((> 3 2) 'greater) ((< 3 2) 'less))            ; => greater
(cond ((> 3 3) 'greater) ((< 3 3) 'less) (else 'equal))  ; => equal
(cond ((assv 'b '((a 1) (b 2))) => cadr) (else #f))  ; => 2
(cond ((assv 'c '((a 1) (b 2))) => cadr) (else #f))  ; => #f
(cond (#f) (7) (else 8))                             ; => 7
(cond (1 2 3))                                       ; => 3
(cond (else 1 2))                                    ; => 2
(cond (else 1) (#t 2))                               ; raises: syntax
(cond ((+ 1 1) => (lambda (x) (* x x))))             ; => 4

;; A local `else` or `=>` is an ordinary variable.
(let ((else #f)) (cond (else 'no) (#t 'yes)))        ; => yes
(let ((=> #f)) (cond (#t => 'ok)))                   ; => ok

(case (* 2 3) ((2 3 5 7) 'prime) ((1 4 6 8 9) 'composite))  ; => composite
(case (car '(c d))
  ((a e i o u) 'vowel)
  ((w y) 'semivowel)
  (else => (lambda (x) x)))                          ; => c
(case 'x ((x) => (lambda (v) (list v))) (else 0))    ; => (x)
(case 5 ((1) 1) (else 2 3))                          ; => 3
(case #\b ((#\a) 1) ((#\b) 2))                       ; => 2
(case 100000000000000000000 ((100000000000000000000) 'big) (else 'none))  ; => big
(case 1.0 ((1) 'exact) ((1.0) 'inexact))             ; => inexact
(case 1/2 ((1/2) 'half) (else #f))                   ; => half
(case '() ((()) 'empty) (else #f))                   ; => empty
(case "a" (("a") 'same) (else 'other))               ; => other
(case (quote quote) ('a 'quoted) (else 'other))      ; => quoted
(let ((n 0)) (case (begin (set! n (+ n 1)) n) ((2) 'a) ((1) 'b) (else 'c)))  ; => b

(and (= 2 2) (> 2 1))                                ; => #t
(and (= 2 2) (< 2 1))                                ; => #f
(and 1 2 'c '(f g))                                  ; => (f g)
(and)                                                ; => #t
(or (= 2 2) (> 2 1))                                 ; => #t
(or (= 2 2) (< 2 1))                                 ; => #t
(or #f #f #f)                                        ; => #f
(or (memq 'b '(a b c)) (/ 3 0))                      ; => (b c)
(or)                                                 ; => #f

(when (> 1 0) 'a 'b)                                 ; => b
(unless (> 1 0) 'a 'b)
(unless #f 'a 'b)                                    ; => b
(let ((count 0)) (when #f (set! count 1)) count)     ; => 0

(cond-expand (r7rs 'yes) (else 'no))                 ; => yes
(cond-expand ((and r7rs (not no-such-feature)) 1) (else 2))  ; => 1
(cond-expand ((or no-such-feature full-unicode) 1) (else 2))  ; => 1
(cond-expand ((library (scheme base)) 'has) (else 'lacks))  ; => has
(cond-expand ((library (no such library)) 'has) (else 'lacks))  ; => lacks
(cond-expand (no-such-feature 1) ((not r7rs) 2) (else 3))  ; => 3
(cond-expand ((and) 'all) (else 'none))              ; => all
(cond-expand ((or) 'some) (else 'none))              ; => none
