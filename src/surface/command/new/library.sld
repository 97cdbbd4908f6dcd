;;; A library. Programs beside it import it as `(@NAME@)`; others find it through the variable
;;; DUET_LIBRARY_PATH.
(define-library (@NAME@)
  (export words)
  (import (scheme base))
  (begin
    ;;;> Returns the words of a text, between blanks.
    (define (words text)
      (let loop ((letters (reverse (string->list text))) (word '()) (found '()))
        (define (taken) (if (null? word) found (cons (list->string word) found)))
        (cond ((null? letters) (taken))
              ((char=? (car letters) #\space) (loop (cdr letters) '() (taken)))
              (else (loop (cdr letters) (cons (car letters) word) found)))))))
