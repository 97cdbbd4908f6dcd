;;; From a tree to a matcher: a procedure of a state and an index that returns the end of the whole
;;; match, or #f. Each matcher knows the next one, so trying the next alternative is only another
;;; call. A matcher that has failed at an index fails there again, whatever came before, so each
;;; repetition, and the rest after a choice, is tried there once: a match takes at most time in
;;; proportion to the square of the text's length times the number of parts. With back references
;;; that does not hold, and only empty rounds of a loop are cut short.

(define-record-type %plan
  (%make-plan loops choices backrefs?)
  %plan?
  (loops %plan-loops %set-plan-loops!)
  (choices %plan-choices %set-plan-choices!)
  (backrefs? %plan-backrefs? %set-plan-backrefs!))

(define (%has-backrefs? tree)
  (case (vector-ref tree 0)
    ((same) #t)
    ((sequence either)
     (let loop ((index 1))
       (and (< index (vector-length tree))
            (or (%has-backrefs? (vector-ref tree index)) (loop (+ index 1))))))
    ((repeat) (%has-backrefs? (vector-ref tree 4)))
    ((save) (%has-backrefs? (vector-ref tree 2)))
    ((look) (%has-backrefs? (vector-ref tree 3)))
    (else #f)))

(define (%compile tree next plan)
  (case (vector-ref tree 0)
    ((set) (%compile-set (vector-ref tree 1) next))
    ((text) (%compile-text (vector-ref tree 1) (vector-ref tree 2) next))
    ((sequence)
     (let loop ((index (- (vector-length tree) 1)) (next next))
       (if (= index 0) next (loop (- index 1) (%compile (vector-ref tree index) next plan)))))
    ((either)
     (let ((next (%once next plan)))
       (let loop ((index (- (vector-length tree) 1)) (others (lambda (state index) #f)))
         (if (= index 0)
             others
             (let ((first (%compile (vector-ref tree index) next plan)))
               (loop (- index 1)
                     (lambda (state index) (or (first state index) (others state index)))))))))
    ((repeat) (%compile-repeat tree next plan))
    ((save) (%compile-save (vector-ref tree 1) (vector-ref tree 2) next plan))
    ((where)
     (let ((holds? (vector-ref tree 1)))
       (lambda (state index) (and (holds? state index) (next state index)))))
    ((look) (%compile-look tree next plan))
    ((same) (%compile-same (vector-ref tree 1) (vector-ref tree 2) next))
    (else
     (lambda (state index)
       (and (< index (%to state))
            (let loop ((end (+ index 1)))
              (if (%grapheme-break? state end) (next state end) (loop (+ end 1)))))))))

(define (%compile-set in? next)
  (lambda (state index)
    (and (< index (%to state))
         (in? (string-ref (%text state) index))
         (next state (+ index 1)))))

(define (%compile-text text nocase? next)
  (let ((length (string-length text)) (same? (if nocase? char-ci=? char=?)))
    (lambda (state index)
      (and (<= (+ index length) (%to state))
           (let loop ((place 0))
             (cond ((= place length) (next state (+ index length)))
                   ((same? (string-ref text place) (string-ref (%text state) (+ index place)))
                    (loop (+ place 1)))
                   (else #f)))))))

(define (%compile-repeat tree next plan)
  (let ((minimum (vector-ref tree 1))
        (maximum (vector-ref tree 2))
        (greedy? (vector-ref tree 3))
        (body (vector-ref tree 4)))
    (cond ((not (eq? (vector-ref body 0) 'set))
           (let loop ((count minimum)
                      (next (if maximum
                                (%compile-options body
                                                  (- maximum minimum)
                                                  greedy?
                                                  (%once next plan)
                                                  plan)
                                (%compile-loop body greedy? next plan))))
             (if (= count 0) next (loop (- count 1) (%compile body next plan)))))
          ((or maximum (%plan-backrefs? plan))
           (%compile-run (vector-ref body 1) minimum maximum greedy? (%once next plan)))
          (else (%compile-endless-run (vector-ref body 1) minimum greedy? next plan)))))

;;; Tries what follows a choice at most once at each index, since a search began at its present
;;; start.
(define (%once next plan)
  (if (%plan-backrefs? plan)
      next
      (let ((number (%plan-choices plan)))
        (%set-plan-choices! plan (+ number 1))
        (lambda (state index)
          (let ((failed (vector-ref (%failed state) number)))
            (and (not (and failed (dictionary-contains? failed index)))
                 (or (next state index)
                     (begin
                       (%note-failure! (%failed state) number index)
                       #f))))))))

(define (%note-failure! failed number index)
  (unless (vector-ref failed number) (vector-set! failed number (dictionary)))
  (dictionary-set! (vector-ref failed number) index #t))

;;; A repetition of one character.
(define (%compile-run in? minimum maximum greedy? next)
  (define (room state index)
    (let ((end (%to state)))
      (if maximum (min end (+ index maximum)) end)))
  (define (fits? state index) (in? (string-ref (%text state) index)))
  (if greedy?
      (lambda (state index)
        (let ((limit (room state index)) (least (+ index minimum)))
          (let run ((end index))
            (if (and (< end limit) (fits? state end))
                (run (+ end 1))
                (let back ((end end))
                  (and (>= end least)
                       (or (next state end) (back (- end 1)))))))))
      (lambda (state index)
        (let ((limit (room state index)) (least (+ index minimum)))
          (let run ((end index))
            (or (and (>= end least) (next state end))
                (and (< end limit) (fits? state end) (run (+ end 1)))))))))

;;; A repetition of one character without a maximum and without back references. Once it has failed
;;; from an index on, up to the end of the characters that fit, it fails from each index between:
;;; these stretches are what it remembers.
(define (%compile-endless-run in? minimum greedy? next plan)
  (let* ((number (%plan-loops plan))
         (run ((if greedy? %greedy-run %lazy-run) in? next number)))
    (%set-plan-loops! plan (+ number 1))
    (if (= minimum 0)
        run
        (lambda (state index)
          (let ((start (+ index minimum)))
            (and (<= start (%to state))
                 (let fits ((place index))
                   (or (= place start)
                       (and (in? (string-ref (%text state) place)) (fits (+ place 1)))))
                 (run state start)))))))

(define (%greedy-run in? next number)
  (lambda (state index)
    (let ((stretches (%stretches state number)) (text (%text state)) (to (%to state)))
      (define (back place end)
        (cond ((< place index) (%note-stretch! stretches index end) #f)
              ((next state place))
              (else (back (- place 1) end))))
      (let run ((end index))
        (cond ((%is-in-stretch? stretches end) (back (- end 1) (%stretch-end stretches)))
              ((and (< end to) (in? (string-ref text end))) (run (+ end 1)))
              (else (back (- (%earliest-failure stretches end) 1) end)))))))

(define (%lazy-run in? next number)
  (lambda (state index)
    (let ((stretches (%stretches state number)) (text (%text state)) (to (%to state)))
      (let run ((end index))
        (cond ((%is-in-stretch? stretches end)
               (%note-stretch! stretches index (%stretch-end stretches))
               #f)
              ((next state end))
              ((and (< end to) (in? (string-ref text end))) (run (+ end 1)))
              (else (%note-stretch! stretches index end) #f))))))

;;; The stretches that have failed: where the latest begins and ends, and where the others begin, by
;;; their ends.
(define-record-type %stretches-type
  (%make-stretches begin end others)
  %stretches?
  (begin %stretch-begin %set-stretch-begin!)
  (end %stretch-end %set-stretch-end!)
  (others %other-stretches %set-other-stretches!))

(define (%stretches state number)
  (let ((visited (%visited state)))
    (unless (vector-ref visited number) (vector-set! visited number (%make-stretches 0 -1 #f)))
    (vector-ref visited number)))

(define (%is-in-stretch? stretches index)
  (<= (%stretch-begin stretches) index (%stretch-end stretches)))

;;; Returns the first index from which on everything has failed up to `end`, or the index after it.
(define (%earliest-failure stretches end)
  (let ((others (%other-stretches stretches)))
    (if others (dictionary-ref others end (+ end 1)) (+ end 1))))

(define (%note-stretch! stretches begin end)
  (let ((last-begin (%stretch-begin stretches)) (last-end (%stretch-end stretches)))
    (unless (or (= end last-end) (> last-begin last-end))
      (unless (%other-stretches stretches) (%set-other-stretches! stretches (dictionary)))
      (dictionary-set! (%other-stretches stretches) last-end last-begin))
    (%set-stretch-begin! stretches (if (= end last-end) (min begin last-begin) begin))
    (%set-stretch-end! stretches end)))

;;; Matches up to this many more repetitions.
(define (%compile-options body count greedy? next plan)
  (if (= count 0)
      next
      (let ((more (%compile body (%compile-options body (- count 1) greedy? next plan) plan)))
        (if greedy?
            (lambda (state index) (or (more state index) (next state index)))
            (lambda (state index) (or (next state index) (more state index)))))))

(define (%compile-loop body greedy? next plan)
  (let ((number (%plan-loops plan)))
    (%set-plan-loops! plan (+ number 1))
    (letrec ((again
               (if (%plan-backrefs? plan)
                   (lambda (state index)
                     (let* ((visited (%visited state)) (last (vector-ref visited number)))
                       (and (not (eqv? last index))
                            (begin
                              (vector-set! visited number index)
                              (or (turn state index)
                                  (begin (vector-set! visited number last) #f))))))
                   (lambda (state index)
                     (and (%visit! state number index) (turn state index)))))
             (turn
               (if greedy?
                   (lambda (state index) (or (more state index) (next state index)))
                   (lambda (state index) (or (next state index) (more state index)))))
             (more (%compile body (lambda (state index) (again state index)) plan)))
      again)))

;;; Records that a loop has reached an index; returns whether it is the first time.
(define (%visit! state number index)
  (let* ((visited (%visited state))
         (places (or (vector-ref visited number)
                     (let ((places (dictionary)))
                       (vector-set! visited number places)
                       places))))
    (and (not (dictionary-contains? places index))
         (begin (dictionary-set! places index #t) #t))))

(define (%compile-save number body next plan)
  (let* ((start (* 2 number))
         (end (+ start 1))
         ;; Record a start only once its end is known, so that a round of a loop that fails halfway
         ;; leaves the previous one.
         (begun (%compile body
                  (lambda (state index)
                    (let* ((saved (%saved state))
                           (old-start (vector-ref saved start))
                           (old-end (vector-ref saved end))
                           (open (vector-ref (vector-ref saved 0) number)))
                      (vector-set! saved start (car open))
                      (vector-set! saved end index)
                      (vector-set! (vector-ref saved 0) number (cdr open))
                      (or (next state index)
                          (begin
                            (vector-set! saved start old-start)
                            (vector-set! saved end old-end)
                            (vector-set! (vector-ref saved 0) number open)
                            #f))))
                  plan)))
    (lambda (state index)
      (let* ((opens (vector-ref (%saved state) 0)) (open (vector-ref opens number)))
        (vector-set! opens number (cons index open))
        (or (begun state index)
            (begin (vector-set! opens number open) #f))))))

;;; A look-around has loops of its own, with a state of its own, because finding it does not end the
;;; search.
(define (%compile-look tree next plan)
  (let* ((ahead? (vector-ref tree 1))
         (wanted? (vector-ref tree 2))
         (own (%make-plan 0 0 (%plan-backrefs? plan)))
         (matcher
           (%compile (vector-ref tree 3)
                     (lambda (state index) (and (or ahead? (= index (%to state))) index))
                     own)))
    (define (inner state to)
      (%make-state (%text state) (%from state) to (%saved state) (make-vector (%plan-loops own) #f)
        (make-vector (%plan-choices own) #f)))
    (define (found? state index)
      (if ahead?
          (matcher (inner state (%to state)) index)
          (let loop ((start index))
            (and (>= start (%from state))
                 (or (matcher (inner state index) start) (loop (- start 1)))))))
    (lambda (state index)
      (and (if (found? state index) wanted? (not wanted?))
           (next state index)))))

(define (%compile-same number nocase? next)
  (let ((same? (if nocase? char-ci=? char=?)))
    (lambda (state index)
      (let* ((saved (%saved state))
             (start (vector-ref saved (* 2 number)))
             (end (vector-ref saved (+ 1 (* 2 number)))))
        (and start
             (<= (+ index (- end start)) (%to state))
             (let loop ((from start) (to index))
               (cond ((= from end) (next state to))
                     ((same? (string-ref (%text state) from) (string-ref (%text state) to))
                      (loop (+ from 1) (+ to 1)))
                     (else #f))))))))
