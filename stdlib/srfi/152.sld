;;; SRFI 152: strings, by index and predicate.
(define-library (srfi 152)
  (export
    string? string-null? string-every string-any make-string string string-tabulate string-unfold
    string-unfold-right string->vector string->list vector->string list->string reverse-list->string
    string-length string-ref substring string-copy string-take string-take-right string-drop
    string-drop-right string-pad string-pad-right string-trim string-trim-right string-trim-both
    string-replace string=? string<? string>? string<=? string>=? string-ci=? string-ci<?
    string-ci>? string-ci<=? string-ci>=? string-prefix-length string-suffix-length string-prefix?
    string-suffix? string-index string-index-right string-skip string-skip-right string-contains
    string-contains-right string-take-while string-take-while-right string-drop-while
    string-drop-while-right string-span string-break string-append string-concatenate
    string-concatenate-reverse string-join string-fold string-fold-right string-map string-for-each
    string-count string-filter string-remove string-replicate string-segment string-split
    read-string write-string string-set! string-fill! string-copy!)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (duet internal ranges)
          (only (duet internal control) %wrong-type)
          (only (scheme char) string-ci=? string-ci<? string-ci>? string-ci<=? string-ci>=?)
          (only (srfi 13)
            string-null? string-every string-any string-tabulate reverse-list->string string-take
            string-take-right string-drop string-drop-right
            string-pad string-pad-right string-trim string-trim-right string-trim-both
            string-replace string-prefix-length string-suffix-length string-prefix? string-suffix?
            string-index string-index-right string-skip string-skip-right string-contains
            string-concatenate string-concatenate-reverse string-join string-fold string-fold-right
            string-count string-filter
            string-delete xsubstring))
  (begin
    (define (%add! part port) (if (char? part) (write-char part port) (write-string part port)))

    ;;;> Makes a string of `base`, the characters or strings `(part seed)` for seeds `(next seed)`
    ;;;> until `(stop? seed)`, and the value of `final` for the last seed.
    (define string-unfold
      (case-lambda
        ((stop? part next seed) (string-unfold stop? part next seed "" (lambda (seed) "")))
        ((stop? part next seed base) (string-unfold stop? part next seed base (lambda (seed) "")))
        ((stop? part next seed base final)
         (let ((port (open-output-string)))
           (%add! base port)
           (let loop ((seed seed))
             (if (stop? seed)
                 (begin (%add! (final seed) port) (get-output-string port))
                 (begin (%add! (part seed) port) (loop (next seed)))))))))

    ;;;> Like `string-unfold`, from the right: the string ends with `base` and begins with the value
    ;;;> of `final`.
    (define string-unfold-right
      (case-lambda
        ((stop? part next seed) (string-unfold-right stop? part next seed "" (lambda (seed) "")))
        ((stop? part next seed base)
         (string-unfold-right stop? part next seed base (lambda (seed) "")))
        ((stop? part next seed base final)
         (let loop ((seed seed) (parts (list base)))
           (if (stop? seed)
               (let ((port (open-output-string)))
                 (for-each (lambda (part) (%add! part port)) (cons (final seed) parts))
                 (get-output-string port))
               (loop (next seed) (cons (part seed) parts)))))))

    ;;; Calls `use` with the start and end of a part and with the index between them at which `find`
    ;;; succeeds; calls `otherwise` with start and end if it fails. Errors name `procedure`.
    (define (%cut procedure string find predicate range otherwise use)
      (if (not (string? string)) (%wrong-type procedure "a string" string))
      (%range procedure range (string-length string)
        (lambda (start end)
          (use start end (or (find string predicate start end) (otherwise start end))))))

    (define (%end start end) end)

    ;;;> Returns the longest prefix whose characters satisfy a predicate.
    (define (string-take-while string predicate . range)
      (%cut 'string-take-while string
            string-skip
            predicate
            range
            %end
            (lambda (start end cut) (substring string start cut))))

    ;;;> Returns the longest suffix whose characters satisfy a predicate.
    (define (string-take-while-right string predicate . range)
      (%cut 'string-take-while-right string string-skip-right predicate range
        (lambda (start end) (- start 1))
        (lambda (start end cut) (substring string (+ cut 1) end))))

    ;;;> Returns the rest of a string after the longest prefix whose characters satisfy a predicate.
    (define (string-drop-while string predicate . range)
      (%cut 'string-drop-while string
            string-skip
            predicate
            range
            %end
            (lambda (start end cut) (substring string cut end))))

    ;;;> Returns the part of a string before the longest suffix whose characters satisfy a
    ;;;> predicate.
    (define (string-drop-while-right string predicate . range)
      (%cut 'string-drop-while-right string string-skip-right predicate range
        (lambda (start end) (- start 1))
        (lambda (start end cut) (substring string start (+ cut 1)))))

    ;;;> Returns two values: the longest prefix whose characters satisfy a predicate, and the rest.
    (define (string-span string predicate . range)
      (%cut 'string-span string string-skip predicate range %end
        (lambda (start end cut) (values (substring string start cut) (substring string cut end)))))

    ;;;> Returns two values: the longest prefix whose characters do not satisfy a predicate, and the
    ;;;> rest.
    (define (string-break string predicate . range)
      (%cut 'string-break string string-index predicate range %end
        (lambda (start end cut) (values (substring string start cut) (substring string cut end)))))

    ;;;> Returns the index in a string, or part of it, of the last occurrence of a pattern, or part
    ;;;> of it, or #f.
    (define (string-contains-right string pattern . ranges)
      (%range 'string-contains-right ranges (string-length string)
        (lambda (start end)
          (let* ((pattern (if (> (length ranges) 2)
                              (apply %substring pattern (list-tail ranges 2))
                              pattern))
                 (length (string-length pattern)))
            (let loop ((index (- end length)))
              (cond ((< index start) #f)
                    ((string=? (substring string index (+ index length)) pattern) index)
                    (else (loop (- index 1)))))))))

    (define %substring
      (case-lambda
        ((string start) (string-copy string start))
        ((string start end) (string-copy string start end))))

    ;;;> Returns the characters of a string that do not satisfy a predicate.
    (define (string-remove predicate string . range) (apply string-delete predicate string range))

    ;;;> Returns the part from index `from` up to `to`, exclusive, of a string, or part of it,
    ;;;> repeated infinitely in both directions.
    (define (string-replicate string from to . range) (apply xsubstring string from to range))

    ;;;> Returns a list of pieces of `length` characters; the last one may be shorter.
    (define (string-segment string length)
      (if (< length 1) (error "string-segment: a piece has at least one character" length))
      (let ((end (string-length string)))
        (let loop ((start 0) (pieces '()))
          (if (>= start end)
              (reverse pieces)
              (loop (+ start length)
                    (cons (substring string start (min end (+ start length))) pieces))))))

    ;;; Returns the parts between at most `limit` delimiters; #f means no limit.
    (define (%parts string delimiter limit start end)
      (let ((length (string-length delimiter)))
        (let loop ((start start) (limit limit) (parts '()))
          (let ((found (and (not (eqv? limit 0)) (string-contains string delimiter start end))))
            (if found
                (loop (+ found length)
                      (and limit (- limit 1))
                      (cons (substring string start found) parts))
                (reverse (cons (substring string start end) parts)))))))

    (define (%chars string limit start end)
      (let loop ((start start) (limit limit) (parts '()))
        (cond ((= start end) (reverse parts))
              ((eqv? limit 0) (reverse (cons (substring string start end) parts)))
              (else
               (loop (+ start 1)
                     (and limit (- limit 1))
                     (cons (substring string start (+ start 1)) parts))))))

    (define (%without-last parts) (reverse (cdr (reverse parts))))

    ;;;> Returns a list of the parts of a string that a delimiter separates. The grammar, `infix`,
    ;;;> `strict-infix`, `prefix` or `suffix`, determines the meaning of an empty part at an end. At
    ;;;> most `limit` delimiters count.
    (define string-split
      (case-lambda
        ((string delimiter) (string-split string delimiter 'infix))
        ((string delimiter grammar) (string-split string delimiter grammar #f))
        ((string delimiter grammar limit) (string-split string delimiter grammar limit 0))
        ((string delimiter grammar limit start)
         (string-split string delimiter grammar limit start (string-length string)))
        ((string delimiter grammar limit start end)
         (if (not (memq grammar '(infix strict-infix prefix suffix)))
             (error "string-split: there is no such grammar" grammar))
         (cond ((< start end)
                (if (string-null? delimiter)
                    (%chars string limit start end)
                    (let ((parts (%parts string delimiter limit start end)))
                      (cond ((and (eq? grammar 'prefix) (string-null? (car parts))) (cdr parts))
                            ((and (eq? grammar 'suffix) (string-null? (car (reverse parts))))
                             (%without-last parts))
                            (else parts)))))
               ((eq? grammar 'strict-infix)
                (error "string-split: an empty string has no parts in this grammar" string))
               (else '())))))))
