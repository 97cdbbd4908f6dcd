;;; Files. A port on a file is one in memory: opening it for reading reads the whole file, and
;;; flushing or closing it, or the end of the program, writes the whole file. Each of these is a
;;; call of a tool, which the journal records.

;;; The files that are open for writing, newest first: lists of port, path, and the saved length, in
;;; characters or bytes.
(define %open-files '())

;;; The kinds of tool failures that concern a file.
(define %file-faults
  '(not-found denied outside-root bad-argument output-limit timeout no-such-tool failed))

;;; Calls `thunk` for the procedure `name`; a failure that concerns the file becomes a `file-error`
;;; that names the path.
(define (%with-file name path thunk)
  (if (not (string? path)) (%wrong-type name "a path, which is a string" path))
  (with-exception-handler
    (lambda (fault)
      (raise
        (if (and (condition? fault) (memq (condition-kind fault) %file-faults))
            (%make-condition 'file-error (condition-message fault)
                             (list path (condition-kind fault)))
            fault)))
    thunk))

;;; Returns the pieces of a file that the procedure `name` reads, in order.
(define (%file-pieces name path)
  (%with-file name path
    (lambda ()
      (let loop ((offset 0) (pieces '()))
        (let* ((piece (%file-read path offset))
               (next (dictionary-ref piece 'next))
               (pieces (cons (dictionary-ref piece 'content) pieces)))
          (if next (loop next pieces) (reverse pieces)))))))

;;;> Opens a file of text, in UTF-8, for reading.
(define (open-input-file path)
  (open-input-string
    (apply string-append
           (map (lambda (piece)
                  (if (string? piece)
                      piece
                      (raise (%make-condition 'file-error
                                              "the file is not UTF-8 text; read it with open-binary-input-file"
                                              (list path)))))
                (%file-pieces 'open-input-file path)))))

;;;> Opens a file of bytes for reading.
(define (open-binary-input-file path)
  (open-input-bytevector
    (apply bytevector-append
           (map (lambda (piece) (if (string? piece) (string->utf8 piece) piece))
                (%file-pieces 'open-binary-input-file path)))))

;;; Creates or empties the file for the procedure `name`, and remembers the file of the port.
(define (%open-file name path empty port)
  (%with-file name path (lambda () (%file-write path empty)))
  (set! %open-files (cons (list port path 0) %open-files))
  port)

;;;> Opens a file of text for writing; its old content is lost.
(define (open-output-file path)
  (%open-file 'open-output-file path "" (open-output-string)))

;;;> Opens a file of bytes for writing; its old content is lost.
(define (open-binary-output-file path)
  (%open-file 'open-binary-output-file path #u8() (open-output-bytevector)))

;;; Writes the whole output to the file, unless that was done.
(define (%save file)
  (let* ((port (car file))
         (is-text? (textual-port? port))
         (content (if is-text? (get-output-string port) (get-output-bytevector port)))
         (length (if is-text? (string-length content) (bytevector-length content)))
         (path (cadr file)))
    (if (> length (caddr file))
        (begin
          (%with-file 'flush-output-port path (lambda () (%file-write path content)))
          (list-set! file 2 length)))))

;;; After a port was closed: if it is on a file, writes the whole output there.
(define (%finish port)
  (let ((file (assq port %open-files)))
    (if file
        (begin
          (set! %open-files
            (let loop ((files %open-files))
              (if (eq? (car files) file) (cdr files) (cons (car files) (loop (cdr files))))))
          (%save file)))))

(define (%save-files)
  (for-each %save (reverse %open-files)))

;;; The procedures to call at the end of the program, the newest first.
(define %last-acts '())

;;; Calls `thunk` when the program has evaluated its last form. `exit` does not call it.
(define (%at-end! thunk) (set! %last-acts (cons thunk %last-acts)))

;;; The runtime calls this when a program has evaluated its last form.
(define (%end-program)
  (%save-files)
  (for-each (lambda (act) (act)) (reverse %last-acts)))

;;;> Calls `procedure` with a port that reads from the file, and closes the port when it returns.
(define (call-with-input-file path procedure)
  (call-with-port (open-input-file path) procedure))

;;;> Calls `procedure` with a port that writes to the file, and closes the port when it returns.
(define (call-with-output-file path procedure)
  (call-with-port (open-output-file path) procedure))

;;;> Calls `thunk` while the current input port reads from the file.
(define (with-input-from-file path thunk)
  (call-with-port (open-input-file path)
    (lambda (port) (parameterize ((current-input-port port)) (thunk)))))

;;;> Calls `thunk` while the current output port writes to the file.
(define (with-output-to-file path thunk)
  (call-with-port (open-output-file path)
    (lambda (port) (parameterize ((current-output-port port)) (thunk)))))

;;;> Returns whether a file, or any other entry, exists at the path.
(define (file-exists? path)
  (%with-file 'file-exists? path (lambda () (%file-exists? path))))

;;;> Deletes a file.
(define (delete-file path)
  (%with-file 'delete-file path (lambda () (%file-delete path)))
  (if #f #f))
