;; The answers of a primitive to wrong arguments: (probe name procedures least most) returns the
;; kinds of condition and the complaints.
(import (scheme base) (duet base) (only (duet kernel) condition-origin))

;; Of each kind of object that a primitive may ask for, one or two.
(define right-ones
  (list 1 0 -1 1.5 "abc" "" #\a 'a '(1 2) '(#\a) '((a . 1)) '() (vector 1 2) (bytevector 1 2)
        (open-input-string "x y") (open-output-string) (open-input-bytevector (bytevector 1))
        (open-output-bytevector) (dictionary 'a 1) (set 1) (symbol->keyword 'a)
        (record 'p 1) (guard (e (#t e)) (car 1)) (make-parameter 1) #t (delay 1)))

(define (condition-of procedure arguments)
  (guard (e ((condition? e) e)) (apply procedure arguments) #f))

;; The number behind the word `argument` in a message, or #f.
(define (position-in message)
  (let ((words (string-split message #\space)))
    (and (> (length words) 1) (string=? (car words) "argument") (string->number (cadr words)))))

;; The name that people know: that of a library's own primitive without its sign.
(define (public name)
  (let ((text (symbol->string name)))
    (if (string-prefix? "%" text) (substring text 1 (string-length text)) text)))

(define (complaint name arguments condition)
  (let* ((message (condition-message condition))
         (position (position-in message)))
    (cond ((memq (condition-kind condition) '(wrong-type out-of-range immutable))
           (cond ((not (string-contains message (public name))) "the name is missing")
                 ((not position) "the position is missing")
                 ((> position (length arguments)) "there is no such argument")
                 ((not (equal? (condition-irritants condition)
                               (list (list-ref arguments (- position 1)))))
                  "the value is missing")
                 (else #f)))
          ((eq? (condition-origin condition) name) #f)
          (else "the origin is missing"))))

(define (replaced list index value)
  (if (= index 0)
      (cons value (cdr list))
      (cons (car list) (replaced (cdr list) (- index 1) value))))

;; Begins with objects that hardly any procedure takes, and replaces each that is refused, until
;; nothing is refused.
(define (probe-count name procedure count see)
  (let again ((arguments (make-list count (eof-object))) (steps 0))
    (let* ((condition (condition-of procedure arguments))
           (position (and condition (position-in (condition-message condition)))))
      (if condition (see condition arguments))
      (if (and position (<= position count) (< steps 12))
          (let try ((candidates right-ones))
            (if (pair? candidates)
                (let* ((next (replaced arguments (- position 1) (car candidates)))
                       (condition (condition-of procedure next)))
                  (if condition (see condition next))
                  (if (and condition (eqv? (position-in (condition-message condition)) position))
                      (try (cdr candidates))
                      (again next (+ steps 1))))))))))

(define (probe name procedures least most)
  (let ((kinds '()) (complaints '()))
    (define (see condition arguments)
      (let ((found (complaint name arguments condition)))
        (if (not (memq (condition-kind condition) kinds))
            (set! kinds (cons (condition-kind condition) kinds)))
        (if (and found (not (member found complaints)))
            (set! complaints (cons found (cons (condition-message condition) complaints))))))
    (define (refuses? count)
      (for-each
        (lambda (procedure)
          (let ((condition (condition-of procedure (make-list count 1))))
            (if (not (and condition (eq? (condition-kind condition) 'wrong-arity)
                          (string-contains (condition-message condition) (public name))))
                (set! complaints
                  (cons "a wrong number of arguments is not refused by name" complaints)))))
        (list (car procedures))))
    (if (> least 0) (refuses? (- least 1)))
    (if most (refuses? (+ most 1)))
    (for-each
      (lambda (procedure)
        (do ((count least (+ count 1))) ((> count (min (or most (+ least 2)) (+ least 4))))
          (probe-count name procedure count see)))
      procedures)
    (list kinds complaints)))
