;;;> The payload of a Just as a list; for the Nothing, the empty list.
(define (maybe->list maybe) (%check maybe? maybe) (if (just? maybe) (%just-payload maybe) '()))
;;;> The payload as a list.
(define (either->list either) (%check either? either) (%payload either))
;;;> A Just of the elements of a list; of none, the Nothing.
(define (list->maybe list) (if (null? list) %the-nothing (%just list)))
;;;> A Right of the elements of a list; of none, a Left of the further arguments.
(define (list->either list . reason) (if (null? list) (%left reason) (%right list)))

;;;> The one value of a Just; for the Nothing, #f.
(define (maybe->truth maybe) (%check maybe? maybe) (if (just? maybe) (%only (%just-payload maybe) maybe) #f))
;;;> The one value of a Right; for a Left, #f.
(define (either->truth either) (%check either? either) (if (right? either) (%only (%right-payload either) either) #f))
;;;> A Just of an object; for #f, the Nothing.
(define (truth->maybe object) (if object (just object) %the-nothing))
;;;> A Right of an object; for #f, a Left of the further arguments.
(define (truth->either object . reason) (if object (right object) (%left reason)))

;;;> The payload of a Just as a list; for the Nothing, #f.
(define (maybe->list-truth maybe) (%check maybe? maybe) (and (just? maybe) (%just-payload maybe)))
;;;> The payload of a Right as a list; for a Left, #f.
(define (either->list-truth either) (%check either? either) (and (right? either) (%right-payload either)))
;;;> A Just of the elements of a list; for #f, the Nothing.
(define (list-truth->maybe list) (if list (%just list) %the-nothing))
;;;> A Right of the elements of a list; for #f, a Left of the further arguments.
(define (list-truth->either list . reason) (if list (%right list) (%left reason)))

;;;> The one value of a Just; for the Nothing, the end of file.
(define (maybe->generation maybe)
  (%check maybe? maybe)
  (if (just? maybe) (%only (%just-payload maybe) maybe) (eof-object)))
;;;> A Just of an object; for the end of file, the Nothing.
(define (generation->maybe object) (if (eof-object? object) %the-nothing (just object)))
;;;> The one value of a Right; for a Left, the end of file.
(define (either->generation either)
  (%check either? either)
  (if (right? either) (%only (%right-payload either) either) (eof-object)))
;;;> A Right of an object; for the end of file, a Left of the further arguments.
(define (generation->either object . reason) (if (eof-object? object) (%left reason) (right object)))

;;;> The payload of a Just as values; for the Nothing, none.
(define (maybe->values maybe) (apply values (maybe->list maybe)))
;;;> The payload of a Right as values; for a Left, none.
(define (either->values either) (apply values (or (either->list-truth either) '())))
;;;> A Just of the values of a thunk; of none, the Nothing.
(define (values->maybe thunk) (call-with-values thunk (lambda values (list->maybe values))))
;;;> A Right of the values of a thunk; of none, a Left of the further arguments.
(define (values->either thunk . reason)
  (call-with-values thunk (lambda values (apply list->either values reason))))
;;;> Two values: the one value of a Just and #t, or #f twice.
(define (maybe->two-values maybe)
  (%check maybe? maybe)
  (if (just? maybe) (values (%only (%just-payload maybe) maybe) #t) (values #f #f)))
;;;> A Just of the first of a thunk's two values if the second is true; otherwise the Nothing.
(define (two-values->maybe thunk)
  (call-with-values thunk (lambda (object present?) (if present? (just object) %the-nothing))))

;;;> A Right of the values of a thunk, or a Left of what it raises, if that satisfies a predicate.
(define (exception->either wanted? thunk)
  (guard (object ((wanted? object) (left object)))
    (call-with-values thunk right)))
