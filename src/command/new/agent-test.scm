;;; Tests of the library `(@NAME@)`.
(import (scheme base) (srfi 64) (duet base) (@NAME@))

(test-begin "@NAME@")
(test-equal "the tool counts letters"
  6
  (dictionary-ref (word-length (dictionary "word" "Scheme")) 'letters))
(test-end)
