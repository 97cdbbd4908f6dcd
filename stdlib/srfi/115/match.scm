(define-record-type regexp-type
  (%regexp sre count names matcher loops choices)
  ;;;> Returns whether an object is a compiled regular expression.
  regexp?
  ;;;> Returns the SRE of a compiled regular expression.
  (sre regexp->sre)
  (count %count)
  (names %names)
  (matcher %matcher)
  (loops %loops)
  (choices %choices))

(define-record-type regexp-match-type
  (%match text names saved)
  ;;;> Returns whether an object is a match.
  regexp-match?
  (text %match-text)
  (names %match-names)
  (saved %match-saved))

;;;> Compiles an SRE; returns a regular expression unchanged. Fails if the SRE is malformed.
(define (regexp sre)
  (if (regexp? sre)
      sre
      (let* ((parser (%make-parser 0 '()))
             (tree (%parse sre (%make-mode #f #f #t) parser))
             (plan (%make-plan 0 0 (%has-backrefs? tree)))
             (matcher (%compile tree %accept plan)))
        (%regexp sre (%parser-count parser) (%parser-names parser) matcher (%plan-loops plan)
          (%plan-choices plan)))))

;;; The end of every matcher. A match that must reach an end stores it at the number of its first
;;; submatch.
(define (%accept state index)
  (and (or (not (vector-ref (%saved state) 1)) (= index (%to state))) index))

;;;> Compiles SREs as a sequence; `,expression` in them stands for the value of the expression.
(define-syntax rx
  (syntax-rules ()
    ((_ sre ...) (regexp `(: sre ...)))))

;;;> Returns whether an object is an SRE.
(define (valid-sre? object)
  (guard (condition (else #f))
    (regexp object)
    #t))

;;;> Returns an SRE for a set of characters.
(define (char-set->sre set) (list (char-set->string set)))

(define (%fresh-state re text from to whole?)
  (let ((saved (make-vector (* 2 (+ 1 (%count re))) #f)))
    (vector-set! saved 0 (make-vector (+ 1 (%count re)) '()))
    (vector-set! saved 1 whole?)
    (%make-state text from to saved (make-vector (%loops re) #f) (make-vector (%choices re) #f))))

(define (%matched re state start end)
  (let ((saved (%saved state)))
    (vector-set! saved 0 start)
    (vector-set! saved 1 end)
    (%match (%text state) (%names re) saved)))

(define (%bounds text range) (%range 'regexp range (string-length text) values))

;;;> Matches the whole string, or the part from `start` up to `end`, exclusive; returns a match, or
;;;> #f.
(define (regexp-matches re text . range)
  (let ((re (regexp re)))
    (call-with-values
      (lambda () (%bounds text range))
      (lambda (from to)
        (let* ((state (%fresh-state re text from to #t)) (end ((%matcher re) state from)))
          (and end (%matched re state from end)))))))

;;;> Returns whether the whole string matches.
(define (regexp-matches? re text . range) (and (apply regexp-matches re text range) #t))

;;;> Finds the leftmost match; returns a match, or #f.
(define (regexp-search re text . range)
  (let ((re (regexp re)))
    (call-with-values
      (lambda () (%bounds text range))
      (lambda (from to) (%search re text from from to)))))

;;; Returns the leftmost match from an index on, in a text that begins at `from`.
(define (%search re text from index to)
  (let ((state (%fresh-state re text from to #f)) (matcher (%matcher re)))
    (let loop ((index index))
      (and (<= index to)
           (let ((end (matcher state index)))
             (cond (end (%matched re state index end))
                   (else
                    (vector-fill! (%failed state) #f)
                    (loop (+ index 1)))))))))

(define (%field match field)
  (let ((number (if (symbol? field)
                    (let ((named (%named match field (%match-names match))))
                      (or named
                          (error "regexp-match-submatch: there is no submatch of this name" field)))
                    field)))
    (if (not (and (exact-integer? number) (<= 0 number (regexp-match-count match))))
        (error "regexp-match-submatch: there is no submatch of this number" field))
    number))

;;; Returns the number of a named submatch; of several with the same name, the first that matched.
(define (%named match field names)
  (let loop ((names (reverse names)) (last #f))
    (cond ((null? names) last)
          ((not (eq? (car (car names)) field)) (loop (cdr names) last))
          ((vector-ref (%match-saved match) (* 2 (cdr (car names)))) (cdr (car names)))
          (else (loop (cdr names) (cdr (car names)))))))

;;;> Returns the number of submatches, whether or not they matched; the whole does not count.
(define (regexp-match-count match) (- (quotient (vector-length (%match-saved match)) 2) 1))

;;;> Returns the start of a submatch, or #f if it did not match. Submatches have numbers, the whole
;;;> being 0, and may have names.
(define (regexp-match-submatch-start match . field)
  (vector-ref (%match-saved match) (* 2 (%field match (if (pair? field) (car field) 0)))))

;;;> Returns the end of a submatch, or #f if it did not match.
(define (regexp-match-submatch-end match . field)
  (vector-ref (%match-saved match) (+ 1 (* 2 (%field match (if (pair? field) (car field) 0))))))

;;;> Returns the text of a submatch, or #f if it did not match.
(define (regexp-match-submatch match . field)
  (let ((start (apply regexp-match-submatch-start match field)))
    (and start
         (substring (%match-text match) start (apply regexp-match-submatch-end match field)))))

;;;> Returns a list of the texts of the whole and of each submatch, #f for those that did not match.
(define (regexp-match->list match)
  (let loop ((number (regexp-match-count match)) (texts '()))
    (if (< number 0) texts (loop (- number 1) (cons (regexp-match-submatch match number) texts)))))

;;;> Combines the matches from left to right: `(combine index match text accumulated)`, where
;;;> `index` is the end of the previous match; returns `(finish index #f text accumulated)`.
(define regexp-fold
  (case-lambda
    ((re combine initial text)
     (regexp-fold re combine initial text (lambda (index match text accumulated) accumulated)))
    ((re combine initial text finish) (regexp-fold re combine initial text finish 0))
    ((re combine initial text finish start)
     (regexp-fold re combine initial text finish start (string-length text)))
    ((re combine initial text finish start end)
     (%range 'regexp-fold (list start end) (string-length text)
       (lambda (start end) (%fold-matches (regexp re) combine initial text finish start end))))))

;;; Returns the match that follows one which ended at `last`, searched from an index on, or #f. At the
;;; end of the text there is no empty match after a match that ends there.
(define (%following re text start index end last)
  (and (or (< index end) (and (= index end) (or (< last end) (= start end))))
       (%search re text start index end)))

;;; Returns the index from which the search for the next match goes on.
(define (%index-after match)
  (let ((end (regexp-match-submatch-end match))) (if (%empty? match) (+ end 1) end)))

(define (%fold-matches re combine initial text finish start end)
  (let loop ((index start) (last start) (accumulated initial))
    (let ((match (%following re text start index end last)))
      (if match
          (loop (%index-after match)
                (regexp-match-submatch-end match)
                (combine last match text accumulated))
          (finish last #f text accumulated)))))

;;; Returns whether a match is empty.
(define (%empty? match) (= (regexp-match-submatch-start match) (regexp-match-submatch-end match)))

(define (%keep index match text accumulated) accumulated)

(define (%fold-range re combine initial text finish range)
  (call-with-values
    (lambda () (%bounds text range))
    (lambda (start end) (regexp-fold re combine initial text finish start end))))

;;;> Returns a list of the texts of all matches that are not empty.
(define (regexp-extract re text . range)
  (%fold-range re
    (lambda (index match text found)
      (if (%empty? match) found (cons (regexp-match-submatch match) found)))
    '() text
    (lambda (index match text found) (reverse found))
    range))

;;; Lists the texts between the non-empty matches; `add` may add a match to the list, last first, and
;;; `is-last?` decides whether the text after the last match, from `from` to `end`, belongs to it.
(define (%divided re text range add is-last?)
  (call-with-values
    (lambda () (%bounds text range))
    (lambda (start end)
      (let* ((divided (regexp-fold re
                        (lambda (index match text parts)
                          (if (%empty? match)
                              parts
                              (cons (regexp-match-submatch-end match)
                                    (add match
                                      (cons (substring text
                                                       (car parts)
                                                       (regexp-match-submatch-start match))
                                            (cdr parts))))))
                        (list start) text %keep start end))
             (from (car divided))
             (parts (cdr divided)))
        (reverse (if (is-last? from end parts) (cons (substring text from end) parts) parts))))))

;;;> Returns a list of the texts between the non-empty matches.
(define (regexp-split re text . range)
  (%divided re text range (lambda (match parts) parts) (lambda (from end parts) #t)))

;;;> Returns a list that alternates between the texts between the non-empty matches and the matches.
(define (regexp-partition re text . range)
  (%divided re text range
    (lambda (match parts) (cons (regexp-match-submatch match) parts))
    (lambda (from end parts) (or (< from end) (null? parts)))))

;;; Returns the replacement of a match by a substitute, as a list of strings.
(define (%substituted substitute match start end)
  (cond ((string? substitute) (list substitute))
        ((or (exact-integer? substitute)
             (and (symbol? substitute) (not (memq substitute '(pre post)))))
         (list (or (regexp-match-submatch match substitute) "")))
        ((eq? substitute 'pre)
         (list (substring (%match-text match) start (regexp-match-submatch-start match))))
        ((eq? substitute 'post)
         (list (substring (%match-text match) (regexp-match-submatch-end match) end)))
        ((procedure? substitute) (%substituted (substitute match) match start end))
        ((list? substitute)
         (append-map (lambda (part) (%substituted part match start end)) substitute))
        (else (error
                "regexp-replace: a substitute is a string, a submatch, pre, post, a procedure, or a list of these"
                substitute))))

;;; Concatenates the strings in a list.
(define (%joined texts)
  (let ((port (open-output-string)))
    (for-each (lambda (text) (write-string text port)) texts)
    (get-output-string port)))

;;;> Replaces one match, the first or the one with the number `count` from 0, in a string, or in the
;;;> part from `start` up to `end`, exclusive; returns the string or part. A substitute is a string,
;;;> the number or name of a submatch, `pre`, `post`, a procedure of the match, or a list of these.
(define regexp-replace
  (case-lambda
    ((re text substitute) (regexp-replace re text substitute 0))
    ((re text substitute start) (regexp-replace re text substitute start (string-length text)))
    ((re text substitute start end) (regexp-replace re text substitute start end 0))
    ((re text substitute start end count)
     (%range 'regexp-replace (list start end) (string-length text)
       (lambda (start end) (%replaced (regexp re) text substitute start end count))))))

(define (%replaced re text substitute start end count)
  (let loop ((index start) (last start) (count count))
    (let ((match (%following re text start index end last)))
      (cond ((not match) (substring text start end))
            ((= count 0)
             (%joined
               (append (list (substring text start (regexp-match-submatch-start match)))
                       (%substituted substitute match start end)
                       (list (substring text (regexp-match-submatch-end match) end)))))
            (else
             (loop (%index-after match) (regexp-match-submatch-end match) (- count 1)))))))

;;;> Replaces every match, as `regexp-replace` replaces one.
(define (regexp-replace-all re text substitute . range)
  (call-with-values
    (lambda () (%bounds text range))
    (lambda (start end)
      (regexp-fold re
        (lambda (index match text parts)
          (append (reverse (%substituted substitute match start end))
                  (cons (substring text index (regexp-match-submatch-start match)) parts)))
        '() text
        (lambda (index match text parts)
          (%joined (reverse (cons (substring text index end) parts))))
        start end))))
