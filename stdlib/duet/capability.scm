;;;> A caveat: what matches the pattern becomes what the template makes of it; nothing else passes.
(define (rewrite pattern template) (record 'rewrite pattern template))

;;;> A caveat: the first of several rewrites whose pattern matches.
(define (alternatives . rewrites) (record 'or rewrites))

;;;> A caveat: what matches the pattern does not pass, and all else does.
(define (reject pattern) (record 'reject pattern))

;;;> The pattern that matches anything. The symbols `Boolean`, `Double`, `SignedInteger`, `String`, `ByteString`, `Symbol` and `Embedded` match
;;;> what they name.
(define anything (record '_))

;;;> A pattern: what matches another one, for `ref` to refer to. Parts are counted from 0, from the outside in and from left to right.
(define (bind pattern) (record 'bind pattern))

;;;> In a pattern and in a template: this value.
(define (lit value) (record 'lit value))

;;;> In a pattern and in a template: a record of a label and exactly these fields.
(define (rec label . fields) (record 'rec label fields))

;;;> In a pattern and in a template: a list of exactly these items.
(define (arr . items) (record 'arr items))

;;;> A dictionary of keys and patterns or templates, `(dict key part …)`. As a pattern it also matches one that has further keys.
(define (dict . entries) (record 'dict (apply dictionary entries)))

;;;> A pattern: what matches all of several.
(define (both . patterns) (record 'and patterns))

;;;> A pattern: what another one does not match.
(define (except pattern) (record 'not pattern))

;;;> A template: a part that the pattern bound.
(define (ref number) (record 'ref number))

;;;> A template: the capability that another one makes, narrowed by caveats.
(define (narrow template . caveats) (record 'attenuate template caveats))
