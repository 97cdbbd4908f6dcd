;;; The digest of what a turn said, and the guard against turns that say the same.
;;; Source: AEIOU v4, section 9; decisions, sections 4 and 5.8.

(define %control-marker "<<<LOOP:DONE>>>")

;;; Returns the lines without blanks at their ends, each with a newline, and without the lines that
;;; begin with the control marker.
(define (%normalised text)
  (let ((port (open-output-string)))
    (for-each
      (lambda (line)
        (if (not (string-prefix? %control-marker (string-trim line)))
            (begin
              (write-string (%trim-end line) port)
              (newline port))))
      (%lines text))
    (get-output-string port)))

;;;> Returns the digest of the output and the scratchpad of a turn, strings: 64 hexadecimal digits,
;;;> SHA-256 of `"OUT|" + output + "\nSCR|" + scratchpad`. Blanks at the ends of lines and lines
;;;> that begin with the control marker do not count.
;;;> Source: AEIOU v4, section 9; decisions, section 4.
(define (turn-digest output scratchpad)
  (if (not (string? output)) (%wrong-type 'turn-digest "a string" output))
  (if (not (string? scratchpad)) (%wrong-type 'turn-digest "a string" scratchpad))
  (sha256
    (string->utf8
      (string-append "OUT|" (%normalised output) "\nSCR|" (%normalised scratchpad)))))

(define-record-type <progress-guard>
  (%make-progress-guard limit digest count)
  ;;;> Returns whether an object is a progress guard.
  progress-guard?
  (limit %guard-limit)
  (digest %guard-digest %set-guard-digest!)
  (count %guard-count %set-guard-count!))

;;;> Makes a guard that halts at the `limit`-th equal digest in a row; 0 stands for 3, the default
;;;> of the specification.
(define (make-progress-guard limit)
  (if (not (and (exact-integer? limit) (>= limit 0)))
      (%wrong-type 'make-progress-guard "a number of turns" limit))
  (%make-progress-guard (if (= limit 0) 3 limit) #f 0))

;;;> Gives the guard the digest of the next turn; returns whether the loop must halt.
;;;> Source: AEIOU v4, section 9.
(define (progress-guard-halts? guard digest)
  (%set-guard-count! guard
    (if (equal? digest (%guard-digest guard)) (+ (%guard-count guard) 1) 1))
  (%set-guard-digest! guard digest)
  (>= (%guard-count guard) (%guard-limit guard)))

;; SHA-256.

(define %round-constants
  #(#x428a2f98 #x71374491 #xb5c0fbcf #xe9b5dba5 #x3956c25b #x59f111f1 #x923f82a4 #xab1c5ed5
    #xd807aa98 #x12835b01 #x243185be #x550c7dc3 #x72be5d74 #x80deb1fe #x9bdc06a7 #xc19bf174
    #xe49b69c1 #xefbe4786 #x0fc19dc6 #x240ca1cc #x2de92c6f #x4a7484aa #x5cb0a9dc #x76f988da
    #x983e5152 #xa831c66d #xb00327c8 #xbf597fc7 #xc6e00bf3 #xd5a79147 #x06ca6351 #x14292967
    #x27b70a85 #x2e1b2138 #x4d2c6dfc #x53380d13 #x650a7354 #x766a0abb #x81c2c92e #x92722c85
    #xa2bfe8a1 #xa81a664b #xc24b8b70 #xc76c51a3 #xd192e819 #xd6990624 #xf40e3585 #x106aa070
    #x19a4c116 #x1e376c08 #x2748774c #x34b0bcb5 #x391c0cb3 #x4ed8aa4a #x5b9cca4f #x682e6ff3
    #x748f82ee #x78a5636f #x84c87814 #x8cc70208 #x90befffa #xa4506ceb #xbef9a3f7 #xc67178f2))

;;; Arithmetic on words is by `quotient` and `remainder`, which are faster than shifts and masks.
(define %word-limit #x100000000)

(define (%wrap number) (remainder number %word-limit))

;;; Returns a word with its low bits, those below a power of two, repeated above it: a shift of this
;;; number to the right, wrapped, is a rotation of the word by as many bits.
(define-syntax %extended
  (syntax-rules () ((_ word power) (+ word (* (remainder word power) %word-limit)))))

;;; Returns the message with a bit 1, zeros and its length in bits, in blocks of 64 bytes.
(define (%padded message)
  (let* ((length (bytevector-length message))
         (blocks (quotient (+ length 9 63) 64))
         (padded (make-bytevector (* 64 blocks) 0)))
    (bytevector-copy! padded 0 message)
    (bytevector-u8-set! padded length #x80)
    (let loop ((i (- (* 64 blocks) 1)) (bits (* 8 length)))
      (if (> bits 0)
          (begin
            (bytevector-u8-set! padded i (remainder bits 256))
            (loop (- i 1) (quotient bits 256)))))
    padded))

;;; Fills the schedule of 64 words for the block that begins at an index.
(define (%schedule! words message start)
  (do ((i 0 (+ i 1))) ((= i 16))
    (let ((at (+ start (* 4 i))))
      (vector-set! words i
        (+ (* 16777216 (bytevector-u8-ref message at))
           (* 65536 (bytevector-u8-ref message (+ at 1)))
           (* 256 (bytevector-u8-ref message (+ at 2)))
           (bytevector-u8-ref message (+ at 3))))))
  (do ((i 16 (+ i 1))) ((= i 64))
    (let* ((x (vector-ref words (- i 15)))
           (y (vector-ref words (- i 2)))
           (wide-x (%extended x 262144))
           (wide-y (%extended y 524288))
           (s0 (bitwise-xor (quotient wide-x 128) (quotient wide-x 262144) (quotient x 8)))
           (s1 (bitwise-xor (quotient wide-y 131072) (quotient wide-y 524288)
                 (quotient y 1024))))
      (vector-set! words i
        (%wrap (+ (vector-ref words (- i 16)) s0 (vector-ref words (- i 7)) s1))))))

;;; Adds what the 64 rounds of a block make of the state to the state, a vector of eight words.
;;; Bit operations cost ten times as much as sums. So `choice` and `majority` are sums of words that
;;; have no bit in common, and `both`, the bits that b and c have in common, comes from the round
;;; before.
(define (%compress! state words)
  (let loop ((i 0)
             (a (vector-ref state 0))
             (b (vector-ref state 1))
             (c (vector-ref state 2))
             (d (vector-ref state 3))
             (e (vector-ref state 4))
             (f (vector-ref state 5))
             (g (vector-ref state 6))
             (h (vector-ref state 7))
             (both (bitwise-and (vector-ref state 1) (vector-ref state 2))))
    (if (< i 64)
        (let* ((wide-e (%extended e 33554432))
               (s1 (bitwise-xor (quotient wide-e 64) (quotient wide-e 2048)
                     (quotient wide-e 33554432)))
               (choice (+ (bitwise-and e f) (- g (bitwise-and e g))))
               (first (+ h s1 choice (vector-ref %round-constants i) (vector-ref words i)))
               (wide-a (%extended a 4194304))
               (s0 (bitwise-xor (quotient wide-a 4) (quotient wide-a 8192)
                     (quotient wide-a 4194304)))
               (majority (+ both (bitwise-and a (- (+ b c) (* 2 both))))))
          (loop (+ i 1) (%wrap (+ first s0 majority)) a b c (%wrap (+ d first)) e f g
            (bitwise-and a b)))
        (for-each
          (lambda (index word)
            (vector-set! state index (%wrap (+ (vector-ref state index) word))))
          '(0 1 2 3 4 5 6 7) (list a b c d e f g h)))))

(define (%hexadecimal word)
  (let ((digits (number->string word 16)))
    (string-append (make-string (- 8 (string-length digits)) #\0) digits)))

;;;> Returns the SHA-256 of a bytevector: 64 hexadecimal digits.
;;;> Source: FIPS 180-4.
(define (sha256 message)
  (if (not (bytevector? message)) (%wrong-type 'sha256 "a bytevector" message))
  (let ((padded (%padded message))
        (words (make-vector 64 0))
        (state
          (vector #x6a09e667 #xbb67ae85 #x3c6ef372 #xa54ff53a #x510e527f #x9b05688c #x1f83d9ab
            #x5be0cd19)))
    (do ((start 0 (+ start 64))) ((= start (bytevector-length padded)))
      (%schedule! words padded start)
      (%compress! state words))
    (string-join (map %hexadecimal (vector->list state)) "")))
