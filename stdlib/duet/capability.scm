;;;> Makes a caveat that rewrites: a value that matches the pattern becomes the value of the
;;;> template; no other value passes.
(define (rewrite pattern template) (record 'rewrite pattern template))

;;;> Makes a caveat of several rewrites, of which the first whose pattern matches applies.
(define (alternatives . rewrites) (record 'or rewrites))

;;;> Makes a caveat that rejects values that match the pattern; all others pass.
(define (reject pattern) (record 'reject pattern))

;;;> Returns the pattern that matches anything. The symbols `Boolean`, `Double`, `SignedInteger`,
;;;> `String`, `ByteString`, `Symbol` and `Embedded` match values of that type.
(define anything (record '_))

;;;> Makes a pattern that binds the value which another pattern matches, for `ref`. Bindings are
;;;> numbered from 0, from the outside in and from left to right.
(define (bind pattern) (record 'bind pattern))

;;;> Makes a pattern or template for one value.
(define (lit value) (record 'lit value))

;;;> Makes a pattern or template for a record with a label and exactly these fields.
(define (rec label . fields) (record 'rec label fields))

;;;> Makes a pattern or template for a list of exactly these items.
(define (arr . items) (record 'arr items))

;;;> Makes a pattern or template for a dictionary: `(dict key part …)`. The pattern also matches a
;;;> dictionary with further keys.
(define (dict . entries) (record 'dict (apply dictionary entries)))

;;;> Makes a pattern that matches the values that all the patterns match.
(define (both . patterns) (record 'and patterns))

;;;> Makes a pattern that matches the values that another pattern does not match.
(define (except pattern) (record 'not pattern))

;;;> Makes a template for the value that the pattern bound under a number.
(define (ref number) (record 'ref number))

;;;> Makes a template for the capability of another template, attenuated by caveats.
(define (narrow template . caveats) (record 'attenuate template caveats))
