;;; Numbers with a fixed number of digits after the point.

(define (%repeat char count) (make-string (max 0 count) char))

(define (%padded text width) (string-append (%repeat #\space (- width (string-length text))) text))

;;; Rounds a non-negative exact number to `digits` decimals.
(define (%fixed number digits)
  (let* ((scaled (round (* number (expt 10 digits))))
         (text (number->string scaled))
         (text (string-append (%repeat #\0 (- (+ digits 1) (string-length text))) text))
         (point (- (string-length text) digits)))
    (string-append (substring text 0 point) "." (substring text point (string-length text)))))

(define (%index-of char text)
  (let loop ((index 0))
    (cond ((= index (string-length text)) #f)
          ((char=? (string-ref text index) char) index)
          (else (loop (+ index 1))))))

;;; Writes a real number; with `digits` decimals, in its inexact form. A number that is written with
;;; an exponent keeps it.
(define (%decimals given digits)
  (let* ((number (if digits (inexact given) given))
         (text (number->string number))
         (exponent (%index-of #\e text)))
    (cond ((not (and (rational? number) digits)) text)
          (exponent
           (string-append
             (%decimals (string->number (substring text 0 exponent)) digits)
             (substring text exponent (string-length text))))
          (else
           (let* ((negative? (or (negative? number) (eqv? number -0.0)))
                  ;; The shortest decimal text of a flonum reads back as the same number.
                  (magnitude (abs (string->number (string-append "#e" text)))))
             (string-append (if negative? "-" "") (%fixed magnitude digits)))))))

;;; Returns the text for `~w,dF`.
(define (%shown-number object width digits)
  (%padded
    (cond ((string? object) object)
          ((not (number? object)) (error "format: ~F shows a number or a string" object))
          ((real? object) (%decimals object digits))
          (else
           (let ((imaginary (%decimals (imag-part object) digits)))
             (string-append
               (%decimals (real-part object) digits)
               (if (memv (string-ref imaginary 0) '(#\- #\+)) "" "+")
               imaginary
               "i"))))
    width))
