;;; SRFI 28: simple format strings.
(define-library (srfi 28)
  (export format)
  (on-demand)
  (import (scheme base) (scheme write))
  (begin
    ;;;> Returns the text of a template in which `~a` stands for the next object as `display` writes
    ;;;> it, `~s` as `write` does, `~%` for a newline, `~~` for a tilde. Fails if there are too few
    ;;;> objects or the template has another directive.
    (define (format template . objects)
      (let ((in (open-input-string template)) (out (open-output-string)))
        (define (next objects)
          (if (null? objects) (error "format: too few objects" template) (car objects)))
        (let loop ((objects objects))
          (let ((char (read-char in)))
            (cond ((eof-object? char) (get-output-string out))
                  ((not (char=? char #\~)) (write-char char out) (loop objects))
                  (else
                   (case (read-char in)
                     ((#\a) (display (next objects) out) (loop (cdr objects)))
                     ((#\s) (write (next objects) out) (loop (cdr objects)))
                     ((#\%) (newline out) (loop objects))
                     ((#\~) (write-char #\~ out) (loop objects))
                     (else (error "format: no such directive" template)))))))))))
