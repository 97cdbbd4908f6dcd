;; Records, lists and vectors: a chart parser counts the ways to read an ambiguous sentence.
(import (scheme base) (scheme write))

;; A rule is a list: its left side, then its right side.
(define grammar '((s s s) (s a) (s a s b) (a x) (a x a)))

(define (rules-for symbol)
  (let loop ((rest grammar) (found '()))
    (cond ((null? rest) (reverse found))
          ((eq? (caar rest) symbol) (loop (cdr rest) (cons (car rest) found)))
          (else (loop (cdr rest) found)))))

(define (nonterminal? symbol) (pair? (assq symbol grammar)))

;; A rule of which `left-over` is still to be found, begun at the place `start`.
(define-record-type item
  (make-item rule left-over start)
  item?
  (rule item-rule)
  (left-over item-left-over)
  (start item-start))

(define (same-item? a b)
  (and (eq? (item-rule a) (item-rule b))
       (eq? (item-left-over a) (item-left-over b))
       (= (item-start a) (item-start b))))

(define (known? item items)
  (and (pair? items)
       (or (same-item? item (car items)) (known? item (cdr items)))))

;; Adds an item to the chart at a place, and all that follows from it there.
(define (add! chart place item)
  (if (not (known? item (vector-ref chart place)))
      (begin
        (vector-set! chart place (cons item (vector-ref chart place)))
        (cond ((null? (item-left-over item)) (complete! chart place item))
              ((nonterminal? (car (item-left-over item)))
               (for-each (lambda (rule) (add! chart place (make-item rule (cdr rule) place)))
                         (rules-for (car (item-left-over item)))))))))

(define (advance item)
  (make-item (item-rule item) (cdr (item-left-over item)) (item-start item)))

;; No rule is empty, so what waits for a finished item is in an earlier, finished place.
(define (complete! chart place finished)
  (for-each
    (lambda (item)
      (if (and (pair? (item-left-over item))
               (eq? (car (item-left-over item)) (car (item-rule finished))))
          (add! chart place (advance item))))
    (vector-ref chart (item-start finished))))

(define (scan! chart place word)
  (for-each
    (lambda (item)
      (if (and (pair? (item-left-over item)) (eq? (car (item-left-over item)) word))
          (add! chart (+ place 1) (advance item))))
    (vector-ref chart place)))

(define (parse words)
  (let ((chart (make-vector (+ (length words) 1) '())))
    (for-each (lambda (rule) (add! chart 0 (make-item rule (cdr rule) 0))) (rules-for 's))
    (let loop ((place 0) (rest words))
      (if (pair? rest)
          (begin
            (scan! chart place (car rest))
            (loop (+ place 1) (cdr rest)))))
    chart))

(define (items-in chart)
  (apply + (map length (vector->list chart))))

(define (accepted? chart)
  (let loop ((items (vector-ref chart (- (vector-length chart) 1))))
    (and (pair? items)
         (or (and (eq? (car (item-rule (car items))) 's)
                  (null? (item-left-over (car items)))
                  (= (item-start (car items)) 0))
             (loop (cdr items))))))

(define (sentence n)
  (if (= n 0) '() (append '(x x) (sentence (- n 1)) '(b))))

(define (main)
  (let ((words (append (sentence 6) (sentence 5))))
    (let repeat ((rounds 12) (answer 0))
      (cond ((> rounds 0)
             (let ((chart (parse words)))
               (repeat (- rounds 1) (and (accepted? chart) (items-in chart)))))
            ((and (eqv? answer 1548) (not (accepted? (parse '(x b b))))) (display "earley ok"))
            (else (error "earley is wrong" answer)))))
  (newline))

(main)
