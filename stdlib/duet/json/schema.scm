;;; JSON Schema, draft 2020-12: schemas, their parts, references.
;;;
;;; A schema is compiled once. Each subschema becomes a node with a check for each of its keywords;
;;; `keywords.scm` makes the checks. A check is called with the value, its path, the schema
;;; resources that were entered on the way, the innermost first, the nodes that are at work on this
;;; value, and what they have evaluated of it; it returns a list of violations.

(define-record-type <schema>
  (%make-schema %root)
  ;;;> Returns whether an object is a schema that `json-schema` made.
  json-schema?
  (%root %schema-root))

;;; The parts that all nodes of a schema share: its JSON, the nodes by their pointers, the schema
;;; resources by their URIs, whether it matters which parts of a value were evaluated and which
;;; resources were entered on the way, and the references that are still to be resolved.
(define-record-type <document>
  (%make-document json nodes resources tracks is-dynamic references)
  %document?
  (json %document-json)
  (nodes %document-nodes)
  (resources %document-resources)
  (tracks %document-tracks? %set-document-tracks!)
  (is-dynamic %document-dynamic? %set-document-dynamic!)
  (references %document-references %set-document-references!))

;;; A schema resource: its URI, the pointer of its root, its anchors and its dynamic anchors, which
;;; are dictionaries from names to nodes.
(define-record-type <resource>
  (%make-resource uri pointer anchors dynamic-anchors)
  %resource?
  (uri %resource-uri)
  (pointer %resource-pointer)
  (anchors %resource-anchors)
  (dynamic-anchors %resource-dynamic-anchors))

;;; A subschema: its document, its pointer there, its resource, and its checks.
(define-record-type <node>
  (%make-node document pointer resource checks)
  %node?
  (document %node-document)
  (pointer %node-pointer)
  (resource %node-resource)
  (checks %node-checks %set-node-checks!))

(define (%schema-failure pointer message)
  (raise
    (%make-condition 'json-schema-error
      (string-append "json-schema: at " (if (string=? pointer "") "the root" pointer) ": " message)
      (list pointer))))

;;;> Compiles a schema, a value as `json->value` returns it, so that it can judge many values. Knows
;;;> the vocabularies core, applicator, validation and unevaluated of JSON Schema 2020-12. `format`
;;;> and the keywords about content and meta-data are annotations and judge nothing; so does a
;;;> keyword that it does not know. References lead to places, anchors and identifiers inside the
;;;> schema.
;;;>
;;;> Fails with `json-schema-error`, whose irritant is the JSON Pointer of the place, if a keyword
;;;> has a value that it cannot have, a reference leaves the schema or leads nowhere, `$schema`
;;;> names another dialect, or a pattern is no regular expression of ECMA-262. Of these it does not
;;;> know property escapes other than L, Nd, P, S, White_Space, Any and ASCII, counts above 1000,
;;;> and references to a group that comes later. Source: JSON Schema Core and Validation, draft
;;;> 2020-12.
(define (json-schema schema)
  (let* ((document (%make-document schema (dictionary) (dictionary) #f #f '()))
         (root (%compile document schema "" #f 0)))
    (let resolve ()
      (let ((references (reverse (%document-references document))))
        (%set-document-references! document '())
        (for-each (lambda (reference) (reference)) references)
        (if (pair? references) (resolve))))
    (%make-schema root)))

;;; Compiles a subschema at a pointer, which is part of a resource or, with `#f`, the root.
(define (%compile document json pointer outer depth)
  (if (> depth %depth-max)
      (%schema-failure pointer "the schema is nested too deep or contains itself"))
  (if (not (or (boolean? json) (dictionary? json)))
      (%schema-failure pointer "a schema is an object or a boolean"))
  (let* ((resource (%resource-of document json pointer outer))
         (node (%make-node document pointer resource '())))
    (dictionary-set! (%document-nodes document) pointer node)
    (if (not (dictionary-contains? (%resource-anchors resource) ""))
        (dictionary-set! (%resource-anchors resource) "" node))
    (if (dictionary? json) (%enter-anchors! node resource json))
    (%set-node-checks! node
      (cond ((eq? json #t) '())
            ((eq? json #f)
             (list (lambda (value path scope active seen)
                     (list (%violation path pointer "nothing is allowed here")))))
            (else
             (%compile-keywords node json
               (lambda (part step . steps)
                 (%compile document part
                   (string-append pointer (path->json-pointer (cons step steps)))
                   resource (+ depth 1)))))))
    node))

;;; Returns the resource that a subschema is part of: a new one if it has an identifier or is the
;;; root.
(define (%resource-of document json pointer outer)
  (let ((id (and (dictionary? json) (%keyword json "$id" #f))))
    (cond ((or id (not outer))
           (if (and id (not (string? id))) (%schema-failure pointer "$id is a string"))
           (let* ((whole (%resolve-uri (if outer (%resource-uri outer) "") (or id "")))
                  (uri (car (%split-at whole #\#)))
                  (resource (%make-resource uri pointer (dictionary) (dictionary)))
                  (resources (%document-resources document)))
             (if (cdr (%split-at whole #\#))
                 (if (not (string=? "" (cdr (%split-at whole #\#))))
                     (%schema-failure pointer "$id has no fragment")))
             (if (dictionary-contains? resources uri)
                 (%schema-failure pointer (string-append "the identifier " uri " is used twice")))
             (dictionary-set! resources uri resource)
             resource))
          (else outer))))

(define (%enter-anchors! node resource json)
  (define (enter! keyword anchors)
    (let ((name (%keyword json keyword #f)))
      (if name
          (begin
            (if (not (and (string? name) (not (string=? name ""))))
                (%schema-failure (%node-pointer node) (string-append keyword " is a name")))
            (dictionary-set! anchors name node)))))
  (enter! "$anchor" (%resource-anchors resource))
  (enter! "$dynamicAnchor" (%resource-anchors resource))
  (enter! "$dynamicAnchor" (%resource-dynamic-anchors resource)))

;;; Returns the value of a keyword, with strings in place of symbols.
(define (%keyword json name default)
  (let ((value (dictionary-ref json (%member-key json name) default)))
    (if (and (symbol? value) (not (eq? value 'null))) (symbol->string value) value)))

;;; Returns the text before the first mark, and the text behind it or `#f`.
(define (%split-at text mark)
  (let ((place (string-index text mark)))
    (if place
        (cons (substring text 0 place) (substring text (+ place 1) (string-length text)))
        (cons text #f))))

;;; Returns the scheme and authority of a URI, with their marks, and the rest.
(define (%split-uri uri)
  (let* ((colon (string-index uri #\:))
         (slash (string-index uri #\/))
         (start (if (and colon (not (and slash (< slash colon)))) (+ colon 1) 0))
         (has-authority (string-contains uri "//" start))
         (stop (if (eqv? has-authority start)
                   (or (string-index uri #\/ (+ start 2)) (string-length uri))
                   start)))
    (cons (substring uri 0 stop) (substring uri stop (string-length uri)))))

;;; Resolves a reference against a base. Source: RFC 3986, section 5.2.
(define (%resolve-uri base reference)
  (let* ((base (car (%split-at base #\#)))
         (parts (%split-uri base))
         (target (%split-uri reference)))
    (cond ((string=? reference "") base)
          ((char=? (string-ref reference 0) #\#) (string-append base reference))
          ((string-contains (car target) ":") reference)
          ((string-contains (car target) "//")
           (string-append (car (%split-at base #\:)) ":" reference))
          ((char=? (string-ref reference 0) #\/)
           (string-append (car parts) (%without-dots reference)))
          ((char=? (string-ref reference 0) #\?)
           (string-append (car (%split-at base #\?)) reference))
          (else
           (string-append (car parts)
             (%without-dots (string-append (%folder (cdr parts)) reference)))))))

;;; Returns a path up to its last slash.
(define (%folder path)
  (let loop ((i (string-length (car (%split-at path #\?)))))
    (cond ((= i 0) "")
          ((char=? (string-ref path (- i 1)) #\/) (substring path 0 i))
          (else (loop (- i 1))))))

;;; Removes the segments `.` and `..` of a path.
(define (%without-dots path)
  (let* ((cut (or (string-index path #\#) (string-length path)))
         (fragment (substring path cut (string-length path))))
    (let loop ((rest (%segments (substring path 0 cut))) (kept '()))
      (cond ((null? rest) (string-append (string-join (reverse kept) "/") fragment))
            ((string=? (car rest) ".") (loop (if (null? (cdr rest)) '("") (cdr rest)) kept))
            ((string=? (car rest) "..")
             (loop (if (null? (cdr rest)) '("") (cdr rest))
               (if (and (pair? kept) (pair? (cdr kept))) (cdr kept) kept)))
            (else (loop (cdr rest) (cons (car rest) kept)))))))

(define (%segments path)
  (let ((parts (%split-at path #\/)))
    (if (cdr parts) (cons (car parts) (%segments (cdr parts))) (list (car parts)))))

;;; Replaces `%20` and the like by the characters that their bytes encode.
(define (%percent-decoded text pointer)
  (let ((out (open-output-bytevector)) (end (string-length text)))
    (let loop ((i 0))
      (cond ((>= i end)
             (guard (failure (#t (%schema-failure pointer
                                   "a reference has bytes that are no UTF-8")))
               (utf8->string (get-output-bytevector out))))
            ((not (char=? (string-ref text i) #\%))
             (write-bytevector (string->utf8 text i (+ i 1)) out)
             (loop (+ i 1)))
            (else
             (let ((code (and (<= (+ i 3) end)
                           (string->number (substring text (+ i 1) (+ i 3)) 16))))
               (if (not code)
                   (%schema-failure pointer "a percent sign in a reference needs two digits"))
               (write-u8 code out)
               (loop (+ i 3))))))))

;;; Returns a pair of the node to which a reference leads and, if it names an anchor, the name.
(define (%resolve-reference document node reference pointer)
  (let* ((parts (%split-at (%resolve-uri (%resource-uri (%node-resource node)) reference) #\#))
         (fragment (%percent-decoded (or (cdr parts) "") pointer))
         (resource (dictionary-ref (%document-resources document) (car parts) #f)))
    (define (fail message)
      (%schema-failure pointer (string-append "the reference " reference message)))
    (cond ((not resource) (fail " leaves the schema; nothing is fetched"))
          ((and (< 0 (string-length fragment)) (char=? (string-ref fragment 0) #\/))
           (list (%node-at document resource fragment fail)))
          ((dictionary-ref (%resource-anchors resource) fragment #f)
           => (lambda (found) (cons found fragment)))
          (else (fail " names an anchor that is not there")))))

;;; Returns the node at a pointer below the root of a resource; compiles what no keyword has named.
(define (%node-at document resource fragment fail)
  (let* ((path (guard (failure ((json-error? failure) (fail " is no JSON Pointer")))
                 (json-pointer->path fragment)))
         (pointer (string-append (%resource-pointer resource) (path->json-pointer path)))
         (known (dictionary-ref (%document-nodes document) pointer #f)))
    (or known
        (let ((json (json-pointer-ref (%document-json document) pointer %absent)))
          (if (eq? json %absent) (fail " leads nowhere"))
          (%compile document json pointer resource 0)))))

;;; Parts of an object or array that keywords have evaluated: the names of members, and either a
;;; number of first elements or #t for all, with further positions.
(define-record-type <seen>
  (%make-seen members first positions)
  %seen?
  (members %seen-members)
  (first %seen-first %set-seen-first!)
  (positions %seen-positions))

(define (%new-seen document)
  (and (%document-tracks? document) (%make-seen (dictionary) 0 (dictionary))))

(define (%see-member! seen name) (if seen (dictionary-set! (%seen-members seen) name #t)))

(define (%see-first! seen count)
  (if (and seen
           (not (eq? (%seen-first seen) #t))
           (or (eq? count #t) (> count (%seen-first seen))))
      (%set-seen-first! seen count)))

(define (%see-position! seen position)
  (if seen (dictionary-set! (%seen-positions seen) position #t)))

(define (%merge-seen! seen other)
  (if seen
      (begin
        (for-each (lambda (name) (%see-member! seen name)) (dictionary-keys (%seen-members other)))
        (%see-first! seen (%seen-first other))
        (for-each (lambda (place) (%see-position! seen place))
          (dictionary-keys (%seen-positions other))))))

(define (%violation path pointer message)
  (dictionary 'instance (path->json-pointer (reverse path)) 'schema pointer 'message message))

;;; The judgements so far: a dictionary from nodes, scopes and paths to pairs of violations and what
;;; was evaluated; the value; and how many judgements may follow. A schema may lead to the same part
;;; of a value in many ways, twice as many with each level; each node judges each part once in each
;;; scope. It is the last element of every scope.
(define-record-type <judged>
  (%make-judged known value left)
  %judged?
  (known %judged-known)
  (value %judged-value %set-judged-value!)
  (left %judged-left %set-judged-left!))

(define %judgements-max 1000000)
(define %judgements-per-part 16)

(define (%judged-in scope) (if (null? (cdr scope)) (car scope) (%judged-in (cdr scope))))

;;; Counts judgements, and violations that are passed on. The size of a value gives leave for more;
;;; it is counted only for a value that has used up what every value may use.
(define (%count-judgements! count node scope)
  (let* ((judged (%judged-in scope)) (left (- (%judged-left judged) count)))
    (if (< left 0)
        (let ((value (%judged-value judged)))
          (if (eq? value %absent)
              (%schema-failure (%node-pointer node)
                (string-append "the schema leads to the parts of the value in too many ways: "
                  "it takes more judgements than " (number->string %judgements-max) " and "
                  (number->string %judgements-per-part) " for each part")))
          (%set-judged-value! judged %absent)
          (%set-judged-left! judged (* %judgements-per-part (%count-parts value))))
        (%set-judged-left! judged left))))

(define (%count-parts value)
  (let count ((value value) (so-far 1))
    (cond ((dictionary? value) (count (map cdr (dictionary->alist value)) so-far))
          ((vector? value) (count (vector->list value) so-far))
          (else
           (do ((rest value (cdr rest))
                (so-far so-far (count (car rest) (+ so-far 1))))
               ((not (pair? rest)) so-far))))))

;;; Returns the violations of a value by a node. If there are none, adds what the node has evaluated
;;; of the value to `into`, unless that is #f.
(define (%judge node value path scope active into)
  (let* ((resource (%node-resource node))
         (is-entered
           (and (%document-dynamic? (%node-document node)) (not (eq? (car scope) resource))))
         (scope (if is-entered (cons resource scope) scope))
         (judgement
           (if (or (dictionary? value) (pair? value) (vector? value)
                   (and (pair? active) (pair? (cdr active))))
               (%judge-once node value path scope active)
               (%judge-anew node value path scope active))))
    (if (and into (null? (car judgement))) (%merge-seen! into (cdr judgement)))
    (car judgement)))

;;; Judges a value that references may reach in many ways: one with parts, or one that a reference
;;; has led to. Its path says which it is.
(define (%judge-once node value path scope active)
  (let* ((known (%judged-known (%judged-in scope)))
         (key (cons node (cons scope path)))
         (earlier (dictionary-ref known key #f)))
    (or earlier
        (let ((judgement (%judge-anew node value path scope active)))
          (dictionary-set! known key judgement)
          judgement))))

(define (%judge-anew node value path scope active)
  (%count-judgements! 1 node scope)
  (let ((seen (%new-seen (%node-document node))))
    (let loop ((checks (%node-checks node)) (found '()))
      (if (pair? checks)
          (let ((more ((car checks) value path scope active seen)))
            (if (pair? more) (%count-judgements! (length more) node scope))
            (loop (cdr checks) (if (null? more) found (append found more))))
          (cons found seen)))))

;;;> Returns the violations of a schema by a value, in the order of the schema's keywords; none if
;;;> the value is valid. The schema is one that `json-schema` compiled, or a value. A violation is a
;;;> dictionary of `instance` and `schema`, the JSON Pointers of the part that is wrong and of the
;;;> keyword that it violates, and `message`. Fails with `json-error` if the value is not JSON, and
;;;> with `json-schema-error` as `json-schema` does, if a reference leads back to itself without
;;;> going into the value, or if the schema leads to the parts of the value in so many ways that it
;;;> takes more judgements than 1,000,000 and 16 for each part.
(define (json-violations schema value)
  (let ((compiled (if (json-schema? schema) schema (json-schema schema))))
    (%judge (%schema-root compiled) value '()
      (list (%make-judged (dictionary) value %judgements-max)) '() #f)))

;;;> Returns whether a value is valid by a schema, which is one that `json-schema` compiled or a
;;;> value. Fails as `json-violations` does.
(define (json-valid? schema value) (null? (json-violations schema value)))
