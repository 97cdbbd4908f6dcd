;;;> Makes a generator of its arguments.
(define (generator . objects) (list->generator objects))

;;;> Makes a generator that repeats its arguments infinitely.
(define (circular-generator . objects)
  (let ((rest objects))
    (lambda ()
      (if (null? rest) (set! rest objects))
      (let ((object (car rest)))
        (set! rest (cdr rest))
        object))))

;;;> Makes a generator of `count` numbers from `start`, by default 0, by `step`, by default 1.
(define make-iota-generator
  (case-lambda
    ((count) (make-iota-generator count 0 1))
    ((count start) (make-iota-generator count start 1))
    ((count start step)
     (let ((index 0))
       (lambda ()
         (if (< index count)
             (let ((number (+ start (* index step)))) (set! index (+ index 1)) number)
             (eof-object)))))))

;;;> Makes a generator of the numbers from `start` up to `end`, exclusive, by default infinitely, by
;;;> `step`, by default 1.
(define make-range-generator
  (case-lambda
    ((start)
     (let ((next start)) (lambda () (let ((number next)) (set! next (+ next 1)) number))))
    ((start end) (make-range-generator start end 1))
    ((start end step)
     (let ((next start))
       (lambda ()
         (if (< next end)
             (let ((number next)) (set! next (+ next step)) number)
             (eof-object)))))))

;;;> Makes a generator of the elements of a list.
(define (list->generator list)
  (lambda ()
    (if (null? list)
        (eof-object)
        (let ((element (car list))) (set! list (cdr list)) element))))

;;; Makes a generator of `(ref sequence index)` for the indices of a range, by default all, for a
;;; procedure that was called with `sequence` and the range.
(define (%indexed procedure sequence ref size range)
  (%range procedure range (size sequence)
    (lambda (index end)
      (lambda ()
        (if (< index end)
            (let ((element (ref sequence index))) (set! index (+ index 1)) element)
            (eof-object))))))

;;;> Makes a generator of the elements of a vector.
(define (vector->generator vector . range)
  (if (not (vector? vector)) (%wrong-type 'vector->generator "a vector" vector))
  (%indexed 'vector->generator vector vector-ref vector-length range))
;;;> Makes a generator of the elements of a vector from its end.
(define (reverse-vector->generator vector . range)
  (if (not (vector? vector)) (%wrong-type 'reverse-vector->generator "a vector" vector))
  (%range 'reverse-vector->generator range (vector-length vector)
    (lambda (start end) (list->generator (reverse (vector->list vector start end))))))
;;;> Makes a generator of the characters of a string.
(define (string->generator string . range)
  (if (not (string? string)) (%wrong-type 'string->generator "a string" string))
  (%indexed 'string->generator string string-ref string-length range))
;;;> Makes a generator of the bytes of a bytevector.
(define (bytevector->generator bytevector . range)
  (if (not (bytevector? bytevector))
      (%wrong-type 'bytevector->generator "a bytevector" bytevector))
  (%indexed 'bytevector->generator bytevector bytevector-u8-ref bytevector-length range))

;;;> Makes a generator of the elements of a collection, which `(for-each procedure collection)`
;;;> visits.
(define (make-for-each-generator for-each collection)
  (make-coroutine-generator (lambda (yield) (for-each yield collection))))

;;;> Makes a generator of `(element seed)` for seeds `(next seed)`, until `(stop? seed)`.
(define (make-unfold-generator stop? element next seed)
  (lambda ()
    (if (stop? seed)
        (eof-object)
        (let ((object (element seed))) (set! seed (next seed)) object))))

;;;> Makes a generator of all arguments but the last, then of the objects of the last, a generator.
(define (gcons* . arguments)
  (lambda ()
    (if (null? (cdr arguments))
        ((car arguments))
        (let ((object (car arguments))) (set! arguments (cdr arguments)) object))))

;;;> Makes a generator that concatenates generators.
(define (gappend . generators)
  (lambda ()
    (let loop ()
      (if (null? generators)
          (eof-object)
          (let ((object ((car generators))))
            (if (eof-object? object)
                (begin (set! generators (cdr generators)) (loop))
                object))))))

;;;> Makes a generator that concatenates the generators and lists from a generator.
(define (gflatten source)
  (let ((current #f))
    (lambda ()
      (let loop ()
        (if (not current)
            (let ((next (source)))
              (set! current (if (list? next) (list->generator next) next))))
        (if (eof-object? current)
            current
            (let ((object (current)))
              (if (eof-object? object)
                  (begin (set! current #f) (loop))
                  object)))))))

;;;> Makes a generator of lists of `count` objects; the last may be shorter, or is padded with
;;;> `padding`.
(define ggroup
  (case-lambda
    ((source count) (%grouped source count (lambda (objects missing) (reverse objects))))
    ((source count padding)
     (%grouped source
               count
               (lambda (objects missing) (append (reverse objects) (make-list missing padding)))))))

(define (%grouped source count finish)
  (lambda ()
    (let loop ((objects '()) (missing count))
      (if (= missing 0)
          (reverse objects)
          (let ((object (source)))
            (cond ((not (eof-object? object)) (loop (cons object objects) (- missing 1)))
                  ((null? objects) object)
                  (else (finish objects missing))))))))

;;;> Merges sorted generators into a sorted one.
(define (gmerge less? source . generators)
  (define (merge a b)
    (let ((first (a)) (second (b)))
      (lambda ()
        (cond ((eof-object? first)
               (let ((object second)) (if (not (eof-object? second)) (set! second (b))) object))
              ((or (eof-object? second) (not (less? second first)))
               (let ((object first)) (set! first (a)) object))
              (else (let ((object second)) (set! second (b)) object))))))
  (let loop ((generators (cons source generators)))
    (if (null? (cdr generators))
        (car generators)
        (merge (car generators) (loop (cdr generators))))))

;;; Returns the next objects of generators, or #f if one of them has ended.
(define (%next generators)
  (let ((objects (map (lambda (generator) (generator)) generators)))
    (if (any eof-object? objects) #f objects)))

;;;> Makes a generator of the values of `procedure` for the objects of one or more generators.
(define gmap
  (case-lambda
    ((procedure source)
     (lambda () (let ((object (source))) (if (eof-object? object) object (procedure object)))))
    ((procedure source . generators)
     (let ((generators (cons source generators)))
       (lambda ()
         (let ((objects (%next generators)))
           (if objects (apply procedure objects) (eof-object))))))))

;;;> Makes a generator of the first of the two values of `(procedure object … state)`; the second is
;;;> the next state.
(define (gcombine procedure state source . generators)
  (lambda ()
    (let ((objects (%next (cons source generators))))
      (if objects
          (call-with-values
            (lambda () (apply procedure (append objects (list state))))
            (lambda (object next) (set! state next) object))
          (eof-object)))))

;;;> Makes a generator of the objects that satisfy a predicate.
(define (gfilter wanted? source)
  (lambda ()
    (let loop ()
      (let ((object (source)))
        (if (or (eof-object? object) (wanted? object)) object (loop))))))

;;;> Makes a generator of the objects that do not satisfy a predicate.
(define (gremove unwanted? source) (gfilter (lambda (object) (not (unwanted? object))) source))

;;;> Makes a generator of the objects for which the first of the values of `(procedure object
;;;> state)` is true; the second is the next state.
(define (gstate-filter procedure state source)
  (gfilter
    (lambda (object)
      (call-with-values
        (lambda () (procedure object state))
        (lambda (wanted? next) (set! state next) wanted?)))
    source))

;;;> Makes a generator of the first `count` objects; if there are fewer, pads with `padding`, if
;;;> given.
(define (gtake source count . padding)
  (lambda ()
    (if (> count 0)
        (let ((object (source)))
          (set! count (- count 1))
          (if (and (eof-object? object) (pair? padding)) (car padding) object))
        (eof-object))))

;;;> Makes a generator of the objects after the first `count`.
(define (gdrop source count)
  (lambda ()
    (let loop ()
      (if (> count 0)
          (begin (set! count (- count 1)) (source) (loop))
          (source)))))

;;;> Makes a generator of the objects before the first that does not satisfy a predicate.
(define (gtake-while wanted? source)
  (let ((is-over #f))
    (lambda ()
      (if is-over
          (eof-object)
          (let ((object (source)))
            (if (and (not (eof-object? object)) (wanted? object))
                object
                (begin (set! is-over #t) (eof-object))))))))

;;;> Makes a generator of the objects from the first on that does not satisfy a predicate.
(define (gdrop-while unwanted? source)
  (let ((is-begun #f))
    (lambda ()
      (let loop ()
        (let ((object (source)))
          (if (or is-begun (eof-object? object) (not (unwanted? object)))
              (begin (set! is-begun #t) object)
              (loop)))))))

;;;> Makes a generator of the objects that are not the same as `object`, by `equal?` or another
;;;> predicate.
(define gdelete
  (case-lambda
    ((object source) (gdelete object source equal?))
    ((object source same?) (gremove (lambda (other) (same? object other)) source))))

;;;> Makes a generator of the objects without repeated neighbours, by `equal?` or another predicate.
(define gdelete-neighbor-dups
  (case-lambda
    ((source) (gdelete-neighbor-dups source equal?))
    ((source same?)
     (let ((last (eof-object)))
       (gfilter
         (lambda (object)
           (and (or (eof-object? last) (not (same? last object)))
                (begin (set! last object) #t)))
         source)))))

;;;> Makes a generator of the objects at the indices from the second generator, in increasing order.
(define (gindex source indices)
  (let ((place 0))
    (lambda ()
      (let ((index (indices)))
        (if (eof-object? index)
            index
            (let loop ()
              (let ((object (source)))
                (set! place (+ place 1))
                (if (or (eof-object? object) (= (- place 1) index)) object (loop)))))))))

;;;> Makes a generator of the objects for which the second generator returns true.
(define (gselect source truths)
  (lambda ()
    (let loop ()
      (let ((object (source)) (truth (truths)))
        (cond ((or (eof-object? object) (eof-object? truth)) (eof-object))
              (truth object)
              (else (loop)))))))

;;;> Returns a list of the objects, or of the first `count`, the latest first.
(define (generator->reverse-list source . count)
  (let ((source (if (pair? count) (gtake source (car count)) source)))
    (generator-fold cons '() source)))

;;;> Returns a list of the objects, or of the first `count`.
(define (generator->list source . count) (reverse (apply generator->reverse-list source count)))
;;;> Returns a vector of the objects, or of the first `count`.
(define (generator->vector source . count) (list->vector (apply generator->list source count)))
;;;> Returns a string of the characters, or of the first `count`.
(define (generator->string source . count) (list->string (apply generator->list source count)))

;;;> Writes objects into a vector from an index on; returns their number.
(define (generator->vector! vector at source)
  (if (not (vector? vector)) (%wrong-type 'generator->vector! "a vector" vector))
  (let loop ((index at))
    (if (< index (vector-length vector))
        (let ((object (source)))
          (if (eof-object? object)
              (- index at)
              (begin (vector-set! vector index object) (loop (+ index 1)))))
        (- index at))))

;;;> Combines the objects of one or more generators: `(combine object … accumulated)`.
(define generator-fold
  (case-lambda
    ((combine initial source)
     (let loop ((accumulated initial))
       (let ((object (source)))
         (if (eof-object? object) accumulated (loop (combine object accumulated))))))
    ((combine initial source . generators)
     (let loop ((accumulated initial))
       (let ((objects (%next (cons source generators))))
         (if objects (loop (apply combine (append objects (list accumulated)))) accumulated))))))

;;;> Returns a list of the values of `procedure` for the objects of one or more generators.
(define (generator-map->list procedure source . generators)
  (generator->list (apply gmap procedure source generators)))

;;;> Calls `procedure` with the objects of one or more generators.
(define (generator-for-each procedure source . generators)
  (let loop ()
    (let ((objects (%next (cons source generators))))
      (if objects
          (begin (apply procedure objects) (loop))))))

;;;> Returns the first object that satisfies a predicate, or #f.
(define (generator-find wanted? source)
  (let ((object ((gfilter wanted? source)))) (if (eof-object? object) #f object)))

;;;> Returns how many objects satisfy a predicate.
(define (generator-count wanted? source)
  (generator-fold (lambda (object count) (if (wanted? object) (+ count 1) count)) 0 source))

;;;> Returns the first true value of a predicate for the objects, or #f.
(define (generator-any wanted? source)
  (let ((object (source)))
    (and (not (eof-object? object)) (or (wanted? object) (generator-any wanted? source)))))

;;;> Returns the last value of a predicate for the objects if all are true, otherwise #f.
(define (generator-every wanted? source)
  (let loop ((answer #t))
    (let ((object (source)))
      (if (eof-object? object)
          answer
          (let ((answer (wanted? object))) (and answer (loop answer)))))))

;;;> Calls an unfolding procedure that makes its result of the objects: `(unfold eof-object? values
;;;> next (source) argument …)`.
(define (generator-unfold source unfold . arguments)
  (apply unfold eof-object? (lambda (object) object) (lambda (object) (source)) (source) arguments))
