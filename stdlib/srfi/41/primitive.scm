;;; A stream is a record that holds a promise of the empty object or of a pair of promises: of its
;;; first element and of its rest.
(define-record-type stream-type
  (%stream promise)
  ;;;> Returns whether an object is a stream.
  stream?
  (promise %promise))

(define-record-type stream-pair-type
  (%pair first rest)
  %pair?
  (first %first)
  (rest %rest))

(define %empty (list 'stream-null))

;;;> The empty stream.
(define stream-null (%stream (%kept %empty)))

(define (%forced stream)
  (if (stream? stream) (force (%promise stream)) (error "expected a stream" stream)))

;;; Makes the stream of an expression, which is evaluated on demand; in constant space along a chain
;;; of these.
(define-syntax %stream-lazy
  (syntax-rules ()
    ((_ expression)
     (%stream
       (delay-force (let ((inner expression))
                      (if (stream? inner) (%promise inner) (error "expected a stream" inner))))))))

;;;> Makes a stream of an element and a stream, two expressions that are evaluated on demand.
(define-syntax stream-cons
  (syntax-rules ()
    ((_ first rest) (%stream (%kept (%pair (delay first) (%stream-lazy rest)))))))

;;;> Returns whether an object is the empty stream.
(define (stream-null? object) (and (stream? object) (eq? (%forced object) %empty)))

;;;> Returns whether an object is a stream with an element.
(define (stream-pair? object) (and (stream? object) (%pair? (%forced object))))

(define (%pair-of stream)
  (let ((pair (%forced stream)))
    (if (%pair? pair) pair (error "expected a stream with an element" stream))))

;;;> Returns the first element of a stream.
(define (stream-car stream) (force (%first (%pair-of stream))))

;;;> Returns the stream of the elements after the first.
(define (stream-cdr stream) (%rest (%pair-of stream)))

;;;> Makes a procedure whose body returns a stream and is evaluated on demand.
(define-syntax stream-lambda
  (syntax-rules () ((_ formals body ...) (lambda formals (%stream-lazy (let () body ...))))))

;;;> Defines a procedure, as if by `stream-lambda`.
(define-syntax define-stream
  (syntax-rules ()
    ((_ (name . formals) body ...) (define name (stream-lambda formals body ...)))))

;;;> Works like a named `let` whose loop returns streams.
(define-syntax stream-let
  (syntax-rules ()
    ((_ loop ((variable value) ...) body ...)
     ((letrec ((loop (stream-lambda (variable ...) body ...))) loop) value ...))))

;;;> Makes the stream of some expressions, which are evaluated on demand.
(define-syntax stream
  (syntax-rules ()
    ((_) stream-null)
    ((_ first . rest) (stream-cons first (stream . rest)))))

;;;> Evaluates the first clause `(pattern [guard] expression)` whose pattern a stream matches: `()`,
;;;> `(pattern . pattern)`, a variable or `_`.
(define-syntax stream-match
  (syntax-rules ()
    ((_ expression clause ...)
     (let ((matched expression))
       (if (stream? matched)
           (%stream-match matched clause ...)
           (error "stream-match: expected a stream" matched))))))

(define-syntax %stream-match
  (syntax-rules ()
    ((_ matched) (error "stream-match: no pattern matches" matched))
    ((_ matched (pattern expression) clause ...)
     (let ((next (lambda () (%stream-match matched clause ...))))
       (%match-pattern matched pattern expression (next))))
    ((_ matched (pattern guard expression) clause ...)
     (let ((next (lambda () (%stream-match matched clause ...))))
       (%match-pattern matched pattern (if guard expression (next)) (next))))))

(define-syntax %match-pattern
  (syntax-rules :::
    (_)
    ((% matched () success failure) (if (stream-null? matched) success failure))
    ((% matched (_ . rest) success failure)
     (if (stream-pair? matched)
         (let ((tail (stream-cdr matched))) (%match-pattern tail rest success failure))
         failure))
    ((% matched (variable . rest) success failure)
     (if (stream-pair? matched)
         (let ((variable (stream-car matched)) (tail (stream-cdr matched)))
           (%match-pattern tail rest success failure))
         failure))
    ((% matched _ success failure) success)
    ((% matched variable success failure) (let ((variable matched)) success))))
