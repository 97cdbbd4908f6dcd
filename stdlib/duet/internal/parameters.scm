;;; A parameter is a procedure that returns its key when it is called with this object.
(define %key-request (list 'key))

(define-record-type parameter-key
  (%make-key converter)
  %key?
  (converter %key-converter))

;;;> Makes a parameter with the value `value`, converted if there is a converter. Calling the
;;;> parameter with an argument sets its value, also converted, in the innermost `parameterize` of
;;;> it, or else globally.
(define (make-parameter value . converters)
  (let* ((converter (if (pair? converters) (car converters) #f))
         (default (if converter (converter value) value))
         (key (%make-key converter)))
    (define (change! value)
      (let ((value (if converter (converter value) value))
            (frame (assq key (%dynamic))))
        (if frame (set-cdr! frame value) (set! default value))))
    (case-lambda
      (()
       (let ((frames (%dynamic)))
         (if (null? frames)
             default
             (let ((frame (assq key frames)))
               (if frame (cdr frame) default)))))
      ((request)
       (if (eq? request %key-request) key (change! request))))))

(define (%parameter-key parameter)
  (let ((key (if (procedure? parameter) (parameter %key-request) #f)))
    (if (%key? key) key (%wrong-type 'parameterize "a parameter" parameter))))

(define (%parameter-frame parameter value)
  (let* ((key (%parameter-key parameter))
         (converter (%key-converter key)))
    (cons key (if converter (converter value) value))))

;;; All values are converted before the first binding takes effect.
(define (%with-frames frames thunk)
  (if (null? frames)
      (thunk)
      (%with-frame (car frames) (lambda () (%with-frames (cdr frames) thunk)))))

;;;> Evaluates the body while parameters have other values.
(define-syntax parameterize
  (syntax-rules ()
    ((_ () body ...) (let () body ...))
    ((_ ((parameter value)) body ...)
     (%with-frame (%parameter-frame parameter value) (lambda () body ...)))
    ((_ ((parameter value) ...) body ...)
     (%with-frames (list (%parameter-frame parameter value) ...) (lambda () body ...)))))
