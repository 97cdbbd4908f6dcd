;;; A frame of the dynamic state with this key has the limits of a module: its name and the
;;; capabilities that it declares, each on a line. The host looks for such frames when a
;;; procedure is about to act.
(define %limits-key (list 'limits))

;;; Returns a procedure that does as `value` does, and acts within limits meanwhile. Anything
;;; else is returned as it is.
(define (%limited limits value)
  (if (procedure? value)
      (lambda arguments
        (%set-dynamic! (cons (cons %limits-key limits) (%dynamic)))
        (let ((result (apply value arguments)))
          (%set-dynamic! (cdr (%dynamic)))
          result))
      value))
