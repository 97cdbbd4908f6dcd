;;; Arguments are checked at the call, before anything is evaluated on demand.
(define (%need-stream procedure object)
  (if (not (stream? object)) (%wrong-type procedure "a stream" object)))

(define (%need-streams procedure objects)
  (for-each (lambda (object) (%need-stream procedure object)) objects))

(define (%need-procedure procedure object)
  (if (not (procedure? object)) (%wrong-type procedure "a procedure" object)))

(define (%need-number procedure object)
  (if (not (number? object)) (%wrong-type procedure "a number" object)))

(define (%need-count procedure object)
  (if (not (and (exact-integer? object) (>= object 0)))
      (%wrong-type procedure "an exact integer from 0" object)))

;;;> Returns the stream of the elements of a list.
(define (list->stream list)
  (if (not (list? list)) (%wrong-type 'list->stream "a list" list))
  (stream-let loop ((rest list))
    (if (null? rest) stream-null (stream-cons (car rest) (loop (cdr rest))))))

(define-stream (%port->stream port)
  (let ((char (read-char port)))
    (if (eof-object? char) stream-null (stream-cons char (%port->stream port)))))

;;;> Returns the stream of the characters of a port, by default of the current one.
(define port->stream
  (case-lambda
    (() (port->stream (current-input-port)))
    ((port)
     (if (not (input-port? port)) (%wrong-type 'port->stream "an input port" port))
     (%port->stream port))))

;;;> Returns a list of the elements of a stream, at most the first `count`.
(define stream->list
  (case-lambda
    ((stream)
     (%need-stream 'stream->list stream)
     (%elements stream (lambda (taken) #f)))
    ((count stream)
     (%need-count 'stream->list count)
     (%need-stream 'stream->list stream)
     (%elements stream (lambda (taken) (= taken count))))))

;;; Returns the list of the elements of a stream until `enough?` is true of their number.
(define (%elements stream enough?)
  (let loop ((taken 0) (stream stream) (elements '()))
    (if (or (enough? taken) (stream-null? stream))
        (reverse elements)
        (loop (+ taken 1) (stream-cdr stream) (cons (stream-car stream) elements)))))

;;;> Concatenates streams.
(define (stream-append . streams)
  (%need-streams 'stream-append streams)
  (stream-let loop ((streams streams))
    (cond ((null? streams) stream-null)
          ((null? (cdr streams)) (car streams))
          ((stream-null? (car streams)) (loop (cdr streams)))
          (else
           (stream-cons (stream-car (car streams))
                        (loop (cons (stream-cdr (car streams)) (cdr streams))))))))

;;;> Concatenates the streams in a stream.
(define (stream-concat streams)
  (%need-stream 'stream-concat streams)
  (%concatenated streams))

(define-stream (%concatenated streams)
  (cond ((stream-null? streams) stream-null)
        ((not (stream? (stream-car streams)))
         (%wrong-type 'stream-concat "a stream of streams" (stream-car streams)))
        ((stream-null? (stream-car streams)) (%concatenated (stream-cdr streams)))
        (else
         (stream-cons (stream-car (stream-car streams))
                      (%concatenated
                        (stream-cons (stream-cdr (stream-car streams)) (stream-cdr streams)))))))

;;;> Makes a stream that repeats the arguments infinitely.
(define (stream-constant . objects)
  (stream-let loop ((rest objects))
    (cond ((null? objects) stream-null)
          ((null? rest) (loop objects))
          (else (stream-cons (car rest) (loop (cdr rest)))))))

;;;> Returns the stream without its first `count` elements.
(define (stream-drop count stream)
  (%need-count 'stream-drop count)
  (%need-stream 'stream-drop stream)
  (stream-let loop ((count count) (stream stream))
    (if (or (= count 0) (stream-null? stream))
        stream
        (loop (- count 1) (stream-cdr stream)))))

;;;> Returns the rest of a stream after the longest prefix whose elements satisfy a predicate.
(define (stream-drop-while unwanted? stream)
  (%need-procedure 'stream-drop-while unwanted?)
  (%need-stream 'stream-drop-while stream)
  (stream-let loop ((stream stream))
    (if (and (stream-pair? stream) (unwanted? (stream-car stream)))
        (loop (stream-cdr stream))
        stream)))

;;;> Returns the elements that satisfy a predicate.
(define (stream-filter wanted? stream)
  (%need-procedure 'stream-filter wanted?)
  (%need-stream 'stream-filter stream)
  (stream-let loop ((stream stream))
    (cond ((stream-null? stream) stream-null)
          ((wanted? (stream-car stream))
           (stream-cons (stream-car stream) (loop (stream-cdr stream))))
          (else (loop (stream-cdr stream))))))

;;;> Combines the elements from the left: `(combine accumulated element)`.
(define (stream-fold combine initial stream)
  (%need-procedure 'stream-fold combine)
  (%need-stream 'stream-fold stream)
  (let loop ((accumulated initial) (stream stream))
    (if (stream-null? stream)
        accumulated
        (loop (combine accumulated (stream-car stream)) (stream-cdr stream)))))

;;;> Calls `procedure` with the elements of one or more streams, up to the end of the shortest.
(define (stream-for-each procedure stream . streams)
  (%need-procedure 'stream-for-each procedure)
  (%need-streams 'stream-for-each (cons stream streams))
  (let loop ((streams (cons stream streams)))
    (if (not (any stream-null? streams))
        (begin
          (apply procedure (map stream-car streams))
          (loop (map stream-cdr streams))))))

;;;> Returns the stream of the numbers from `first` on by `step`, by default 1.
(define stream-from
  (case-lambda
    ((first) (stream-from first 1))
    ((first step)
     (%need-number 'stream-from first)
     (%need-number 'stream-from step)
     (stream-let loop ((number first)) (stream-cons number (loop (+ number step)))))))

;;;> Returns the stream of `first`, `(procedure first)`, `(procedure (procedure first))`, …
(define (stream-iterate procedure first)
  (%need-procedure 'stream-iterate procedure)
  (stream-let loop ((element first)) (stream-cons element (loop (procedure element)))))

;;;> Returns how many elements a stream has.
(define (stream-length stream)
  (%need-stream 'stream-length stream)
  (let loop ((stream stream) (count 0))
    (if (stream-null? stream) count (loop (stream-cdr stream) (+ count 1)))))

;;;> Returns the stream of the values of `procedure` for the elements of one or more streams, up to
;;;> the end of the shortest.
(define (stream-map procedure stream . streams)
  (%need-procedure 'stream-map procedure)
  (%need-streams 'stream-map (cons stream streams))
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
    ((first end)
     (%need-number 'stream-range first)
     (%need-number 'stream-range end)
     (stream-range first end (if (< first end) 1 -1)))
    ((first end step)
     (%need-number 'stream-range first)
     (%need-number 'stream-range end)
     (%need-number 'stream-range step)
     (let ((before? (if (< 0 step) < >)))
       (stream-let loop ((number first))
         (if (before? number end) (stream-cons number (loop (+ number step))) stream-null))))))

;;;> Returns the element at an index, from 0.
(define (stream-ref stream index)
  (%need-stream 'stream-ref stream)
  (%need-count 'stream-ref index)
  (let loop ((rest stream) (left index))
    (cond ((stream-null? rest)
           (raise (%make-condition 'out-of-range
                                   "stream-ref: the stream ends before the index"
                                   (list index))))
          ((= left 0) (stream-car rest))
          (else (loop (stream-cdr rest) (- left 1))))))

;;;> Returns the stream of the elements in reverse order. Its first use goes through the whole
;;;> stream, without computing the elements.
(define (stream-reverse stream)
  (%need-stream 'stream-reverse stream)
  (stream-let next ((stream stream) (reversed stream-null))
    (if (stream-null? stream)
        reversed
        (next (stream-cdr stream) (stream-cons (stream-car stream) reversed)))))

;;;> Returns the stream of the accumulated values of `stream-fold`: `initial` first, then one after
;;;> each element.
(define (stream-scan combine initial stream)
  (%need-procedure 'stream-scan combine)
  (%need-stream 'stream-scan stream)
  (stream-let loop ((accumulated initial) (stream stream))
    (if (stream-null? stream)
        (stream-cons accumulated stream-null)
        (stream-cons accumulated
                     (loop (combine accumulated (stream-car stream)) (stream-cdr stream))))))

;;;> Returns the stream of at most the first `count` elements.
(define (stream-take count stream)
  (%need-count 'stream-take count)
  (%need-stream 'stream-take stream)
  (stream-let loop ((left count) (stream stream))
    (if (or (= left 0) (stream-null? stream))
        stream-null
        (stream-cons (stream-car stream) (loop (- left 1) (stream-cdr stream))))))

;;;> Returns the longest prefix whose elements satisfy a predicate.
(define (stream-take-while wanted? stream)
  (%need-procedure 'stream-take-while wanted?)
  (%need-stream 'stream-take-while stream)
  (stream-let loop ((stream stream))
    (if (and (stream-pair? stream) (wanted? (stream-car stream)))
        (stream-cons (stream-car stream) (loop (stream-cdr stream)))
        stream-null)))

;;;> Makes a stream of elements `(element seed)`, for seeds `(next seed)`, as long as `(go-on?
;;;> seed)`.
(define (stream-unfold element go-on? next seed)
  (for-each (lambda (object) (%need-procedure 'stream-unfold object)) (list element go-on? next))
  (stream-let loop ((seed seed))
    (if (go-on? seed)
        (stream-cons (element seed) (loop (next seed)))
        stream-null)))

;;;> Makes several streams: `(procedure seed)` returns the next seed and for each stream a list of
;;;> one element, `#f` for none yet, or `()` for its end.
(define (stream-unfolds procedure seed)
  (%need-procedure 'stream-unfolds procedure)
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
(define (stream-zip stream . streams)
  (%need-streams 'stream-zip (cons stream streams))
  (apply stream-map list stream streams))
