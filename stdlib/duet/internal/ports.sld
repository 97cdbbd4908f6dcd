;;; Ports: the current ones, reading that waits for data, writing that passes data on, files.
(define-library (duet internal ports)
  (export
    current-input-port current-output-port current-error-port
    read-char peek-char read-line read-string char-ready? read-u8 peek-u8 u8-ready? read-bytevector
    read-bytevector! read
    write display write-shared write-simple newline write-char write-string write-u8
    write-bytevector flush-output-port close-port close-output-port call-with-port
    with-output-to-string with-input-from-string open-input-file open-binary-input-file
    open-output-file open-binary-output-file call-with-input-file call-with-output-file
    with-input-from-file with-output-to-file file-exists? delete-file %save-files %at-end!
    %end-program %fail)
  (on-demand)
  (import (rename (duet kernel) (close-port %close-port) (close-output-port %close-output-port))
          (only (duet internal control)
            %wrong-type make-parameter parameterize raise with-exception-handler
            condition? condition-kind condition-message)
          (only (duet internal sequences) map for-each))
  (include "ports.scm" "files.scm"))
