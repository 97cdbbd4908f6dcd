;; Comparing a trace with that of the reference implementation, as the decisions say. A difference
;; that they name carries the name, such as "row 2"; another one carries #f.

;;; The objects of an array that another array does not have, as JSON texts.
(define (texts-without texts others)
  (let ((known (list->set others))) (remove (lambda (it) (set-contains? known it)) texts)))

;;; Compares two lists of JSON texts as sets; `explain` returns the reason of a text, or #f.
(define (compare-sets place expected got explain)
  (append
    (map (lambda (it) (make-difference place it "nothing" (explain it)))
      (texts-without (delete-duplicates expected) got))
    (map (lambda (it) (make-difference place "nothing" it (explain it)))
      (texts-without (delete-duplicates got) expected))))

;; Parsing, acceptance, compatibility: exactly, except for rows 1 to 5.

(define (non-ascii? text)
  (pair? (filter (lambda (char) (> (char->integer char) 127)) (string->list text))))

(define (inside-list? text offset)
  (let loop ((index 0) (depth 0))
    (if (>= index (min offset (string-length text)))
        (> depth 0)
        (loop (+ index 1)
          (case (string-ref text index)
            ((#\() (+ depth 1))
            ((#\)) (max 0 (- depth 1)))
            (else depth))))))

;;; Why `read` refuses a text that the reference accepts, or #f.
(define (refusal-reason text read)
  (attempt
    (lambda () (read text) #f)
    (lambda (object)
      (let* ((fault (problem object)) (kind (field fault "error" "")) (offset (field fault "at" 0)))
        (cond
          ((equal? kind "empty-token") "row 2")
          ((member kind '("empty-list" "nested-token")) "row 3")
          ((equal? kind "empty-arrow") "row 4")
          ((and (equal? kind "bad-token") (inside-list? text offset)) "row 3")
          ((and (equal? kind "bad-token") (non-ascii? text)) "row 5")
          (else #f))))))

;;; Returns whether whitespace stands where the reference refuses it: inside a glyph, behind `/` or
;;; before `(`.
(define (inner-whitespace? text)
  (let loop ((chars (string->list text)) (before #f) (gap #f))
    (cond
      ((null? chars) #f)
      ((char-whitespace? (car chars)) (loop (cdr chars) before (and before #t)))
      ((and gap
            (or (char=? before #\/) (char=? (car chars) #\()
                (member (list before (car chars)) '((#\- #\-) (#\- #\>) (#\- #\[) (#\] #\-)))))
       #t)
      (else (loop (cdr chars) (car chars) #f)))))

;;; Why the reference refuses a text that `read` accepts, or #f.
(define (acceptance-reason text read)
  (attempt
    (lambda ()
      (let ((it (read text)))
        (cond
          ((inner-whitespace? text) "row 1")
          ((and (route? it) (initial-route? it) (null? (route-targets it))) "row 4")
          (else #f))))
    (lambda (object) #f)))

(define (reading-reason text read) (or (refusal-reason text read) (acceptance-reason text read)))

(define (error? object) (and (list? object) (assoc "error" object) #t))

(define (select object names) (map (lambda (name) (cons name (field object name 'null))) names))

(define route-fields
  '("source" "label" "target" "is_arrow" "is_object" "is_initial" "roundtrip" "activates"))

;;; Compares what was read of a text.
(define (compare-reading place read fields)
  (lambda (expected got)
    (let ((text (field got "in" "")))
      (define (differ reason)
        (list (make-difference (string-append place " " (json text)) (json expected)
                (json got) reason)))
      (cond
        ((not (equal? (field expected "in" #f) text)) (differ #f))
        ((and (error? expected) (error? got)) '())
        ((error? got) (differ (refusal-reason text read)))
        ((error? expected) (differ (acceptance-reason text read)))
        ((not (equal? (select expected fields) (select got fields))) (differ #f))
        ((equal? (field expected "canonical" #f) (field got "canonical" #f)) '())
        ((canonical-style? expected) (differ #f))
        (else (differ "section 1.2"))))))

(define (canonical-style? expected)
  (let ((style (field expected "style" 'null)))
    (or (not (string? style))
        (string=? style "ArrowStyle(stem='-', brackets=('[', ']'), separator=',', tip='>')"))))

(define (compare-pairs place read)
  (lambda (expected got)
    (let ((one (vector-ref got 0))
          (other (vector-ref got 1))
          (result (vector-ref expected 2))
          (found (vector-ref got 2)))
      (if (or (equal? expected got) (and (error? result) (error? found)))
          '()
          (list (make-difference place (json expected) (json got)
                  (and (or (error? result) (error? found))
                    (or (reading-reason one read) (reading-reason other read)))))))))

(define (compare-arrays place compare)
  (lambda (expected got)
    (if (= (vector-length expected) (vector-length got))
        (append-map compare (vector->list expected) (vector->list got))
        (list (make-difference place (json expected) (json got) #f)))))

;; Cycles.

;;; The reasons for which a receiver or sender of a case is another one for the reference: a list of
;;; pairs of a name and a reason.
(define (strange-handlers case)
  (let loop ((rest (append (items (field case "receivers" '#()) "receivers"))) (strange '()))
    (if (null? rest)
        (append strange
          (filter-map (lambda (it) (strange-route it))
            (items (field case "senders" '#()) "senders")))
        (loop (cdr rest)
          (let ((it (or (strange-route (car rest)) (replaced-later (car rest) (cdr rest)))))
            (if it (cons it strange) strange))))))

(define (strange-route json)
  (let ((reason (reading-reason (field json "route" "") ->route)))
    (and reason (cons (field json "name" "") reason))))

(define (canonical json)
  (attempt (lambda () (route->string (->route (field json "route" "")))) (lambda (object) #f)))

(define (replaced-later json others)
  (and (canonical json) (member (canonical json) (map canonical others))
    (cons (field json "name" "") "row 17")))

(define (same-priority-hooks? case direction)
  (let ((priorities
          (map priority-of
            (filter (lambda (it) (equal? (field it "direction" "RECEIVE") direction))
              (items (field case "hooks" '#()) "hooks")))))
    (not (= (length priorities) (length (delete-duplicates priorities))))))

(define (raised? step) (equal? (field step "out" 'null) '(("raised" . true))))

(define (steps-reason case direction expected)
  (cond ((same-priority-hooks? case direction) "row 12")
        ((pair? (filter raised? expected)) "row 13")
        (else #f)))

(define (place-of activation)
  (select activation '("priority" "receiver" "key" "state" "initial")))

(define (outcome-of activation)
  (let ((outcome (field activation "outcome" 'null)))
    (if (and (list? outcome) (assoc "action" outcome))
        (select outcome '("action" "trigger"))
        'null)))

;;; The first activation at each place, with its position.
(define (collapse activations)
  (let ((seen (dictionary)))
    (filter-map
      (lambda (it position)
        (let ((place (place-of it)))
          (and (not (dictionary-contains? seen place))
               (begin (dictionary-set! seen place #t) (cons position it)))))
      activations (iota (length activations)))))

(define (activation-text it with-outcome)
  (json (if with-outcome
            (append (place-of it) (list (cons "outcome" (outcome-of it))))
            (place-of it))))

;;; Compares activations as sets. A difference is explained by `reason`, by the receiver, or by a
;;; state that is no token here.
(define (compare-activations place expected got with-outcomes strange reason)
  (define (text it) (activation-text it with-outcomes))
  (define (explained it)
    (let ((state (field it "state" 'null)))
      (or reason
          (cond ((assoc (field it "receiver" "") strange) => cdr) (else #f))
          (and (string? state) (refusal-reason state ->token)))))
  (define (without list others)
    (let ((known (list->set (map text others))))
      (remove (lambda (it) (set-contains? known (text it))) list)))
  (append
    (map (lambda (it) (make-difference place (text it) "nothing" (explained it)))
      (without expected got))
    (map (lambda (it) (make-difference place "nothing" (text it) (explained it)))
      (without got expected))))

;;; What the activations activate that the reference repeats, once for each gate of a receiver.
(define (repeated-texts activations collapsed is-indexed)
  (append-map
    (lambda (it position)
      (let ((action (field (outcome-of it) "action" 'null)))
        (if (or (assv position collapsed) (not (string? action)))
            '()
            (map
              (lambda (token)
                (json (if is-indexed
                          (vector (field it "key" 'null) (token->string token))
                          (token->string token))))
              (route-activates (->route (field it "route" ""))
                (string->symbol (string-downcase action)))))))
    activations (iota (length activations))))

;;; Why a state of a tape of the reference is no token here, or #f.
(define (refused-state-reason tape is-indexed)
  (let ((texts (if is-indexed
                   (append-map (lambda (entry) (vector->list (vector-ref entry 1)))
                     (vector->list tape))
                   (vector->list tape))))
    (any (lambda (text) (refusal-reason text ->token)) texts)))

;;; What a tape or proposals hold, as texts of keys and tokens.
(define (holdings entries is-indexed)
  (if is-indexed
      (append-map
        (lambda (entry)
          (map (lambda (token) (json (vector (vector-ref entry 0) token)))
            (vector->list (vector-ref entry 1))))
        (vector->list entries))
      (map json (vector->list entries))))

(define (proposal-texts expected is-indexed)
  (append-map (lambda (batch) (holdings batch is-indexed))
    (items (field expected "proposals" '#()) "proposals")))

(define (activated-texts got is-indexed)
  (append-map
    (lambda (it)
      (map (lambda (token) (json (if is-indexed (vector (field it "key" 'null) token) token)))
        (vector->list (field it "activates" '#()))))
    (vector->list (field got "activations" '#()))))

(define (reactive? sender)
  (define (filters? name)
    (let ((value (field sender name 'null))) (and (vector? value) (< 0 (vector-length value)))))
  (or (filters? "on_actions") (filters? "on_triggers")))

;;; The senders that the reference finds eligible for an event at one of the positions.
(define (eligible-names expected positions)
  (filter-map
    (lambda (it)
      (and (eq? (field it "route_ok" 'null) 'true) (eq? (field it "filters_ok" 'null) 'true)
           (or (not positions) (memv (field it "event" -1) positions))
           (field it "sender" "")))
    (items (field expected "eligibility" '#()) "eligibility")))

(define (compare-senders place case expected got positions strange reason)
  (let* ((found
           (map (lambda (it) (field it "sender" ""))
             (vector->list (field got "sender_invocations" '#()))))
         (invoked (map (lambda (it) (field it "sender" ""))
                    (items (field expected "sender_invocations" '#()) "sender_invocations")))
         (eligible (eligible-names expected positions)))
    (append-map
      (lambda (sender)
        (let* ((name (field sender "name" ""))
               (expects (and (member name (if (reactive? sender) eligible invoked)) #t))
               (has (and (member name found) #t)))
          (if (eq? expects has)
              '()
              (list (make-difference (string-append place " sender " name)
                      (if expects "eligible" "not eligible") (if has "eligible" "not eligible")
                      (cond ((not (reactive? sender)) "row 11")
                            ((assoc name strange) => cdr)
                            (else reason)))))))
      (delete-duplicates (items (field case "senders" '#()) "senders")
        (lambda (a b) (equal? (field a "name" "") (field b "name" "")))))))

;;; Compares what send hooks made of the payloads that both saw.
(define (compare-send-hooks place case expected got reason)
  (let ((known (dictionary)) (steps (items (field expected "send_hooks" '#()) "send_hooks")))
    (define (key step) (select step '("hook" "in")))
    (for-each (lambda (step) (dictionary-set! known (key step) step)) steps)
    (append-map
      (lambda (step)
        (let ((other (dictionary-ref known (key step) step)))
          (if (equal? (field step "out" 'null) (field other "out" 'null))
              '()
              (list (make-difference place (json other) (json step)
                      (or reason (steps-reason case "SEND" steps)))))))
      (vector->list (field got "send_hooks" '#())))))

(define (compare-cycle case strange is-indexed)
  (lambda (index expected got)
    (let* ((place (string-append "cycles[" (number->string index) "]"))
           (steps (list->vector (items (field expected "receive_hooks" '#()) "receive_hooks")))
           (own-steps (field got "receive_hooks" '#()))
           (same-steps? (json=? (data->value steps) (data->value own-steps)))
           (activations (items (field expected "activations" '#()) "activations"))
           (found (vector->list (field got "activations" '#())))
           (collapsed (collapse activations))
           (repeated? (< (length collapsed) (length activations)))
           (crashed?
             (pair? (or (assoc "receiver_loop_crashed" expected)
                        (assoc "sender_loop_crashed" expected))))
           (reason
             (cond (crashed? "row 13")
                   (same-steps? (and (any raised? (vector->list steps)) "row 13"))
                   (else (steps-reason case "RECEIVE" (vector->list steps)))))
           (names (map (lambda (it) (field it "receiver" "")) (append activations found)))
           (stranger (find (lambda (it) (member (car it) names)) strange))
           (tape-reason
             (or reason
                 (and stranger (cdr stranger))
                 (refused-state-reason (field expected "pre_tape" '#()) is-indexed)))
           (repeated (if tape-reason '() (repeated-texts activations collapsed is-indexed))))
      (define (explain text) (or tape-reason (and (member text repeated) "row 6")))
      (append
        (if same-steps?
            '()
            (list (make-difference (string-append place " receive hooks") (json steps)
                    (json own-steps) reason)))
        (compare-activations (string-append place " activation")
          (map cdr collapsed) found (not crashed?) strange reason)
        (compare-sets (string-append place " proposal")
          (proposal-texts expected is-indexed) (activated-texts got is-indexed) explain)
        (compare-sets (string-append place " tape")
          (holdings (field expected "post_tape" '#()) is-indexed)
          (holdings (field got "post_tape" '#()) is-indexed)
          explain)
        (compare-senders place case expected got
          (and repeated? (map car collapsed)) strange tape-reason)
        (compare-send-hooks (string-append place " send hook") case expected got reason)))))

(define (compare-cycles case expected got)
  (let* ((cycles (items (field expected "cycles" '#()) "cycles"))
         (found (items (field got "cycles" '#()) "cycles"))
         (count (min (length cycles) (length found)))
         (compare (compare-cycle case (strange-handlers case)
                    (indexed? (field case "tape" 'null)))))
    (append
      (append-map (lambda (index) (compare index (list-ref cycles index) (list-ref found index)))
        (iota count))
      (if (= (length cycles) (length found))
          '()
          (list (make-difference "cycles" (number->string (length cycles))
                  (number->string (length found))
                  (and (pair? cycles) (assoc "receiver_loop_crashed" (last cycles)) "row 13")))))))

(define (compare-runs case expected got)
  (define (differ reason)
    (list (make-difference "run" (if (assoc "run_error" expected) "an error" "cycles")
                           (if (assoc "run_error" got)
                               (json (field got "run_error" 'null))
                               "cycles") reason)))
  (cond
    ((not (assoc "receivers" case)) '())
    ((assoc "outside" got)
     (list (make-difference "run" "receivers without routes" "nothing" "section 1.6")))
    ((and (assoc "run_error" expected) (assoc "run_error" got)) '())
    ((assoc "run_error" expected) (differ #f))
    ((assoc "run_error" got)
     (differ
       (find (lambda (it) it)
         (append (map (lambda (it) (refusal-reason it ->token))
                   (append-map cdr (tape-of (field case "tape" 'null)))) '(#f)))))
    (else (compare-cycles case expected got))))

;;; The styles that are none, as texts.
(define (style-texts trace)
  (map (lambda (it) (json (field it "style" 'null)))
    (items (field trace "style_errors" '#()) "style_errors")))

;;; The differences between the traces of a case.
(define (compare-traces case expected got)
  (let ((styles (car (read-styles case))))
    (define (route text) (->route text styles))
    (define (section name compare)
      (if (or (assoc name expected) (assoc name got))
          ((compare-arrays name compare) (field expected name '#()) (field got name '#()))
          '()))
    (append
      (compare-sets "style_errors" (style-texts expected) (style-texts got) (lambda (it) #f))
      (section "nodes" (compare-reading "nodes" ->token '("kind" "values" "str")))
      (section "parse" (compare-reading "parse" route route-fields))
      (section "accepts" (compare-pairs "accepts" ->token))
      (section "compat" (compare-pairs "compat" route))
      (section "signals" (compare-pairs "signals" string->symbol))
      (compare-runs case expected got))))

;;; The tapes from which the reference's cycles begin, as the application keeps them, without states
;;; that are no tokens here.
(define (tapes-of case expected)
  (define (known tokens)
    (remove (lambda (text) (refusal-reason text ->token)) (vector->list tokens)))
  (map
    (lambda (cycle)
      (let ((tape (field cycle "pre_tape" '#())))
        (if (indexed? (field case "tape" 'null))
            (map (lambda (entry) (cons (vector-ref entry 0) (known (vector-ref entry 1))))
              (vector->list tape))
            (list (cons #f (known tape))))))
    (items (field expected "cycles" '#()) "cycles")))
