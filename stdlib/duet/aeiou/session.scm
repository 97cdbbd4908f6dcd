;;; Sessions: what lasts from turn to turn under one SID.
;;;
;;; A session begins with the first loop of its SID and ends with the facet of that loop's caller.
;;; Its storage is kept as assertions `<aeiou/store sid key value>`, its counters as
;;; `<aeiou/counters sid decisions validations-failed progress-halts>`.
;;; Source: AEIOU v4, sections 2, 10 and 11.2.

(define-record-type <session>
  (%make-session sid facet values handles counters counters-handle is-busy)
  %session?
  (sid %session-sid)
  (facet %session-facet)
  (values %session-values)
  (handles %session-handles)
  (counters %session-counters)
  (counters-handle %counters-handle %set-counters-handle!)
  (is-busy %session-busy? %set-session-busy!))

;;; The sessions of this actor, by SID.
(define %open-sessions (dictionary))

(define (%session-of sid)
  (or (dictionary-ref %open-sessions sid #f)
      (let* ((facet (spawn-facet!))
             (session
               (%make-session sid facet (dictionary) (dictionary)
                 (dictionary 'decisions 0 'validations_failed 0 'progress_halts 0) #f #f)))
        (dictionary-set! %open-sessions sid session)
        (spawn
          (lambda () (on-stop (lambda () (dictionary-delete! %open-sessions sid))))
          facet)
        session)))

;;; Claims a SID in the run, as long as a facet lives; returns whether no other actor has claimed
;;; it. The later one of two claims sees the earlier one when it appears itself.
(define (%claim! sid place)
  (let ((token (generate-request-id! 'aeiou 'claim)) (mailbox (%make-mailbox '() #f)))
    (spawn
      (lambda ()
        (guard (problem (#t (%mail! mailbox problem)))
          (assert! (record 'aeiou/turn sid token))
          (on-assert (aeiou/turn ,sid $claim) (%mail! mailbox claim))))
      place)
    (let loop ((is-alone #t))
      (let ((claim (%take-letter! mailbox "the session is claimed")))
        (cond ((condition? claim) (raise claim))
              ((not (equal? claim token)) (loop #f))
              ((pair? (%letters mailbox)) #f)
              (else is-alone))))))

(define (%refuse-turn sid)
  (%fail 'ERR_TURN_IN_FLIGHT (string-append "a turn of " sid " is in flight") sid))

;;; Calls a procedure with the session of a SID, which nobody else in the run may use meanwhile. The
;;; session is free again when the procedure ends, and when the facet of the caller stops.
(define (%call-in-session sid procedure)
  (let ((session (%session-of sid)))
    (if (%session-busy? session) (%refuse-turn sid))
    (%set-session-busy! session #t)
    (let ((place (spawn-facet!)))
      (spawn (lambda () (on-stop (lambda () (%set-session-busy! session #f)))) place)
      (dynamic-wind
        (lambda () #f)
        (lambda ()
          (if (not (%claim! sid place)) (%refuse-turn sid))
          (procedure session))
        (lambda ()
          (%set-session-busy! session #f)
          (stop-facet! place))))))

;;; Counts an event, and shows the counters as a fact.
(define (%count-event! session name)
  (let ((counters (%session-counters session)))
    (dictionary-set! counters name (+ 1 (dictionary-ref counters name 0)))
    (let ((fact (apply record 'aeiou/counters (%session-sid session)
                  (dictionary-values counters))))
      (spawn
        (lambda ()
          (let ((old (%counters-handle session)))
            (%set-counters-handle! session (if old (update! old fact) (assert! fact)))))
        (%session-facet session)))))

;; Storage.

;;; Makes the fact of a key in the session's facet what the value says; `#f` removes it.
(define (%show-entry! session key fact)
  (spawn
    (lambda ()
      (let* ((handles (%session-handles session)) (old (dictionary-ref handles key #f)))
        (cond
          ((and old fact) (dictionary-set! handles key (update! old fact)))
          (fact (dictionary-set! handles key (assert! fact)))
          (old (retract! old) (dictionary-delete! handles key)))))
    (%session-facet session)))

(define (%check-key key)
  (if (not (string? key)) (%wrong-type 'store "a string as key" key)))

;;; The tools of a session's storage, by name.
(define (%storage-of session)
  (let ((values (%session-values session)) (sid (%session-sid session)))
    (list
      (cons "store.get"
        (lambda (key) (%check-key key) (dictionary-ref values key 'null)))
      (cons "store.set"
        (lambda (key value)
          (%check-key key)
          (dictionary-set! values key value)
          (%show-entry! session key (record 'aeiou/store sid key value))
          'null))
      (cons "store.delete"
        (lambda (key)
          (%check-key key)
          (dictionary-delete! values key)
          (%show-entry! session key #f)
          'null))
      (cons "store.keys" (lambda () (dictionary-keys values))))))
