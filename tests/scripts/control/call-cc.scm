;; Escaping leaves the rest of the expression undone.
(+ 1 (call/cc (lambda (k) (* 1000 (k 41)))))   ; => 42

;; Re-entry runs the rest again; an assignment is never rolled back.
(let ((again #f) (count 0))
  (call/cc (lambda (k) (set! again k)))
  (set! count (+ count 1))
  (if (< count 3) (again 'ignored) count))     ; => 3

;; `dynamic-wind` runs its outer thunks on the way out and on the way back.
(let ((trace '()) (again #f))
  (define (note x) (set! trace (cons x trace)))
  (dynamic-wind
    (lambda () (note 'in))
    (lambda () (call/cc (lambda (k) (set! again k))) (note 'body))
    (lambda () (note 'out)))
  (when (< (length trace) 6) (again #f))
  (reverse trace))                             ; => (in body out in body out)

;; A wrong call names the procedure.
(guard (e (#t (error-object-message e))) (call/cc))  ; => "call/cc takes 1 argument, not 0"
