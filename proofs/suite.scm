;; The parts that the suites in Scheme share: faults of cases, attempts, differences.

(define (bad-case message . irritants) (apply error message irritants))

;;; Returns the value of `thunk`, or what `failed` makes of the object that it raises.
(define (attempt thunk failed)
  (let ((result
          (guard (object (#t (lambda () (failed object))))
            (let ((value (thunk))) (lambda () value)))))
    (result)))

;;; A difference of a trace from the expected one. The reason is the name that the decisions give
;;; it, a string, or #f if they do not name it.
(define-record-type <difference>
  (make-difference place expected got reason)
  difference?
  (place difference-place)
  (expected difference-expected)
  (got difference-got)
  (reason difference-reason))
