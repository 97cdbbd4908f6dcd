;;; current-time random
(define before (current-time))
(sleep 30)
(log! (- (current-time) before))
(log! (< -1 (random 6) 6))
(log! (let ((drawn (random))) (and (<= 0 drawn) (< drawn 1))))
