(define-record-type <just>
  (%just payload)
  ;;;> Returns whether an object is a Just.
  just?
  (payload %just-payload))

(define-record-type <nothing>
  (%make-nothing)
  ;;;> Returns whether an object is the Nothing.
  nothing?)

(define-record-type <right>
  (%right payload)
  ;;;> Returns whether an object is a Right.
  right?
  (payload %right-payload))

(define-record-type <left>
  (%left payload)
  ;;;> Returns whether an object is a Left.
  left?
  (payload %left-payload))

(define %the-nothing (%make-nothing))

;;;> Returns a Just of the arguments.
(define (just . payload) (%just payload))
;;;> Returns the Nothing.
(define (nothing) %the-nothing)
;;;> Returns a Right of the arguments.
(define (right . payload) (%right payload))
;;;> Returns a Left of the arguments.
(define (left . payload) (%left payload))
;;;> Returns a Just of the elements of a list.
(define (list->just payload) (%just payload))
;;;> Returns a Right of the elements of a list.
(define (list->right payload) (%right payload))
;;;> Returns a Left of the elements of a list.
(define (list->left payload) (%left payload))

;;;> Returns whether an object is a Just or the Nothing.
(define (maybe? object) (or (just? object) (nothing? object)))
;;;> Returns whether an object is a Right or a Left.
(define (either? object) (or (right? object) (left? object)))

(define-record-type %absence
  (%make-absence)
  ;;;> Returns whether an object is the error that `maybe-ref` and `either-ref` raise without
  ;;;> `failure`.
  maybe-ref-error?)

(define (%check holds? object)
  (if (not (holds? object))
      (error
        (if (eq? holds? maybe?)
            "this is neither a Just nor the Nothing"
            "this is neither a Right nor a Left")
        object)))

(define (%payload either) (if (right? either) (%right-payload either) (%left-payload either)))

;;;> Returns the Left of a Right's payload, or the Right of a Left's.
(define (either-swap either)
  (%check either? either)
  (if (right? either) (%left (%right-payload either)) (%right (%left-payload either))))

;;;> Returns a Right of a Just's payload; for the Nothing, a Left of the further arguments.
(define (maybe->either maybe . reason)
  (%check maybe? maybe)
  (if (just? maybe) (%right (%just-payload maybe)) (%left reason)))

;;;> Returns a Just of a Right's payload; for a Left, the Nothing.
(define (either->maybe either)
  (%check either? either)
  (if (right? either) (%just (%right-payload either)) %the-nothing))

(define (%same-payload? same? a b)
  (and (= (length a) (length b)) (every same? a b)))

(define (%all-same? same? first rest) (every (lambda (other) (same? first other)) rest))

;;;> Returns whether all are the Nothing, or all are Justs with payloads that are the same by an
;;;> equivalence.
(define (maybe= same? first . rest)
  (%all-same?
    (lambda (a b)
      (%check maybe? a)
      (%check maybe? b)
      (or (and (nothing? a) (nothing? b))
          (and (just? a) (just? b) (%same-payload? same? (%just-payload a) (%just-payload b)))))
    first rest))

;;;> Returns whether all are Rights, or all are Lefts, with payloads that are the same by an
;;;> equivalence.
(define (either= same? first . rest)
  (%all-same?
    (lambda (a b)
      (%check either? a)
      (%check either? b)
      (and (eq? (right? a) (right? b)) (%same-payload? same? (%payload a) (%payload b))))
    first rest))

(define (%raise-absence . reason) (raise (%make-absence)))

;;;> Calls `success`, by default `values`, with the payload of a Just; for the Nothing, calls
;;;> `failure`, or raises an error.
(define maybe-ref
  (case-lambda
    ((maybe) (maybe-ref maybe %raise-absence values))
    ((maybe failure) (maybe-ref maybe failure values))
    ((maybe failure success)
     (%check maybe? maybe)
     (if (just? maybe) (apply success (%just-payload maybe)) (failure)))))

;;;> Calls `success`, by default `values`, with the payload of a Right; calls `failure` with that of
;;;> a Left, or raises an error.
(define either-ref
  (case-lambda
    ((either) (either-ref either %raise-absence values))
    ((either failure) (either-ref either failure values))
    ((either failure success)
     (%check either? either)
     (if (right? either)
         (apply success (%right-payload either))
         (apply failure (%left-payload either))))))

;;;> Returns the payload of a Just, as values, or the further arguments.
(define (maybe-ref/default maybe . defaults) (maybe-ref maybe (lambda () (apply values defaults))))
;;;> Returns the payload of a Right, as values, or the further arguments.
(define (either-ref/default either . defaults)
  (either-ref either (lambda reason (apply values defaults))))

(define (%only payload object)
  (if (and (pair? payload) (null? (cdr payload)))
      (car payload)
      (error "the payload should be one value" object)))

;;;> Returns the Maybe in a Just, or the Nothing.
(define (maybe-join maybe)
  (%check maybe? maybe)
  (if (just? maybe)
      (let ((inner (%only (%just-payload maybe) maybe))) (%check maybe? inner) inner)
      maybe))

;;;> Returns the Either in a Right, or the Left itself.
(define (either-join either)
  (%check either? either)
  (if (right? either)
      (let ((inner (%only (%right-payload either) either))) (%check either? inner) inner)
      either))

;;;> Calls the procedures one after the other, each with the payload that the previous one returned;
;;;> stops at the first Nothing.
(define (maybe-bind maybe . procedures)
  (%check maybe? maybe)
  (if (or (null? procedures) (nothing? maybe))
      maybe
      (apply maybe-bind (apply (car procedures) (%just-payload maybe)) (cdr procedures))))

;;;> Calls the procedures one after the other, each with the payload that the previous one returned;
;;;> stops at the first Left.
(define (either-bind either . procedures)
  (%check either? either)
  (if (or (null? procedures) (left? either))
      either
      (apply either-bind (apply (car procedures) (%right-payload either)) (cdr procedures))))

;;;> Makes a procedure that passes its arguments to `maybe-bind` with the procedures.
(define (maybe-compose . procedures)
  (lambda arguments (apply maybe-bind (%just arguments) procedures)))
;;;> Makes a procedure that passes its arguments to `either-bind` with the procedures.
(define (either-compose . procedures)
  (lambda arguments (apply either-bind (%right arguments) procedures)))

;;;> Returns 1 for a Just, 0 for the Nothing.
(define (maybe-length maybe) (%check maybe? maybe) (if (just? maybe) 1 0))
;;;> Returns 1 for a Right, 0 for a Left.
(define (either-length either) (%check either? either) (if (right? either) 1 0))

;;;> Returns a Just if its payload satisfies a predicate; otherwise the Nothing.
(define (maybe-filter wanted? maybe)
  (if (and (just? maybe) (apply wanted? (%just-payload maybe))) maybe %the-nothing))
;;;> Returns a Just if its payload does not satisfy a predicate; otherwise the Nothing.
(define (maybe-remove unwanted? maybe)
  (if (and (just? maybe) (not (apply unwanted? (%just-payload maybe)))) maybe %the-nothing))
;;;> Returns a Right if its payload satisfies a predicate; otherwise a Left of the further
;;;> arguments.
(define (either-filter wanted? either . reason)
  (if (and (right? either) (apply wanted? (%right-payload either))) either (%left reason)))
;;;> Returns a Right if its payload does not satisfy a predicate; otherwise a Left of the further
;;;> arguments.
(define (either-remove unwanted? either . reason)
  (if (and (right? either) (not (apply unwanted? (%right-payload either)))) either (%left reason)))

;;; Makes one Maybe or Either from a container of them; `map` is that of the container.
(define (%sequence container map gather present? payload wrap)
  (call/ec
    (lambda (return)
      (wrap
        (list
          (map (lambda (element)
                 (if (present? element) (apply gather (payload element)) (return element)))
               container))))))

;;;> Returns a Just of a container of the payloads of the Justs in a container, passed through
;;;> `gather`; the Nothing if it is among them.
(define (maybe-sequence container map . gather)
  (%sequence container map (if (pair? gather) (car gather) list) just? %just-payload %just))
;;;> Returns a Right of a container of the payloads of the Rights in a container, passed through
;;;> `gather`; the first Left if there is one.
(define (either-sequence container map . gather)
  (%sequence container map (if (pair? gather) (car gather) list) right? %right-payload %right))

;;;> Calls a procedure with the payload of a Just; returns a Just of its values, or the Nothing.
(define (maybe-map procedure maybe)
  (%check maybe? maybe)
  (if (just? maybe)
      (call-with-values (lambda () (apply procedure (%just-payload maybe))) just)
      maybe))
;;;> Calls a procedure with the payload of a Right; returns a Right of its values, or the Left
;;;> itself.
(define (either-map procedure either)
  (%check either? either)
  (if (right? either)
      (call-with-values (lambda () (apply procedure (%right-payload either))) right)
      either))
;;;> Calls a procedure with the payload of a Just, for its effect.
(define (maybe-for-each procedure maybe)
  (%check maybe? maybe)
  (if (just? maybe) (apply procedure (%just-payload maybe)))
  (if #f #f))
;;;> Calls a procedure with the payload of a Right, for its effect.
(define (either-for-each procedure either)
  (%check either? either)
  (if (right? either) (apply procedure (%right-payload either)))
  (if #f #f))

(define (%fold combine initial payload) (apply combine (append payload (list initial))))

;;;> Returns `(combine payload … initial)` for a Just; `initial` for the Nothing.
(define (maybe-fold combine initial maybe)
  (%check maybe? maybe)
  (if (just? maybe) (%fold combine initial (%just-payload maybe)) initial))
;;;> Returns `(combine payload … initial)` for a Right; `initial` for a Left.
(define (either-fold combine initial either)
  (%check either? either)
  (if (right? either) (%fold combine initial (%right-payload either)) initial))

(define (%unfold stop? part next seeds)
  (call-with-values
    (lambda () (apply part seeds))
    (lambda payload
      (if (call-with-values (lambda () (apply next seeds)) stop?)
          payload
          (error "the seeds go on behind the first" seeds)))))

;;;> Returns the Nothing if the seeds satisfy `stop?`; otherwise a Just of the values of `part` for
;;;> them. The next seeds must satisfy `stop?`.
(define (maybe-unfold stop? part next . seeds)
  (if (apply stop? seeds) %the-nothing (%just (%unfold stop? part next seeds))))
;;;> Returns a Left of the seeds if they satisfy `stop?`; otherwise a Right of the values of `part`
;;;> for them. The next seeds must satisfy `stop?`.
(define (either-unfold stop? part next . seeds)
  (if (apply stop? seeds) (%left seeds) (%right (%unfold stop? part next seeds))))
