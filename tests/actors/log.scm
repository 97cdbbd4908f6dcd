;;; log! progress!
(log! "plain text")
(log! (list 'an 'object "with text" 1.5))
(progress! "copying" 1 3)
(progress! "copying" 3 3)
