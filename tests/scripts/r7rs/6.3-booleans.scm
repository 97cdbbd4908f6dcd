;; R7RS 6.3: booleans.
(list #t #f '#f)                                     ; => (#t #f #f)
(not 3)                                              ; => #f
(not (list 3))                                       ; => #f
(not #f)                                             ; => #t
(not '())                                            ; => #f
(boolean? #f)                                        ; => #t
(boolean? 0)                                         ; => #f
(boolean? '())                                       ; => #f
(boolean=? #t #t #t)                                 ; => #t
(boolean=? #t #t #f)                                 ; => #f
(boolean=? #f #f)                                    ; => #t
(boolean=? 1 #t)                                     ; raises: wrong-type
