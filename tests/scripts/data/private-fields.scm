;; The printer leaves out the fields that a library keeps to itself, whose names begin with `%`.
(import (scheme base) (scheme write) (duet base))
(define (written object)
  (let ((port (open-output-string)))
    (write object port)
    (get-output-string port)))
(define-record-type <counter>
  (make-counter name %count %log)
  counter?
  (name counter-name)
  (%count counter-count set-counter-count!)
  (%log counter-log set-counter-log!))
(define counter (make-counter 'c 1 '()))
(written counter)                                            ; => "#<counter c>"
;; Fields that are left out need no label, even if they lead back.
(set-counter-log! counter (list counter))
(written counter)                                            ; => "#<counter c>"
(written (list counter counter))                             ; => "(#<counter c> #<counter c>)"
(counter-count counter)                                      ; => 1
;; Without such fields, all stand with their names.
(define-record-type <point> (make-point x y) point? (x point-x) (y point-y))
(written (make-point 1 2))                                   ; => "#<point x: 1 y: 2>"
(define-record-type <sealed> (seal %content) sealed? (%content sealed-content))
(written (seal '(1 2)))                                      ; => "#<sealed>"
