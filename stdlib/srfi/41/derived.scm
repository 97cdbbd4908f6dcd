;;;> Returns the stream of the elements of a list.
(define-stream (list->stream list)
  (if (null? list) stream-null (stream-cons (car list) (list->stream (cdr list)))))

(define-stream (%port->stream port)
  (let ((char (read-char port)))
    (if (eof-object? char) stream-null (stream-cons char (%port->stream port)))))

;;;> Returns the stream of the characters of a port, by default of the current one.
(define port->stream
  (case-lambda
    (() (port->stream (current-input-port)))
    ((port) (%port->stream port))))

;;;> Returns a list of the elements of a stream, at most the first `count`.
(define stream->list
  (case-lambda
    ((stream) (stream->list -1 stream))
    ((count stream)
     (let loop ((left count) (stream stream) (elements '()))
       (if (or (= left 0) (stream-null? stream))
           (reverse elements)
           (loop (- left 1) (stream-cdr stream) (cons (stream-car stream) elements)))))))

;;;> Concatenates streams.
(define (stream-append . streams)
  (stream-let loop ((streams streams))
    (cond ((null? streams) stream-null)
          ((null? (cdr streams)) (car streams))
          ((stream-null? (car streams)) (loop (cdr streams)))
          (else
           (stream-cons (stream-car (car streams))
                        (loop (cons (stream-cdr (car streams)) (cdr streams))))))))

;;;> Concatenates the streams in a stream.
(define-stream (stream-concat streams)
  (cond ((stream-null? streams) stream-null)
        ((stream-null? (stream-car streams)) (stream-concat (stream-cdr streams)))
        (else
         (stream-cons (stream-car (stream-car streams))
                      (stream-concat (stream-cons (stream-cdr (stream-car streams)) (stream-cdr streams)))))))

;;;> Makes a stream that repeats the arguments infinitely.
(define (stream-constant . objects)
  (stream-let loop ((rest objects))
    (cond ((null? objects) stream-null)
          ((null? rest) (loop objects))
          (else (stream-cons (car rest) (loop (cdr rest)))))))

;;;> Returns the stream without its first `count` elements.
(define-stream (stream-drop count stream)
  (if (or (= count 0) (stream-null? stream))
      stream
      (stream-drop (- count 1) (stream-cdr stream))))

;;;> Returns the rest of a stream after the longest prefix whose elements satisfy a predicate.
(define-stream (stream-drop-while unwanted? stream)
  (if (and (stream-pair? stream) (unwanted? (stream-car stream)))
      (stream-drop-while unwanted? (stream-cdr stream))
      stream))

;;;> Returns the elements that satisfy a predicate.
(define-stream (stream-filter wanted? stream)
  (cond ((stream-null? stream) stream-null)
        ((wanted? (stream-car stream))
         (stream-cons (stream-car stream) (stream-filter wanted? (stream-cdr stream))))
        (else (stream-filter wanted? (stream-cdr stream)))))

;;;> Combines the elements from the left: `(combine accumulated element)`.
(define (stream-fold combine initial stream)
  (if (stream-null? stream)
      initial
      (stream-fold combine (combine initial (stream-car stream)) (stream-cdr stream))))

;;;> Calls `procedure` with the elements of one or more streams, up to the end of the shortest.
(define (stream-for-each procedure stream . streams)
  (let loop ((streams (cons stream streams)))
    (if (not (any stream-null? streams))
        (begin
          (apply procedure (map stream-car streams))
          (loop (map stream-cdr streams))))))

;;;> Returns the stream of the numbers from `first` on by `step`, by default 1.
(define stream-from
  (case-lambda
    ((first) (stream-from first 1))
    ((first step) (stream-let loop ((number first)) (stream-cons number (loop (+ number step)))))))

;;;> Returns the stream of `first`, `(procedure first)`, `(procedure (procedure first))`, …
(define-stream (stream-iterate procedure first)
  (stream-cons first (stream-iterate procedure (procedure first))))

;;;> Returns how many elements a stream has.
(define (stream-length stream)
  (let loop ((stream stream) (count 0))
    (if (stream-null? stream) count (loop (stream-cdr stream) (+ count 1)))))

;;;> Returns the stream of the values of `procedure` for the elements of one or more streams, up to
;;;> the end of the shortest.
(define (stream-map procedure stream . streams)
  (stream-let loop ((streams (cons stream streams)))
    (if (any stream-null? streams)
        stream-null
        (stream-cons (apply procedure (map stream-car streams)) (loop (map stream-cdr streams))))))

;;;> Returns the stream of the values of an expression for clauses `(variable in stream)`,
;;;> `(variable is expression)` or a condition.
(define-syntax stream-of
  (syntax-rules ()
    ((_ expression clause ...) (%stream-of expression stream-null clause ...))))

(define-syntax %stream-of
  (syntax-rules (in is)
    ((_ expression rest) (stream-cons expression rest))
    ((_ expression rest (variable in stream) clause ...)
     (stream-let loop ((left stream))
       (if (stream-null? left)
           rest
           (let ((variable (stream-car left)))
             (%stream-of expression (loop (stream-cdr left)) clause ...)))))
    ((_ expression rest (variable is value) clause ...)
     (let ((variable value)) (%stream-of expression rest clause ...)))
    ((_ expression rest condition clause ...)
     (if condition (%stream-of expression rest clause ...) rest))))

;;;> Returns the stream of the numbers from `first` up to `end`, exclusive, by `step`, by default 1
;;;> or -1.
(define stream-range
  (case-lambda
    ((first end) (stream-range first end (if (< first end) 1 -1)))
    ((first end step)
     (let ((before? (if (< 0 step) < >)))
       (stream-let loop ((number first))
         (if (before? number end) (stream-cons number (loop (+ number step))) stream-null))))))

;;;> Returns the element at an index, from 0.
(define (stream-ref stream index)
  (if (= index 0) (stream-car stream) (stream-ref (stream-cdr stream) (- index 1))))

;;;> Returns the elements in reverse order, without computing them.
(define (stream-reverse stream)
  (let next ((stream stream) (reversed stream-null))
    (if (stream-null? stream)
        reversed
        (next (stream-cdr stream) (stream-cons (stream-car stream) reversed)))))

;;;> Returns the stream of the accumulated values of `stream-fold`: `initial` first, then one after
;;;> each element.
(define-stream (stream-scan combine initial stream)
  (if (stream-null? stream)
      (stream-cons initial stream-null)
      (stream-cons initial (stream-scan combine (combine initial (stream-car stream)) (stream-cdr stream)))))

;;;> Returns the stream of at most the first `count` elements.
(define-stream (stream-take count stream)
  (if (or (= count 0) (stream-null? stream))
      stream-null
      (stream-cons (stream-car stream) (stream-take (- count 1) (stream-cdr stream)))))

;;;> Returns the longest prefix whose elements satisfy a predicate.
(define-stream (stream-take-while wanted? stream)
  (if (and (stream-pair? stream) (wanted? (stream-car stream)))
      (stream-cons (stream-car stream) (stream-take-while wanted? (stream-cdr stream)))
      stream-null))

;;;> Makes a stream of elements `(element seed)`, for seeds `(next seed)`, as long as `(go-on?
;;;> seed)`.
(define-stream (stream-unfold element go-on? next seed)
  (if (go-on? seed)
      (stream-cons (element seed) (stream-unfold element go-on? next (next seed)))
      stream-null))

;;;> Makes several streams: `(procedure seed)` returns the next seed and for each stream a list of
;;;> one element, `#f` for none yet, or `()` for its end.
(define (stream-unfolds procedure seed)
  (define-stream (results seed)
    (call-with-values (lambda () (procedure seed))
      (lambda (next . answers) (stream-cons answers (results next)))))
  (define-stream (column index results)
    (let ((answer (list-ref (stream-car results) index)))
      (cond ((pair? answer) (stream-cons (car answer) (column index (stream-cdr results))))
            ((not answer) (column index (stream-cdr results)))
            (else stream-null))))
  (let* ((results (results seed)) (count (length (stream-car results))))
    (let loop ((index (- count 1)) (streams '()))
      (if (< index 0)
          (apply values streams)
          (loop (- index 1) (cons (column index results) streams))))))

;;;> Returns the stream of lists of the elements at the same indices.
(define (stream-zip stream . streams) (apply stream-map list stream streams))
