;;; Files. A port on a file is one in memory: reading takes the whole file when it is opened, writing puts the whole file in
;;; place when the port is flushed or closed, or the program ends. Each of these is a call of a tool, which the journal records.

;;; The files that are open for writing, the newest first: lists of port, path, and how much of it was saved, in characters or bytes.
(define %open-files '())

;;; What may be wrong with a file, among the kinds of failure of the tools.
(define %file-faults '(not-found denied outside-root bad-argument output-limit timeout no-such-tool failed))

;;; Calls `thunk`; a failure that is about the file becomes a `file-error` that names the path.
(define (%with-file path thunk)
  (with-exception-handler
    (lambda (fault)
      (raise
        (if (and (condition? fault) (memq (condition-kind fault) %file-faults))
            (%make-condition 'file-error (condition-message fault)
                             (list path (condition-kind fault)))
            fault)))
    thunk))

;;; The pieces of a file, in order.
(define (%file-pieces path)
  (%with-file path
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
                (%file-pieces path)))))

;;;> Opens a file of bytes for reading.
(define (open-binary-input-file path)
  (open-input-bytevector
    (apply bytevector-append
           (map (lambda (piece) (if (string? piece) (string->utf8 piece) piece))
                (%file-pieces path)))))

;;; Makes the file, or empties it, and remembers what its port is for.
(define (%open-file path empty port)
  (%with-file path (lambda () (%file-write path empty)))
  (set! %open-files (cons (list port path 0) %open-files))
  port)

;;;> Opens a file of text for writing; what was in it is gone.
(define (open-output-file path)
  (%open-file path "" (open-output-string)))

;;;> Opens a file of bytes for writing; what was in it is gone.
(define (open-binary-output-file path)
  (%open-file path #u8() (open-output-bytevector)))

;;; Puts all that was written to a file in it, unless that was done.
(define (%save file)
  (let* ((port (car file))
         (is-text? (textual-port? port))
         (content (if is-text? (get-output-string port) (get-output-bytevector port)))
         (length (if is-text? (string-length content) (bytevector-length content)))
         (path (cadr file)))
    (if (> length (caddr file))
        (begin
          (%with-file path (lambda () (%file-write path content)))
          (list-set! file 2 length)))))

;;; A port was closed: if it is on a file, all that was written goes there.
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

;;;> Whether there is a file, or something else, at the path.
(define (file-exists? path)
  (%with-file path (lambda () (%file-exists? path))))

;;;> Deletes a file.
(define (delete-file path)
  (%with-file path (lambda () (%file-delete path)))
  (if #f #f))
