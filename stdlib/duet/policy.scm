;;; The JSON of policy entries. A dictionary, or a list whose elements are all pairs with a
;;; symbol or string first, is an object, any other list or vector an array, `null` is null, any
;;; other symbol a string.

(define (%json value)
  (cond
    ((eq? value #t) "true")
    ((eq? value #f) "false")
    ((eq? value 'null) "null")
    ((string? value) (%json-string value))
    ((symbol? value) (%json-string (symbol->string value)))
    ((and (number? value) (exact? value) (integer? value)) (number->string value))
    ((and (real? value) (inexact? value) (= value value) (< (abs value) +inf.0)) (%json-real value))
    ((vector? value) (%json-array (vector->list value)))
    ((dictionary? value) (%json-object (dictionary->alist value)))
    ((null? value) "[]")
    ((and (list? value) (%object? value)) (%json-object value))
    ((list? value) (%json-array value))
    (else (%bad-entry "not expressible as JSON" value))))

(define (%bad-entry message value) (raise (%make-condition 'bad-entry message (list value))))

(define (%object? list)
  (let loop ((rest list))
    (or (null? rest)
        (and (pair? (car rest))
             (or (symbol? (caar rest)) (string? (caar rest)))
             (loop (cdr rest))))))

(define (%json-array items) (string-append "[" (string-join (map %json items) ",") "]"))

(define (%json-object fields)
  (define (field entry)
    (string-append (%json (if (symbol? (car entry)) (symbol->string (car entry)) (car entry))) ":"
                   (%json (cdr entry))))
  (string-append "{" (string-join (map field fields) ",") "}"))

;;; Scheme writes 1. and .5, which are not JSON.
(define (%json-real value)
  (let* ((text (number->string value)) (length (string-length text)))
    (cond
      ((char=? (string-ref text (- length 1)) #\.) (string-append text "0"))
      ((char=? (string-ref text 0) #\.) (string-append "0" text))
      (else text))))

(define (%json-string text)
  (define (escaped char)
    (let ((code (char->integer char)))
      (cond
        ((char=? char #\") "\\\"")
        ((char=? char #\\) "\\\\")
        ((< code 32)
         (string-append "\\u" (substring "0000" 0 (if (< code 16) 3 2)) (number->string code 16)))
        (else (string char)))))
  (string-append "\"" (string-join (map escaped (string->list text)) "") "\""))

;;; A predicate: `(exists fact.a)`, `(not (eq fact.a.value "x"))`. Symbols are paths; `(ref path)`
;;; and `(lit value)` are operands.
(define (%predicate form)
  (if (and (pair? form) (symbol? (car form)) (list? form))
      (list (cons 'op (car form)) (cons 'args (list->vector (map %operand (cdr form)))))
      (%bad-entry "a predicate is written (op argument ...)" form)))

(define (%operand form)
  (cond
    ((and (pair? form) (memq (car form) '(all any not eq in exists missing schema)))
     (%predicate form))
    ((and (pair? form) (memq (car form) '(ref lit)) (pair? (cdr form)) (null? (cddr form)))
     (list (cons (car form) (cadr form))))
    (else form)))

;;;> Returns the JSON text of an entry: version 1 and the fields, an association list.
(define (entry-text fields) (%json (cons '(v . 1) fields)))

;;; Asserts an entry and lets the turn commit, because the policy of a turn is that of its
;;; beginning.
(define (%enter label name fields)
  (let* ((name (if (symbol? name) (symbol->string name) name))
         (handle (assert! (record label name (entry-text fields)))))
    (yield)
    handle))

(define (%need-name procedure name)
  (if (not (or (symbol? name) (string? name))) (%wrong-type procedure "a name" name)))

(define (%need-entry procedure name fields)
  (%need-name procedure name)
  (if (not (and (list? fields) (%object? fields)))
      (%wrong-type procedure "fields, an association list by names" fields)))

(define %constraint-options '(:effect :tool :capability :when :on-fail :reason))

;;;> Enters a constraint, and returns its handle in the next turn, from which on it holds. `:effect`
;;;> is `deny` (the default) or `allow`; `:tool` or `:capability` selects its subject, by default
;;;> everything; `:when` is a predicate, such as `'(missing fact.source)`; `:on-fail` is `block`
;;;> (the default), `ask` or `defer`; `:reason` is for people to read. It lasts until it is removed.
;;;> Fails with `policy-denied` without `policy/update`.
(define (define-constraint name . options)
  (%need-name 'define-constraint name)
  (let check ((rest options))
    (cond
      ((null? rest) #t)
      ((not (and (memq (car rest) %constraint-options) (pair? (cdr rest))))
       (%bad-entry
         "define-constraint takes :effect, :tool, :capability, :when, :on-fail and :reason, each with a value"
         rest))
      (else (check (cddr rest)))))
  (let ((tool (%option options :tool #f))
        (capability (%option options :capability #f))
        (when (%option options :when #f))
        (reason (%option options :reason #f)))
    (%enter 'constraint name
      (append
        (list (cons 'effect (%option options :effect 'deny))
              (cons 'subject
                    (cond (tool (list (cons 'tool_id tool)))
                          (capability (list (cons 'capability capability)))
                          (else 'null)))
              (cons 'on_fail (%option options :on-fail 'block)))
        (if when (list (cons 'when (%predicate when))) '())
        (if reason (list (cons 'reason reason)) '())))))

;;;> Removes a constraint, or any other entry of this actor; it is gone when this returns.
(define (remove-constraint! handle)
  (if (not (%handle? handle)) (%wrong-type 'remove-constraint! "the handle of an entry" handle))
  (retract! handle)
  (yield))

;;;> Grants `capability` to an actor from the next turn on, until the entry is removed; returns the
;;;> handle. No actor can grant more than it has.
(define (grant! actor capability)
  (if (not (%actor? actor)) (%wrong-type 'grant! "an actor" actor))
  (if (not (or (symbol? capability) (string? capability)))
      (%wrong-type 'grant! "the name of a capability" capability))
  (let ((name (if (symbol? capability) (symbol->string capability) capability)))
    (define (plain char)
      (if (or (char-alphabetic? char) (char-numeric? char) (memv char '(#\- #\_))) char #\_))
    (%enter 'constraint (string-append "grant." (session-name actor) "." (string-map plain name))
      (list '(effect . allow) (list 'subject (cons 'capability name))))))

;;;> Enters `policy.name` with fields, an association list; returns the handle. It holds from the
;;;> next turn on.
(define (set-policy! name fields)
  (%need-entry 'set-policy! name fields)
  (%enter 'policy name fields))

;;;> Enters the goal `goal.name` with fields, an association list; returns the handle.
(define (set-goal! name fields)
  (%need-entry 'set-goal! name fields)
  (%enter 'goal name fields))

;;; A claim that ends `ttl_ms` after it was stored says when that was, if there is a clock.
(define (%stamped fields)
  (define (given? name) (or (assq name fields) (assoc (symbol->string name) fields)))
  (let ((now (and (given? 'ttl_ms) (not (given? 'stored_at)) (%policy-time))))
    (if now (append fields (list (cons 'stored_at now))) fields)))

;;;> Enters the fact `fact.name` with fields, an association list; returns the handle. Beside `ttl_ms`
;;;> it enters the time of `fact.clock` as `stored_at`, unless the fields name one.
(define (record-fact! name fields)
  (%need-entry 'record-fact! name fields)
  (%enter 'fact name (%stamped fields)))

;;;> Proposes items together, each `(call tool payload)`, `(entry record)` or `(remove handle)`:
;;;> either all of them happen, or none. Returns a pair of the name under which they wait, or `#f`,
;;;> and a list of their results: a tag for `tool-result`, a handle, or `#f`. Fails with
;;;> `policy-denied`.
(define (propose! . items) (%propose items))

;;;> Returns the verdict of policy if the items, as for `propose!`, were proposed together now: a
;;;> list of the decision, its consequence, the reason's code, the key of the entry that decided or
;;;> `#f`, and an explanation. Performs nothing.
(define (explain . items) (%explain items))

;;;> Returns whether a condition is a refusal by policy.
(define (policy-refusal? object)
  (and (condition? object) (eq? (condition-kind object) 'policy-denied)))

(define (%refusal-part procedure condition index)
  (if (not (condition? condition)) (%wrong-type procedure "a refusal" condition))
  (let ((irritants (condition-irritants condition)))
    (and (< index (length irritants)) (list-ref irritants index))))

;;;> Returns the consequence of a refusal: `block` or `degrade`; of a rejected proposal, the
;;;> reason's code.
(define (refusal-follows condition) (%refusal-part 'refusal-follows condition 0))

;;;> Returns the code of a refusal's reason, a symbol such as `constraint_deny`.
(define (refusal-code condition)
  (or (%refusal-part 'refusal-code condition 1) (%refusal-part 'refusal-code condition 0)))

;;;> Returns the key of the entry that decided, or `#f`.
(define (refusal-key condition) (%refusal-part 'refusal-key condition 2))

;;;> Returns the explanation of a refusal, a string for people to read.
(define (refusal-explanation condition)
  (or (%refusal-part 'refusal-explanation condition 3) (condition-message condition)))
