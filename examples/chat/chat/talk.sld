;;; Words for people at a prompt in the room: `(join "Ada")`, then `(say "Hello!")`.
(define-library (chat talk)
  (export join say)
  (import (scheme base) (scheme write) (duet base)
          (only (duet dataspace) assert! message! on-assert))
  (begin
    (define own-name #f)

    ;; Shows everything that was and will be said, and that one is here until the session ends.
    (define (join name)
      (set! own-name name)
      (assert! (record 'present name))
      (on-assert (said $number $who $text)
        (for-each display (list number " " who ": " text))
        (newline)))

    (define (say text)
      (if own-name
          (message! (record 'says own-name text))
          (error "say who you are first: (join \"Ada\")")))))
