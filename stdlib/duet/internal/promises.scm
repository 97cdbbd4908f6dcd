;;; Promises. While a fiber runs the thunk of a promise, the content of the promise is a forcing,
;;; which is also among the fiber's winders. Another fiber waits until the promise has its value, or
;;; until the forcing has been left or its fiber has ended; then one that waits begins anew. The
;;; fiber itself, and those it waits for, may force the promise again meanwhile, as R7RS allows.

(define-record-type forcing
  (%forcing promise thunk before winders sleepers)
  %forcing?
  (promise %forcing-promise)
  (thunk %forcing-thunk)
  ;; The content of the promise before, and the winders where the forcing begins.
  (before %forcing-before)
  (winders %forcing-winders %set-forcing-winders!)
  ;; The numbers of the fibers that wait.
  (sleepers %forcing-sleepers %set-forcing-sleepers!))

(define (%add-sleepers! forcing fibers)
  (%set-forcing-sleepers! forcing (append fibers (%forcing-sleepers forcing))))

(define (%wake-all fibers)
  (if (pair? fibers)
      (begin
        (%wake (car fibers))
        (%wake-all (cdr fibers)))))

(define (%leave-forcing forcing)
  (let ((promise (%forcing-promise forcing)) (before (%forcing-before forcing)))
    (if (eq? (%promise-content promise) forcing)
        (begin
          (%promise-set! promise #f before)
          (if (%forcing? before)
              (%add-sleepers! before (%forcing-sleepers forcing))
              (%wake-all (reverse (%forcing-sleepers forcing))))
          (%set-forcing-sleepers! forcing '())))))

(define (%enter-forcing forcing)
  (let ((promise (%forcing-promise forcing)))
    (%set-forcing-winders! forcing (%winders))
    (if (eq? (%promise-content promise) (%forcing-before forcing))
        (%promise-set! promise #f forcing))))

;;; Runs the thunk of a promise, whose content is `before`, and lets the promise take over what it
;;; returns, unless the promise has got its value meanwhile. Returns the fibers that wait.
(define (%step-promise promise thunk before sleepers)
  (let* ((winders (%winders)) (forcing (%forcing promise thunk before winders sleepers)))
    (%promise-set! promise #f forcing)
    (%set-winders! (cons forcing winders))
    (let ((next (thunk)))
      (%set-winders! (cdr (%winders)))
      (if (not (%promise-state promise)) (%promise-take! promise (make-promise next)))
      (%forcing-sleepers forcing))))

;;; Waits for the fiber that forces a promise, unless that is this one or has gone. Returns the fibers
;;; that wait, if this fiber has made a step.
(define (%join-forcing promise forcing sleepers)
  (let* ((base (%base (%forcing-winders forcing))) (fiber (if (pair? base) (caar base) #f)))
    (cond ((%within? base) (%step-promise promise (%forcing-thunk forcing) forcing sleepers))
          ((not (%fiber-waits? fiber))
           (let ((thunk (%forcing-thunk forcing)))
             (%step-promise promise thunk thunk (append sleepers (%forcing-sleepers forcing)))))
          (else
           (%add-sleepers! forcing (cons (%current-fiber) sleepers))
           (%sleep "another fiber has forced a promise" fiber)
           '()))))

(define (%force-for promise sleepers)
  (let ((content (%promise-content promise)))
    (cond ((%promise-state promise)
           (%wake-all (reverse sleepers))
           content)
          ((procedure? content)
           (%force-for promise (%step-promise promise content content sleepers)))
          (else (%force-for promise (%join-forcing promise content sleepers))))))

;;;> Makes a promise for the value of the promise that the expression returns, in constant space
;;;> however long the chain.
;;;> If the expression returns another object, works like delay.
(define-syntax delay-force
  (syntax-rules () ((_ expression) (%make-promise #f (lambda () expression)))))

;;;> Makes a promise for the value of the expression, which is evaluated at the first force.
(define-syntax delay
  (syntax-rules () ((_ expression) (delay-force (%make-promise #t expression)))))

;;;> Makes a promise that already has its value; returns a promise unchanged.
(define (make-promise value)
  (if (promise? value) value (%make-promise #t value)))

;;;> Returns the value of a promise; any other object is its own value. While another fiber computes
;;;> the value, waits for it; if that fiber ends or raises an object instead, computes it here.
(define (force promise)
  (cond ((not (promise? promise)) promise)
        ((%promise-state promise) (%promise-content promise))
        (else (%force-for promise '()))))
