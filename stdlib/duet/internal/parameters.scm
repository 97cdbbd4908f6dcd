;;; A parameter is a procedure that answers its key when asked with this object.
(define %key-request (list 'key))

(define-record-type parameter-key
  (%make-key converter)
  %key?
  (converter %key-converter))

;;;> Makes a parameter whose value is `value`, passed through the converter if there is one. Called with an argument,
;;;> the parameter takes that as its value, converted too, where it is bound: in the innermost `parameterize`, if there is one.
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

;;; All values are converted before the first is in force.
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
