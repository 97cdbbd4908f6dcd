;;; From a tree to a matcher: a procedure of a state and an index that returns the end of the whole
;;; match, or #f. Each matcher knows the next one, so trying the next alternative is only another
;;; call. A repetition that has begun at an index and failed fails there again, whatever came
;;; before, so it is tried once; with back references that does not hold, and only empty rounds of a
;;; loop are cut short.

(define-record-type %plan
  (%make-plan loops backrefs?)
  %plan?
  (loops %plan-loops %set-plan-loops!)
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
     (let loop ((index (- (vector-length tree) 1)) (others (lambda (state index) #f)))
       (if (= index 0)
           others
           (let ((first (%compile (vector-ref tree index) next plan)))
             (loop (- index 1) (lambda (state index) (or (first state index) (others state index))))))))
    ((repeat) (%compile-repeat tree next plan))
    ((save) (%compile-save (vector-ref tree 1) (vector-ref tree 2) next plan))
    ((where)
     (let ((holds? (vector-ref tree 1))) (lambda (state index) (and (holds? state index) (next state index)))))
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
                   ((same? (string-ref text place) (string-ref (%text state) (+ index place))) (loop (+ place 1)))
                   (else #f)))))))

(define (%compile-repeat tree next plan)
  (let ((minimum (vector-ref tree 1)) (maximum (vector-ref tree 2)) (greedy? (vector-ref tree 3))
        (body (vector-ref tree 4)))
    (if (eq? (vector-ref body 0) 'set)
        (%compile-run (vector-ref body 1) minimum maximum greedy? next)
        (let loop ((count minimum)
                   (next (if maximum
                             (%compile-options body (- maximum minimum) greedy? next plan)
                             (%compile-loop body greedy? next plan))))
          (if (= count 0) next (loop (- count 1) (%compile body next plan)))))))

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
         (own (%make-plan 0 (%plan-backrefs? plan)))
         (matcher
           (%compile (vector-ref tree 3) (lambda (state index) (and (or ahead? (= index (%to state))) index)) own)))
    (define (inner state to)
      (%make-state (%text state) (%from state) to (%saved state) (make-vector (%plan-loops own) #f)))
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
      (let* ((saved (%saved state)) (start (vector-ref saved (* 2 number))) (end (vector-ref saved (+ 1 (* 2 number)))))
        (and start
             (<= (+ index (- end start)) (%to state))
             (let loop ((from start) (to index))
               (cond ((= from end) (next state to))
                     ((same? (string-ref (%text state) from) (string-ref (%text state) to)) (loop (+ from 1) (+ to 1)))
                     (else #f))))))))
