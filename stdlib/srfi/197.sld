;;; SRFI 197: pipelines. In front of the steps another placeholder may be given than `_`, and, where it counts, another ellipsis than `...`.
(define-library (srfi 197)
  (export chain chain-and chain-when chain-lambda nest nest-reverse)
  (on-demand)
  (import (scheme base))
  (begin
    ;;;> Evaluates steps in turn; in each, `_` stands for the value of the one before, several `_` for its values, `_ ...` for all that are left.
    (define-syntax chain
      (syntax-rules ()
        ((_ value) value)
        ((_ value (part ...) . steps) (%chain _ (... ...) value ((part ...) . steps)))
        ((_ value placeholder) value)
        ((_ value placeholder (part ...) . steps) (%chain placeholder (... ...) value ((part ...) . steps)))
        ((_ value placeholder ellipsis . steps) (%chain placeholder ellipsis value steps))))

    ;;; `walk` goes through the parts of a step, with a variable for each placeholder.
    (define-syntax %chain
      (syntax-rules ()
        ((% placeholder ellipsis value ()) value)
        ((% placeholder ellipsis value (step . steps))
         (letrec-syntax
             ((walk
               (syntax-rules ::: (placeholder ellipsis)
                 ((walk before (variable :::) (part :::) (placeholder ellipsis))
                  (call-with-values (lambda () before) (lambda (variable ::: . rest) (apply part ::: rest))))
                 ((walk before (variable :::) (part :::) (placeholder . others))
                  (walk before (variable ::: new) (part ::: new) others))
                 ((walk before variables (part :::) (other . others))
                  (walk before variables (part ::: other) others))
                 ((walk before () parts ()) (begin before parts))
                 ((walk before (variable) parts ()) (let ((variable before)) parts))
                 ((walk before variables parts ()) (call-with-values (lambda () before) (lambda variables parts))))))
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
           (and before (%chain-and placeholder (%chain placeholder (... ...) before (step)) steps))))))

    ;;;> Like `chain`, with steps `(guard? step)` that are left out if the guard, in which `_` is the value, is false, and `(step)`.
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
             (if (%guard placeholder before guard?) (%chain placeholder (... ...) before (step)) before)
             steps)))))

    (define-syntax %guard
      (syntax-rules ()
        ((% placeholder before (part ...)) (%chain placeholder (... ...) before ((part ...))))
        ((% placeholder before other) other)))

    ;;;> The procedure that passes its arguments through the steps of a `chain`.
    (define-syntax chain-lambda
      (syntax-rules ()
        ((_ . steps) (lambda arguments (chain (apply values arguments) . steps)))))

    ;;;> Puts each expression, the last first, in the place of `_` in the one before.
    (define-syntax nest
      (syntax-rules ()
        ((_ last) last)
        ((_ (part ...) . steps) (%reversed _ () ((part ...) . steps)))
        ((_ placeholder . steps) (%reversed placeholder () steps))))

    (define-syntax %reversed
      (syntax-rules ()
        ((% placeholder steps (last)) (%nest placeholder last steps))
        ((% placeholder (step ...) (next . others)) (%reversed placeholder (next step ...) others))))

    (define-syntax %nest
      (syntax-rules ()
        ((% placeholder inner ()) inner)
        ((% placeholder inner (step . steps))
         (letrec-syntax
             ((put
               (syntax-rules ::: (placeholder)
                 ((put (part :::) (placeholder . others)) (%nest placeholder (part ::: inner . others) steps))
                 ((put (part :::) (other . others)) (put (part ::: other) others)))))
           (put () step)))))

    ;;;> Puts each expression in the place of `_` in the one after.
    (define-syntax nest-reverse
      (syntax-rules ()
        ((_ first) first)
        ((_ first (part ...) . steps) (%nest _ first ((part ...) . steps)))
        ((_ first placeholder . steps) (%nest placeholder first steps))))))
