(define %help
  "(format [port] template object ...)
port: #f or none for a string, #t for the current output port
~a  the next object, as by display
~s  the next object, as by write
~w  the next object, as by write-shared
~d  a number
~x  a number, in radix 16
~o  a number, in radix 8
~b  a number, in radix 2
~[w[,d]]f  a number or a string, at least w wide; a number with d decimals
~c  a character
~y  an object and a newline
~?  a template and the list of its objects
~k  the same
~t  a tab
~_  a space
~%  a newline
~&  a newline, unless this call has just written one
~~  a tilde
~h  this text
")

;;; Returns a number that ends before the first character that is not a digit, or #f, and the index
;;; of that character.
(define (%natural template index)
  (let loop ((end index))
    (if (and (< end (string-length template)) (char<=? #\0 (string-ref template end) #\9))
        (loop (+ end 1))
        (values (string->number (substring template index end)) end))))

;;; Writes a template; returns the remaining objects.
(define (%format template objects out)
  (define (bad message . irritants)
    (apply error (string-append "format: " message) template irritants))
  (define (next objects) (if (pair? objects) (car objects) (bad "too few objects")))
  (define (numeral objects radix)
    (let ((number (next objects)))
      (if (number? number)
          (number->string number radix)
          (bad "the directive shows a number" number))))
  (define (fixed index objects use)
    (call-with-values
      (lambda () (%natural template index))
      (lambda (width end)
        (if (and (< end (string-length template)) (char=? (string-ref template end) #\,))
            (call-with-values
              (lambda () (%natural template (+ end 1)))
              (lambda (digits end) (use (or width 0) digits end)))
            (use (or width 0) #f end)))))
  (define (directive index objects loop)
    (define (show show objects)
      (show (next objects))
      (loop (+ index 1) (cdr objects)))
    (define (put text)
      (out text)
      (loop (+ index 1) objects))
    (if (= index (string-length template)) (bad "the template ends with a tilde"))
    (case (char-downcase (string-ref template index))
      ((#\a) (show (lambda (object) (out (%text display object))) objects))
      ((#\s) (show (lambda (object) (out (%text write object))) objects))
      ((#\w) (show (lambda (object) (out (%text write-shared object))) objects))
      ((#\d) (show (lambda (object) (out (%text display (numeral objects 10)))) objects))
      ((#\x) (show (lambda (object) (out (%text display (numeral objects 16)))) objects))
      ((#\o) (show (lambda (object) (out (%text display (numeral objects 8)))) objects))
      ((#\b) (show (lambda (object) (out (%text display (numeral objects 2)))) objects))
      ((#\c)
       (show (lambda (object)
               (if (char? object) (out (string object)) (bad "~c shows a character" object)))
             objects))
      ((#\y) (show (lambda (object) (out (string-append (%text write object) "\n"))) objects))
      ((#\? #\k)
       (let ((inner (next objects)))
         (if (or (null? (cdr objects)) (not (string? inner)) (not (list? (cadr objects))))
             (bad "~? takes a template and a list"))
         (if (pair? (%format inner (cadr objects) out))
             (bad "too many objects for ~?" inner (cadr objects)))
         (loop (+ index 1) (cddr objects))))
      ((#\t) (put "\t"))
      ((#\_) (put " "))
      ((#\%) (put "\n"))
      ((#\&) (put ""))
      ((#\~) (put "~"))
      ((#\h) (put %help))
      ((#\0 #\1 #\2 #\3 #\4 #\5 #\6 #\7 #\8 #\9 #\, #\f)
       (fixed index objects
         (lambda (width digits end)
           (if (not (and (< end (string-length template))
                         (char=? (char-downcase (string-ref template end)) #\f)))
               (bad "a width belongs to ~F"))
           (out (%shown-number (next objects) width digits))
           (loop (+ end 1) (cdr objects)))))
      (else (bad "there is no such directive" (string-ref template index)))))
  (let loop ((index 0) (objects objects))
    (cond ((= index (string-length template)) objects)
          ((not (char=? (string-ref template index) #\~))
           (out (string (string-ref template index)))
           (loop (+ index 1) objects))
          ((and (< (+ index 1) (string-length template))
                (char=? (string-ref template (+ index 1)) #\&))
           (if (not (out 'is-fresh?)) (out "\n"))
           (loop (+ index 2) objects))
          (else (directive (+ index 1) objects loop)))))

(define (%text show object)
  (let ((port (open-output-string)))
    (show object port)
    (get-output-string port)))

;;; Makes a procedure that writes texts to a port and knows whether it has just ended a line.
(define (%shower port)
  (let ((fresh? #f))
    (lambda (text)
      (cond ((eq? text 'is-fresh?) fresh?)
            ((string=? text "") #f)
            (else
             (set! fresh? (char=? (string-ref text (- (string-length text) 1)) #\newline))
             (write-string text port))))))

;;;> Writes a template with objects to a port, the current one for `#t`; for `#f`, or without a
;;;> port, returns a string. `(format "~h")` lists the directives. Fails if there are too few
;;;> objects or too many, or the template has another directive.
(define (format first . rest)
  (cond ((string? first) (apply format #f first rest))
        ((not (or (boolean? first) (output-port? first)))
         (error "format: expected a template, a boolean or an output port" first))
        ((or (null? rest) (not (string? (car rest)))) (error "format: a template is missing" first))
        (first
         (let* ((template (car rest))
                (left (%format template
                               (cdr rest)
                               (%shower (if (eq? first #t) (current-output-port) first)))))
           (if (pair? left) (error "format: too many objects" template left))))
        (else
         (let ((port (open-output-string)))
           (apply format port rest)
           (get-output-string port)))))
