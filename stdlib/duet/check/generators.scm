;;; Generators: each draws a tree from a source of random numbers and a size, from 1 to 100.

(define-record-type %generator
  (%make-generator grow)
  ;;;> Returns whether an object is a generator of drawn values.
  generator?
  (grow %generator-grow))

;;; A source of random numbers that is a function of its seed alone.
(define (%source seed part)
  (let ((source (make-random-source)))
    (random-source-pseudo-randomize! source seed part)
    source))

(define (%draw source count) ((random-source-make-integers source) count))

(define (%grow generator source size) ((%generator-grow generator) source size))

(define (%need-generators procedure objects)
  (for-each
    (lambda (object)
      (if (not (generator? object)) (%wrong-type procedure "a generator" object)))
    objects))

(define (%need-integers procedure . objects)
  (for-each
    (lambda (object)
      (if (not (exact-integer? object)) (%wrong-type procedure "an exact integer" object)))
    objects))

(define (%need-elements procedure values)
  (if (not (and (list? values) (pair? values)))
      (%wrong-type procedure "a list with elements" values)))

;;;> A generator of `#t` and `#f`, which shrinks to `#f`.
(define booleans
  (%make-generator (lambda (source size) (%index-tree #(#f #t) (%draw source 2)))))

;;;> Returns a generator of exact integers: `(integers)` draws small ones of either sign at first,
;;;> then greater ones; `(integers low high)` draws all from `low` to `high` alike, both included.
;;;> They shrink towards 0, or the end of the range that is nearest to it.
(define (integers . range)
  (cond
    ((null? range)
     (%make-generator
       (lambda (source size)
         ;; One number of eight lies far outside, where other representations begin.
         (let ((most (if (= (%draw source 8) 0) (expt 2 size) (* size size))))
           (%integer-tree (- (%draw source (+ (* 2 most) 1)) most) 0)))))
    ((and (pair? (cdr range)) (null? (cddr range)))
     (let ((low (car range)) (high (cadr range)))
       (%need-integers 'integers low high)
       (if (< high low) (%wrong-type 'integers "a range that is not empty" (list low high)))
       (let ((origin (max low (min high 0))))
         (%make-generator
           (lambda (source size)
             (%integer-tree (+ low (%draw source (+ (- high low) 1))) origin))))))
    (else (%wrong-type 'integers "no bounds or two" range))))

;;;> A generator of real numbers that are inexact: halves, quarters and eighths at first, then any.
;;;> They shrink towards whole numbers and 0.
(define reals
  (%make-generator
    (lambda (source size)
      (let* ((whole (- (%draw source (+ (* 2 size) 1)) size))
             (part (%draw source (if (< size 30) 8 1000003)))
             (parts (if (< size 30) 8 1000003)))
        (%tree-bind (%integer-tree whole 0)
          (lambda (whole)
            (%tree-map (lambda (part) (inexact (+ whole (/ part parts))))
                       (%integer-tree part 0))))))))

;;; From the first, to which the others shrink.
(define %plain-characters
  (string->vector
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,-_/()\"'\\\n\t"))

;;;> A generator of characters: letters, digits and marks at first, then any, which shrink towards
;;;> `a`.
(define characters
  (%make-generator
    (lambda (source size)
      (if (or (< size 40) (< (%draw source 4) 3))
          (%index-tree %plain-characters (%draw source (vector-length %plain-characters)))
          (%tree-map
            (lambda (number) (integer->char (if (<= #xd800 number #xdfff) (- number 2048) number)))
            (%integer-tree (%draw source #x110000) 97))))))

;;;> Returns a generator of strings of `characters`, or of another generator's: `(strings [generator]
;;;> [:min n] [:max n])`.
(define (strings . options)
  (%check-options 'strings
                  (if (and (pair? options) (generator? (car options))) (cdr options) options)
                  '(:min :max))
  (let* ((is-given (and (pair? options) (generator? (car options))))
         (lists (apply lists-of
                       (if is-given (car options) characters)
                       (if is-given (cdr options) options))))
    (generator-map list->string lists)))

;;;> A generator of symbols of one letter or more.
(define symbols
  (%make-generator
    (lambda (source size)
      (%grow
        (generator-map
          (lambda (letters) (string->symbol (list->string letters)))
          (lists-of (elements (string->list "abcdefghijklmnopqrstuvwxyz-?!*")) :min 1 :max 8))
        source size))))

;;;> Returns a generator of one value only.
(define (constant value)
  (%make-generator (lambda (source size) (%tree value '()))))

;;;> Returns a generator of the elements of a list, which shrink to those that stand first.
(define (elements values)
  (%need-elements 'elements values)
  (let ((values (list->vector values)))
    (%make-generator
      (lambda (source size) (%index-tree values (%draw source (vector-length values)))))))

;;;> Returns a generator of what any of some generators draw, each as often as the others.
(define (one-of generator . generators)
  (let ((generators (cons generator generators)))
    (%need-generators 'one-of generators)
    (apply frequency (map (lambda (generator) (list 1 generator)) generators))))

;;;> Returns a generator of what several draw: `(frequency (list weight generator) …)`, each as often
;;;> as its weight says. A value shrinks to values of the generators before its own, too.
(define (frequency . choices)
  (%need-elements 'frequency choices)
  (for-each
    (lambda (choice)
      (if (not (and (list? choice)
                    (= (length choice) 2)
                    (exact-integer? (car choice))
                    (> (car choice) 0)))
          (%wrong-type 'frequency "a list of a positive weight and a generator" choice))
      (%need-generators 'frequency (cdr choice)))
    choices)
  (let ((total (apply + (map car choices))) (generators (list->vector (map cadr choices))))
    (%make-generator
      (lambda (source size)
        (let* ((chosen (%chosen choices (%draw source total))) (seed (%draw source 4294967087)))
          (%tree-bind (%integer-tree chosen 0)
            (lambda (index) (%grow (vector-ref generators index) (%source seed index) size))))))))

(define (%chosen choices number)
  (let loop ((choices choices) (number number) (index 0))
    (let ((weight (caar choices)))
      (if (< number weight) index (loop (cdr choices) (- number weight) (+ index 1))))))

;;;> Returns a generator of lists of what another draws: `(lists-of generator [:min n] [:max n])`.
;;;> Their length is at most the size, from 1 to 100 in the course of a check, unless `:max` says
;;;> less. A list shrinks by leaving out elements, then by shrinking each.
(define (lists-of generator . options)
  (%need-generators 'lists-of (list generator))
  (%check-options 'lists-of options '(:min :max))
  (let ((least (%option options :min 0)) (most (%option options :max #f)))
    (%need-integers 'lists-of least (or most 0))
    (if (or (< least 0) (and most (< most least)))
        (%wrong-type 'lists-of "lengths from 0, the least first" (list least most)))
    (%make-generator
      (lambda (source size)
        (let* ((longest (max least (if most (min most size) size)))
               (count (+ least (%draw source (+ (- longest least) 1)))))
          (%list-tree (%drawn count (lambda () (%grow generator source size))) least))))))

(define (%drawn count draw)
  (let loop ((count count) (drawn '()))
    (if (= count 0) (reverse drawn) (loop (- count 1) (cons (draw) drawn)))))

;;;> Returns a generator of vectors, as `lists-of` does of lists.
(define (vectors-of generator . options)
  (%need-generators 'vectors-of (list generator))
  (generator-map list->vector (apply lists-of generator options)))

;;;> Returns a generator of lists that have one value of each generator, in their order.
(define (tuples-of . generators)
  (%need-generators 'tuples-of generators)
  (%make-generator
    (lambda (source size)
      (let ((trees (map (lambda (generator) (%grow generator source size)) generators)))
        (%list-tree trees (length trees))))))

;;;> Returns a generator of what a procedure makes of the values of some generators. The values
;;;> shrink, and the procedure is called again.
(define (generator-map procedure generator . generators)
  (if (not (procedure? procedure)) (%wrong-type 'generator-map "a procedure" procedure))
  (let ((tuples (apply tuples-of generator generators)))
    (%make-generator
      (lambda (source size)
        (%tree-map (lambda (tuple) (apply procedure tuple)) (%grow tuples source size))))))

;;;> Returns a generator of what another draws that a procedure chooses by a drawn value: `(procedure
;;;> value)` returns a generator.
(define (generator-bind generator procedure)
  (%need-generators 'generator-bind (list generator))
  (if (not (procedure? procedure)) (%wrong-type 'generator-bind "a procedure" procedure))
  (%make-generator
    (lambda (source size)
      (let ((tree (%grow generator source size)) (seed (%draw source 4294967087)))
        (%tree-bind tree
          (lambda (value)
            (let ((chosen (procedure value)))
              (%need-generators 'generator-bind (list chosen))
              (%grow chosen (%source seed 1) size))))))))

;;; So many values in a row are refused before `such-that` gives up.
(define %refused-max 1000)

;;;> Returns a generator of the values of another that satisfy a predicate. Drawing fails with
;;;> `too-few` if a thousand values in a row do not.
(define (such-that wanted? generator)
  (if (not (procedure? wanted?)) (%wrong-type 'such-that "a procedure" wanted?))
  (%need-generators 'such-that (list generator))
  (%make-generator
    (lambda (source size)
      (let loop ((refused 0))
        (if (= refused %refused-max)
            (raise (%make-condition 'too-few
                                    "such-that: none of 1,000 drawn values satisfies the predicate"
                                    '())))
        ;; Larger values may satisfy it where small ones cannot.
        (let ((tree (%grow generator source (min 100 (+ size (quotient refused 10))))))
          (if (wanted? (%tree-value tree)) (%tree-filter wanted? tree) (loop (+ refused 1))))))))

;;;> Returns a generator that a procedure makes of the size, from 1 to 100. Values of trees and other
;;;> data that have parts of their own kind stay finite if the parts are drawn with less of it.
(define (sized procedure)
  (if (not (procedure? procedure)) (%wrong-type 'sized "a procedure" procedure))
  (%make-generator
    (lambda (source size)
      (let ((generator (procedure size)))
        (%need-generators 'sized (list generator))
        (%grow generator source size)))))

;;;> Returns a list of values that a generator draws, to look at: `(generator-sample generator
;;;> [:count n] [:seed n])`, 10 unless the options say otherwise.
(define (generator-sample generator . options)
  (%need-generators 'generator-sample (list generator))
  (%check-options 'generator-sample options '(:count :seed))
  (let ((count (%option options :count 10)) (seed (%option options :seed 1)))
    (%need-integers 'generator-sample count seed)
    (let loop ((run 0) (values '()))
      (if (>= run count)
          (reverse values)
          (loop
            (+ run 1)
            (cons (%tree-value (%grow generator (%source seed run) (%size run count))) values))))))

;;; The size of a run: it grows from 1 to 100.
(define (%size run runs) (+ 1 (quotient (* 99 run) (max 1 (- runs 1)))))
