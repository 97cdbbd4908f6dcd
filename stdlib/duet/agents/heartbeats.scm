;;; Heartbeats: work that says from time to time that it goes on, and is given up when it is silent.
;;;
;;; A heartbeat is the message `<agent-heartbeat id>`. For the work on a request, the id is that of
;;; the request; the actor that asked listens.

(define (%beat! id) (message! (record 'agent-heartbeat id)))

;;; Waits until no heartbeat has come for this many milliseconds.
(define (%until-silent id milliseconds)
  (if (with-timeout milliseconds (record 'agent-heartbeat ':field 0 ':equals id))
      (%until-silent id milliseconds)))

;;; Runs a thunk as a strand of `procedure`, and stops it when its heartbeats stay away; then calls
;;; `late`.
(define (%while-heard procedure id milliseconds thunk late)
  (%together procedure (list thunk (lambda () (%until-silent id milliseconds))) 2
    (lambda (index state content)
      (if (and (= index 1) (eq? state 'done)) late (%outcome state content)))
    #f))

(define (%check-heartbeat procedure milliseconds)
  (%check-time procedure milliseconds)
  (%check-await (elapsed milliseconds)))

;;;> Calls a procedure with one argument, `beat!`, and returns its value, as long as it is heard:
;;;> `(call-with-heartbeat milliseconds procedure [otherwise])`. The procedure calls `(beat!)` from
;;;> time to time, also from strands and handlers that it starts. When that many milliseconds have
;;;> passed since the last call, or since the beginning, it is stopped, as by `race`, and the value of
;;;> `otherwise`, a procedure of no arguments, is returned; without it, a condition of kind `timeout`
;;;> is raised. So long work need not have a limit of time, and work that hangs is noticed soon. Each
;;;> call is a message in the journal; once in some seconds is enough.
(define (call-with-heartbeat milliseconds procedure . otherwise)
  (%need-thunks 'call-with-heartbeat (cons procedure otherwise))
  (%check-heartbeat 'call-with-heartbeat milliseconds)
  (let ((id (generate-request-id! 'heartbeat 'beat)))
    (%while-heard 'call-with-heartbeat id milliseconds
      (lambda () (procedure (lambda () (%beat! id))))
      (if (pair? otherwise)
          (car otherwise)
          (lambda ()
            (raise (%make-condition 'timeout
                     "call-with-heartbeat: the procedure has not been heard of in time"
                     (list milliseconds))))))))

(define %heartbeat (make-parameter (lambda () (if #f #f))))

;;;> Returns the procedure of no arguments by which the work on the request that `reply-to` answers
;;;> says that it goes on, for whoever waits with `:heartbeat`; elsewhere, a procedure that does
;;;> nothing. Strands that the work starts do not have it by themselves; give it to them.
(define (current-heartbeat) (%heartbeat))
