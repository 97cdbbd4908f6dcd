;;; Properties: what must hold of all values that generators draw.

;;;> The number of times that a property is checked, 100 unless `parameterize` says otherwise.
(define property-runs (make-parameter 100))

;;;> The seed of all drawn values, or `#f`, which stands for another one each time. The report of a
;;;> failure names its seed, and with it the same values are drawn again.
(define property-seed (make-parameter #f))

;;; So many smaller values are tried.
(define %shrinks-max 10000)

;;;> Asserts in a test of SRFI 64 that an expression holds of all values that generators draw:
;;;> `(test-property "name" ((variable generator) …) expression …)`. It holds if the last expression
;;;> is true and none raises. A failure shows the smallest values that were found for which it does
;;;> not hold, and the seed.
(define-syntax test-property
  (syntax-rules ()
    ((_ name ((variable generator) ...) expression ...)
     (test-equal name 'holds
       (check-property '(variable ...)
                       (list generator ...)
                       (lambda (variable ...) expression ...))))))

;;;> Checks a property, given as the names of its variables, a generator for each, and a predicate.
;;;> Returns `holds`, or `(falsified (name value) … (seed n) (run n) (shrinks n))` with the smallest
;;;> values that were found; `(raised kind message)` comes before the seed if the predicate raises.
(define (check-property names generators holds?)
  (if (not (list? generators)) (%wrong-type 'check-property "a list of generators" generators))
  (%need-generators 'check-property generators)
  (let ((runs (property-runs)) (seed (or (property-seed) (%fresh-seed))))
    (%need-integers 'property-runs runs)
    (%need-integers 'property-seed seed)
    (let ((tuples (apply tuples-of generators)))
      (let loop ((run 0))
        (if (>= run runs)
            'holds
            (let* ((tree (%grow tuples (%source seed run) (%size run runs)))
                   (failure (%failure holds? (%tree-value tree))))
              (if failure
                  (%falsified names
                              holds?
                              tree
                              failure
                              (list (list 'seed seed) (list 'run (+ run 1))))
                  (loop (+ run 1)))))))))

;;; Under `duet test` the seed is no answer that is recorded: a recording would draw the same values
;;; for ever.
(define (%fresh-seed)
  (if (eq? (car (%explain '((call "test/seed" #f)))) 'allow)
      (call-tool 'test "test/seed" (dictionary))
      (random 1000000000)))

;;; Why a property does not hold of values: `()` if it is false, `((raised …))`; `#f` if it holds.
(define (%failure holds? values)
  (guard (condition
           (#t
            (list
              (if (condition? condition)
                  (list 'raised (condition-kind condition) (condition-message condition))
                  (list 'raised condition)))))
    (if (apply holds? values) #f '())))

;;; Goes to smaller values as long as the property does not hold of one.
(define (%falsified names holds? tree failure how)
  (let search ((tree tree) (failure failure) (candidates (%smaller tree)) (tried 0) (shrinks 0))
    (if (or (null? candidates) (= tried %shrinks-max))
        (cons 'falsified
          (append (map list names (%tree-value tree)) failure how (list (list 'shrinks shrinks))))
        (let* ((smaller (car candidates)) (next (%failure holds? (%tree-value smaller))))
          (if next
              (search smaller next (%smaller smaller) (+ tried 1) (+ shrinks 1))
              (search tree failure (cdr candidates) (+ tried 1) shrinks))))))
