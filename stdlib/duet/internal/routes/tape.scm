;;; Tapes: the active states of an agent (profile, section 5). A tape is a value; a change makes
;;; another one. Its entries are pairs of a key and its tokens: the keys in order, `#f` first, the
;;; tokens of a key in the order of their names, each once.

(define-record-type <tape>
  (%make-tape shape entries)
  ;;;> Returns whether an object is a tape.
  tape?
  ;;;> Returns the shape of a tape: `single`, `many`, `index-single` or `index-many`.
  (shape tape-shape)
  ;;;> Returns the entries of a tape: a list of pairs of a key and the list of its tokens. A key is
  ;;;> a string; it is `#f` in a flat tape, and where an initial route entered the tokens.
  (entries tape-entries))

(define (%bad-tape message . irritants)
  (raise (%make-condition 'bad-tape (string-append "->tape: " message) irritants)))

(define (%token<? a b) (string<? (token->string a) (token->string b)))

(define (%same-token? a b) (eq? (token-name a) (token-name b)))

;;; Returns the tokens in order, each once.
(define (%sorted-tokens tokens)
  (let loop ((rest (list-sort %token<? tokens)) (kept '()))
    (cond
      ((null? rest) (reverse kept))
      ((and (pair? kept) (%same-token? (car kept) (car rest))) (loop (cdr rest) kept))
      (else (loop (cdr rest) (cons (car rest) kept))))))

(define (%key<? a b)
  (cond ((not b) #f) ((not a) #t) (else (string<? a b))))

(define (%scalar? object) (or (token? object) (symbol? object) (string? object)))

(define (%tokens object)
  (cond
    ((%scalar? object) (list (->token object)))
    ((list? object) (%sorted-tokens (map ->token object)))
    (else (%bad-tape "a state is a token, or a list of tokens" object))))

(define (%key object)
  (cond
    ((string? object) object)
    ((symbol? object) (symbol->string object))
    (else (%bad-tape "a key is a string or a symbol" object))))

(define (%index entries)
  (%make-tape
    (if (%every-entry? (lambda (entry) (%scalar? (cdr entry))) entries) 'index-single 'index-many)
    (%join-entries '()
      (map (lambda (entry) (cons (%key (car entry)) (%tokens (cdr entry)))) entries))))

(define (%every-entry? predicate entries)
  (or (null? entries) (and (predicate (car entries)) (%every-entry? predicate (cdr entries)))))

;;;> Returns the tape that an object describes: a token (`single`), a list of tokens (`many`), or a
;;;> dictionary or association list of keys and tokens (`index-single`) or lists of tokens
;;;> (`index-many`). A token may be a string or symbol. The empty list is an empty `many`.
;;;> Fails with `bad-tape`, and with the kinds of `->token`.
;;;> Source: profile, section 5.
(define (->tape object)
  (cond
    ((tape? object) object)
    ((%scalar? object) (%make-tape 'single (list (cons #f (%tokens object)))))
    ((dictionary? object) (%index (dictionary->alist object)))
    ((null? object) (%make-tape 'many '()))
    ((not (list? object)) (%bad-tape "a tape is a token, a list of tokens, or an index" object))
    ((%every-entry? pair? object) (%index object))
    (else (%make-tape 'many (list (cons #f (%tokens object)))))))

(define (%need-tape procedure object)
  (if (not (tape? object)) (%wrong-type procedure "a tape" object)))

;;;> Returns whether a tape has keys.
(define (tape-indexed? tape)
  (%need-tape 'tape-indexed? tape)
  (and (memq (tape-shape tape) '(index-single index-many)) #t))

;;;> Returns the tokens of a tape under a key, by default `#f`.
(define tape-ref
  (case-lambda
    ((tape) (tape-ref tape #f))
    ((tape key)
     (%need-tape 'tape-ref tape)
     (let ((entry (assoc key (tape-entries tape))))
       (if entry (cdr entry) '())))))

;;;> Returns the number of tokens of a tape, under all its keys.
(define (tape-size tape)
  (%need-tape 'tape-size tape)
  (fold (lambda (entry size) (+ size (length (cdr entry)))) 0 (tape-entries tape)))

;;; Unites two lists of tokens in order.
(define (%union tokens others)
  (cond
    ((null? tokens) others)
    ((null? others) tokens)
    ((%same-token? (car tokens) (car others))
     (cons (car tokens) (%union (cdr tokens) (cdr others))))
    ((%token<? (car tokens) (car others)) (cons (car tokens) (%union (cdr tokens) others)))
    (else (cons (car others) (%union tokens (cdr others))))))

;;; Adds entries, in any order, to entries in order.
(define (%join-entries entries added)
  (let merge ((entries entries) (added (list-sort (lambda (a b) (%key<? (car a) (car b))) added)))
    (cond
      ((null? added) entries)
      ((and (pair? entries) (equal? (caar entries) (caar added)))
       (merge (cons (cons (caar entries) (%union (cdar entries) (%sorted-tokens (cdar added))))
                (cdr entries))
         (cdr added)))
      ((or (null? entries) (%key<? (caar added) (caar entries)))
       (merge (cons (cons (caar added) (%sorted-tokens (cdar added))) entries) (cdr added)))
      (else (cons (car entries) (merge (cdr entries) added))))))

;;; A shape in which an entry may have several tokens.
(define (%grown shape) (case shape ((single) 'many) ((index-single) 'index-many) (else shape)))

(define (%need-proposals procedure tape proposals)
  (%need-tape procedure tape)
  (if (not (and (list? proposals) (not (any (lambda (entry) (not (pair? entry))) proposals))))
      (%wrong-type procedure "a list of pairs of a key and tokens" proposals)))

;;;> Returns a tape with the tokens of `proposals`, a list of pairs of a key and tokens, added: the
;;;> policy `union`. A tape of one state becomes one of many.
(define (tape-union tape proposals)
  (%need-proposals 'tape-union tape proposals)
  (%make-tape (%grown (tape-shape tape)) (%join-entries (tape-entries tape) proposals)))

;;;> Returns a tape in which the tokens of `proposals`, a list of pairs of a key and tokens, replace
;;;> those under their keys: the policy `replace`. Other keys stay as they are.
(define (tape-replace tape proposals)
  (%need-proposals 'tape-replace tape proposals)
  (let ((kept (remove (lambda (entry) (assoc (car entry) proposals)) (tape-entries tape))))
    (%make-tape (%grown (tape-shape tape)) (%join-entries kept proposals))))

(define (%missing entries others)
  (append-map
    (lambda (entry)
      (let* ((found (assoc (car entry) others)) (known (if found (map token-name (cdr found)) '())))
        (filter-map
          (lambda (token) (and (not (memq (token-name token) known)) (cons (car entry) token)))
          (cdr entry))))
    entries))

;;;> Returns the difference of two tapes: a pair of the list of added entries and the list of removed
;;;> entries. An entry is a pair of a key and a token.
(define (tape-delta before after)
  (%need-tape 'tape-delta before)
  (%need-tape 'tape-delta after)
  (cons (%missing (tape-entries after) (tape-entries before))
        (%missing (tape-entries before) (tape-entries after))))
