;;; SRFI 197: pipelines. Before the steps, another placeholder than `_` may be given and, where it
;;; applies, another ellipsis than `...`.
(define-library (srfi 197)
  (export chain chain-and chain-when chain-lambda nest nest-reverse)
  (on-demand)
  (import (scheme base))
  (begin
    ;;;> Evaluates steps in sequence; in each, `_` stands for the value of the previous one, several
    ;;;> `_` for its values, `_ ...` for all remaining ones.
    (define-syntax chain
      (syntax-rules ()
        ((_ value) value)
        ((_ value (part ...) . steps) (%chain _ (... ...) value ((part ...) . steps)))
        ((_ value placeholder) value)
        ((_ value placeholder (part ...) . steps)
         (%chain placeholder (... ...) value ((part ...) . steps)))
        ((_ value placeholder ellipsis . steps) (%chain placeholder ellipsis value steps))))

    ;;; `walk` visits the parts of a step, with a variable for each placeholder.
    (define-syntax %chain
      (syntax-rules ()
        ((% placeholder ellipsis value ()) value)
        ((% placeholder ellipsis value (step . steps))
         (letrec-syntax
             ((walk
                (syntax-rules :::
                  (placeholder ellipsis)
                  ((walk before (variable :::) (part :::) (placeholder ellipsis))
                   (call-with-values (lambda () before)
                     (lambda (variable ::: . rest) (apply part ::: rest))))
                  ((walk before (variable :::) (part :::) (placeholder . others))
                   (walk before (variable ::: new) (part ::: new) others))
                  ((walk before variables (part :::) (other . others))
                   (walk before variables (part ::: other) others))
                  ((walk before () parts ()) (begin before parts))
                  ((walk before (variable) parts ()) (let ((variable before)) parts))
                  ((walk before variables parts ())
                   (call-with-values (lambda () before) (lambda variables parts))))))
           (%chain placeholder ellipsis (walk value () () step) steps)))))

    ;;;> Like `chain`, but ends with false as soon as a value is false.
    (define-syntax chain-and
      (syntax-rules ()
        ((_ value) value)
        ((_ value (part ...) . steps) (%chain-and _ value ((part ...) . steps)))
        ((_ value placeholder . steps) (%chain-and placeholder value steps))))

    (define-syntax %chain-and
      (syntax-rules ()
        ((% placeholder value ()) value)
        ((% placeholder value (step . steps))
         (let ((before value))
           (and before
                (%chain-and placeholder (%chain placeholder (... ...) before (step)) steps))))))

    ;;;> Like `chain`, with steps `(step)` and `(guard? step)`; the latter are skipped if the guard,
    ;;;> in which `_` is the value, is false.
    (define-syntax chain-when
      (syntax-rules ()
        ((_ value) value)
        ((_ value (part ...) . steps) (%chain-when _ value ((part ...) . steps)))
        ((_ value placeholder . steps) (%chain-when placeholder value steps))))

    (define-syntax %chain-when
      (syntax-rules ()
        ((% placeholder value ()) value)
        ((% placeholder value ((step) . steps))
         (%chain-when placeholder (%chain placeholder (... ...) value (step)) steps))
        ((% placeholder value ((guard? step) . steps))
         (let ((before value))
           (%chain-when placeholder
             (if (%guard placeholder before guard?)
                 (%chain placeholder (... ...) before (step))
                 before)
             steps)))))

    (define-syntax %guard
      (syntax-rules ()
        ((% placeholder before (part ...)) (%chain placeholder (... ...) before ((part ...))))
        ((% placeholder before other) other)))

    ;;;> Makes a procedure that passes its arguments through the steps of a `chain`.
    (define-syntax chain-lambda
      (syntax-rules ()
        ((_ . steps) (lambda arguments (chain (apply values arguments) . steps)))))

    ;;;> Inserts each expression, the last first, at the `_` of the previous one.
    (define-syntax nest
      (syntax-rules ()
        ((_ last) last)
        ((_ (part ...) . steps) (%reversed _ () ((part ...) . steps)))
        ((_ placeholder . steps) (%reversed placeholder () steps))))

    (define-syntax %reversed
      (syntax-rules ()
        ((% placeholder steps (last)) (%nest placeholder last steps))
        ((% placeholder (step ...) (next . others))
         (%reversed placeholder (next step ...) others))))

    (define-syntax %nest
      (syntax-rules ()
        ((% placeholder inner ()) inner)
        ((% placeholder inner (step . steps))
         (letrec-syntax
             ((put
                (syntax-rules :::
                  (placeholder)
                  ((put (part :::) (placeholder . others))
                   (%nest placeholder (part ::: inner . others) steps))
                  ((put (part :::) (other . others)) (put (part ::: other) others)))))
           (put () step)))))

    ;;;> Inserts each expression at the `_` of the next one.
    (define-syntax nest-reverse
      (syntax-rules ()
        ((_ first) first)
        ((_ first (part ...) . steps) (%nest _ first ((part ...) . steps)))
        ((_ first placeholder . steps) (%nest placeholder first steps))))))
