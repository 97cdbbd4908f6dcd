;;; A chat room: who is there, what is said, who leaves.
(define-library (chat)
  (export user)
  (import (duet base) (duet dataspace) (scheme process-context))
  (begin
    (define (user name)
      (assert! (record 'present name))
      (on-message (say $who $text)
        (unless (equal? who name)
          (message! (record 'show (string-append name " hears " who ": " text)))))
      (on-message (leave ,name) (exit)))))

(import (duet base) (duet dataspace) (scheme write) (chat))

(define (show . words) (for-each display words) (newline))

(register-entity! 'user user)
(on-assert (present $name) (show "*** " name " is here"))
(on-retract (present $name) (show "*** " name " has left"))
(on-message (show $line) (show line))

(define ann (spawn-entity! 'user :config "ann"))
(define ben (spawn-entity! 'user :config "ben"))

;; Everybody has begun once everything that was sent to them is handled.
(define (settle) (sync! ann) (sync! ben) (sync!))
(settle)
(message! (record 'say "ben" "good morning"))
(settle)
(message! (record 'say "ann" "hello ben"))
(settle)
(message! (record 'leave "ann"))
(settle)
(yield)
