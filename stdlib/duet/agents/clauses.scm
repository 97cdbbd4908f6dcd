;;; The clauses of `define-model` and `define-agent`: how they become the options of a procedure.
;;;
;;; The names of clauses are compared as data, so a program may have a variable of the same name.

(define-for-syntax (%bad-clause clause table)
  (syntax-violation #f
    (string-append "a clause is one of "
      (string-join
        (map (lambda (row) (string-append "(" (symbol->string (car row)) " …)")) table)
        ", "))
    clause))

;;; Fails unless the parts of a clause are pairs of a known keyword and an expression.
(define-for-syntax (%check-limits clause parts keywords)
  (if (pair? parts)
      (begin
        (if (not (memq (syntax->datum (car parts)) keywords))
            (syntax-violation #f "a budget has :turns, :tokens and :usd, each with a number"
              clause (car parts)))
        (if (null? (cdr parts)) (syntax-violation #f "a number follows the keyword" clause))
        (%check-limits clause (cddr parts) keywords))))

(define-for-syntax (%parts-as-options clause parts how)
  (case (car how)
    ((spliced) (%check-limits clause (syntax->list parts) (cdr how)) (syntax->list parts))
    ((many) (list (cadr how) #`(list #,@(syntax->list parts))))
    (else
     (syntax-case parts ()
       ((part)
        (list (cadr how)
              (if (eq? (car how) 'quoted) #''part #'part)))
       (_ (syntax-violation #f "this clause has one part" clause))))))

;;; Returns the options for a list of clauses. The table has, for each name of a clause, how its
;;; parts are passed, and the keyword: `one` expression, `quoted`, one datum, `many` expressions, as
;;; a list, or `spliced`, as options with these keywords.
(define-for-syntax (%clauses-as-options clauses table)
  (let loop ((clauses (syntax->list clauses)) (names '()) (options '()))
    (if (null? clauses)
        options
        (syntax-case (car clauses) ()
          ((name part ...)
           (let* ((word (syntax->datum #'name)) (known (assq word table)))
             (if (not known) (%bad-clause (car clauses) table))
             (if (memq word names)
                 (syntax-violation #f "this clause is there twice" (car clauses)))
             (loop (cdr clauses) (cons word names)
               (append options (%parts-as-options (car clauses) #'(part ...) (cdr known))))))
          (_ (%bad-clause (car clauses) table))))))
