;;; Ranges of indices, as the SRFIs pass them: `[start [end]]`, the end exclusive.
(define-library (duet internal ranges)
  (export %out-of-range %range %check-index %check-natural)
  (on-demand)
  (import (duet kernel) (only (duet internal control) raise %wrong-type))
  (begin
    (define (%out-of-range procedure problem . values)
      (raise (%make-condition 'out-of-range
                              (string-append (symbol->string procedure) ": " problem)
                              values)))

    ;;; Checks a number, whose meaning `noun` says.
    (define (%check-natural procedure noun number)
      (%check-index procedure number)
      (if (negative? number)
          (%out-of-range procedure (string-append "the " noun " is negative") number)))

    ;;; Calls `(use start end)` for a list of at most a start and an end in a sequence of `length`
    ;;; elements. An end of #f is the length.
    (define (%range procedure range length use)
      (let* ((start (if (pair? range) (car range) 0))
             (end (or (and (pair? range) (pair? (cdr range)) (cadr range)) length)))
        (%check-index procedure start)
        (%check-index procedure end)
        (if (<= 0 start end length)
            (use start end)
            (%out-of-range procedure "expected 0 <= start <= end <= length" start end length))))

    (define (%check-index procedure index)
      (if (not (exact-integer? index)) (%wrong-type procedure "an exact integer" index)))))
