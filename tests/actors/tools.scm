;;; invoke-tool! tool-result call-tool generate-request-id!
(define tag (invoke-tool! 'worker 'counter/add 5 :tag "five"))
(log! (list tag (await (tool-result :tag tag))))
(log! (call-tool 'worker 'counter/add 6))
(log! (string? (generate-request-id! 'worker 'job)))
(guard (failure (#t (log! (list (condition-kind failure) (condition-message failure)))))
  (call-tool 'worker 'no/such/tool 1))
