;; Dynamic dispatch: objects are closures that receive messages and delegate what they do not understand.
(import (scheme base) (scheme write))

(define (make-shape name)
  (lambda (message . arguments)
    (case message
      ((name) name)
      ((area) 0)
      ((scale!) #f)
      (else (error "not understood" message)))))

(define (make-rectangle width height)
  (let ((parent (make-shape 'rectangle)))
    (lambda (message . arguments)
      (case message
        ((area) (* width height))
        ((scale!)
         (set! width (* width (car arguments)))
         (set! height (* height (car arguments))))
        ((grow!)
         (set! width (+ width (car arguments)))
         (set! height (+ height (cadr arguments))))
        (else (apply parent message arguments))))))

(define (make-square side)
  (let ((rectangle (make-rectangle side side)))
    (lambda (message . arguments)
      (if (eq? message 'name)
          'square
          (apply rectangle message arguments)))))

;; Counts the messages that pass on to another object.
(define (make-observed object)
  (let ((count 0))
    (lambda (message . arguments)
      (if (eq? message 'count)
          count
          (begin
            (set! count (+ count 1))
            (apply object message arguments))))))

(define (total-area shapes)
  (apply + (map (lambda (shape) (shape 'area)) shapes)))

;; Grows in even rounds and shrinks in odd ones.
(define (play rectangle square observed rounds)
  (let ((shapes (list rectangle square observed (make-shape 'point))))
    (let loop ((i 0) (total 0))
      (if (= i rounds)
          total
          (let ((step (if (even? i) 1 -1)))
            (rectangle 'grow! step (* 2 step))
            (square 'grow! step step)
            (observed 'scale! -1)
            (loop (+ i 1) (+ total (total-area shapes))))))))

(define (main)
  (let* ((rectangle (make-rectangle 2 3))
         (square (make-square 4))
         (observed (make-observed (make-square 1)))
         (total (play rectangle square observed 120000)))
    (if (and (= total 3840000) (= (observed 'count) 240000) (eq? (observed 'name) 'square))
        (display "objects ok")
        (error "objects is wrong" total (observed 'count))))
  (newline))

(main)
