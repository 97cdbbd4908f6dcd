;;; Everything an ordinary program needs: the procedures and syntax of R7RS-small, and Duet's own.
(define-library (duet base)
  (export
    (all-from (scheme base)) (all-from (scheme case-lambda)) (all-from (scheme char))
    (all-from (scheme complex)) (all-from (scheme cxr)) (all-from (scheme file))
    (all-from (scheme inexact)) (all-from (scheme lazy)) (all-from (scheme read))
    (all-from (scheme write)) (all-from (duet syntax))
    ;; Lists. Not `every`, which is a timer in (duet dataspace); that of lists is in (srfi 1).
    sort list-sort vector-sort
    fold fold-left fold-right reduce filter remove partition delete delete-duplicates
    find find-tail any count list-index filter-map append-map
    iota last last-pair list-head take drop concatenate flatten append-reverse
    ;; Conditions.
    condition? condition-kind condition-message condition-irritants condition->string assert
    ;; Delimited continuations.
    make-prompt-tag default-prompt-tag call-with-prompt abort-to-prompt
    call-with-composable-continuation prompt control prompt-at control-at reset shift reset-at
    shift-at
    ;; Ports.
    with-output-to-string with-input-from-string
    ;; Keywords, records, dictionaries.
    keyword? keyword->symbol symbol->keyword
    record record? record-label record-fields record-field record-length migrate-records
    dictionary dictionary? dictionary-ref dictionary-set! dictionary-delete! dictionary-contains?
    dictionary-count dictionary-keys dictionary-values dictionary->alist alist->dictionary
    dictionary-copy set set? set-contains? set-adjoin! set-delete! set-count set->list list->set
    set-copy
    ;; Strings.
    string-index string-contains string-prefix? string-suffix? string-trim string-trim-left
    string-trim-right string-split string-join
    ;; A hash that equal values share; the description of a name.
    equal-hash describe
    ;; Multiple values.
    receive)
  (on-demand)
  (import
    (except (duet kernel) close-port close-output-port)
    (scheme base) (scheme case-lambda) (scheme char) (scheme complex) (scheme cxr) (scheme file)
    (scheme inexact) (scheme lazy) (scheme read) (scheme write)
    (duet internal lists) (duet syntax)
    (except (duet internal control) %rewind %signal %exit-extents %run-joined %raise-joined %base)
    (only (duet internal ports) with-output-to-string with-input-from-string))
  (begin
    ;;;> Raises a condition of kind `assertion-failed` unless the expression is true.
    (define-syntax assert
      (syntax-rules ()
        ((_ expression)
         (unless expression
           (raise (%make-condition 'assertion-failed "assertion failed" '(expression)))))))

    ;;;> Says in a changed text how the records of a type that a run has made become records of its
    ;;;> new definition: `duet patch` evaluates the body for each of them, with the values of these
    ;;;> fields of the old record, and puts the result in its place. The body may only compute, and
    ;;;> returns a record of the type. Does nothing when the text itself is evaluated.
    (define-syntax migrate-records
      (syntax-rules ()
        ((_ type (field ...) body ...)
         (%migrate-records 'type '(field ...) (lambda (field ...) body ...)))))

    ;;;> Returns the text of a raised object. The text of a condition has its kind, its message and
    ;;;> its irritants, as `write` shows them; any other object stands as `write` shows it.
    (define (condition->string object)
      (define port (open-output-string))
      (cond
        ((condition? object)
         (write (condition-kind object) port)
         (write-string ": " port)
         (display (condition-message object) port)
         (for-each
           (lambda (irritant) (write-string " " port) (write irritant port))
           (condition-irritants object)))
        (else (write object port)))
      (get-output-string port))

    ;;;> Concatenates the strings of a list with `delimiter` between them.
    (define (string-join strings delimiter)
      (define port (open-output-string))
      (define (put string)
        (if (not (string? string)) (%wrong-type 'string-join "a list of strings" string))
        (write-string string port))
      (if (not (list? strings)) (%wrong-type 'string-join "a list of strings" strings))
      (if (not (string? delimiter)) (%wrong-type 'string-join "a string between them" delimiter))
      (when (pair? strings)
        (put (car strings))
        (for-each (lambda (string) (write-string delimiter port) (put string)) (cdr strings)))
      (get-output-string port))

    ;;;> Returns a hash of an object, an exact integer from 0, which objects share that are `equal?`.
    (define (equal-hash object) (%hash object))

    ;;;> Binds the variables of a formals list to the values of an expression.
    (define-syntax receive
      (syntax-rules ()
        ((_ formals expression body ...)
         (call-with-values (lambda () expression) (lambda formals body ...)))))))
