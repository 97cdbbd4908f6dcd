;;; Returns the first or last index at which a predicate is true, or #f.
(define (%search procedure string wanted? range backwards?)
  (%range procedure range (string-length string)
    (lambda (start end)
      (if backwards?
          (let loop ((index (- end 1)))
            (cond ((< index start) #f)
                  ((wanted? (string-ref string index)) index)
                  (else (loop (- index 1)))))
          (let loop ((index start))
            (cond ((>= index end) #f)
                  ((wanted? (string-ref string index)) index)
                  (else (loop (+ index 1)))))))))

(define (%unwanted criterion)
  (let ((wanted? (%wanted criterion))) (lambda (char) (not (wanted? char)))))

;;;> Returns the index of the first character that meets a criterion, or #f.
(define (string-index string criterion . range)
  (%search 'string-index string (%wanted criterion) range #f))
;;;> Returns the index of the last character that meets a criterion, or #f.
(define (string-index-right string criterion . range)
  (%search 'string-index-right string (%wanted criterion) range #t))
;;;> Returns the index of the first character that does not meet a criterion, or #f.
(define (string-skip string criterion . range)
  (%search 'string-skip string (%unwanted criterion) range #f))
;;;> Returns the index of the last character that does not meet a criterion, or #f.
(define (string-skip-right string criterion . range)
  (%search 'string-skip-right string (%unwanted criterion) range #t))

;;;> Returns how many characters meet a criterion.
(define (string-count string criterion . range)
  (let ((wanted? (%wanted criterion)))
    (apply string-fold (lambda (char count) (if (wanted? char) (+ count 1) count)) 0 string range)))

;;;> Returns the index in the first string, or part of it, of the first whole occurrence of the
;;;> second, or #f.
(define (string-contains string pattern . range)
  (let* ((count (length range))
         (pattern (if (> count 2) (apply string-copy pattern (cddr range)) pattern)))
    (apply %string-contains string pattern (if (> count 2) (list (car range) (cadr range)) range))))

;;;> Like `string-contains`, ignoring case.
(define (string-contains-ci string pattern . range)
  (let* ((part (if (> (length range) 2) (cddr range) '()))
         (folded (string-map char-foldcase (%part pattern part))))
    (%range 'string-contains-ci
            (if (> (length range) 2) (list (car range) (cadr range)) range)
            (string-length string)
            (lambda (start end) (%find-folded string start end folded)))))

;;; Returns the index of the first part of a string that is equal to a pattern when it is folded, by
;;; the algorithm of Knuth, Morris and Pratt.
(define (%find-folded string start end pattern)
  (let ((length (string-length pattern)) (restarts (%restarts pattern)))
    (let loop ((index start) (matched 0))
      (cond ((= matched length) (- index length))
            ((= index end) #f)
            ((char=? (char-foldcase (string-ref string index)) (string-ref pattern matched))
             (loop (+ index 1) (+ matched 1)))
            ((= matched 0) (loop (+ index 1) 0))
            (else (loop index (vector-ref restarts (- matched 1))))))))

;;; Returns for each index of a pattern how many characters at the pattern's start are also those
;;; that end there.
(define (%restarts pattern)
  (let* ((length (string-length pattern)) (restarts (make-vector length 0)))
    (let loop ((index 1) (matched 0))
      (cond ((>= index length) restarts)
            ((char=? (string-ref pattern index) (string-ref pattern matched))
             (vector-set! restarts index (+ matched 1))
             (loop (+ index 1) (+ matched 1)))
            ((= matched 0) (loop (+ index 1) 0))
            (else (loop index (vector-ref restarts (- matched 1))))))))

;;;> Returns a list of the longest parts of a string whose characters meet a criterion, by default
;;;> the visible ones.
(define string-tokenize
  (case-lambda
    ((string) (string-tokenize string char-set:graphic))
    ((string criterion . range)
     (let* ((part (%part string range)) (end (string-length part)))
       (let loop ((start 0) (tokens '()))
         (let ((first (string-index part criterion start)))
           (if first
               (let ((last (or (string-skip part criterion first) end)))
                 (loop last (cons (string-copy part first last) tokens)))
               (reverse tokens))))))))

;;;> Returns the characters of a string that meet a criterion; the arguments come in either order.
(define (string-filter criterion string . range)
  (if (and (string? criterion) (not (string? string)))
      (apply string-filter string criterion range)
      (let ((wanted? (%wanted criterion)))
        (reverse-list->string
          (apply string-fold
                 (lambda (char kept) (if (wanted? char) (cons char kept) kept))
                 '()
                 string
                 range)))))

;;;> Returns the characters of a string that do not meet a criterion; the arguments come in either
;;;> order.
(define (string-delete criterion string . range)
  (if (and (string? criterion) (not (string? string)))
      (apply string-delete string criterion range)
      (apply string-filter (%unwanted criterion) string range)))
