;;; SRFI 1: lists.
(define-library (srfi 1)
  (export
    ;; Making and taking apart.
    cons list xcons cons* make-list list-tabulate list-copy circular-list iota
    pair? null? proper-list? circular-list? dotted-list? not-pair? null-list? list=
    car cdr caar cadr cdar cddr caaar caadr cadar caddr cdaar cdadr cddar cdddr
    caaaar caaadr caadar caaddr cadaar cadadr caddar cadddr cdaaar cdaadr cdadar cdaddr cddaar
    cddadr cdddar cddddr list-ref first second third fourth fifth sixth seventh eighth ninth tenth
    car+cdr take drop take-right drop-right (rename take take!) (rename drop-right drop-right!)
    split-at (rename split-at split-at!)
    last last-pair length length+ append concatenate reverse append-reverse
    (rename append append!) (rename concatenate concatenate!) (rename reverse reverse!)
    (rename append-reverse append-reverse!)
    zip unzip1 unzip2 unzip3 unzip4 unzip5 count set-car! set-cdr!
    ;; Combining.
    map for-each fold unfold pair-fold reduce fold-right unfold-right pair-fold-right reduce-right
    append-map (rename append-map append-map!) (rename map map!) (rename map map-in-order)
    pair-for-each filter-map
    ;; Choosing and searching.
    filter partition remove (rename filter filter!) (rename partition partition!)
    (rename remove remove!) member memq memv find find-tail any every list-index
    take-while drop-while span break (rename take-while take-while!) (rename span span!)
    (rename break break!) delete delete-duplicates (rename delete delete!)
    (rename delete-duplicates delete-duplicates!)
    ;; Association lists.
    assoc assq assv alist-cons alist-copy alist-delete (rename alist-delete alist-delete!)
    ;; Lists as sets.
    lset<= lset= lset-adjoin lset-union lset-intersection lset-difference lset-xor
    lset-diff+intersection (rename lset-union lset-union!)
    (rename lset-intersection lset-intersection!) (rename lset-difference lset-difference!)
    (rename lset-xor lset-xor!) (rename lset-diff+intersection lset-diff+intersection!))
  (on-demand)
  (import (scheme base) (scheme case-lambda) (scheme cxr) (duet internal lists)
          (only (duet kernel) cons*) (only (duet internal control) %wrong-type)
          (only (duet internal sequences) %cars %cdrs %check-rest %check-rests)
          (only (duet internal ranges) %check-natural))
  (include "1/lists.scm" "1/sets.scm"))
