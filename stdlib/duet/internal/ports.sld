;;; Ports: the current ones, reading that waits for data, writing that hands data on.
(define-library (duet internal ports)
  (export
    current-input-port current-output-port current-error-port
    read-char peek-char read-line read-string char-ready? read-u8 peek-u8 u8-ready? read-bytevector read-bytevector! read
    write display write-shared write-simple newline write-char write-string write-u8 write-bytevector flush-output-port
    call-with-port with-output-to-string with-input-from-string
    %flush-console)
  (import (duet kernel) (only (duet internal control) make-parameter parameterize))
  (include "ports.scm"))
