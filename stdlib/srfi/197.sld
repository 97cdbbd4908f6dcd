;;; SRFI 197: pipelines.
(define-library (srfi 197)
  (export chain chain-and chain-when chain-lambda nest nest-reverse)
  (on-demand)
  (import (scheme base))
  (begin
    ;;;> Evaluates steps in turn; in each, `_` stands for the value of the one before, several `_` for its values, `_ ...` for all that are left.
    (define-syntax chain
      (syntax-rules ()
        ((_ value) value)
        ((_ value step . steps) (%chain-step value () () step steps))))

    ;;; Goes through the parts of a step, with a variable for each placeholder.
    (define-syntax %chain-step
      (syntax-rules ::: (_ ...)
        ((% value (variable :::) (part :::) (_ ...) steps)
         (chain (call-with-values (lambda () value) (lambda (variable ::: . rest) (apply part ::: rest))) . steps))
        ((% value (variable :::) (part :::) (_ . rest) steps)
         (%chain-step value (variable ::: new) (part ::: new) rest steps))
        ((% value variables (part :::) (other . rest) steps)
         (%chain-step value variables (part ::: other) rest steps))
        ((% value () parts () steps)
         (chain (begin value parts) . steps))
        ((% value (variable) parts () steps)
         (chain (let ((variable value)) parts) . steps))
        ((% value variables parts () steps)
         (chain (call-with-values (lambda () value) (lambda variables parts)) . steps))))

    ;;;> Like `chain`, but ends with false as soon as a value is false.
    (define-syntax chain-and
      (syntax-rules ()
        ((_ value) value)
        ((_ value step . steps)
         (let ((before value)) (and before (chain-and (chain before step) . steps))))))

    ;;;> Like `chain`, with steps `(guard? step)` that are left out if the guard, in which `_` is the value, is false, and `(step)`.
    (define-syntax chain-when
      (syntax-rules ()
        ((_ value) value)
        ((_ value (step) . steps) (chain-when (chain value step) . steps))
        ((_ value (guard? step) . steps)
         (let ((before value))
           (chain-when (if (chain before guard?) (chain before step) before) . steps)))))

    ;;;> The procedure that passes its arguments through the steps of a `chain`.
    (define-syntax chain-lambda
      (syntax-rules ()
        ((_ . steps) (lambda arguments (chain (apply values arguments) . steps)))))

    ;;;> Puts each expression, the last first, in the place of `_` in the one before.
    (define-syntax nest
      (syntax-rules ()
        ((_ last) last)
        ((_ step . steps) (%nest () step (nest . steps)))))

    (define-syntax %nest
      (syntax-rules ::: (_)
        ((% (part :::) (_ . rest) inner) (part ::: inner . rest))
        ((% (part :::) (other . rest) inner) (%nest (part ::: other) rest inner))))

    ;;;> Puts each expression in the place of `_` in the one after.
    (define-syntax nest-reverse
      (syntax-rules ()
        ((_ first) first)
        ((_ first step . steps) (nest-reverse (%nest () step first) . steps))))))
