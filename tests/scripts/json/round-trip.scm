;; Writing and reading is the identity on random values; texts cut or changed anywhere are read or
;; refused, and nothing else happens.
(import (duet base) (duet json))

(define state 20260728)
(define (draw below)
  (set! state (remainder (+ (* state 1103515245) 12345) 2147483648))
  (remainder (quotient state 64) below))

(define (random-character)
  (case (draw 6)
    ((0) (integer->char (draw 32)))
    ((1) (string-ref "\"\\/{}[]:,0" (draw 10)))
    ((2) (integer->char (+ #x80 (draw #x700))))
    ((3) (integer->char (+ #x1f300 (draw 500))))
    (else (integer->char (+ 32 (draw 95))))))
(define (random-text) (list->string (map (lambda (_) (random-character)) (iota (draw 12)))))

(define (random-number)
  (let ((sign (if (= 0 (draw 2)) 1 -1)))
    (case (draw 5)
      ((0) (* sign (draw 10)))
      ((1) (* sign (draw 1000000)))
      ((2) (* sign (+ (draw 1000) (expt 10 (draw 40)))))
      ((3) (* sign (/ (inexact (draw 1000000)) (expt 2. (draw 30)))))
      (else (* sign (draw 1000000) (expt 10. (- (draw 600) 300)))))))

(define (random-value depth)
  (case (draw (if (= depth 0) 6 9))
    ((0) (random-text))
    ((1 2) (random-number))
    ((3) #t)
    ((4) #f)
    ((5) 'null)
    ((6) (map (lambda (_) (random-value (- depth 1))) (iota (draw 5))))
    (else
     (let ((object (dictionary)))
       (for-each
         (lambda (_)
           ;; A symbol that begins with a colon would come back as a keyword.
           (dictionary-set! object
             (string->symbol (string-append "k" (random-text))) (random-value (- depth 1))))
         (iota (draw 5)))
       object))))

(define samples (map (lambda (_) (random-value 5)) (iota 2000)))
(define (bad test) (filter (lambda (value) (not (test value))) samples))

(bad (lambda (value) (equal? value (json->value (value->json value)))))                ; => ()
(bad (lambda (value) (equal? value (json->value (value->json value :indent 3)))))      ; => ()
(bad (lambda (value) (equal? value (read-json (open-input-string (value->json value))))))  ; => ()
(bad (lambda (value) (json=? value (json->value (value->json value) :decimals 'exact))))   ; => ()
(bad (lambda (value) (json-valid? (dictionary 'const value) value)))                   ; => ()
(> (apply + (map (lambda (value) (string-length (value->json value))) samples)) 50000) ; => #t
(> (length (filter (lambda (value) (and (pair? value) (any dictionary? value))) samples)) 30)
; => #t

;; A damaged text is JSON or has a mistake inside its bounds.
(define (damaged text)
  (let ((at (draw (+ 1 (string-length text)))))
    (case (draw 3)
      ((0) (substring text 0 at))
      ((1) (string-append (substring text 0 at) (string (random-character))
             (substring text at (string-length text))))
      (else (string-append (substring text 0 at)
              (substring text (min (string-length text) (+ at 1)) (string-length text)))))))
(define (lines text) (length (string-split text #\newline)))
(define (outcome text)
  (guard (failure ((and (json-error? failure) (<= 1 (json-error-line failure) (lines text))
                        (<= 1 (json-error-column failure) (+ 1 (string-length text))))
                   'refused))
    (json->value text)
    'read))
(define outcomes
  (append-map
    (lambda (value) (map (lambda (_) (outcome (damaged (value->json value)))) (iota 5))) samples))
(delete-duplicates (list-sort (lambda (a b) (string<? (symbol->string a) (symbol->string b)))
                     outcomes))
; => (read refused)
