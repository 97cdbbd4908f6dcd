;;; The keywords of JSON Schema 2020-12. A maker receives the keyword's value, the schema that has
;;; it, the keyword's pointer, the node, and a procedure that compiles a subschema: `(sub json step
;;; …)`. It returns a check or #f.

(define %dialect "https://json-schema.org/draft/2020-12/schema")

;;; Returns the JSON type of a value.
(define (%kind value path)
  (cond ((string? value) 'string)
        ((symbol? value) (if (eq? value 'null) 'null 'string))
        ((boolean? value) 'boolean)
        ((and (real? value) (< -inf.0 value +inf.0)) 'number)
        ((dictionary? value) 'object)
        ((or (vector? value) (list? value)) 'array)
        ((keyword? value) 'string)
        (else
         (%json-failure 'json-violations
           (string-append (if (null? path) "the value" (path->json-pointer (reverse path)))
             " has no form in JSON")
           value))))

(define (%elements array) (if (vector? array) (vector->list array) array))

;;; Returns the members of an object as pairs of name and value.
(define (%members object)
  (map (lambda (entry)
         (cons (or (%key-text (car entry))
                 (%json-failure 'json-violations "a key is no symbol or string" (car entry)))
               (cdr entry)))
       (dictionary->alist object)))

;;; Returns the JSON text of a value, shortened.
(define (%brief value)
  (let ((text (value->json value)))
    (if (> (string-length text) 60) (string-append (substring text 0 60) "…") text)))

;;; Makes a check of values of one kind; `test` returns #f or the message of the violation.
(define (%check-of kind pointer test)
  (lambda (value path scope active seen)
    (let ((message (and (eq? (%kind value path) kind) (test value))))
      (if message (list (%violation path pointer message)) '()))))

;;; Makes a check that compares a measure of values of one kind with a bound.
(define (%bound kind measure holds? words)
  (lambda (given json pointer node sub)
    (%check-of kind pointer
      (lambda (value)
        (let ((found (measure value)))
          (and (not (holds? found (%exact-value given)))
               (string-append words " " (%brief given) ", found "
                 (%brief (if (eq? kind 'number) value found)))))))))

(define (%size value) (if (dictionary? value) (dictionary-count value) (length (%elements value))))
(define (%characters value) (string-length (%key-text value)))

;;; Makes a maker that first requires the keyword's value to satisfy a predicate.
(define (%requiring wanted? words maker)
  (lambda (given json pointer node sub)
    (if (not (wanted? given))
        (%schema-failure pointer (string-append "the value of the keyword is " words)))
    (maker given json pointer node sub)))

(define (%count? object) (and (real? object) (integer? object) (>= object 0)))
(define (%finite? object) (and (real? object) (< -inf.0 object +inf.0)))
(define (%name? object) (or (string? object) (and (symbol? object) (not (eq? object 'null)))))
(define (%names? object) (and (list? object) (%every? %name? object)))
(define (%schemas? object) (and (pair? object) (list? object)))

(define (%every? wanted? list)
  (or (null? list) (and (wanted? (car list)) (%every? wanted? (cdr list)))))

(define (%limit kind measure holds? words)
  (%requiring %count? "a whole number from 0" (%bound kind measure holds? words)))
(define (%range holds? words)
  (%requiring %finite? "a number" (%bound 'number %exact-value holds? words)))

(define %types '("null" "boolean" "object" "array" "string" "number" "integer"))

(define (%make-type given json pointer node sub)
  (let ((types (map %key-text (if (%name? given) (list given) given))))
    (if (not (%every? (lambda (type) (member type %types)) types))
        (%schema-failure pointer (string-append "a type is one of " (string-join %types ", "))))
    (lambda (value path scope active seen)
      (let ((kind (%kind value path)))
        (if (or (member (symbol->string kind) types)
                (and (eq? kind 'number) (member "integer" types) (integer? value)))
            '()
            (list (%violation path pointer
                    (string-append "expected " (string-join types " or ") ", found "
                      (symbol->string kind)))))))))

(define (%make-choice choices pointer words)
  (let ((known (map %canonical choices)))
    (lambda (value path scope active seen)
      (%kind value path)
      (if (member (%canonical value) known)
          '()
          (list (%violation path pointer (string-append words ", found " (%brief value))))))))

(define (%make-enum given json pointer node sub)
  (%make-choice given pointer (string-append "expected one of " (%brief given))))

(define (%make-const given json pointer node sub)
  (%make-choice (list given) pointer (string-append "expected " (%brief given))))

(define (%regexp-of given pointer)
  (if (not (%name? given)) (%schema-failure pointer "a pattern is a string"))
  (%pattern->regexp (%key-text given) (lambda (message) (%schema-failure pointer message))))

(define (%make-pattern given json pointer node sub)
  (let ((expression (%regexp-of given pointer)))
    (%check-of 'string pointer
      (lambda (value)
        (and (not (regexp-search expression (%key-text value)))
             (string-append (%brief value) " does not match " (%key-text given)))))))

(define (%make-unique given json pointer node sub)
  (and given
       (%check-of 'array pointer
         (lambda (value)
           (let ((places (dictionary)))
             (let loop ((rest (%elements value)) (index 0))
               (if (null? rest)
                   #f
                   (let* ((key (%canonical (car rest))) (earlier (dictionary-ref places key #f)))
                     (dictionary-set! places key index)
                     (if earlier
                         (string-append "elements " (number->string earlier) " and "
                           (number->string index)
                           " are the same")
                         (loop (cdr rest) (+ index 1)))))))))))

(define (%missing-names names value)
  (filter (lambda (name) (eq? (%part value name) %absent)) names))

(define (%make-required given json pointer node sub)
  (lambda (value path scope active seen)
    (if (eq? (%kind value path) 'object)
        (map (lambda (name)
               (%violation path pointer
                 (string-append "the member \"" (%key-text name) "\" is missing")))
             (%missing-names given value))
        '())))

;;; Makes the check of what depends on members: `judge` receives each entry, a pair that begins with
;;; the key of a member that the object has, and returns violations.
(define (%check-of-present entries judge)
  (lambda (value path scope active seen)
    (if (eq? (%kind value path) 'object)
        (append-map
          (lambda (entry)
            (if (eq? (%part value (car entry)) %absent)
                '()
                (judge entry value path scope active seen)))
          entries)
        '())))

(define (%make-dependent-required given json pointer node sub)
  (let ((entries (dictionary->alist given)))
    (for-each
      (lambda (entry)
        (if (not (%names? (cdr entry)))
            (%schema-failure pointer "each member is an array of names")))
      entries)
    (%check-of-present entries
      (lambda (entry value path scope active seen)
        (map (lambda (name)
               (%violation path pointer
                 (string-append "the member \"" (%key-text (car entry)) "\" needs the member \""
                   (%key-text name) "\"")))
             (%missing-names (cdr entry) value))))))

;;; Compiles the members of an object of schemas; returns pairs of name and node.
(define (%sub-members given keyword sub)
  (map (lambda (member) (cons (car member) (sub (cdr member) keyword (car member))))
    (%members given)))

;;; Compiles the elements of an array of schemas.
(define (%sub-elements given keyword sub)
  (let loop ((rest given) (index 0))
    (if (null? rest)
        '()
        (let ((node (sub (car rest) keyword index))) (cons node (loop (cdr rest) (+ index 1)))))))

;;; Judges elements from a position on, each by the same node.
(define (%judge-elements node elements index path scope)
  (if (null? elements)
      '()
      (let ((found (%judge node (car elements) (cons index path) scope '() #f)))
        (append found (%judge-elements node (cdr elements) (+ index 1) path scope)))))

(define (%make-prefix given json pointer node sub)
  (let ((nodes (%sub-elements given "prefixItems" sub)))
    (lambda (value path scope active seen)
      (if (eq? (%kind value path) 'array)
          (let loop ((nodes nodes) (rest (%elements value)) (index 0) (found '()))
            (if (or (null? nodes) (null? rest))
                (begin (%see-first! seen index) found)
                (loop (cdr nodes) (cdr rest) (+ index 1)
                  (append found (%judge (car nodes) (car rest) (cons index path) scope '() #f)))))
          '()))))

(define (%tail list count) (if (or (= count 0) (null? list)) list (%tail (cdr list) (- count 1))))

(define (%make-items given json pointer node sub)
  (let* ((items (sub given "items"))
         (prefix (%keyword json "prefixItems" '()))
         (start (if (list? prefix) (length prefix) 0)))
    (lambda (value path scope active seen)
      (if (eq? (%kind value path) 'array)
          (begin
            (%see-first! seen #t)
            (%judge-elements items (%tail (%elements value) start) start path scope))
          '()))))

(define (%make-contains given json pointer node sub)
  (let ((item (sub given "contains"))
        (least (%keyword json "minContains" 1))
        (most (%keyword json "maxContains" +inf.0)))
    (lambda (value path scope active seen)
      (if (eq? (%kind value path) 'array)
          (let loop ((rest (%elements value)) (index 0) (count 0))
            (cond ((pair? rest)
                   (let ((fits (null? (%judge item (car rest) (cons index path) scope '() #f))))
                     (if fits (%see-position! seen index))
                     (loop (cdr rest) (+ index 1) (if fits (+ count 1) count))))
                  ((<= least count most) '())
                  (else
                   (list (%violation path pointer
                           (string-append "expected "
                             (if (< count least)
                                 (string-append "at least " (number->string least))
                                 (string-append "at most " (number->string most)))
                             " fitting elements, found " (number->string count)))))))
          '()))))

(define (%make-properties given json pointer node sub)
  (let ((nodes (%sub-members given "properties" sub)))
    (lambda (value path scope active seen)
      (if (eq? (%kind value path) 'object)
          (append-map
            (lambda (entry)
              (let ((part (%part value (car entry))))
                (cond ((eq? part %absent) '())
                      (else
                       (%see-member! seen (car entry))
                       (%judge (cdr entry) part (cons (car entry) path) scope '() #f)))))
            nodes)
          '()))))

(define (%make-pattern-properties given json pointer node sub)
  (let ((nodes
          (map (lambda (entry) (cons (%regexp-of (car entry) pointer) (cdr entry)))
               (%sub-members given "patternProperties" sub))))
    (lambda (value path scope active seen)
      (if (eq? (%kind value path) 'object)
          (append-map
            (lambda (member)
              (append-map
                (lambda (entry)
                  (cond ((regexp-search (car entry) (car member))
                         (%see-member! seen (car member))
                         (%judge (cdr entry) (cdr member) (cons (car member) path) scope '() #f))
                        (else '())))
                nodes))
            (%members value))
          '()))))

;;; Judges the members whose names satisfy a predicate, and marks them as evaluated.
(define (%judge-members node wanted? value path scope seen)
  (append-map
    (lambda (member)
      (cond ((wanted? (car member))
             (%see-member! seen (car member))
             (%judge node (cdr member) (cons (car member) path) scope '() #f))
            (else '())))
    (%members value)))

(define (%make-additional given json pointer node sub)
  (let ((item (sub given "additionalProperties"))
        (properties (%keyword json "properties" #f))
        (patterns
          (let ((given (%keyword json "patternProperties" #f)))
            (if (dictionary? given)
                (map (lambda (member) (%regexp-of (car member) pointer)) (%members given))
                '()))))
    (define (additional? name)
      (and (or (not (dictionary? properties)) (eq? (%part properties name) %absent))
           (%every? (lambda (expression) (not (regexp-search expression name))) patterns)))
    (lambda (value path scope active seen)
      (if (eq? (%kind value path) 'object)
          (%judge-members item additional? value path scope seen)
          '()))))

(define (%make-names given json pointer node sub)
  (let ((item (sub given "propertyNames")))
    (lambda (value path scope active seen)
      (if (eq? (%kind value path) 'object)
          (append-map
            (lambda (member) (%judge item (car member) (cons (car member) path) scope '() #f))
            (%members value))
          '()))))

(define (%make-dependent-schemas given json pointer node sub)
  (%check-of-present (%sub-members given "dependentSchemas" sub)
    (lambda (entry value path scope active seen)
      (%judge (cdr entry) value path scope active seen))))

(define (%make-all given json pointer node sub)
  (let ((nodes (%sub-elements given "allOf" sub)))
    (lambda (value path scope active seen)
      (append-map (lambda (node) (%judge node value path scope active seen)) nodes))))

;;; Counts the nodes that a value satisfies.
(define (%count-fitting nodes value path scope active seen)
  (let loop ((nodes nodes) (count 0))
    (if (null? nodes)
        count
        (loop (cdr nodes)
          (if (null? (%judge (car nodes) value path scope active seen)) (+ count 1) count)))))

(define (%make-any given json pointer node sub)
  (let ((nodes (%sub-elements given "anyOf" sub)))
    (lambda (value path scope active seen)
      (if (= 0 (%count-fitting nodes value path scope active seen))
          (list (%violation path pointer
                  (string-append "fits none of " (number->string (length nodes)) " schemas")))
          '()))))

(define (%make-one given json pointer node sub)
  (let ((nodes (%sub-elements given "oneOf" sub)))
    (lambda (value path scope active seen)
      (let ((count (%count-fitting nodes value path scope active seen)))
        (if (= count 1)
            '()
            (list (%violation path pointer
                    (string-append "fits " (number->string count) " of "
                      (number->string (length nodes))
                      " schemas instead of one"))))))))

(define (%make-not given json pointer node sub)
  (let ((item (sub given "not")))
    (lambda (value path scope active seen)
      (if (null? (%judge item value path scope active #f))
          (list (%violation path pointer "fits a schema that it must not fit"))
          '()))))

(define (%make-if given json pointer node sub)
  (define (branch keyword)
    (let ((branch (%keyword json keyword %absent)))
      (if (eq? branch %absent) #f (sub branch keyword))))
  (let* ((condition (sub given "if")) (then (branch "then")) (else-branch (branch "else")))
    (lambda (value path scope active seen)
      (let ((chosen (if (null? (%judge condition value path scope active seen)) then else-branch)))
        (if chosen (%judge chosen value path scope active seen) '())))))

;;; Compiles a branch that has no condition, because it may have anchors.
(define (%make-branch keyword)
  (lambda (given json pointer node sub)
    (if (eq? (%keyword json "if" %absent) %absent) (sub given keyword))
    #f))

(define (%make-definitions given json pointer node sub)
  (%sub-members given "$defs" sub)
  #f)

(define (%make-dialect given json pointer node sub)
  (if (not (and (string? given) (string=? (car (%split-at given #\#)) %dialect)))
      (%schema-failure pointer (string-append "the dialect is not " %dialect)))
  #f)

;;; Judges a value by the node of a reference.
(define (%follow target value path scope active seen pointer)
  (if (memq target active) (%schema-failure pointer "the reference leads back to itself"))
  (%judge target value path scope (cons target active) seen))

(define (%make-reference given json pointer node sub)
  (let ((document (%node-document node)) (target #f))
    (%set-document-references! document
      (cons (lambda ()
              (set! target (car (%resolve-reference document node (%key-text given) pointer))))
            (%document-references document)))
    (lambda (value path scope active seen) (%follow target value path scope active seen pointer))))

;;; Source: JSON Schema Core, section 8.2.3.2.
(define (%make-dynamic-reference given json pointer node sub)
  (let ((document (%node-document node)) (target #f) (name #f))
    (define (resolve)
      (let ((found (%resolve-reference document node (%key-text given) pointer)))
        (set! target (car found))
        (if (and (string? (cdr found))
                 (eq? target
                   (dictionary-ref
                     (%resource-dynamic-anchors (%node-resource target)) (cdr found) #f)))
            (begin
              (set! name (cdr found))
              (%set-document-dynamic! document #t)))))
    (define (outermost scope)
      (let loop ((scope scope) (target target))
        (if (null? (cdr scope))
            target
            (loop (cdr scope)
              (dictionary-ref (%resource-dynamic-anchors (car scope)) name target)))))
    (%set-document-references! document (cons resolve (%document-references document)))
    (lambda (value path scope active seen)
      (%follow (if name (outermost scope) target) value path scope active seen pointer))))

(define (%make-unevaluated-items given json pointer node sub)
  (let ((item (sub given "unevaluatedItems")))
    (%set-document-tracks! (%node-document node) #t)
    (lambda (value path scope active seen)
      (if (and (eq? (%kind value path) 'array) (not (eq? (%seen-first seen) #t)))
          (let loop ((rest (%elements value)) (index 0) (found '()))
            (cond ((null? rest) (%see-first! seen #t) found)
                  ((or (< index (%seen-first seen))
                     (dictionary-contains? (%seen-positions seen) index))
                   (loop (cdr rest) (+ index 1) found))
                  (else
                   (loop (cdr rest) (+ index 1)
                     (append found (%judge item (car rest) (cons index path) scope '() #f))))))
          '()))))

(define (%make-unevaluated-properties given json pointer node sub)
  (let ((item (sub given "unevaluatedProperties")))
    (%set-document-tracks! (%node-document node) #t)
    (lambda (value path scope active seen)
      (if (eq? (%kind value path) 'object)
          (%judge-members item
            (lambda (name) (not (dictionary-contains? (%seen-members seen) name)))
            value path scope seen)
          '()))))

(define (%of-schemas maker) (%requiring %schemas? "an array of schemas" maker))
(define (%of-members maker) (%requiring dictionary? "an object of schemas" maker))

;;; The keywords in the order in which they judge; those of the vocabulary unevaluated come last.
(define %keywords
  (list
    (cons "$schema" %make-dialect)
    (cons "$defs" (%of-members %make-definitions))
    (cons "$ref" (%requiring %name? "a reference" %make-reference))
    (cons "$dynamicRef" (%requiring %name? "a reference" %make-dynamic-reference))
    (cons "type"
      (%requiring (lambda (given) (or (%name? given) (and (pair? given) (%names? given))))
                  "a type or an array of types" %make-type))
    (cons "enum" (%requiring list? "an array" %make-enum))
    (cons "const" %make-const)
    (cons "multipleOf"
      (%requiring (lambda (given) (and (%finite? given) (> given 0))) "a number above 0"
        (%bound 'number %exact-value (lambda (n given) (integer? (/ n given)))
          "expected a multiple of")))
    (cons "maximum" (%range <= "expected at most"))
    (cons "exclusiveMaximum" (%range < "expected less than"))
    (cons "minimum" (%range >= "expected at least"))
    (cons "exclusiveMinimum" (%range > "expected more than"))
    (cons "maxLength" (%limit 'string %characters <= "expected a length of at most"))
    (cons "minLength" (%limit 'string %characters >= "expected a length of at least"))
    (cons "pattern" %make-pattern)
    (cons "maxItems" (%limit 'array %size <= "expected an array of at most"))
    (cons "minItems" (%limit 'array %size >= "expected an array of at least"))
    (cons "uniqueItems" (%requiring boolean? "a boolean" %make-unique))
    (cons "maxProperties" (%limit 'object %size <= "expected an object of at most"))
    (cons "minProperties" (%limit 'object %size >= "expected an object of at least"))
    (cons "required" (%requiring %names? "an array of names" %make-required))
    (cons "dependentRequired"
      (%requiring dictionary? "an object of arrays" %make-dependent-required))
    (cons "minContains" (%requiring %count? "a whole number from 0" (lambda _ #f)))
    (cons "maxContains" (%requiring %count? "a whole number from 0" (lambda _ #f)))
    (cons "prefixItems" (%of-schemas %make-prefix))
    (cons "items" %make-items)
    (cons "contains" %make-contains)
    (cons "properties" (%of-members %make-properties))
    (cons "patternProperties" (%of-members %make-pattern-properties))
    (cons "additionalProperties" %make-additional)
    (cons "propertyNames" %make-names)
    (cons "dependentSchemas" (%of-members %make-dependent-schemas))
    (cons "allOf" (%of-schemas %make-all))
    (cons "anyOf" (%of-schemas %make-any))
    (cons "oneOf" (%of-schemas %make-one))
    (cons "not" %make-not)
    (cons "if" %make-if)
    (cons "then" (%make-branch "then"))
    (cons "else" (%make-branch "else"))
    (cons "unevaluatedItems" %make-unevaluated-items)
    (cons "unevaluatedProperties" %make-unevaluated-properties)))

;;; Returns the checks of a schema's keywords.
(define (%compile-keywords node json sub)
  (let loop ((rest %keywords) (checks '()))
    (if (null? rest)
        (reverse checks)
        (let* ((name (caar rest)) (given (%keyword json name %absent)))
          (loop (cdr rest)
            (if (eq? given %absent)
                checks
                (let ((check
                        ((cdar rest) given json
                         (string-append (%node-pointer node)
                           (path->json-pointer (list name))) node sub)))
                  (if check (cons check checks) checks))))))))
