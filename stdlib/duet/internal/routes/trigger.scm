;;; Triggers: names in a tree (profile, section 6.3; decisions, section 1.8). The path of a trigger
;;; is the list of its positions, from the root down.

(define-record-type <trigger-tree>
  (%make-trigger-tree paths)
  ;;;> Returns whether an object is a tree of triggers.
  trigger-tree?
  (paths %trigger-paths))

(define (%bad-triggers message . irritants)
  (raise (%make-condition 'bad-triggers (string-append "make-triggers: " message) irritants)))

(define (%check-trigger-name name)
  (let ((text (if (symbol? name) (symbol->string name) "")))
    (if (not (%identifier? text 0 (string-length text)))
        (%bad-triggers "a trigger is an identifier of ASCII letters, digits and `_`" name))))

;;; Enters the branches below `path`. A branch is a name, or a list of a name and branches.
(define (%enter-triggers! paths branches path)
  (let loop ((rest branches) (position 0) (names '()))
    (if (pair? rest)
        (let* ((branch (car rest))
               (name (if (pair? branch) (car branch) branch))
               (here (append path (list position))))
          (%check-trigger-name name)
          (if (memq name names)
              (%bad-triggers "two triggers on one branch have the same name" name))
          (dictionary-set! paths name here)
          (if (pair? branch) (%enter-triggers! paths (cdr branch) here))
          (loop (cdr rest) (+ position 1) (cons name names))))))

;;;> Makes a tree of triggers from branches, each a symbol, or a list of a symbol and the branches
;;;> below it: `(make-triggers '(ok (error minor major)))`. A name that stands on two branches means
;;;> the later one.
;;;> Fails with `bad-triggers`, also if two triggers of one branch have the same name.
;;;> Source: decisions, section 1.8.
(define (make-triggers branches)
  (let ((paths (dictionary)))
    (%enter-triggers! paths branches '())
    (%make-trigger-tree paths)))

;;;> Returns the path of a trigger in a tree, a list of positions from 0, or `#f`.
(define (trigger-path tree name) (dictionary-ref (%trigger-paths tree) name #f))

(define (%begins? path other)
  (or (null? path)
      (and (pair? other) (= (car path) (car other)) (%begins? (cdr path) (cdr other)))))

;;;> Returns whether a trigger is another one or stands below it in a tree.
(define (trigger-under? tree name ancestor)
  (if (not (trigger-tree? tree)) (%wrong-type 'trigger-under? "a tree of triggers" tree))
  (let ((path (trigger-path tree name)) (above (trigger-path tree ancestor)))
    (and path above (%begins? above path))))

;;; The indentation of a line: a space counts 1 column, a tab leads to the next multiple of 8.
(define (%columns line)
  (let loop ((index 0) (column 0))
    (if (= index (string-length line))
        column
        (case (string-ref line index)
          ((#\space) (loop (+ index 1) (+ column 1)))
          ((#\tab) (loop (+ index 1) (* 8 (+ (quotient column 8) 1))))
          (else column)))))

(define (%trigger-lines text)
  (filter-map
    (lambda (line)
      (let* ((comment (string-index line #\#))
             (content (if comment (substring line 0 comment) line))
             (name (string-trim content)))
        (and (< 0 (string-length name)) (cons (%columns content) (string->symbol name)))))
    (string-split text #\newline)))

;;; Reads the lines that stand at `column`, and those below them; calls `receive` with the branches
;;; and the lines that are left.
(define (%read-branches lines column receive)
  (let loop ((lines lines) (branches '()))
    (cond
      ((or (null? lines) (< (caar lines) column)) (receive (reverse branches) lines))
      ((> (caar lines) column)
       (%bad-triggers "a line is indented less than those before it, and fits none of them"
         (cdar lines)))
      ((and (pair? (cdr lines)) (> (caadr lines) column))
       (%read-branches (cdr lines) (caadr lines)
         (lambda (below rest) (loop rest (cons (cons (cdar lines) below) branches)))))
      (else (loop (cdr lines) (cons (cdar lines) branches))))))

;;;> Makes a tree of triggers from the text of a `TRIGGERS` file: one name a line, indented below
;;;> the name above it; a tab leads to the next multiple of 8 columns; `#` begins a comment.
;;;> Fails with `bad-triggers`.
;;;> Source: decisions, section 1.8.
(define (text->triggers text)
  (if (not (string? text)) (%wrong-type 'text->triggers "a string" text))
  (let ((lines (%trigger-lines text)))
    (if (null? lines)
        (make-triggers '())
        (%read-branches lines (caar lines)
          (lambda (branches rest)
            (if (pair? rest)
                (%bad-triggers "a line is indented less than the first" (cdar rest)))
            (make-triggers branches))))))
