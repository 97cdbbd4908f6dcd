;;; await await-next
(assert! (record 'job 1 'old))
(yield)
(spawn (lambda () (log! (list 'next (await-next (pattern (job $n _)))))))
(log! (list 'present (await (pattern (job $n _)))))
(log! (list 'by-field (await (record 'job :field 1 :equals 'old))))
(assert! (record 'job 2 'new))
