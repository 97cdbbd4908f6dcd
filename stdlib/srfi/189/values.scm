(define-record-type <just>
  (%just payload)
  ;;;> Whether an object is a Just.
  just?
  (payload %just-payload))

(define-record-type <nothing>
  (%make-nothing)
  ;;;> Whether an object is the Nothing.
  nothing?)

(define-record-type <right>
  (%right payload)
  ;;;> Whether an object is a Right.
  right?
  (payload %right-payload))

(define-record-type <left>
  (%left payload)
  ;;;> Whether an object is a Left.
  left?
  (payload %left-payload))

(define %the-nothing (%make-nothing))

;;;> A Just of the arguments.
(define (just . payload) (%just payload))
;;;> The Nothing.
(define (nothing) %the-nothing)
;;;> A Right of the arguments.
(define (right . payload) (%right payload))
;;;> A Left of the arguments.
(define (left . payload) (%left payload))
;;;> A Just of the elements of a list.
(define (list->just payload) (%just payload))
;;;> A Right of the elements of a list.
(define (list->right payload) (%right payload))
;;;> A Left of the elements of a list.
(define (list->left payload) (%left payload))

;;;> Whether an object is a Just or the Nothing.
(define (maybe? object) (or (just? object) (nothing? object)))
;;;> Whether an object is a Right or a Left.
(define (either? object) (or (right? object) (left? object)))

(define-record-type %absence
  (%make-absence)
  ;;;> Whether an object is what `maybe-ref` and `either-ref` raise where no other way is given.
  maybe-ref-error?)

(define (%check holds? object)
  (if (not (holds? object))
      (error (if (eq? holds? maybe?) "this is neither a Just nor the Nothing" "this is neither a Right nor a Left") object)))

(define (%payload either) (if (right? either) (%right-payload either) (%left-payload either)))

;;;> The Left of a Right's payload, the Right of a Left's.
(define (either-swap either)
  (%check either? either)
  (if (right? either) (%left (%right-payload either)) (%right (%left-payload either))))

;;;> A Right of a Just's payload; for the Nothing, a Left of the further arguments.
(define (maybe->either maybe . reason)
  (%check maybe? maybe)
  (if (just? maybe) (%right (%just-payload maybe)) (%left reason)))

;;;> A Just of a Right's payload; for a Left, the Nothing.
(define (either->maybe either)
  (%check either? either)
  (if (right? either) (%just (%right-payload either)) %the-nothing))

(define (%same-payload? same? a b)
  (and (= (length a) (length b)) (every same? a b)))

(define (%all-same? same? first rest) (every (lambda (other) (same? first other)) rest))

;;;> Whether all are the Nothing, or all are Justs with payloads that are the same by an equivalence.
(define (maybe= same? first . rest)
  (%all-same?
    (lambda (a b)
      (%check maybe? a)
      (%check maybe? b)
      (or (and (nothing? a) (nothing? b))
          (and (just? a) (just? b) (%same-payload? same? (%just-payload a) (%just-payload b)))))
    first rest))

;;;> Whether all are Rights, or all are Lefts, with payloads that are the same by an equivalence.
(define (either= same? first . rest)
  (%all-same?
    (lambda (a b)
      (%check either? a)
      (%check either? b)
      (and (eq? (right? a) (right? b)) (%same-payload? same? (%payload a) (%payload b))))
    first rest))

(define (%raise-absence . reason) (raise (%make-absence)))

;;;> Calls `success`, `values` if it is left out, with the payload of a Just; for the Nothing, calls `failure`, or raises an error.
(define maybe-ref
  (case-lambda
    ((maybe) (maybe-ref maybe %raise-absence values))
    ((maybe failure) (maybe-ref maybe failure values))
    ((maybe failure success)
     (%check maybe? maybe)
     (if (just? maybe) (apply success (%just-payload maybe)) (failure)))))

;;;> Calls `success`, `values` if it is left out, with the payload of a Right; `failure` with that of a Left, or raises an error.
(define either-ref
  (case-lambda
    ((either) (either-ref either %raise-absence values))
    ((either failure) (either-ref either failure values))
    ((either failure success)
     (%check either? either)
     (if (right? either) (apply success (%right-payload either)) (apply failure (%left-payload either))))))

;;;> The payload of a Just, as values, or the further arguments.
(define (maybe-ref/default maybe . defaults) (maybe-ref maybe (lambda () (apply values defaults))))
;;;> The payload of a Right, as values, or the further arguments.
(define (either-ref/default either . defaults) (either-ref either (lambda reason (apply values defaults))))

(define (%only payload object)
  (if (and (pair? payload) (null? (cdr payload)))
      (car payload)
      (error "the payload should be one value" object)))

;;;> The Maybe in a Just, or the Nothing.
(define (maybe-join maybe)
  (%check maybe? maybe)
  (if (just? maybe)
      (let ((inner (%only (%just-payload maybe) maybe))) (%check maybe? inner) inner)
      maybe))

;;;> The Either in a Right, or the Left itself.
(define (either-join either)
  (%check either? either)
  (if (right? either)
      (let ((inner (%only (%right-payload either) either))) (%check either? inner) inner)
      either))

;;;> Calls the procedures one after the other, each with the payload that the one before answered; the first Nothing ends it.
(define (maybe-bind maybe . procedures)
  (%check maybe? maybe)
  (if (or (null? procedures) (nothing? maybe))
      maybe
      (apply maybe-bind (apply (car procedures) (%just-payload maybe)) (cdr procedures))))

;;;> Calls the procedures one after the other, each with the payload that the one before answered; the first Left ends it.
(define (either-bind either . procedures)
  (%check either? either)
  (if (or (null? procedures) (left? either))
      either
      (apply either-bind (apply (car procedures) (%right-payload either)) (cdr procedures))))

;;;> A procedure that does what `maybe-bind` does with the procedures.
(define (maybe-compose . procedures) (lambda arguments (apply maybe-bind (%just arguments) procedures)))
;;;> A procedure that does what `either-bind` does with the procedures.
(define (either-compose . procedures) (lambda arguments (apply either-bind (%right arguments) procedures)))

;;;> 1 for a Just, 0 for the Nothing.
(define (maybe-length maybe) (%check maybe? maybe) (if (just? maybe) 1 0))
;;;> 1 for a Right, 0 for a Left.
(define (either-length either) (%check either? either) (if (right? either) 1 0))

;;;> A Just whose payload satisfies a predicate; otherwise the Nothing.
(define (maybe-filter wanted? maybe) (if (and (just? maybe) (apply wanted? (%just-payload maybe))) maybe %the-nothing))
;;;> A Just whose payload does not satisfy a predicate; otherwise the Nothing.
(define (maybe-remove unwanted? maybe) (if (and (just? maybe) (not (apply unwanted? (%just-payload maybe)))) maybe %the-nothing))
;;;> A Right whose payload satisfies a predicate; otherwise a Left of the further arguments.
(define (either-filter wanted? either . reason)
  (if (and (right? either) (apply wanted? (%right-payload either))) either (%left reason)))
;;;> A Right whose payload does not satisfy a predicate; otherwise a Left of the further arguments.
(define (either-remove unwanted? either . reason)
  (if (and (right? either) (not (apply unwanted? (%right-payload either)))) either (%left reason)))

;;; One Maybe or Either of a container of them: `map` is that of the container.
(define (%sequence container map gather present? payload wrap)
  (call/cc
    (lambda (return)
      (wrap
        (list
          (map (lambda (element) (if (present? element) (apply gather (payload element)) (return element)))
               container))))))

;;;> A Just of a container of the payloads of the Justs in a container, passed through `gather`; the Nothing if it is among them.
(define (maybe-sequence container map . gather)
  (%sequence container map (if (pair? gather) (car gather) list) just? %just-payload %just))
;;;> A Right of a container of the payloads of the Rights in a container, passed through `gather`; the first Left if there is one.
(define (either-sequence container map . gather)
  (%sequence container map (if (pair? gather) (car gather) list) right? %right-payload %right))

;;;> Calls a procedure with the payload of a Just; a Just of its values, or the Nothing.
(define (maybe-map procedure maybe)
  (%check maybe? maybe)
  (if (just? maybe) (call-with-values (lambda () (apply procedure (%just-payload maybe))) just) maybe))
;;;> Calls a procedure with the payload of a Right; a Right of its values, or the Left itself.
(define (either-map procedure either)
  (%check either? either)
  (if (right? either) (call-with-values (lambda () (apply procedure (%right-payload either))) right) either))
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

;;;> `(combine payload … initial)` for a Just; `initial` for the Nothing.
(define (maybe-fold combine initial maybe)
  (%check maybe? maybe)
  (if (just? maybe) (%fold combine initial (%just-payload maybe)) initial))
;;;> `(combine payload … initial)` for a Right; `initial` for a Left.
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

;;;> The Nothing if the seeds satisfy `stop?`; otherwise a Just of what `part` answers for them. Then the next seeds must satisfy it.
(define (maybe-unfold stop? part next . seeds)
  (if (apply stop? seeds) %the-nothing (%just (%unfold stop? part next seeds))))
;;;> A Left of the seeds if they satisfy `stop?`; otherwise a Right of what `part` answers for them. Then the next seeds must satisfy it.
(define (either-unfold stop? part next . seeds)
  (if (apply stop? seeds) (%left seeds) (%right (%unfold stop? part next seeds))))
