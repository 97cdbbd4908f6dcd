;;; SRFI 38: external representation of data with shared structure.
(define-library (srfi 38)
  (export write-with-shared-structure (rename write-with-shared-structure write/ss)
          read-with-shared-structure (rename read-with-shared-structure read/ss))
  (on-demand)
  (import (scheme base) (scheme read) (scheme write))
  (begin
    ;;;> Writes an object with labels for all shared parts; ignores a third argument.
    (define (write-with-shared-structure object . options)
      (if (and (pair? options) (car options))
          (write-shared object (car options))
          (write-shared object)))
    ;;;> Reads a datum, including labels.
    (define (read-with-shared-structure . port) (apply read port))))
