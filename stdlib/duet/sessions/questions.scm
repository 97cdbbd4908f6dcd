;;; What a session asks its clients, and what they hear of its calls of tools. The runtime tells the
;;; actor of a session about its own requests; questions for a line of input are the session's own.

(define-record-type <questions>
  (%make-questions begin! end! open? part!)
  %questions?
  ;; To call before each request: input that has ended goes on.
  (begin! %questions-begin!)
  ;; To call with the tag of a request that has ended: it asks for no line any more.
  (end! %questions-end!)
  ;; Says whether a question or a call of a request is open, by its tag.
  (open? %questions-open?)
  ;; To call after the last event of a request: its later calls have no tag.
  (part! %questions-part!))

;;; Makes events of what this actor asks; `tag-of` gives the tag of the request that a fiber
;;; evaluates.
(define (%questions id teller tag-of)
  (let ((tell! (car teller))
        (keep! (cadr teller))
        (release! (caddr teller))
        ;; The open questions: a list of an event's number, a tag, and the receiver of the answer, or
        ;; `#f` where the runtime has the question.
        (open (dictionary))
        (lines 0)
        ;; The tag of each call of a tool that has not ended.
        (calls (dictionary)))
    (define (open! kind name prompt tag receiver)
      (let ((number (tell! kind (record 'question name prompt) tag)))
        (keep! number)
        (dictionary-set! open name (list number tag receiver))))
    (define (close! name)
      (let ((known (dictionary-ref open name #f)))
        (when known
          (dictionary-delete! open name)
          (release! (car known))
          (tell! 'closed name #f))))
    (define (answer! name value)
      (let ((known (dictionary-ref open name #f)))
        (cond ((and known (caddr known)) ((caddr known) value))
              ((not (and known (%answer! name value))) (tell! 'stale name #f)))))
    ;; Asks for a line; returns its bytes, none at the end of the input.
    (define (read-bytes!)
      (set! lines (+ lines 1))
      (let ((name (string-append "line-" (number->string lines)))
            (fiber (%current-fiber))
            (bytes #f))
        (open! 'question name (record 'line) (tag-of fiber)
          (lambda (value)
            (set! bytes (if (string? value) (string->utf8 (string-append value "\n")) (bytevector)))
            (close! name)
            (%wake fiber)))
        (%sleep "a client of the session types a line")
        bytes))
    (define (heard! change name subject fiber)
      (case change
        ((asked) (open! 'question name subject (tag-of fiber) #f))
        ((proposed) (open! 'approval name subject (tag-of fiber) #f))
        ((closed) (close! name))
        ((logged) (tell! 'log subject (tag-of fiber)))
        (else (tool! change name subject fiber))))
    (define (tool! change name subject fiber)
      (let ((tag (dictionary-ref calls name (tag-of fiber))))
        (if (memq change '(called waiting))
            (dictionary-set! calls name tag)
            (dictionary-delete! calls name))
        (tell! 'tool (record 'tool name subject change) tag)))
    (define (end! tag)
      (for-each
        (lambda (name)
          (let ((known (dictionary-ref open name #f)))
            (if (and (caddr known) (equal? (cadr known) tag)) (close! name))))
        (dictionary-keys open)))
    (define (open? tag)
      (define (those table tag-in)
        (filter (lambda (name) (equal? (tag-in (dictionary-ref table name)) tag))
          (dictionary-keys table)))
      (or (pair? (those calls (lambda (tag) tag))) (pair? (those open cadr))))
    (define (part! tag)
      (for-each
        (lambda (name)
          (if (equal? (dictionary-ref calls name) tag) (dictionary-set! calls name #f)))
        (dictionary-keys calls)))
    (on-message (request/changed $name $change $subject $fiber) (heard! change name subject fiber))
    (on-message (session/answer :session ,id :question $name :payload $value) (answer! name value))
    (%make-questions
      (lambda () (%set-port-receiver! (%console-port 0) read-bytes!))
      end! open? part!)))
