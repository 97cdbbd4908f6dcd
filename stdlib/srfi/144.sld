;;; SRFI 144: flonums. Procedures that mean the same as the general ones are these, and as fast. A
;;; result that is not real is a NaN here.
(define-library (srfi 144)
  (export
    fl-e fl-1/e fl-e-2 fl-e-pi/4 fl-log2-e fl-log10-e fl-log-2 fl-1/log-2 fl-log-3 fl-log-pi
    fl-log-10 fl-1/log-10 fl-pi fl-1/pi fl-2pi fl-pi/2 fl-pi/4 fl-pi-squared fl-degree fl-2/pi
    fl-2/sqrt-pi fl-sqrt-2 fl-sqrt-3 fl-sqrt-5 fl-sqrt-10 fl-1/sqrt-2 fl-cbrt-2 fl-cbrt-3 fl-4thrt-2
    fl-phi fl-log-phi fl-1/log-phi fl-euler fl-e-euler fl-sin-1 fl-cos-1 fl-gamma-1/2 fl-gamma-1/3
    fl-gamma-2/3 fl-greatest fl-least fl-epsilon fl-fast-fl+* fl-integer-exponent-zero
    fl-integer-exponent-nan flonum fladjacent flcopysign make-flonum
    flinteger-fraction flexponent flinteger-exponent flnormalized-fraction-exponent flsign-bit
    flonum? (rename = fl=?) (rename < fl<?) (rename > fl>?) (rename <= fl<=?) (rename >= fl>=?)
    flunordered? flmax flmin (rename integer? flinteger?) (rename zero? flzero?)
    (rename positive? flpositive?) (rename negative? flnegative?) (rename odd? flodd?)
    (rename even? fleven?) (rename finite? flfinite?) (rename infinite? flinfinite?)
    (rename nan? flnan?)
    flnormalized? fldenormalized?
    fl+ fl* fl+* (rename - fl-) (rename / fl/) (rename abs flabs) flabsdiff flposdiff flsgn
    flnumerator fldenominator (rename floor flfloor) (rename ceiling flceiling)
    (rename round flround) (rename truncate fltruncate) (rename exp flexp) flexp2 flexp-1
    (rename square flsquare) flsqrt flcbrt flhypot flexpt fllog fllog1+ fllog2 fllog10
    make-fllog-base (rename sin flsin) (rename cos flcos) (rename tan fltan) flasin flacos
    (rename atan flatan) flsinh flcosh fltanh flasinh flacosh flatanh
    flquotient flremainder flremquo flgamma flloggamma flfirst-bessel flsecond-bessel flerf flerfc)
  (on-demand)
  (import
    (scheme base) (scheme case-lambda) (scheme inexact)
    (only (duet kernel)
      fladjacent flcopysign make-flonum flnormalized-fraction-exponent flsign-bit fl+* flexp2
      flexp-1 flsqrt flcbrt flhypot flexpt
      fllog fllog1+ fllog2 fllog10 flasin flacos flsinh flcosh fltanh flasinh flacosh flatanh
      flremainder flremquo flgamma flloggamma flfirst-bessel flsecond-bessel flerf flerfc))
  (include "144/constants.scm" "144/procedures.scm"))
