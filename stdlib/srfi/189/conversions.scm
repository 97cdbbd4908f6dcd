;;;> Returns the payload of a Just as a list; for the Nothing, the empty list.
(define (maybe->list maybe) (%check maybe? maybe) (if (just? maybe) (%just-payload maybe) '()))
;;;> Returns the payload as a list.
(define (either->list either) (%check either? either) (%payload either))
;;;> Returns a Just of the elements of a list; the Nothing if there are none.
(define (list->maybe list) (if (null? list) %the-nothing (%just list)))
;;;> Returns a Right of the elements of a list; a Left of the further arguments if there are none.
(define (list->either list . reason) (if (null? list) (%left reason) (%right list)))

;;;> Returns the one value of a Just; for the Nothing, #f.
(define (maybe->truth maybe)
  (%check maybe? maybe)
  (if (just? maybe) (%only (%just-payload maybe) maybe) #f))
;;;> Returns the one value of a Right; for a Left, #f.
(define (either->truth either)
  (%check either? either)
  (if (right? either) (%only (%right-payload either) either) #f))
;;;> Returns a Just of an object; for #f, the Nothing.
(define (truth->maybe object) (if object (just object) %the-nothing))
;;;> Returns a Right of an object; for #f, a Left of the further arguments.
(define (truth->either object . reason) (if object (right object) (%left reason)))

;;;> Returns the payload of a Just as a list; for the Nothing, #f.
(define (maybe->list-truth maybe) (%check maybe? maybe) (and (just? maybe) (%just-payload maybe)))
;;;> Returns the payload of a Right as a list; for a Left, #f.
(define (either->list-truth either)
  (%check either? either)
  (and (right? either) (%right-payload either)))
;;;> Returns a Just of the elements of a list; for #f, the Nothing.
(define (list-truth->maybe list) (if list (%just list) %the-nothing))
;;;> Returns a Right of the elements of a list; for #f, a Left of the further arguments.
(define (list-truth->either list . reason) (if list (%right list) (%left reason)))

;;;> Returns the one value of a Just; for the Nothing, the end of file.
(define (maybe->generation maybe)
  (%check maybe? maybe)
  (if (just? maybe) (%only (%just-payload maybe) maybe) (eof-object)))
;;;> Returns a Just of an object; for the end of file, the Nothing.
(define (generation->maybe object) (if (eof-object? object) %the-nothing (just object)))
;;;> Returns the one value of a Right; for a Left, the end of file.
(define (either->generation either)
  (%check either? either)
  (if (right? either) (%only (%right-payload either) either) (eof-object)))
;;;> Returns a Right of an object; for the end of file, a Left of the further arguments.
(define (generation->either object . reason)
  (if (eof-object? object) (%left reason) (right object)))

;;;> Returns the payload of a Just as values; for the Nothing, none.
(define (maybe->values maybe) (apply values (maybe->list maybe)))
;;;> Returns the payload of a Right as values; for a Left, none.
(define (either->values either) (apply values (or (either->list-truth either) '())))
;;;> Returns a Just of the values of a thunk; the Nothing if there are none.
(define (values->maybe thunk) (call-with-values thunk (lambda values (list->maybe values))))
;;;> Returns a Right of the values of a thunk; a Left of the further arguments if there are none.
(define (values->either thunk . reason)
  (call-with-values thunk (lambda values (apply list->either values reason))))
;;;> Returns two values: the one value of a Just and #t, or #f twice.
(define (maybe->two-values maybe)
  (%check maybe? maybe)
  (if (just? maybe) (values (%only (%just-payload maybe) maybe) #t) (values #f #f)))
;;;> Returns a Just of the first of a thunk's two values if the second is true; otherwise the
;;;> Nothing.
(define (two-values->maybe thunk)
  (call-with-values thunk (lambda (object present?) (if present? (just object) %the-nothing))))

;;;> Returns a Right of the values of a thunk, or a Left of the object that it raises, if that
;;;> satisfies a predicate.
(define (exception->either wanted? thunk)
  (guard (object ((wanted? object) (left object)))
    (call-with-values thunk right)))
