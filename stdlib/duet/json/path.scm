;;; Parts of values: paths of keys and positions, JSON Pointer, equality.

;;; Stands for a part that is not there.
(define %absent (list 'absent))

;;; Returns the key under which a dictionary has a member, or the one under which it would get it.
(define (%member-key entries name)
  (let ((key (%key name)))
    (if (and (not (dictionary-contains? entries key)) (dictionary-contains? entries name))
        name
        key)))

(define (%is-position? step) (and (exact-integer? step) (>= step 0)))

;;; Returns the part of a value under one key or position, or `%absent`.
(define (%part value step)
  (cond ((dictionary? value)
         (let ((name (%key-text step)))
           (if name (dictionary-ref value (%member-key value name) %absent) %absent)))
        ((not (%is-position? step)) %absent)
        ((vector? value) (if (< step (vector-length value)) (vector-ref value step) %absent))
        ((list? value)
         (let loop ((rest value) (step step))
           (cond ((null? rest) %absent)
                 ((= step 0) (car rest))
                 (else (loop (cdr rest) (- step 1))))))
        (else %absent)))

(define (%step-text step)
  (let ((name (%key-text step)))
    (cond (name (string-append "\"" name "\""))
          ((number? step) (number->string step))
          (else "such a key"))))

;;; Raises the condition of a missing part; `done` has the steps before it, the last one first.
(define (%missing procedure value step done)
  (let ((place (if (null? done) "the value" (path->json-pointer (reverse done)))))
    (%json-failure procedure
      (cond ((dictionary? value) (string-append place " has no member " (%step-text step)))
            ((not (or (vector? value) (list? value)))
             (string-append place " is no object or array, so it has no part " (%step-text step)))
            ((%is-position? step)
             (string-append place " is an array without an element " (%step-text step)))
            (else
             (string-append place " is an array; it needs a position from 0, not "
               (%step-text step))))
      step)))

;;;> Returns the part of a value at the end of a path: `(json-ref value step …)`. A step is the key
;;;> of a member, as a string or symbol, or the position of an element, from 0. Fails with
;;;> `json-error`, which names the place, if there is no such part.
(define (json-ref value . steps)
  (let loop ((value value) (steps steps) (done '()))
    (if (null? steps)
        value
        (let ((part (%part value (car steps))))
          (if (eq? part %absent) (%missing 'json-ref value (car steps) done))
          (loop part (cdr steps) (cons (car steps) done))))))

;;;> Like `json-ref`, but returns `default` if there is no such part: `(json-ref/default default
;;;> value step …)`.
(define (json-ref/default default value . steps)
  (let loop ((value value) (steps steps))
    (cond ((eq? value %absent) default)
          ((null? steps) value)
          (else (loop (%part value (car steps)) (cdr steps))))))

;;;> Returns a value in which the part at the end of a path is another one: `(json-set value step …
;;;> new)`. The given value stays as it is; both share what is beside the path. The last step may be
;;;> a new key of an object, or the length of an array, which then has one more element. Fails with
;;;> `json-error` if another part of the path is missing.
(define (json-set value . steps)
  (if (null? steps) (%wrong-type 'json-set "a new value as the last argument" steps))
  (let loop ((value value) (steps steps) (done '()))
    (if (null? (cdr steps))
        (car steps)
        (let* ((step (car steps)) (part (%part value step)) (is-last (null? (cddr steps))))
          (if (and (eq? part %absent) (not (and is-last (%can-add? value step))))
              (%missing 'json-set value step done))
          (%with-part value step (loop part (cdr steps) (cons step done)))))))

(define (%can-add? value step)
  (cond ((dictionary? value) (and (%key-text step) #t))
        ((vector? value) (eqv? step (vector-length value)))
        ((list? value) (eqv? step (length value)))
        (else #f)))

(define (%with-part value step new)
  (cond ((dictionary? value)
         (let ((copy (dictionary-copy value)))
           (dictionary-set! copy (%member-key copy (%key-text step)) new)
           copy))
        ((vector? value) (list->vector (%with-part (vector->list value) step new)))
        ((= step 0) (cons new (if (pair? value) (cdr value) '())))
        (else (cons (car value) (%with-part (cdr value) (- step 1) new)))))

;;;> Returns the steps of a JSON Pointer, a list of strings; the pointer `""` has none. Fails with
;;;> `json-error` if the text is no pointer. Source: RFC 6901, section 3.
(define (json-pointer->path pointer)
  (if (not (string? pointer)) (%wrong-type 'json-pointer->path "a string" pointer))
  (let ((end (string-length pointer)))
    (define (fail message) (%json-failure 'json-pointer->path message pointer))
    (if (and (> end 0) (not (char=? (string-ref pointer 0) #\/)))
        (fail "a pointer is empty or begins with a slash"))
    (let loop ((i 0) (token '()) (path '()))
      (define (path-so-far)
        (if (= i 0) path (cons (list->string (reverse token)) path)))
      (if (= i end)
          (reverse (path-so-far))
          (let ((char (string-ref pointer i)))
            (cond ((char=? char #\/) (loop (+ i 1) '() (path-so-far)))
                  ((not (char=? char #\~)) (loop (+ i 1) (cons char token) path))
                  (else
                   (case (and (< (+ i 1) end) (string-ref pointer (+ i 1)))
                     ((#\0) (loop (+ i 2) (cons #\~ token) path))
                     ((#\1) (loop (+ i 2) (cons #\/ token) path))
                     (else (fail "a tilde in a pointer is followed by 0 or 1"))))))))))

;;;> Returns the JSON Pointer of a path, a list of strings, symbols and positions. Source: RFC 6901.
(define (path->json-pointer path)
  (if (not (list? path)) (%wrong-type 'path->json-pointer "a list of names and indices" path))
  (let ((out (open-output-string)))
    (for-each
      (lambda (step)
        (write-char #\/ out)
        (string-for-each
          (lambda (char)
            (case char
              ((#\~) (write-string "~0" out))
              ((#\/) (write-string "~1" out))
              (else (write-char char out))))
          (cond ((%key-text step))
                ((%is-position? step) (number->string step))
                (else (%wrong-type 'path->json-pointer "a list of strings, symbols and positions"
                        path)))))
      path)
    (get-output-string out)))

;;;> Returns the part of a value to which a JSON Pointer leads: `(json-pointer-ref value pointer
;;;> [default])`. Without a default it fails with `json-error` if there is no such part, as behind
;;;> `-`, which names the place after the last element. Source: RFC 6901, section 4.
(define (json-pointer-ref value pointer . default)
  (if (not (string? pointer)) (%wrong-type 'json-pointer-ref "a string" pointer))
  (let loop ((value value) (path (json-pointer->path pointer)) (done '()))
    (if (null? path)
        value
        (let* ((step (if (dictionary? value) (car path) (or (%position (car path)) (car path))))
               (part (%part value step)))
          (cond ((not (eq? part %absent)) (loop part (cdr path) (cons (car path) done)))
                ((pair? default) (car default))
                (else (%missing 'json-pointer-ref value step done)))))))

;;; Returns the position that a step of a pointer names, or `#f`: digits without a 0 in front.
(define (%position token)
  (let ((end (string-length token)))
    (and (> end 0)
         (or (= end 1) (not (char=? (string-ref token 0) #\0)))
         (let loop ((i 0))
           (or (= i end) (and (%digit (string-ref token i)) (loop (+ i 1)))))
         (string->number token))))

;;; Returns a value that is `equal?` to that of every equal JSON value.
(define (%canonical value)
  (cond ((string? value) value)
        ((symbol? value) (if (eq? value 'null) value (symbol->string value)))
        ((number? value) (if (real? value) (%exact-value value) value))
        ((dictionary? value)
         (cons 'object
           (list-sort (lambda (one other) (string<? (car one) (car other)))
             (map (lambda (entry) (cons (or (%key-text (car entry)) "") (%canonical (cdr entry))))
                  (dictionary->alist value)))))
        ((vector? value) (cons 'array (map %canonical (vector->list value))))
        ((list? value) (cons 'array (map %canonical value)))
        ((keyword? value) (%key-text value))
        (else value)))

;;; Returns the exact value of a number's shortest decimal text, which is what was written in JSON.
(define (%exact-value n)
  (if (or (exact? n) (not (< -inf.0 n +inf.0)))
      n
      (string->number (string-append "#e" (number->string n)))))

;;;> Returns whether two values are the same in JSON: numbers by value, so 1 and 1.0 are the same;
;;;> strings and symbols by their text; arrays by their elements; objects by their members in any
;;;> order.
(define (json=? one other) (equal? (%canonical one) (%canonical other)))
