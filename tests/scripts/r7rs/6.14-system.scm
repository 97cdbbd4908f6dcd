;; R7RS 6.14: what a program may ask about where it runs.
(list? (features))                                   ; => #t
(map (lambda (f) (and (memq f (features)) #t))
     '(r7rs exact-closed exact-complex ratios full-unicode duet))  ; => (#t #t #t #t #t #t)
;; Each feature is one that `cond-expand` knows.
(cond-expand ((and r7rs exact-closed ratios full-unicode duet) 'all) (else 'some))  ; => all
(cond-expand (exact-complex 'complex) (else 'real))  ; => complex
(cond-expand ((library (scheme eval)) 'eval) (else 'no-eval))  ; => eval
(cond-expand ((and (library (scheme case-lambda))
                   (library (scheme char))
                   (library (scheme complex))
                   (library (scheme cxr))
                   (library (scheme file))
                   (library (scheme inexact))
                   (library (scheme lazy))
                   (library (scheme process-context))
                   (library (scheme read))
                   (library (scheme time))
                   (library (scheme write))
                   (library (scheme r5rs)))
              'all)
             (else 'some))                           ; => all
(import (scheme evil))                               ; raises: syntax
