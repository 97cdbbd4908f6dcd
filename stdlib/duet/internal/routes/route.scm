;;; Routes: object routes and arrow routes, and their canonical form (profile, section 3).

(define-record-type <arrow-style>
  (%make-arrow-style opening closing plain separator)
  ;;;> Returns whether an object is an arrow style.
  arrow-style?
  ;; `--[`, `]-->`, `-->` and `,` in the canonical style.
  (opening %style-opening)
  (closing %style-closing)
  (plain %style-plain)
  (separator %style-separator))

(define (%bad-style message . irritants)
  (raise (%make-condition 'bad-arrow-style (string-append "make-arrow-style: " message) irritants)))

;;; Fails if one of two different parts contains the other, because the end of a part would be
;;; ambiguous.
(define (%check-apart parts)
  (for-each
    (lambda (part)
      (for-each
        (lambda (other)
          (if (and (not (string=? part other)) (%search other part 0 (string-length other)))
              (%bad-style "one part contains another" part other)))
        parts))
    parts))

;;;> Makes a style in which arrows may be written: the stem is a string of one character, which is
;;;> doubled, the brackets, separator and tip are strings. `(make-arrow-style "-" "[" "]" "," ">")`
;;;> is the canonical style.
;;;> Fails with `bad-arrow-style` if a part is empty, contains whitespace, or contains another part,
;;;> or if the separator contains a character of the stem, brackets or tip, or `(`, `)` or `/`.
;;;> Source: decisions, section 1.2.
(define (make-arrow-style stem left right separator tip)
  (for-each
    (lambda (part)
      (if (not (and (string? part) (< 0 (string-length part))
                 (not (%any-character? char-whitespace? part))))
          (%bad-style "a part is a string with characters other than whitespace" part)))
    (list stem left right separator tip))
  (if (not (= (string-length stem) 1)) (%bad-style "the stem is one character" stem))
  (string-for-each
    (lambda (char)
      (if (memv char (string->list (string-append stem left right tip "()/")))
          (%bad-style "the separator has a character of another part, or `(`, `)` or `/`"
            separator)))
    separator)
  (let ((shaft (string-append stem stem)))
    (%check-apart (list shaft left right separator tip))
    (%make-arrow-style (string-append shaft left) (string-append right shaft tip)
      (string-append shaft tip) separator)))

(define (%any-character? predicate string)
  (let loop ((index 0))
    (and (< index (string-length string))
         (or (predicate (string-ref string index)) (loop (+ index 1))))))

;;;> The canonical arrow style, `A,B--[f]-->C`.
(define canonical-arrow-style (make-arrow-style "-" "[" "]" "," ">"))

(define-record-type <route>
  (%make-route sources labels targets text)
  ;;;> Returns whether an object is a route.
  route?
  ;;;> Returns the source gates of a route: a list of tokens, in their order.
  (sources route-sources)
  ;;;> Returns the labels of a route: a list of tokens.
  (labels route-labels)
  ;;;> Returns the targets of a route: a list of tokens.
  (targets route-targets)
  ;;;> Returns the canonical text of a route: without spaces, in the canonical arrow style, brackets
  ;;;> included: `A --> B` is `A--[]-->B`. It reads back as an equal route.
  ;;;> Source: profile, section 3.2.
  (text route->string))

(define (%need-route procedure object)
  (if (not (route? object)) (%wrong-type procedure "a route" object)))

;;;> Returns whether a route is an arrow route: it has a label or a target.
;;;> Source: decisions, row 4.
(define (arrow-route? route)
  (%need-route 'arrow-route? route)
  (or (pair? (route-labels route)) (pair? (route-targets route))))

;;;> Returns whether a route is initial: an arrow route without source, which every message makes
;;;> eligible once.
(define (initial-route? route)
  (%need-route 'initial-route? route)
  (null? (route-sources route)))

;;;> The maximum number of tokens of a route: 1 000.
(define route-tokens-max 1000)

(define (%part-text tokens) (string-join (map token->string tokens) ","))

(define (%build-route text sources labels targets)
  (if (> (+ (length sources) (length labels) (length targets)) route-tokens-max)
      (raise
        (%make-condition 'route-too-long "route: a route has at most route-tokens-max tokens"
          (list text route-tokens-max))))
  (%make-route sources labels targets
    (if (and (null? labels) (null? targets))
        (%part-text sources)
        (string-append (%part-text sources) "--[" (%part-text labels) "]-->"
          (%part-text targets)))))

(define (%read-part source separator start end)
  (if (= start end)
      '()
      (map (lambda (part) (%read-token source (car part) (cdr part)))
        (%split (%source-chars source) separator start end))))

(define (%first a b) (if (and a b) (min a b) (or a b)))

;;; Returns the style whose arrow begins first, as a pair of the index and the style, or #f.
(define (%find-arrow chars styles)
  (let loop ((styles styles) (found #f))
    (if (null? styles)
        found
        (let* ((style (car styles))
               (end (string-length chars))
               (index (%first (%search chars (%style-opening style) 0 end)
                        (%search chars (%style-plain style) 0 end))))
          (loop (cdr styles)
            (if (and index (or (not found) (< index (car found)))) (cons index style) found))))))

(define (%read-arrow source start style)
  (let* ((chars (%source-chars source))
         (end (string-length chars))
         (separator (%style-separator style))
         (labelled? (%starts? chars (%style-opening style) start end))
         (label-start (+ start (string-length (%style-opening style))))
         (label-end (and labelled? (%search chars (%style-closing style) label-start end))))
    (define (part from to) (%read-part source separator from to))
    (if (and labelled? (not label-end))
        (%source-fault 'bad-arrow
          (string-append "the label has no end `" (%style-closing style) "`") source start))
    (let* ((sources (part 0 start))
           (labels (if labelled? (part label-start label-end) '()))
           (target-start
             (if labelled?
                 (+ label-end (string-length (%style-closing style)))
                 (+ start (string-length (%style-plain style)))))
           (targets (part target-start end)))
      (if (and (null? sources) (null? labels) (null? targets))
          (%source-fault 'empty-arrow "an arrow needs a source, a label or a target" source start))
      (%build-route (%source-text source) sources labels targets))))

;;;> Returns the route that a string describes; a route is returned as it is. Whitespace is ignored,
;;;> except inside an identifier. An arrow without label and target is an object route. `styles`, by
;;;> default the canonical one, lists the styles of arrows to recognise.
;;;> Fails with the kinds of `->token`, with `empty-token` for an empty item or an empty text, with
;;;> `empty-arrow` for an arrow that has nothing, and with `bad-arrow` for a label without end.
;;;> Source: profile, section 3; decisions, rows 1 to 5.
(define ->route
  (case-lambda
    ((object) (->route object (list canonical-arrow-style)))
    ((object styles)
     (if (not (and (list? styles) (not (any (lambda (style) (not (arrow-style? style))) styles))))
         (%wrong-type '->route "a list of styles of arrows" styles))
     (cond
       ((route? object) object)
       ((symbol? object) (->route (symbol->string object) styles))
       ((string? object)
        (let* ((source (%read-source object))
               (chars (%source-chars source))
               (arrow (%find-arrow chars styles)))
          (cond
            (arrow (%read-arrow source (car arrow) (cdr arrow)))
            ((= (string-length chars) 0)
             (%source-fault 'empty-token "an object route needs a token" source 0))
            (else (%build-route object (%read-part source "," 0 (string-length chars)) '() '())))))
       (else (%wrong-type '->route "a string, a symbol or a route" object))))))

;;;> Returns the tokens that an action, `test`, `stay` or `move`, activates: an object route
;;;> activates its sources for `stay` and `move`; an arrow route its labels for `test`, its sources
;;;> for `stay`, and its labels and targets for `move`.
;;;> Source: profile, section 6.3; decisions, rows 21 and 22.
(define (route-activates route action)
  (case action
    ((stay) (route-sources route))
    ((test) (route-labels route))
    ((move) (if (arrow-route? route)
                (append (route-labels route) (route-targets route))
                (route-sources route)))
    (else (%wrong-type 'route-activates "test, stay or move" action))))

;;;> Returns whether some gate of a list accepts a state.
(define (some-accepts? gates state)
  (and (pair? gates)
       (or (accepts? (car gates) state) (some-accepts? (cdr gates) state))))

(define (%covered? gates states)
  (define (accepted? gate states)
    (and (pair? states) (or (accepts? gate (car states)) (accepted? gate (cdr states)))))
  (or (null? gates) (and (accepted? (car gates) states) (%covered? (cdr gates) states))))

;;;> Returns whether a sender's route is compatible with a receiver's: for each of source, label and
;;;> target, each token of the sender accepts some token of the receiver. So an empty part of the
;;;> sender constrains nothing.
;;;> Source: profile, section 6.4; decisions, section 1.4 and row 9.
(define (compatible? sender receiver)
  (%need-route 'compatible? sender)
  (%need-route 'compatible? receiver)
  (and (%covered? (route-sources sender) (route-sources receiver))
       (%covered? (route-labels sender) (route-labels receiver))
       (%covered? (route-targets sender) (route-targets receiver))))
