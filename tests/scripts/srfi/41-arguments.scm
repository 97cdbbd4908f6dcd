;; SRFI 41: wrong arguments raise at the call, before anything is computed on demand.
(import (scheme base) (srfi 41))
(define s (stream 1 2 3))

(stream-car "four")                          ; raises: error
(stream-car stream-null)                     ; raises: error
(stream-cdr "four")                          ; raises: error
(stream-cdr stream-null)                     ; raises: error
(list->stream "four")                        ; raises: wrong-type
(list->stream '(1 . 2))                      ; raises: wrong-type
(port->stream "four")                        ; raises: wrong-type
(stream->list "four")                        ; raises: wrong-type
(stream->list -1 s)                          ; raises: wrong-type
(stream->list 1.5 s)                         ; raises: wrong-type
(stream->list "four" s)                      ; raises: wrong-type
(stream->list 2 "four")                      ; raises: wrong-type
(stream-append "four")                       ; raises: wrong-type
(stream-append s "four")                     ; raises: wrong-type
(stream-concat "four")                       ; raises: wrong-type
(stream->list (stream-concat (stream s 1)))  ; raises: wrong-type
(stream-drop "four" s)                       ; raises: wrong-type
(stream-drop -1 s)                           ; raises: wrong-type
(stream-drop 2 "four")                       ; raises: wrong-type
(stream-drop-while "four" s)                 ; raises: wrong-type
(stream-drop-while odd? "four")              ; raises: wrong-type
(stream-filter "four" s)                     ; raises: wrong-type
(stream-filter odd? '())                     ; raises: wrong-type
(stream-fold "four" 0 s)                     ; raises: wrong-type
(stream-fold + 0 "four")                     ; raises: wrong-type
(stream-for-each "four" s)                   ; raises: wrong-type
(stream-for-each list "four")                ; raises: wrong-type
(stream-for-each list s "four")              ; raises: wrong-type
(stream-from "four")                         ; raises: wrong-type
(stream-from 1 "four")                       ; raises: wrong-type
(stream-iterate "four" 0)                    ; raises: wrong-type
(stream-length "four")                       ; raises: wrong-type
(stream-map "four" s)                        ; raises: wrong-type
(stream-map odd? "four")                     ; raises: wrong-type
(stream-map + s "four")                      ; raises: wrong-type
(stream-range "four" 0)                      ; raises: wrong-type
(stream-range 0 "four")                      ; raises: wrong-type
(stream-range 1 2 "three")                   ; raises: wrong-type
(stream-ref "four" 0)                        ; raises: wrong-type
(stream-ref s "four")                        ; raises: wrong-type
(stream-ref (stream-from 0) 3.5)             ; raises: wrong-type
(stream-ref s -3)                            ; raises: wrong-type
(stream-ref s 3)                             ; raises: out-of-range
(stream-ref stream-null 0)                   ; raises: out-of-range
(stream-reverse "four")                      ; raises: wrong-type
(stream-scan "four" 0 s)                     ; raises: wrong-type
(stream-scan + 0 "four")                     ; raises: wrong-type
(stream-take "four" s)                       ; raises: wrong-type
(stream-take -1 s)                           ; raises: wrong-type
(stream-take 2 "four")                       ; raises: wrong-type
(stream-take-while "four" s)                 ; raises: wrong-type
(stream-take-while odd? "four")              ; raises: wrong-type
(stream-unfold "four" odd? + 0)              ; raises: wrong-type
(stream-unfold + "four" + 0)                 ; raises: wrong-type
(stream-unfold + odd? "four" 0)              ; raises: wrong-type
(stream-unfolds "four" 0)                    ; raises: wrong-type
(stream-zip "four")                          ; raises: wrong-type
(stream-zip s "four")                        ; raises: wrong-type
(stream-match "four" (_ 'ok))                ; raises: error
(stream-match s (() 'no))                    ; raises: error

;; Right arguments are still evaluated on demand.
(define looked 0)
(define (look n) (set! looked (+ looked 1)) n)
(define lazy
  (stream-map look
    (stream-filter odd? (stream-drop-while even? (stream-drop 2 (stream-from 0))))))
looked                                       ; => 0
(stream->list 2 lazy)                        ; => (3 5)
looked                                       ; => 2
(stream->list 0 lazy)                        ; => ()
(stream->list 9 s)                           ; => (1 2 3)
(stream->list (stream-append))               ; => ()
(stream->list (stream-concat (stream s stream-null s)))  ; => (1 2 3 1 2 3)
(stream->list (stream-drop 9 s))             ; => ()
(stream-ref s 2)                             ; => 3
(stream->list 3 (stream-concat (stream-map (lambda (n) (stream n n)) (stream-from 1))))
; => (1 1 2)
