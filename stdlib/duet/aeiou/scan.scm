;;; The control marker in what a turn said.
;;; Source: AEIOU v4, section 5; decisions, sections 5.5 and 5.6.

(define-record-type <scan>
  (%make-scan done result lints)
  ;;;> Returns whether an object is the result of `scan-emissions`.
  scan?
  ;;;> Returns whether a scan found the control marker.
  (done scan-done?)
  ;;;> Returns the final result that a scan found, a string, or `#f`.
  (result scan-result)
  ;;;> Returns the lints of a scan: `LINT_MULTIPLE_MARKERS`, `LINT_MARKER_MIDLINE`.
  (lints scan-lints))

;;; Returns the text behind the control marker of a line, or #f if the line does not begin with it.
(define (%behind-marker line)
  (let ((trimmed (string-trim-left line)))
    (and (string-prefix? %control-marker trimmed)
         (substring trimmed (string-length %control-marker) (string-length trimmed)))))

(define (%joined lines) (string-trim (string-join lines "\n")))

;;;> Looks for the control marker `<<<LOOP:DONE>>>` in the emissions of a turn, a list of strings. A
;;;> line that begins with it, blanks aside, says that the loop is done; the first one counts. The
;;;> final result is the text behind it to the end of its emission, or if that is blank, all other
;;;> lines of the turn. A marker inside a line is only a lint.
;;;> Source: AEIOU v4, sections 5.2 and 5.3; decisions, sections 5.5 and 5.6.
(define (scan-emissions emissions)
  (if (not (and (list? emissions) (every string? emissions)))
      (%wrong-type 'scan-emissions "a list of strings" emissions))
  (let ((result #f) (markers 0) (others '()) (lints '()))
    (define (lint! lint) (if (not (memq lint lints)) (set! lints (append lints (list lint)))))
    ;; Scans the lines of one emission; `payload` has the lines behind the marker, or is #f.
    (define (scan-lines lines payload)
      (cond
        ((null? lines) (if payload (set! result (%joined (reverse payload)))))
        ((%behind-marker (car lines))
         => (lambda (rest)
              (set! markers (+ markers 1))
              (if (= markers 1)
                  (scan-lines (cdr lines) (list rest))
                  (begin
                    (lint! 'LINT_MULTIPLE_MARKERS)
                    (scan-lines (cdr lines) payload)))))
        (else
         (if (string-contains (car lines) %control-marker) (lint! 'LINT_MARKER_MIDLINE))
         (if (not payload) (set! others (cons (car lines) others)))
         (scan-lines (cdr lines) (and payload (cons (car lines) payload))))))
    (for-each (lambda (text) (scan-lines (%lines text) #f)) emissions)
    (let ((found (and result (not (string=? result "")) result))
          (rest (%joined (reverse others))))
      (%make-scan (> markers 0)
        (and (> markers 0) (or found (and (not (string=? rest "")) rest)))
        lints))))
