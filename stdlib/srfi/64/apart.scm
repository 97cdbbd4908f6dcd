;;; Where two values differ, for reports.

;;; The depth to which the search goes, in levels: values may contain themselves.
(define %levels-max 1000)

;;; The length from which strings are compared word by word, in characters.
(define %text-length 12)

;;; Returns the way to the first parts in which two values differ, and these: a list of the steps,
;;; each a text, and of both parts. A part is a text as `write` shows it, or #f if it is missing; two
;;; strings of which one is long are `#[text string]`, so that their words can be compared.
(define (%apart expected actual)
  (let loop ((expected expected) (actual actual) (steps '()))
    (let ((found (and (< (length steps) %levels-max) (%first-apart expected actual))))
      (cond
        ((not found) (%parts steps (list expected) (list actual)))
        ((and (cadr found) (caddr found))
         (loop (car (cadr found)) (car (caddr found)) (cons (car found) steps)))
        (else (%parts (cons (car found) steps) (cadr found) (caddr found)))))))

(define (%parts steps expected actual)
  (define (is-long? part) (>= (string-length (car part)) %text-length))
  (let ((text-of (if (and expected actual (string? (car expected)) (string? (car actual))
                          (or (is-long? expected) (is-long? actual)))
                     (lambda (part) (record 'text part))
                     %written)))
    (define (part there) (and there (text-of (car there))))
    (list (reverse steps) (part expected) (part actual))))

;;; Returns the first step on the way to where two compound values differ, and the parts there, each
;;; in a list, or #f for one that is missing; or #f if the values have no parts in common.
(define (%first-apart expected actual)
  (cond
    ((and (%list-like? expected) (%list-like? actual)) (%lists-apart expected actual))
    ((and (vector? expected) (vector? actual))
     (%lists-apart (vector->list expected) (vector->list actual)))
    ((and (record? expected) (record? actual)
          (equal? (record-label expected) (record-label actual)))
     (%lists-apart (record-fields expected) (record-fields actual)))
    ((and (dictionary? expected) (dictionary? actual)) (%entries-apart expected actual))
    ((and (set? expected) (set? actual)) (%sets-apart expected actual))
    (else #f)))

(define (%list-like? value) (or (pair? value) (null? value)))

(define (%lists-apart expected actual)
  (let loop ((expected expected) (actual actual) (position 0))
    (define (step text) (string-append text (number->string position)))
    (cond
      ((and (pair? expected) (pair? actual))
       (if (equal? (car expected) (car actual))
           (loop (cdr expected) (cdr actual) (+ position 1))
           (list (step "element ") (list (car expected)) (list (car actual)))))
      ((and (null? expected) (pair? actual)) (list (step "element ") #f (list (car actual))))
      ((and (pair? expected) (null? actual)) (list (step "element ") (list (car expected)) #f))
      ((equal? expected actual) #f)
      (else
       (list
         (string-append "the tail after element " (number->string (- position 1)))
         (list expected)
         (list actual))))))

(define (%entries-apart expected actual)
  (define (entry dictionary key)
    (and (dictionary-contains? dictionary key) (list (dictionary-ref dictionary key))))
  (let loop ((keys (append (dictionary-keys expected) (dictionary-keys actual))))
    (cond
      ((null? keys) #f)
      ((equal? (entry expected (car keys)) (entry actual (car keys))) (loop (cdr keys)))
      (else
       (list (string-append "entry " (%written (car keys)))
             (entry expected (car keys))
             (entry actual (car keys)))))))

(define (%sets-apart expected actual)
  (define (only-in one other)
    (let loop ((elements (set->list one)))
      (cond ((null? elements) #f)
            ((set-contains? other (car elements)) (loop (cdr elements)))
            (else (list (car elements))))))
  (let ((missing (only-in expected actual)) (surplus (only-in actual expected)))
    (cond (missing (list "the elements" missing #f))
          (surplus (list "the elements" #f surplus))
          (else #f))))
