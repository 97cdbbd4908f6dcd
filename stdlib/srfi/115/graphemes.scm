;;; Boundaries of lines, words and grapheme clusters. The state of a search is the text, its start
;;; and end, the submatches found, the visited indices of repetitions, and those at which the rest
;;; after a choice has failed.

(define-record-type %state
  (%make-state text from to saved visited failed)
  %state?
  (text %text)
  (from %from)
  (to %to)
  (saved %saved)
  (visited %visited)
  (failed %failed))

(define (%before state index) (string-ref (%text state) (- index 1)))
(define (%after state index) (string-ref (%text state) index))

;;; Whether a character is before or after an index.
(define (%is-before? state index char)
  (and (> index (%from state)) (char=? (%before state index) char)))
(define (%is-after? state index char)
  (and (< index (%to state)) (char=? (%after state index) char)))

;;; A line ends with a line feed, a carriage return, or both in this order.
(define (%begins-line? state index)
  (or (= index (%from state))
      (%is-before? state index #\newline)
      (and (%is-before? state index #\return) (not (%is-after? state index #\newline)))))

(define (%ends-line? state index)
  (or (= index (%to state))
      (%is-after? state index #\return)
      (and (%is-after? state index #\newline) (not (%is-before? state index #\return)))))

(define (%word-char? char) (or (char-alphabetic? char) (char-numeric? char) (char=? char #\_)))
(define (%ascii-word-char? char) (and (char<? char #\x80) (%word-char? char)))

;;; Makes a predicate of an index in a search: `holds?` receives whether characters of words are
;;; before and after it.
(define (%at-word ascii? holds?)
  (let ((word-char? (if ascii? %ascii-word-char? %word-char?)))
    (lambda (state index)
      (holds? (and (> index (%from state)) (word-char? (%before state index)))
              (and (< index (%to state)) (word-char? (%after state index)))))))

(define (%between? code first last) (<= first code last))

;;; Returns the Hangul syllable type of a character: l, v, t, lv, lvt, or #f.
(define (%hangul code)
  (cond ((or (%between? code #x1100 #x115F) (%between? code #xA960 #xA97C)) 'l)
        ((or (%between? code #x1160 #x11A7) (%between? code #xD7B0 #xD7C6)) 'v)
        ((or (%between? code #x11A8 #x11FF) (%between? code #xD7CB #xD7FB)) 't)
        ((%between? code #xAC00 #xD7A3) (if (= 0 (modulo (- code #xAC00) 28)) 'lv 'lvt))
        (else #f)))

(define (%syllable-continues? a b)
  (case a
    ((l) (memq b '(l v lv lvt)))
    ((lv v) (memq b '(v t)))
    ((lvt t) (eq? b 't))
    (else #f)))

(define (%control? char) (and (memq (char-general-category char) '(Cc Zl Zp)) #t))

(define (%extends? char)
  (let ((code (char->integer char)))
    (or (%between? code #x200C #x200D)
        (%between? code #x1F3FB #x1F3FF)
        (and (memq (char-general-category char) '(Mn Me Mc)) #t))))

(define (%regional? char) (%between? (char->integer char) #x1F1E6 #x1F1FF))

;;; Returns whether an odd number of regional indicators ends before an index.
(define (%odd-regionals? state index)
  (let loop ((index index) (odd? #f))
    (if (and (> index (%from state)) (%regional? (%before state index)))
        (loop (- index 1) (not odd?))
        odd?)))

;;; Whether a grapheme cluster begins or ends at an index.
(define (%grapheme-break? state index)
  (or (= index (%from state))
      (= index (%to state))
      (let* ((a (%before state index)) (b (%after state index)))
        (cond ((and (char=? a #\return) (char=? b #\newline)) #f)
              ((or (%control? a) (%control? b)) #t)
              ((%syllable-continues? (%hangul (char->integer a)) (%hangul (char->integer b))) #f)
              ((%extends? b) #f)
              ((and (char=? a #\x200D) (eq? (char-general-category b) 'So)) #f)
              ((and (%regional? a) (%regional? b)) (not (%odd-regionals? state index)))
              (else #t)))))
