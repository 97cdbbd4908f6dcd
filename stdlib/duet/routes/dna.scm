;;; DNA: the registrations of an agent as a JSON document (profile, section 7), and what can be said
;;; about one from elsewhere. Nothing of a document is executed.

;;;> The identifier of the profile that this library implements.
(define route-profile "summoner-standard-profile/0.1")

(define (%names->json symbols)
  (map (lambda (name) (string-upcase (symbol->string name))) (or symbols '())))

(define (%registration->json it)
  (let ((fields (dictionary)) (kind (registration-kind it)))
    (define (field! name value) (dictionary-set! fields name value))
    (field! 'kind kind)
    (if (registration-route it)
        (field! 'route (route->string (registration-route it)))
        (field! 'direction (string-upcase (symbol->string (%direction it)))))
    (field! 'priority (registration-priority it))
    (field! 'module (%module-name it))
    (field! 'function (%function it))
    (field! 'code (caddr (%code it)))
    (field! 'name (symbol->string (registration-name it)))
    (if (eq? kind 'sender)
        (begin
          (field! 'actions (%names->json (%actions it)))
          (field! 'triggers (map symbol->string (or (%triggers it) '())))
          (field! 'under (map symbol->string (%under it)))
          (field! 'multi (and (%multi? it) #t))))
    fields))

(define (%dna-text it)
  (list (symbol->string (registration-kind it))
        (if (registration-route it)
            (route->string (registration-route it))
            (symbol->string (%direction it)))))

;;; Orders registrations by kind, route, priority, module, function, name and position.
(define (%dna<? a b)
  (let compare ((texts (%dna-text a)) (others (%dna-text b)))
    (cond
      ((pair? texts)
       (if (string=? (car texts) (car others))
           (compare (cdr texts) (cdr others))
           (string<? (car texts) (car others))))
      ((not (equal? (registration-priority a) (registration-priority b)))
       (%priority<? (registration-priority a) (registration-priority b)))
      ((not (string=? (%module-name a) (%module-name b)))
       (string<? (%module-name a) (%module-name b)))
      ((not (string=? (%function a) (%function b))) (string<? (%function a) (%function b)))
      ((not (eq? (registration-name a) (registration-name b)))
       (string<? (symbol->string (registration-name a)) (symbol->string (registration-name b))))
      (else (< (%sequence a) (%sequence b))))))

;;;> Returns the DNA of an agent: the text of a JSON object with `profile`, `agent` and
;;;> `registrations`. Each registration has its kind, canonical route or direction, priority,
;;;> name, module and function, the hash of the function's code, and a sender its filters and
;;;> whether it is `multi`. The module is that of `:module`, or the library of the procedure;
;;;> the function is the procedure's name, or the registration's if it has none. The hash,
;;;> `code`, is the same wherever the procedure stands and however its variables are called.
;;;> The values that it has captured count as they are now, except data in variables that are
;;;> assigned; the procedures that it calls by the names of a program or library do not. An
;;;> empty filter accepts everything. The text depends only on the registrations: they are
;;;> sorted by kind, route, priority, module, function, name and position.
;;;> Source: profile, section 7; decisions, row 19.
(define (agent-dna agent)
  (if (not (agent? agent)) (%wrong-type 'agent-dna "an agent" agent))
  (value->json
    (alist->dictionary
      (list (cons 'profile route-profile)
            (cons 'agent (agent-name agent))
            (cons 'registrations
              (map %registration->json (list-sort %dna<? (agent-registrations agent))))))))

;;;> Asserts `<route/dna name text>` with the DNA of an agent, so that the hash of the turn's record
;;;> covers it. Returns the handle.
(define (publish-dna! agent)
  (if (not (agent? agent)) (%wrong-type 'publish-dna! "an agent" agent))
  (assert! (record 'route/dna (agent-name agent) (agent-dna agent))))

(define (%text-of entry name)
  (let ((value (json-ref/default #f entry name))) (and (string? value) value)))

(define (%list-of entry name)
  (let ((value (json-ref/default '() entry name))) (if (list? value) value '())))

;;; Returns a pair of the canonical route of an entry, or #f, and its problems.
(define (%report-route entry)
  (let ((text (%text-of entry 'route)))
    (if (not text)
        '(#f "it has no route")
        (guard (object
                 ((condition? object)
                  (list #f
                    (string-append "its route `" text "` is refused: "
                                   (condition-message object)))))
          (list (route->string (->route text)))))))

;;; What an entry of the reference has that the profile does not have.
(define (%report-extras entry)
  (filter-map
    (lambda (extra)
      (let ((value (json-ref/default #f entry (car extra))))
        (and value (not (member value '(null "none"))) (cdr extra))))
    '((use_data . "it uses the data of events (use_data), which is outside the profile")
      (every . "it repeats (every), which is outside the profile")
      (run_while_kind . "it runs while a condition holds (run_while), which is outside the profile")
      (when_data_kind . "it selects by data (when_data), which is outside the profile"))))

(define (%report-filters entry kind)
  (if (and (eq? kind 'sender) (null? (%list-of entry 'on_actions))
           (null? (%list-of entry 'on_triggers)))
      '("it has no filter, so the reference runs it on every pass; here it runs for every event")
      '()))

(define (%report-entry own? entry position)
  (let* ((type (or (%text-of entry 'kind) (%text-of entry 'type) ""))
         (kind (cond ((assoc type '(("receive" . receiver) ("send" . sender))) => cdr)
                     (else (string->symbol type)))))
    (define (report route problems)
      (alist->dictionary
        (list (cons 'position position) (cons 'kind kind) (cons 'route route)
              (cons 'priority (%list-of entry 'priority))
              (cons 'module (%text-of entry 'module))
              (cons 'function (or (%text-of entry 'fn_name) (%text-of entry 'function)))
              (cons 'code (%text-of entry 'code))
              (cons 'problems problems))))
    (case kind
      ((receiver sender)
       (let ((route (%report-route entry)))
         (report (car route)
           (append (cdr route)
             (if own? '() (append (%report-extras entry) (%report-filters entry kind)))))))
      ((hook) (report #f '()))
      ((upload_states download_states)
       (report #f '("it is the application's tape; here the agent keeps it (`:tape`, `:policy`)")))
      ((__context__)
       (report #f '("it is Python source of the agent's module, which is not executed")))
      (else (report #f (list (string-append "its kind `" type "` is unknown")))))))

;;; The receivers of reported entries that the reference loses, because it keeps only the last one
;;; of a route.
(define (%report-repeated entries)
  (let ((seen (dictionary)))
    (filter-map
      (lambda (entry)
        (let ((route
                (and (eq? (dictionary-ref entry 'kind) 'receiver) (dictionary-ref entry 'route))))
          (and route
               (if (dictionary-contains? seen route)
                   (string-append "the reference keeps only the last receiver of the route " route)
                   (begin
                     (dictionary-set! seen route #t)
                     #f)))))
      entries)))

;;;> Reads a DNA document, of this library or of the reference implementation, and returns a report
;;;> on it, a dictionary: `format`, `profile` or `reference`; `profile`, the identifier that it
;;;> names, or `#f`; `registrations`, a list of dictionaries with `position`, `kind`, `route`
;;;> (canonical, or `#f`), `priority`, `module`, `function`, `code` and `problems`, a list of strings; and
;;;> `problems` of the whole. Executes nothing of the document.
;;;> Fails with `json-error` if the text is not JSON, and with `bad-dna` if it is no DNA.
;;;> Source: profile, section 7; decisions, section 1.11 and row 19.
(define (dna-report text)
  (if (not (string? text)) (%wrong-type 'dna-report "a string" text))
  (let* ((document (json->value text))
         (own? (and (dictionary? document) (list? (json-ref/default #f document 'registrations))))
         (entries (cond (own? (json-ref document 'registrations))
                        ((list? document) document)
                        (else #f))))
    (if (not (and entries (%every-entry? dictionary? entries)))
        (raise
          (%make-condition 'bad-dna
            "dna-report: a DNA is an array of objects, or an object with the array `registrations`"
            '())))
    (let* ((profile (and own? (%text-of document 'profile)))
           (reported
             (map (lambda (entry position) (%report-entry own? entry position))
               entries (iota (length entries)))))
      (alist->dictionary
        (list (cons 'format (if own? 'profile 'reference))
              (cons 'profile profile)
              (cons 'registrations reported)
              (cons 'problems
                (append
                  (cond ((equal? profile route-profile) '())
                        (profile
                         (list
                           (string-append "it is made for " profile ", not for " route-profile)))
                        (else '("it names no profile")))
                  (if own? '() (%report-repeated reported)))))))))
