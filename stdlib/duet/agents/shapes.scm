;;; Shapes: JSON Schemas in the short form in which agents describe results and tools arguments.

(define (%bad-shape message shape)
  (raise (%make-condition 'bad-shape (string-append "shape->schema: " message) (list shape))))

;;;> Returns the JSON Schema, a value, of a shape:
;;;>
;;;> `string`, `integer`, `number`, `boolean`, `null` and `any` are the values of JSON. `(string
;;;> option …)` takes `:pattern`, a regular expression, `:min` and `:max`, lengths in characters;
;;;> `(integer option …)` and `(number option …)` take `:min` and `:max`.
;;;>
;;;> `(list shape option …)` is an array, with `:min` and `:max` for its length. `(dictionary
;;;> shape)` is an object with any names. `(object (name shape option …) …)` is an object with these
;;;> members and no others; an option of a member is a string that describes it to the model, or
;;;> `:optional`.
;;;>
;;;> `(one-of value …)` is one of these values, where a symbol means its name. `(either shape …)` is
;;;> a value of one of these shapes, `(maybe shape)` one of this shape or null.
;;;>
;;;> Fails with `bad-shape`, which has the part that is no shape.
(define (shape->schema shape)
  (cond ((symbol? shape) (%compound-schema shape '() shape))
        ((and (pair? shape) (symbol? (car shape)) (list? shape))
         (%compound-schema (car shape) (cdr shape) shape))
        (else (%bad-shape "a shape is a symbol or a list that begins with one" shape))))

(define (%compound-schema kind parts shape)
  (define (one-part)
    (if (null? parts) (%bad-shape "a shape is missing in it" shape))
    (shape->schema (car parts)))
  (case kind
    ((any) (dictionary))
    ((boolean null) (dictionary 'type (symbol->string kind)))
    ((string)
     (%limited kind parts shape
       '((:pattern . pattern) (:min . minLength) (:max . maxLength))))
    ((integer number) (%limited kind parts shape '((:min . minimum) (:max . maximum))))
    ((list)
     (let* ((items (one-part))
            (schema (%limited 'array (cdr parts) shape '((:min . minItems) (:max . maxItems)))))
       (dictionary-set! schema 'items items)
       schema))
    ((dictionary) (dictionary 'type "object" 'additionalProperties (one-part)))
    ((object) (%object-schema parts))
    ((one-of) (dictionary 'enum (map %plain-value parts)))
    ((either) (dictionary 'anyOf (map shape->schema parts)))
    ((maybe) (dictionary 'anyOf (list (one-part) (dictionary 'type "null"))))
    (else
     (%bad-shape
       (string-append "a shape is any, string, integer, number, boolean, null, list, dictionary, "
         "object, one-of, either or maybe")
       shape))))

(define (%plain-value value) (if (symbol? value) (symbol->string value) value))

;;; Returns the schema of a type with limits, which are written as options; `names` has the members
;;; of the schema for them.
(define (%limited type options shape names)
  (let ((schema (dictionary 'type (symbol->string type))))
    (let add ((options options))
      (if (pair? options)
          (let ((known (assq (car options) names)))
            (if (not (and known (pair? (cdr options))))
                (%bad-shape "an option is not known, or has no value" shape))
            (dictionary-set! schema (cdr known) (cadr options))
            (add (cddr options)))))
    schema))

(define (%object-schema members)
  (let ((properties (dictionary)) (required '()))
    (for-each
      (lambda (member)
        (if (not (and (list? member) (>= (length member) 2) (symbol? (car member))))
            (%bad-shape "a member of an object is written (name shape option …)" member))
        (if (dictionary-contains? properties (car member))
            (%bad-shape "an object has a member twice" (car member)))
        (dictionary-set! properties (car member) (%member-schema member))
        (if (not (memq :optional (cddr member)))
            (set! required (cons (symbol->string (car member)) required))))
      members)
    (dictionary 'type "object" 'properties properties 'required (reverse required)
      'additionalProperties #f)))

(define (%member-schema member)
  (let ((schema (shape->schema (cadr member))))
    (for-each
      (lambda (option)
        (cond ((string? option) (dictionary-set! schema 'description option))
              ((not (eq? option :optional))
               (%bad-shape "an option of a member is a string or :optional" member))))
      (cddr member))
    schema))
