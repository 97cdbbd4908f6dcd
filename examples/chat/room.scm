;;; A chat room for people, programs and clients in any language: `duet serve examples/chat`.
;;;
;;; Who is there asserts <present NAME>, as long as they are; who speaks sends the message
;;; <says NAME TEXT>. The room keeps what was said as facts, <said NUMBER NAME TEXT>, so whoever
;;; comes later, or comes back, observes all of it.
(import (duet base) (duet dataspace) (scheme write))

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
