;;; message! send! on-message watch unwatch
(define kitchen (spawn-facet!))
(spawn (lambda () (on-message (order $what) (log! (list 'kitchen what)))) kitchen)
(define token
  (watch (pattern (order $what))
         (lambda (event) (log! (list 'anyone (record-label event) (car (record-fields event)))))))
(yield)
(message! (record 'order "soup"))
(send! (current-actor) kitchen (record 'order "bread"))
(yield)
(stop-facet! kitchen)
(send! (current-actor) kitchen (record 'order "too late"))
(unwatch token)
(message! (record 'order "nobody hears"))
