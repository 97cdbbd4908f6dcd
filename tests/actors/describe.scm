;;; describe
(define (show known)
  (log! (map (lambda (key) (dictionary-ref known key)) '(name call place))))
(for-each show (describe 'vector-ref))
(for-each show (describe 'call-tool))
(for-each show (describe 'describe))
(log! (describe 'nothing-is-called-so))
(log! (guard (e (#t (condition-message e))) (describe 5)))
