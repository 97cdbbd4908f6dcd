;;; R7RS-small, appendix A: (scheme r5rs).
(define-library (scheme r5rs)
  (export
    * + - / < <= = > >= abs and append apply assq assv begin boolean? caar cadr call-with-values car
    case cdar cddr cdr ceiling char->integer char<=? char<? char=? char>=? char>? char?
    close-input-port close-output-port complex? cond cons define define-syntax denominator do else
    eof-object? eq? equal? eqv? even? exact? expt floor gcd if inexact? input-port? integer->char
    integer? lambda lcm length let let* let-syntax letrec letrec-syntax list list->string
    list->vector list-ref list-tail list? make-string make-vector max memq memv min modulo negative?
    not null? number->string number? numerator odd? or output-port? pair? positive? procedure?
    quasiquote quote quotient rational? rationalize real? remainder reverse round set! set-car!
    set-cdr! string string->list string->number string->symbol string-append string-copy
    string-fill! string-length string-ref string-set! string<=? string<? string=? string>=? string>?
    string? substring symbol->string symbol? syntax-rules truncate unquote unquote-splicing values
    vector vector->list vector-fill! vector-length vector-ref vector-set! vector? zero?
    ... _ =>
    call-with-current-continuation dynamic-wind map for-each member assoc
    current-input-port current-output-port read-char peek-char char-ready? newline write-char read
    write display call-with-input-file call-with-output-file open-input-file open-output-file
    with-input-from-file with-output-to-file
    delay force
    (rename exact inexact->exact) (rename inexact exact->inexact)
    caaar caadr cadar caddr cdaar cdadr cddar cdddr caaaar caaadr caadar caaddr cadaar cadadr caddar
    cadddr cdaaar cdaadr cdadar cdaddr cddaar cddadr cdddar cddddr
    char-alphabetic? char-ci<=? char-ci<? char-ci=? char-ci>=? char-ci>? char-downcase
    char-lower-case? char-numeric? char-upcase char-upper-case? char-whitespace? string-ci<=?
    string-ci<? string-ci=? string-ci>=? string-ci>?
    acos asin atan cos exp log sin sqrt tan
    angle imag-part magnitude make-polar make-rectangular real-part
    eval interaction-environment null-environment scheme-report-environment)
  (import (scheme base) (scheme char) (scheme complex) (scheme cxr) (scheme file) (scheme inexact)
    (scheme lazy) (scheme read) (scheme write)
    (only (duet internal eval) eval interaction-environment null-environment
      scheme-report-environment)))
