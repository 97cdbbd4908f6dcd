;; R7RS appendix A: every name that a standard library of Duet must export can be imported.
(import (only (scheme base) * + - ... / < <= = => > >= _ abs and append apply assoc assq assv begin
          binary-port? boolean=? boolean? bytevector bytevector-append bytevector-copy
          bytevector-copy! bytevector-length bytevector-u8-ref bytevector-u8-set! bytevector?
          caar cadr call-with-current-continuation call-with-port call-with-values call/cc car
          case cdar cddr cdr ceiling char->integer char-ready? char<=? char<? char=? char>=?
          char>? char? close-input-port close-output-port close-port complex? cond cond-expand
          cons current-error-port current-input-port current-output-port define
          define-record-type define-syntax define-values denominator do dynamic-wind else
          eof-object eof-object? eq? equal? eqv? error error-object-irritants
          error-object-message error-object? even? exact exact-integer-sqrt exact-integer?
          exact? expt features file-error? floor floor-quotient floor-remainder floor/
          flush-output-port for-each gcd get-output-bytevector get-output-string guard if
          include include-ci inexact inexact? input-port-open? input-port? integer->char
          integer? lambda lcm length let let* let*-values let-syntax let-values letrec letrec*
          letrec-syntax list list->string list->vector list-copy list-ref list-set! list-tail
          list? make-bytevector make-list make-parameter make-string make-vector map max member
          memq memv min modulo negative? newline not null? number->string number? numerator odd?
          open-input-bytevector open-input-string open-output-bytevector open-output-string or
          output-port-open? output-port? pair? parameterize peek-char peek-u8 positive?
          procedure? quasiquote quote quotient raise raise-continuable rational? rationalize
          read-bytevector read-bytevector! read-char read-error? read-line read-string read-u8
          real? remainder reverse round set! set-car! set-cdr! square string string->list
          string->number string->symbol string->utf8 string->vector string-append string-copy
          string-copy! string-fill! string-for-each string-length string-map string-ref
          string-set! string<=? string<? string=? string>=? string>? string? substring
          symbol->string symbol=? symbol? syntax-error syntax-rules textual-port? truncate
          truncate-quotient truncate-remainder truncate/ u8-ready? unless unquote
          unquote-splicing utf8->string values vector vector->list vector->string vector-append
          vector-copy vector-copy! vector-fill! vector-for-each vector-length vector-map
          vector-ref vector-set! vector? when with-exception-handler write-bytevector write-char
          write-string write-u8 port? zero?))
(import (only (scheme case-lambda) case-lambda))
(import (only (scheme char) char-alphabetic? char-ci<=? char-ci<? char-ci=? char-ci>=? char-ci>?
          char-downcase char-foldcase char-lower-case? char-numeric? char-upcase
          char-upper-case? char-whitespace? digit-value string-ci<=? string-ci<? string-ci=?
          string-ci>=? string-ci>? string-downcase string-foldcase string-upcase))
(import (only (scheme complex) angle imag-part magnitude make-polar make-rectangular real-part))
(import (only (scheme cxr) caaaar caaadr caaar caadar caaddr caadr cadaar cadadr cadar caddar cadddr
          caddr cdaaar cdaadr cdaar cdadar cdaddr cdadr cddaar cddadr cddar cdddar cddddr
          cdddr))
(import (only (scheme file) call-with-input-file call-with-output-file delete-file file-exists?
          open-binary-input-file open-binary-output-file open-input-file open-output-file
          with-input-from-file with-output-to-file))
(import (only (scheme inexact) acos asin atan cos exp finite? infinite? log nan? sin sqrt tan))
(import (only (scheme lazy) delay delay-force force make-promise promise?))
(import (only (scheme process-context) command-line emergency-exit exit get-environment-variable
          get-environment-variables))
(import (only (scheme read) read))
(import (only (scheme time) current-jiffy current-second jiffies-per-second))
(import (only (scheme write) display write write-shared write-simple))
(import (only (scheme r5rs) delay force inexact->exact exact->inexact caddr char-ci=? string-ci=?
          rationalize call-with-current-continuation dynamic-wind read write display))
;; The compositions of car and cdr are what their names say.
(define tree
  '(((((1 . 2) . (3 . 4)) . ((5 . 6) . (7 . 8)))
     .
     (((9 . 10) . (11 . 12)) . ((13 . 14) . (15 . 16))))))
(map (lambda (f) (f (car tree))) (list caaaar caaadr caadar caaddr cadaar cadadr caddar cadddr))
; => (1 9 5 13 3 11 7 15)
(map (lambda (f) (f (car tree))) (list cdaaar cdaadr cdadar cdaddr cddaar cddadr cdddar cddddr))
; => (2 10 6 14 4 12 8 16)

;; An absent library is an error at the import, not later.
(import (scheme rlist))                               ; raises: syntax
(import (scheme none))                                ; raises: syntax
