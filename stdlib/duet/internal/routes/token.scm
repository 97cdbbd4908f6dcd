;;; Tokens: the parts of routes and the states of tapes (profile, sections 3.1 and 4).
;;;
;;; A token has a kind, `plain`, `all`, `oneof` or `not`; a name, the symbol of its canonical text;
;;; and the symbols that a list names. Two tokens are the same token if they have the same name.

(define-record-type <token>
  (%make-token kind name members)
  ;;;> Returns whether an object is a token.
  token?
  ;;;> Returns the kind of a token: `plain`, `all`, `oneof` or `not`.
  (kind token-kind)
  ;;;> Returns the name of a token: a symbol, its canonical text.
  (name token-name)
  ;;;> Returns the identifiers that a token of kind `oneof` or `not` lists, in their order: a list
  ;;;> of symbols. Other tokens list none.
  (members token-members))

(define (%plain name) (%make-token 'plain name '()))

(define %all (%make-token 'all '/all '()))

;;; Raises the condition for a text that is not in the grammar. `offset` counts the characters of
;;; the text that stand before the fault.
(define (%bad-route kind message text offset)
  (raise (%make-condition kind (string-append "route: " message) (list text ':at offset))))

;;; A text without its whitespace, which the grammar ignores between lexical units and inside
;;; glyphs: the characters, and the offset of each in the text, with the length of the text last.
(define-record-type <source>
  (%make-source text chars offsets)
  %source?
  (text %source-text)
  (chars %source-chars)
  (offsets %source-offsets))

(define (%source-fault kind message source index)
  (%bad-route kind message (%source-text source) (vector-ref (%source-offsets source) index)))

(define (%identifier-start? char)
  (or (and (char<=? #\a char) (char<=? char #\z)) (and (char<=? #\A char) (char<=? char #\Z))
    (char=? char #\_)))

(define (%identifier-char? char)
  (or (%identifier-start? char) (and (char<=? #\0 char) (char<=? char #\9))))

;;;> The maximum length of the text of a route or token, in characters: 65 536, the length of a line
;;;> of the wire.
(define route-length-max 65536)

(define (%read-source text)
  (let ((length (string-length text)))
    (if (> length route-length-max)
        (raise
          (%make-condition 'route-too-long "route: a text has at most route-length-max characters"
            (list length route-length-max))))
    (let loop ((index 0) (chars '()) (offsets '()))
      (if (= index length)
          (%make-source text (list->string (reverse chars))
            (list->vector (reverse (cons length offsets))))
          (let ((char (string-ref text index)))
            (cond
              ((char-whitespace? char) (loop (+ index 1) chars offsets))
              ((and (pair? chars) (%identifier-char? char) (%identifier-char? (car chars))
                    (not (= (car offsets) (- index 1))))
               (%bad-route 'bad-token
                 "whitespace stands inside an identifier; write a comma between two" text index))
              (else (loop (+ index 1) (cons char chars) (cons index offsets)))))))))

;;; Returns where the first `sought` begins between two indices, or #f.
(define (%search chars sought start end)
  (let* ((length (string-length sought)) (last (- end length)))
    (let loop ((index start))
      (and (<= index last)
           (if (string=? (substring chars index (+ index length)) sought)
               index
               (loop (+ index 1)))))))

(define (%starts? chars sought start end)
  (let ((stop (+ start (string-length sought))))
    (and (<= stop end) (string=? (substring chars start stop) sought))))

;;; Splits the characters between two indices at the separators outside parentheses: a list of pairs
;;; of indices, one more than there are separators.
(define (%split chars separator start end)
  (let ((width (string-length separator)))
    (let loop ((index start) (from start) (depth 0) (parts '()))
      (cond
        ((>= index end) (reverse (cons (cons from end) parts)))
        ((and (= depth 0) (%starts? chars separator index end))
         (loop (+ index width) (+ index width) 0 (cons (cons from index) parts)))
        (else
         (let ((char (string-ref chars index)))
           (loop (+ index 1) from
             (cond ((char=? char #\() (+ depth 1))
                   ((char=? char #\)) (max 0 (- depth 1)))
                   (else depth))
             parts)))))))

(define (%identifier? chars start end)
  (and (< start end)
       (%identifier-start? (string-ref chars start))
       (let loop ((index (+ start 1)))
         (or (= index end)
             (and (%identifier-char? (string-ref chars index)) (loop (+ index 1)))))))

;;; Returns the identifiers of the list of a token, between two indices.
(define (%read-members source start end)
  (let ((chars (%source-chars source)))
    (if (= start end)
        (%source-fault 'empty-list "a list needs at least one identifier" source start))
    (map
      (lambda (part)
        (let ((from (car part)) (to (cdr part)))
          (cond
            ((%identifier? chars from to) (string->symbol (substring chars from to)))
            ((= from to) (%source-fault 'empty-token "a list has an empty item" source from))
            ((char=? (string-ref chars from) #\/)
             (%source-fault 'nested-token
               "a list may have identifiers only, no token with `/`" source from))
            (else (%source-fault 'bad-token "an item of a list is an identifier" source from)))))
      (%split chars "," start end))))

(define (%compound kind prefix members)
  (%make-token kind
    (string->symbol (string-append prefix (string-join (map symbol->string members) ",") ")"))
    members))

(define (%read-compound source kind prefix start end)
  (let ((from (+ start (string-length prefix))) (to (- end 1)))
    (if (or (< to from) (not (char=? (string-ref (%source-chars source) to) #\))))
        (%source-fault 'bad-token "a list ends with `)`" source (min end (max from to))))
    (%compound kind prefix (%read-members source from to))))

;;; Reads the token between two indices.
(define (%read-token source start end)
  (let ((chars (%source-chars source)))
    (cond
      ((= start end) (%source-fault 'empty-token "a token is empty" source start))
      ((%identifier? chars start end) (%plain (string->symbol (substring chars start end))))
      ((string=? (substring chars start end) "/all") %all)
      ((%starts? chars "/oneof(" start end) (%read-compound source 'oneof "/oneof(" start end))
      ((%starts? chars "/not(" start end) (%read-compound source 'not "/not(" start end))
      (else
       (%source-fault 'bad-token
         "a token is `/all`, `/oneof(…)`, `/not(…)` or an identifier: ASCII letters, digits, `_`"
         source start)))))

;;;> Returns the token that a string or symbol describes; a token is returned as it is. Whitespace
;;;> is ignored, except inside an identifier.
;;;> Fails with `empty-token`, `bad-token`, `empty-list` (a `/oneof()` or `/not()`), `nested-token`
;;;> (a token with `/` in a list) or `route-too-long`; the irritants are the text and the offset of
;;;> the fault, counted in characters from 0.
;;;> Source: profile, sections 3.1 and 4; decisions, rows 1, 2, 3 and 5.
(define (->token object)
  (cond
    ((token? object) object)
    ((symbol? object) (->token (symbol->string object)))
    ((string? object)
     (let ((source (%read-source object)))
       (%read-token source 0 (string-length (%source-chars source)))))
    (else (%wrong-type '->token "a string, a symbol or a token" object))))

;;;> Returns the canonical text of a token.
(define (token->string token)
  (if (not (token? token)) (%wrong-type 'token->string "a token" token))
  (symbol->string (token-name token)))

(define (%any-member? members others)
  (and (pair? members) (or (memq (car members) others) (%any-member? (cdr members) others)) #t))

(define (%every-member? members others)
  (or (null? members) (and (memq (car members) others) (%every-member? (cdr members) others))))

;;;> Returns whether a gate accepts a state; both are tokens. `/all` accepts everything, and
;;;> everything accepts the state `/all`. A plain gate accepts the same identifier, a `/oneof` that
;;;> lists it, and a `/not` that does not. `/not` accepts an identifier that it does not list, and
;;;> each state that is no identifier. `/oneof` accepts an identifier that it lists, a `/oneof` that
;;;> lists one of the same, and a `/not` that leaves out one of its own.
;;;> Source: profile, section 4; decisions, section 1.3 and row 8.
(define (accepts? gate state)
  (if (not (and (token? gate) (token? state)))
      (%wrong-type 'accepts? "two tokens" (list gate state)))
  (let ((kind (token-kind gate)) (other (token-kind state)))
    (cond
      ((eq? kind 'plain)
       (cond
         ((eq? other 'plain) (eq? (token-name gate) (token-name state)))
         ((eq? other 'all) #t)
         ((eq? other 'oneof) (and (memq (token-name gate) (token-members state)) #t))
         (else (not (memq (token-name gate) (token-members state))))))
      ((or (eq? kind 'all) (eq? other 'all)) #t)
      ((eq? kind 'not)
       (or (not (eq? other 'plain)) (not (memq (token-name state) (token-members gate)))))
      ((eq? other 'plain) (and (memq (token-name state) (token-members gate)) #t))
      ((eq? other 'oneof) (%any-member? (token-members gate) (token-members state)))
      (else (not (%every-member? (token-members gate) (token-members state)))))))
