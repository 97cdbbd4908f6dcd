;;;> Makes a prompt tag different from all others; the optional name is for people to read.
(define make-prompt-tag
  (case-lambda
    (() (list 'prompt))
    ((name) (list name))))

(define %default-tag (make-prompt-tag 'default))

;;;> Returns the tag of `prompt`, `control`, `reset` and `shift`.
(define (default-prompt-tag) %default-tag)

;;;> Calls `thunk` inside a prompt. An abort to the tag calls `handler`, outside the prompt, with a
;;;> continuation of the frames up to the prompt and the values given to `abort-to-prompt`.
(define (call-with-prompt tag thunk handler)
  ;; The machine removes the frame when the prompt's body returns, so that the body is a tail call.
  (%call-with-prompt tag thunk handler (cons '%prompt tag)))

;;; Returns the part of the dynamic state that starts with the frame of the nearest prompt of a tag.
(define (%prompt-frames tag)
  (let loop ((frames (%dynamic)))
    (cond ((null? frames) '())
          ((and (eq? (cdr (car frames)) tag) (memq (car (car frames)) '(%prompt %guard))) frames)
          (else (loop (cdr frames))))))

;;; Moves the frames of `state` inside the prompt whose frame starts `base` to the front of the
;;; current state.
(define (%rebase state base)
  (let loop ((frames state))
    (if (or (null? frames) (eq? frames base))
        (%dynamic)
        (cons (car frames) (loop (cdr frames))))))

;;; Returns the winders of a composable continuation on top of the present ones.
(define (%rewound winders outside base)
  (if (eq? winders outside)
      (%winders)
      (let ((winder (car winders)))
        (cons (if (pair? winder)
                  (cons (car winder) (cons (cadr winder) (%rebase (cddr winder) base)))
                  winder)
              (%rewound (cdr winders) outside base)))))

;;; The raw continuation resumes with the current winders and dynamic state, and its frames remove
;;; those that are added here. Its extents are entered inside it, outermost first.
(define (%composable-procedure k tag)
  (let* ((outside (%find-prompt tag))
         (winders (%composable-winders k))
         (base (%prompt-frames tag))
         (state (%dynamic)))
    (if (and (eq? winders outside) (eq? state base))
        k
        (lambda vals
          (let* ((present (%winders)) (wound (%rewound winders outside base)))
            (%set-dynamic! (%rebase state base))
            (%set-winders! wound)
            (%resume-composable k
              (if (eq? wound present)
                  vals
                  (lambda ()
                    (%set-winders! present)
                    (%wind wound present)
                    (apply values vals)))))))))

(define (%require-prompt tag)
  (if (not (%find-prompt tag))
      (raise (%make-condition 'no-prompt "there is no prompt with this tag" (list tag)))))

;;; Says whether a bar is inside the nearest prompt of a tag.
(define (%barred? tag)
  (let loop ((frames (%dynamic)) (barred #f))
    (cond ((null? frames) #f)
          ((and (eq? (cdar frames) tag) (memq (caar frames) '(%prompt %guard))) barred)
          (else (loop (cdr frames) (or barred (eq? (caar frames) '%bar)))))))

;;; Returns the composable procedure of a raw continuation up to the prompt of a tag, or one that fails
;;; if there is a bar between.
(define (%resumption k tag)
  (if (%barred? tag)
      (lambda vals
        (error
          "a continuation from a before or after thunk that ran because its extent was entered \
or left cannot be resumed"))
      (%composable-procedure k tag)))

;;;> Calls `receiver` with a procedure that extends the current continuation by the frames up to the
;;;> prompt.
(define call-with-composable-continuation
  (case-lambda
    ((receiver) (call-with-composable-continuation receiver %default-tag))
    ((receiver tag)
     (%require-prompt tag)
     (%call-with-composable tag (lambda (k) (receiver (%resumption k tag)))))))

;;;> Aborts to the nearest prompt of the tag; its handler receives the continuation up to the
;;;> prompt, and the values.
(define (abort-to-prompt tag . vals)
  (%abort-with-continuation tag vals %abort-through-extents))

;;; Works like `abort-to-prompt`, when there are extents to leave, or frames of the dynamic state.
(define (%abort-through-extents tag vals)
  (%require-prompt tag)
  (%call-with-composable tag
    (lambda (k)
      (let ((resume (%resumption k tag)))
        (%unwind (%find-prompt tag))
        (%abort-to-prompt tag (cons resume vals))))))

;;; The handler runs the action of `control` inside the prompt again.
(define (%prompt tag thunk)
  (call-with-prompt tag thunk (lambda (k receiver) (%prompt tag (lambda () (receiver k))))))

(define (%shift tag receiver)
  (abort-to-prompt tag
    (lambda (k) (receiver (lambda vals (%prompt tag (lambda () (apply k vals))))))))

;;;> Evaluates the body inside a prompt.
(define-syntax prompt
  (syntax-rules () ((_ body ...) (prompt-at %default-tag body ...))))

;;;> Evaluates the body in place of the nearest prompt's content, with `k` bound to the continuation
;;;> up to that prompt.
(define-syntax control
  (syntax-rules () ((_ k body ...) (control-at %default-tag k body ...))))

;;;> Like `prompt`, with a tag.
(define-syntax prompt-at
  (syntax-rules () ((_ tag body ...) (%prompt tag (lambda () body ...)))))

;;;> Like `control`, up to the nearest prompt with a tag.
(define-syntax control-at
  (syntax-rules () ((_ tag k body ...) (abort-to-prompt tag (lambda (k) body ...)))))

;;;> Like `prompt`, for `shift`.
(define-syntax reset
  (syntax-rules () ((_ body ...) (prompt-at %default-tag body ...))))

;;;> Like `control`, but calling `k` installs a new prompt.
(define-syntax shift
  (syntax-rules () ((_ k body ...) (shift-at %default-tag k body ...))))

;;;> Like `reset`, with a tag.
(define-syntax reset-at
  (syntax-rules () ((_ tag body ...) (prompt-at tag body ...))))

;;;> Like `shift`, up to the nearest prompt with a tag.
(define-syntax shift-at
  (syntax-rules () ((_ tag k body ...) (%shift tag (lambda (k) body ...)))))
