;;; A ledger whose entries are records, for the chapter about changing the code.

(define-record-type entry
  (make-entry item price)
  entry?
  (item entry-item)
  (price entry-price))

(define (serve ledger)
  (define item (await (user-input :prompt "Which item?")))
  (define new (cons (make-entry item (string-length item)) ledger))
  (write (map entry-price new))
  (newline)
  (serve new))
(serve '())
