;;; R7RS-small, appendix A: (scheme base).
(define-library (scheme base)
  (export
    ;; Core forms and primitives.
    * + - / < <= = => > >= _ ... abs and append apply assq assv begin binary-port? boolean=?
    boolean? bytevector bytevector-append bytevector-copy bytevector-copy! bytevector-length
    bytevector-u8-ref bytevector-u8-set! bytevector? caar cadr call-with-values car case cdar cddr
    cdr ceiling char->integer char<=? char<? char=? char>=? char>? char? close-input-port complex?
    cond cond-expand cons define define-record-type define-syntax define-values denominator do else
    eof-object eof-object? eq? equal? eqv? even? exact exact-integer-sqrt exact-integer? exact? expt
    floor floor-quotient floor-remainder floor/ gcd get-output-bytevector get-output-string if
    include include-ci inexact inexact? input-port-open? input-port? integer->char integer? lambda
    lcm length let let* let-syntax letrec letrec* letrec-syntax list list->string list->vector
    list-copy list-ref list-set! list-tail list? make-bytevector make-list make-string make-vector
    max memq memv min modulo negative? not null? number->string number? numerator odd?
    open-input-bytevector open-input-string open-output-bytevector open-output-string or
    output-port-open? output-port? pair? port? positive? procedure? quasiquote quote quotient
    rational? rationalize real? remainder reverse round set! set-car! set-cdr! square string
    string->list string->number string->symbol string->utf8 string->vector string-append string-copy
    string-copy! string-fill! string-length string-ref string-set! string<=? string<? string=?
    string>=? string>? string? substring symbol->string symbol=? symbol? syntax-error syntax-rules
    textual-port? truncate truncate-quotient truncate-remainder truncate/ unless unquote
    unquote-splicing utf8->string values vector vector->list vector->string vector-append
    vector-copy vector-copy! vector-fill! vector-length vector-ref vector-set! vector? when zero?
    ;; Control.
    call/cc call-with-current-continuation dynamic-wind with-exception-handler raise
    raise-continuable error guard error-object? error-object-message error-object-irritants
    read-error? file-error? make-parameter parameterize
    ;; Sequences.
    map for-each member assoc vector-map vector-for-each string-map string-for-each
    ;; Derived syntax.
    let-values let*-values features
    ;; Ports.
    current-input-port current-output-port current-error-port read-char peek-char read-line
    read-string char-ready? read-u8 peek-u8 u8-ready? read-bytevector read-bytevector! newline
    write-char write-string write-u8 write-bytevector flush-output-port close-port close-output-port
    call-with-port)
  (import (except (duet kernel) close-port close-output-port)
          (only (duet internal control)
            call/cc call-with-current-continuation dynamic-wind with-exception-handler raise
            raise-continuable error guard error-object? error-object-message error-object-irritants
            read-error? file-error? make-parameter parameterize)
          (duet internal sequences)
          (duet internal syntax)
          (only (duet internal ports)
            current-input-port current-output-port current-error-port read-char peek-char read-line
            read-string char-ready? read-u8 peek-u8 u8-ready? read-bytevector read-bytevector!
            newline write-char write-string write-u8 write-bytevector flush-output-port close-port
            close-output-port call-with-port)))
