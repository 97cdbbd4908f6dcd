;;; The program of `duet ns`. Its words are the action, and the path and the text of the file.
(import (duet base) (scheme process-context) (duet neuroscript))

(define width-max 98)

(define (written form)
  (let ((port (open-output-string))) (write form port) (get-output-string port)))

;;; Writes a form at a column: on one line if it fits, else each part on a line of its own.
(define (write-form form column)
  (let ((text (written form)))
    (if (or (<= (+ column (string-length text)) width-max) (not (pair? form)) (not (list? form))
          (eq? (car form) 'quote))
        (write-string text)
        (let* ((inside (+ column 2)) (count (first-line-count form)))
          (write-string "(")
          (write-string (string-join (map written (list-head form count)) " "))
          (for-each
            (lambda (part)
              (newline)
              (write-string (make-string inside #\space))
              (write-form part inside))
            (list-tail form count))
          (write-string ")")))))

;;; Returns how many parts of a form stand on its first line.
(define (first-line-count form)
  (case (car form)
    ((lambda if set! let*) 2)
    ((let) (if (symbol? (cadr form)) 3 2))
    (else 1)))

(define (main path text)
  (guard (mistake ((neuroscript-syntax-error? mistake)
                   (parameterize ((current-output-port (current-error-port)))
                     (for-each display (list "error: " path ": " (condition-message mistake)))
                     (newline))
                   (exit 1)))
    (let ((program (read-neuroscript text)))
      (write-form (neuroscript->scheme program) 0)
      (newline))))

(main (caddr (command-line)) (cadddr (command-line)))
