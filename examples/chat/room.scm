;;; A chat room for people, programs and clients in any language: `duet serve examples/chat`.
;;;
;;; Who is there asserts <present NAME>, as long as they are; who speaks sends the message
;;; <says NAME TEXT>. The room keeps what was said as facts, <said NUMBER NAME TEXT>, so whoever
;;; comes later, or comes back, observes all of it.
;;;
;;; People at a prompt, `duet repl chat`, have a session with the names of `(chat talk)`, and no other
;;; rights than those that this needs.
(import (duet base) (duet dataspace) (duet sessions) (scheme write) (only (chat talk)))

(serve-sessions!
  :imports '((scheme base) (scheme write) (chat talk))
  :grants '((dataspace/assert (pattern (present $_)))
            (dataspace/message (pattern (says $_ $_)))
            (dataspace/observe (pattern (said $_ $_ $_)))))

(define kept 100)
(define count 0)
(define handles '())

(define (show . words) (for-each display words) (newline))

(define (keep! name text)
  (set! count (+ count 1))
  (set! handles (cons (assert! (record 'said count name text)) handles))
  (if (> (length handles) kept)
      (let ((oldest (car (reverse handles))))
        (retract! oldest)
        (set! handles (reverse (cdr (reverse handles)))))))

(on-assert (present $name) (show "*** " name " is here"))
(on-retract (present $name) (show "*** " name " has left"))

(on-message (says $name $text)
  (show name ": " text)
  (keep! name text)
  (if (equal? text "/count")
      (keep! "room" (string-append "messages so far: " (number->string count)))))

(show "the room is open")
