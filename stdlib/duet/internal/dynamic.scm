;;; The dynamic state is a list of frames, one for each current dynamic extent, innermost first:
;;;     (key . value)        a parameter has this value
;;;     (%handler . proc)    an exception handler
;;;     (%mask . #f)         one more of the outer handlers is running
;;;     (%prompt . tag)      a prompt
;;;     (%guard . proc)      a guard: an exception handler, and the prompt whose tag it is
;;;     (%bar . #f)          a before or after thunk, because an extent is entered or left
;;; A frame is removed by taking the first one off, never by restoring a saved list, so that frames
;;; captured by a composable continuation mean the same wherever they are resumed.

(define (%with-frame frame thunk)
  (%set-dynamic! (cons frame (%dynamic)))
  (let ((result (thunk)))
    (%set-dynamic! (cdr (%dynamic)))
    result))

;;; Runs a before or after thunk in the dynamic state of its extent. Where it goes on is a step on the
;;; way from one extent to another, which is nothing that a composable continuation could resume.
(define (%with-dynamic state thunk)
  (let ((old (%dynamic)))
    (%set-dynamic! (cons '(%bar . #f) state))
    (let ((result (thunk)))
      (%set-dynamic! old)
      result)))

;;; A winder is (before after . the dynamic state of the call of dynamic-wind), or the forcing of a
;;; promise. Below the winders of
;;; a fiber, except an actor's main fiber, is the pair of the fiber's number and its joint, which no
;;; other fiber has. A joint is #f or the pair of
;;;   a procedure that returns the places, continuations, where others wait for the fiber
;;;   a procedure that ends the fiber and has one of those call a thunk
;;; Continuations with the same winders therefore belong to the same fiber.

;;;> Calls `before`, `thunk` and `after` in turn, and `before` or `after` again whenever a
;;;> continuation enters or leaves the extent of `thunk`.
(define (dynamic-wind before thunk after)
  (before)
  (%set-winders! (cons (cons before (cons after (%dynamic))) (%winders)))
  (let ((result (thunk)))
    (%set-winders! (cdr (%winders)))
    (after)
    result))

(define (%common-tail a b)
  (let ((length-a (length a)) (length-b (length b)))
    (let loop ((a (if (> length-a length-b) (list-tail a (- length-a length-b)) a))
               (b (if (> length-b length-a) (list-tail b (- length-b length-a)) b)))
      (if (eq? a b) a (loop (cdr a) (cdr b))))))

;;; Leaves extents, innermost first, until the winders are those of `target`.
(define (%unwind target)
  (let ((winders (%winders)))
    (if (not (eq? winders target))
        (let ((winder (car winders)))
          (%set-winders! (cdr winders))
          (if (pair? winder)
              (%with-dynamic (cddr winder) (cadr winder))
              (%leave-forcing winder))
          (%unwind target)))))

;;; Enters extents, outermost first, from `common` to `target`.
(define (%wind target common)
  (if (not (eq? target common))
      (let ((winder (car target)))
        (%wind (cdr target) common)
        (if (pair? winder)
            (%with-dynamic (cddr winder) (car winder))
            (%enter-forcing winder))
        (%set-winders! target))))

;;; Makes the winders those of `target`, of the same fiber.
(define (%travel target)
  (let ((common (%common-tail (%winders) target)))
    (%unwind common)
    (%wind target common)))

;;; The machine calls this to throw values to a continuation with other winders. Extents are entered
;;; in the continuation, so that what their `before` thunks raise finds the guards there.
(define (%rewind k vals)
  (let* ((target (%continuation-winders k)) (home (%base target)))
    (if (eq? home (%base (%winders)))
        (let ((common (%common-tail (%winders) target)))
          (%unwind common)
          (if (eq? common target)
              (%throw k vals)
              (%throw k
                (lambda ()
                  (%set-winders! common)
                  (%wind target common)
                  (apply values vals)))))
        (%leave-fiber home
                      (lambda (place) (eq? (%base-at place) home))
                      (lambda () (apply k vals))))))

;;; Leaves all extents.
(define (%exit-extents) (%unwind (%base (%winders))))
