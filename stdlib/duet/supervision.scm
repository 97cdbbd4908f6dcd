;;; A child is spawned into a facet of its own, to which it is linked, so stopping the facet ends
;;; the child. A supervisor ignores a child whose facet was stopped on purpose: the closure that
;;; learns of its end sees that its facet is no longer the child's current one.

(define-record-type <child>
  (%make-child role config restart facet actor)
  %child?
  (role %child-role)
  (config %child-config)
  (restart %child-restart)
  (facet %child-facet %set-child-facet!)
  (actor %child-actor %set-child-actor!))

(define-record-type <supervisor>
  (%make-supervisor strategy children intensity period restarts facet)
  ;;;> Returns whether an object is a supervisor.
  supervisor?
  (strategy %strategy)
  (children %children %set-children!)
  (intensity %intensity)
  (period %period)
  (restarts %restarts %set-restarts!)
  (facet %facet))

(define (%wrong message . irritants) (apply error message irritants))

;;;> Describes a child of a supervisor, the entity that plays `role`: `(child role [:config value]
;;;> [:restart when])`. The entity's procedure is called with the `:config`, by default `#f`.
;;;> `:restart` says when it is spawned again: `permanent`, the default, whenever it ends;
;;;> `transient`, if it failed; `temporary`, never, also when the strategy ends it because of another.
(define (child role . options)
  (%check-options 'child options '(:config :restart))
  (let ((restart (%option options :restart 'permanent)))
    (if (not (memq restart '(permanent transient temporary)))
        (%wrong "child: a restart is permanent, transient or temporary" restart))
    (%make-child role (%option options :config #f) restart #f #f)))

;;;> Spawns the children, in their order, and spawns them again when they end: `(supervise strategy
;;;> children [:intensity n] [:period milliseconds])`. The strategy selects the children to restart
;;;> when one ends: `one-for-one`, only that one; `one-for-all`, all of them; `rest-for-one`, that
;;;> one and those after it in the list. After more than `:intensity` restarts, by default 3, within
;;;> `:period`, by default 5000 ms, the supervisor gives up: it ends all children and raises the
;;;> condition of the last one in the current facet, which ends this actor unless its own supervisor
;;;> restarts it. Returns the supervisor, which ends with the current facet. Raises
;;;> whatever `spawn-entity!` refuses, such as `unknown-role`.
(define (supervise strategy children . options)
  (if (not (memq strategy '(one-for-one one-for-all rest-for-one)))
      (%wrong "supervise: a strategy is one-for-one, one-for-all or rest-for-one" strategy))
  (%check-options 'supervise options '(:intensity :period))
  (let ((supervisor
          (%make-supervisor
            strategy children (%option options :intensity 3) (%option options :period 5000) 0
            (spawn-facet!))))
    (guard (failure
             (#t
              (stop-supervisor! supervisor)
              (raise failure)))
      (for-each (lambda (child) (%start supervisor child)) children))
    supervisor))

;;; Calls a procedure in the supervisor's facet, later in this turn.
(define (%in supervisor thunk) (spawn thunk (%facet supervisor)))

(define (%start supervisor child)
  (let ((facet (spawn-facet! (%facet supervisor))))
    (%set-child-facet! child facet)
    (%set-child-actor! child
      (spawn-entity! (%child-role child)
        :config (%child-config child)
        :link facet
        ;; The facet that started it hears of its end, also of one with the supervisor, which has
        ;; no children then.
        :on-exit (lambda (reason)
                   (if (pair? (%children supervisor))
                       (%in supervisor
                         (lambda ()
                           (if (eq? facet (%child-facet child))
                               (%ended supervisor child reason))))))))))

(define (%stop child)
  (let ((facet (%child-facet child)))
    (%set-child-facet! child #f)
    (%set-child-actor! child #f)
    (if facet (stop-facet! facet))))

(define (%ended supervisor child reason)
  (%stop child)
  (case (%child-restart child)
    ((permanent) (%restart supervisor child reason))
    ((transient)
     (if reason
         (%restart supervisor child reason)
         (%forget supervisor child)))
    (else (%forget supervisor child))))

(define (%forget supervisor gone)
  (%set-children! supervisor
    (let without ((children (%children supervisor)))
      (cond ((null? children) '())
            ((eq? (car children) gone) (cdr children))
            (else (cons (car children) (without (cdr children))))))))

(define (%restart supervisor child reason)
  (%set-restarts! supervisor (+ (%restarts supervisor) 1))
  (after (%period supervisor)
    (lambda () (%set-restarts! supervisor (- (%restarts supervisor) 1))))
  (if (> (%restarts supervisor) (%intensity supervisor))
      (%give-up supervisor reason)
      (let ((ended (%ended-with supervisor child)))
        (for-each %stop (reverse ended))
        (for-each (lambda (child)
                    (if (eq? (%child-restart child) 'temporary)
                        (%forget supervisor child)
                        (%start supervisor child)))
          ended))))

;;; The children that the strategy ends when one has ended, with that one.
(define (%ended-with supervisor child)
  (case (%strategy supervisor)
    ((one-for-one) (list child))
    ((one-for-all) (%children supervisor))
    (else (memq child (%children supervisor)))))

;;; The facet of the current fiber is about to stop, so a fiber of the facet around it must raise
;;; the object.
(define (%give-up supervisor reason)
  (let ((facet (%facet supervisor)))
    (%set-children! supervisor '())
    (on-stop
      (lambda ()
        (raise (or reason
                   (%make-condition 'restart-intensity
                                    "a supervised entity ended too often"
                                    '())))))
    (stop-facet! facet)))

;;;> Returns the children of a supervisor, in their order: a list of pairs of role and actor.
(define (supervisor-children supervisor)
  (map (lambda (child) (cons (%child-role child) (%child-actor child))) (%children supervisor)))

;;;> Ends a supervisor and its children.
(define (stop-supervisor! supervisor)
  (%set-children! supervisor '())
  (stop-facet! (%facet supervisor)))

;;;> Spawns an entity whose failure is also this actor's: `(spawn-linked-entity! role [option …])`,
;;;> with the options of `spawn-entity!` except `:on-exit`. If it fails, its condition is raised here;
;;;> as always, it ends with the current facet.
(define (spawn-linked-entity! role . options)
  (if (not (or (symbol? role) (string? role)))
      (%wrong-type 'spawn-linked-entity! "a role, which is a symbol or a string" role))
  (%check-options 'spawn-linked-entity! options '(:config :link :grants :memory-limit :fact-limit))
  (apply spawn-entity! role :on-exit (lambda (reason) (if reason (raise reason))) options))
