;; Which tasks fit into eight days? A person says how to choose; every way can be tried on a branch of its own.
;;
;; The program waits twice: for the way to choose, and for a word on the plan. Between the two it asserts what it found, so that branches can be
;; compared and the best plan taken over by a branch that never made one: the watch below shows any plan that appears.

(import (scheme base) (scheme write) (except (srfi 1) every) (srfi 132) (duet base)
        (duet dataspace))

(define days-there-are 8)

;; Name, days, worth.
(define tasks
  '((report 6 11)
    (repair 4 7)
    (review 4 7)
    (guide 2 2)
    (tidy 1 2)))

(define name-of first)
(define days-of second)
(define worth-of third)

(define (total of chosen) (fold (lambda (task sum) (+ (of task) sum)) 0 chosen))

(define (fits? chosen) (<= (total days-of chosen) days-there-are))

;; Takes tasks in order as long as they fit.
(define (take-in-order before?)
  (reverse
    (fold (lambda (task chosen)
            (let ((more (cons task chosen)))
              (if (fits? more) more chosen)))
          '()
          (list-sort before? tasks))))

;; Tries every combination.
(define (take-best)
  (define (best chosen left)
    (if (null? left)
        chosen
        (let ((without (best chosen (cdr left)))
              (more (append chosen (list (car left)))))
          (if (fits? more)
              (let ((with (best more (cdr left))))
                (if (> (total worth-of with) (total worth-of without)) with without))
              without))))
  (best '() tasks))

(define (by of compare) (lambda (one other) (compare (of one) (of other))))

(define (choose way)
  (case way
    ((worth) (take-in-order (by worth-of >)))
    ((short) (take-in-order (by days-of <)))
    ((long) (take-in-order (by days-of >)))
    ((ratio) (take-in-order (by (lambda (task) (/ (worth-of task) (days-of task))) >)))
    (else (take-best))))

(on-assert (plan week $names $worth)
  (write names)
  (display " is worth ")
  (write worth)
  (newline))

(let* ((way (await (user-input
                     :prompt (record 'ask "How shall I choose?" '(worth short long ratio all)))))
       (chosen (choose way)))
  (assert! (record 'plan 'week (map name-of chosen) (total worth-of chosen)))
  (await (user-input :prompt "Will it do?")))
