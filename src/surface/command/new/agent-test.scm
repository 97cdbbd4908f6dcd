;;; Tests of the library `(@NAME@)`, for `duet test`. A script stands in for the model.
(import (scheme base) (srfi 64) (duet agents) (duet base) (duet test) (@NAME@))

(script-model!
  (calling "measure" (dictionary 'word "Scheme"))
  "The word Scheme has 6 letters.")

(test-begin "@NAME@")
(test-equal "the tool counts letters"
  6
  (dictionary-ref (word-length (dictionary "word" "Scheme")) 'letters))
(test-equal "the agent answers"
  "The word Scheme has 6 letters."
  (ask assistant "How long is the word Scheme?"))
(test-equal "the model was told how many letters there are"
  '("How long is the word Scheme?" "{\"letters\":6}")
  (model-prompts))
(test-end)
