;;; USERDATA: a JSON object with a subject, fields, and perhaps a brief.
;;; Source: AEIOU v4, section 3.5; decisions, section 5.16.

(define (%bad-userdata message . irritants)
  (apply %fail 'ERR_USERDATA_SCHEMA (string-append "USERDATA " message) irritants))

;;;> Reads userdata, a JSON text or a value, and returns them as a dictionary. `subject` is a
;;;> string, `fields` an object, and `brief`, if there is one, a string or null; there may be other
;;;> keys. If a text repeats a key, its last value counts. Fails with the typed error
;;;> `ERR_USERDATA_SCHEMA`.
;;;> Source: AEIOU v4, section 3.5; decisions, section 5.16.
(define (check-userdata userdata)
  (let ((value
          (if (string? userdata)
              (guard (mistake ((json-error? mistake)
                               (%bad-userdata
                                 (string-append "is no JSON: " (condition-message mistake)))))
                (json->value userdata :repeated 'last))
              userdata)))
    (define (field key) (dictionary-ref value key #f))
    (if (not (dictionary? value)) (%bad-userdata "must be a JSON object"))
    (if (not (string? (field 'subject))) (%bad-userdata "needs a string `subject`"))
    (if (not (dictionary-contains? value 'fields)) (%bad-userdata "needs an object `fields`"))
    (if (not (dictionary? (field 'fields))) (%bad-userdata "has `fields` that are no object"))
    (if (not (or (string? (dictionary-ref value 'brief ""))
                 (eq? (dictionary-ref value 'brief "") 'null)))
        (%bad-userdata "has a `brief` that is no string"))
    value))
