;;; What a review looks at in one file: its size, its longest line, its open notes, its longer paragraphs.
(define-library (review measure)
  (export measure reviewable?)
  (import (scheme base) (scheme char) (duet base))
  (begin
    (define suffixes
      '(".rs" ".scm" ".sld" ".md" ".toml" ".py" ".sh" ".c" ".h" ".js" ".ts" ".go" ".java" ".rb"
        ".yml" ".yaml" ".txt"))

    (define notes '("TODO" "FIXME"))

    ;; Shorter paragraphs repeat for good reasons.
    (define paragraph-lines-min 6)

    ;;;> Whether a path names a file that is worth reading.
    (define (reviewable? path)
      (let loop ((suffixes suffixes))
        (and (pair? suffixes)
             (or (string-suffix? (car suffixes) path) (loop (cdr suffixes))))))

    (define (blank? line) (string=? (string-trim line) ""))

    ;; The notes of a line, as records of the word, the line's number and its text.
    (define (notes-of line number)
      (let loop ((words notes) (found '()))
        (cond ((null? words) found)
              ((string-contains line (car words))
               (loop (cdr words) (cons (record 'note (car words) number (string-trim line)) found)))
              (else (loop (cdr words) found)))))

    ;;;> Measures a text: `(measures lines longest longest-line notes paragraphs)`, where a paragraph is
    ;;;> `(paragraph line lines hash)`: where it begins, how long it is, and a number that equal paragraphs share.
    (define (measure text)
      (let loop ((lines (string-split text #\newline))
                 (number 1)
                 (longest 0)
                 (longest-line 0)
                 (notes '())
                 (paragraph '())
                 (paragraphs '()))
        (if (null? lines)
            (record 'measures (- number 1) longest longest-line (reverse notes)
                    (reverse (add-paragraph paragraph number paragraphs)))
            (let* ((line (car lines))
                   (length (string-length line))
                   (is-longer (> length longest))
                   (is-blank (blank? line)))
              (loop (cdr lines)
                    (+ number 1)
                    (if is-longer length longest)
                    (if is-longer number longest-line)
                    (append (notes-of line number) notes)
                    (if is-blank '() (cons line paragraph))
                    (if is-blank (add-paragraph paragraph number paragraphs) paragraphs))))))

    (define (add-paragraph paragraph end paragraphs)
      (let ((size (length paragraph)))
        (if (< size paragraph-lines-min)
            paragraphs
            (cons (record 'paragraph (- end size) size (equal-hash paragraph)) paragraphs))))))
