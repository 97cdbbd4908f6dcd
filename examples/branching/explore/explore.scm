;; Tries every way to plan the week on a branch of its own, and takes the best plan over on the branch that they all come from.
;;
;; It does from a program what the book's chapter "Taking it back" does by hand. It keeps no journal of its own (`--memory`), because it works on the
;; one of the directory.

(import (scheme base) (scheme write) (duet base) (duet history))

(define ways '("worth" "short" "long" "ratio" "all"))

;; The worth of the plan on a branch: the last field of `<plan week names worth>`.
(define (worth branch)
  (let ((plan (car (branch-facts branch "<plan week _ _>"))))
    (list-ref (record-fields plan) 2)))

(define (try way)
  (let ((branch (string-append "by-" way)))
    (fork-branch! "week/main" branch)
    (answer! (string-append "week/" branch) way)
    (string-append "week/" branch)))

(define (best one other) (if (> (worth other) (worth one)) other one))

(run-program! "examples/branching" "week")

(let* ((branches (map try ways))
       (chosen (let loop ((chosen (car branches)) (others (cdr branches)))
                 (if (null? others) chosen (loop (best chosen (car others)) (cdr others))))))
  (for-each
    (lambda (branch)
      (display branch)
      (display " is worth ")
      (write (worth branch))
      (newline))
    branches)
  (for-each (lambda (line) (display line) (newline)) (branch-difference (car branches) chosen))
  (display (merge-branch! chosen "main"))
  (write (branch-facts "week/main" "plan"))
  (newline))
