;;; The same ledger, which also knows what is paid.

(define-record-type entry
  (make-entry item price paid?)
  entry?
  (item entry-item)
  (price entry-price)
  (paid? entry-paid?))

(migrate-records entry (item price)
  (make-entry item price #t))

(define (serve ledger)
  (define item (await (user-input :prompt "Which item?")))
  (define new (cons (make-entry item (string-length item) #f) ledger))
  (write (map entry-item (remove entry-paid? new)))
  (newline)
  (serve new))
(serve '())
