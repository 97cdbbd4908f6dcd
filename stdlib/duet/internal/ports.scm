;;;> Returns the default port of reading procedures, a parameter.
(define current-input-port (make-parameter (%console-port 0)))

;;;> Returns the default port of writing procedures, a parameter.
(define current-output-port (make-parameter (%console-port 1)))

;;;> Returns the port for error messages, a parameter.
(define current-error-port (make-parameter (%console-port 2)))

;;; The number of bytes requested from the console at once.
(define %console-read-bytes 65536)

;;; A reading primitive returns #f while the port's buffer lacks data. Only a console port can lack
;;; data; the runtime's %console-read, or the port's receiver, suspends the fiber until there are
;;; bytes, and returns none at the end of the input.
(define (%reading read port)
  (or (read port)
      (let ((stream (%port-stream port)))
        (%port-supply! port (if (procedure? stream) (stream) (%console-read %console-read-bytes)))
        (%reading read port))))

;;; Passes the buffered output of a console port to the runtime, which also takes it whenever the
;;; program stops running, and that of a port with a receiver to the receiver.
(define (%emit port)
  (let ((bytes (%port-take-pending! port #t))
        (stream (%port-stream port)))
    (if bytes
        (if (procedure? stream)
            (stream bytes)
            (%console-write stream bytes)))))

;;; The runtime calls this when an object is not caught and there is uncommitted output: commits it,
;;; then fails again.
(define (%fail object)
  (%console-write 1 (bytevector))
  (%uncaught object))

(define-syntax define-reader
  (syntax-rules ()
    ((_ name primitive)
     (define name
       (case-lambda
         ((port) (or (primitive port) (%reading primitive port)))
         (()
          (let ((port (current-input-port))) (or (primitive port) (%reading primitive port)))))))))

;;;> Reads one character, or the end-of-file object.
(define-reader read-char %read-char)

;;;> Returns the next character, or the end-of-file object, without reading it.
(define-reader peek-char %peek-char)

;;;> Reads the rest of a line without its end, or the end-of-file object.
(define-reader read-line %read-line)

;;;> Reads one byte, or the end-of-file object.
(define-reader read-u8 %read-u8)

;;;> Returns the next byte, or the end-of-file object, without reading it.
(define-reader peek-u8 %peek-u8)

;;;> Reads one datum, or the end-of-file object.
(define read
  (case-lambda
    (() (read (current-input-port)))
    ((port) (cdr (%reading %read-boxed port)))))

;;; Reads a datum into a pair, because it may be #f.
(define (%read-boxed port)
  (let ((datum (%read port)))
    (if (default-object? datum) #f (cons 'datum datum))))

;;;> Returns whether a character can be read without waiting.
(define char-ready?
  (case-lambda
    (() (%char-ready? (current-input-port)))
    ((port) (%char-ready? port))))

;;;> Returns whether a byte can be read without waiting.
(define u8-ready?
  (case-lambda
    (() (%u8-ready? (current-input-port)))
    ((port) (%u8-ready? port))))

;;;> Reads up to `count` characters, fewer only at the end of the input.
(define read-string
  (case-lambda
    ((count) (read-string count (current-input-port)))
    ((count port) (%reading (lambda (port) (%read-string count port)) port))))

;;;> Reads up to `count` bytes, fewer only at the end of the input.
(define read-bytevector
  (case-lambda
    ((count) (read-bytevector count (current-input-port)))
    ((count port) (%reading (lambda (port) (%read-bytevector count port)) port))))

;;;> Reads bytes into a bytevector; returns their number, or the end-of-file object.
(define read-bytevector!
  (case-lambda
    ((target) (read-bytevector! target (current-input-port)))
    ((target port) (read-bytevector! target port 0))
    ((target port start)
     (if (not (bytevector? target)) (%wrong-type 'read-bytevector! "a bytevector" target))
     (read-bytevector! target port start (bytevector-length target)))
    ((target port start end)
     (let ((bytes (read-bytevector (- end start) port)))
       (if (eof-object? bytes)
           bytes
           (begin
             (bytevector-copy! target start bytes)
             (bytevector-length bytes)))))))

(define-syntax define-writer
  (syntax-rules ()
    ((_ name primitive)
     (define name
       (case-lambda
         ((object port) (if (primitive object port) (%emit port)))
         ((object)
          (let ((port (current-output-port))) (if (primitive object port) (%emit port)))))))))

;;;> Writes an object so that it can be read back; labels mark parts that contain themselves.
(define-writer write %write)

;;;> Writes an object for people to read: strings and characters as they are.
(define-writer display %display)

;;;> Writes an object with labels for all parts that occur twice.
(define-writer write-shared %write-shared)

;;;> Writes an object without labels; exhausts the memory limit for circular data.
(define-writer write-simple %write-simple)

;;;> Writes a character.
(define-writer write-char %write-char)

;;;> Writes a byte.
(define-writer write-u8 %write-u8)

;;;> Ends a line.
(define newline
  (case-lambda
    (() (newline (current-output-port)))
    ((port) (if (%newline port) (%emit port)))))

;;;> Writes a string or a part of it.
(define write-string
  (case-lambda
    ((string port) (if (%write-string string port) (%emit port)))
    ((string) (write-string string (current-output-port)))
    ((string port start) (if (%write-string string port start) (%emit port)))
    ((string port start end) (if (%write-string string port start end) (%emit port)))))

;;;> Writes a bytevector or a part of it.
(define write-bytevector
  (case-lambda
    ((bytes) (write-bytevector bytes (current-output-port)))
    ((bytes port . range) (if (apply %write-bytevector bytes port range) (%emit port)))))

;;;> Passes on the buffered output of the port; a file then has all of it.
(define flush-output-port
  (case-lambda
    (() (flush-output-port (current-output-port)))
    ((port)
     (if (not (output-port? port)) (%wrong-type 'flush-output-port "an output port" port))
     (%emit port)
     (let ((file (assq port %open-files)))
       (if file (%save file))))))

;;;> Closes a port; a file then has all of its output.
(define (close-port port)
  (%close-port port)
  (%finish port))

;;;> Closes an output port; a file then has all of its output.
(define (close-output-port port)
  (%close-output-port port)
  (%finish port))

;;;> Calls `procedure` with the port, closes the port when it returns, and returns its values.
(define (call-with-port port procedure)
  (call-with-values
    (lambda () (procedure port))
    (lambda results
      (close-port port)
      (apply values results))))

;;;> Returns the string that `thunk` writes to the current output port.
(define (with-output-to-string thunk)
  (let ((port (open-output-string)))
    (parameterize ((current-output-port port)) (thunk))
    (get-output-string port)))

;;;> Calls `thunk` while the current input port reads from a string.
(define (with-input-from-string string thunk)
  (if (not (string? string)) (%wrong-type 'with-input-from-string "a string" string))
  (parameterize ((current-input-port (open-input-string string))) (thunk)))
