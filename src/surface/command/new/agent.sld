;;; The agent and its tool, in a library, so that the tests reach them.
(define-library (@NAME@)
  (export assistant measure word-length)
  (import (scheme base) (duet agents) (duet base) (duet json))
  (begin
    ;;;> Returns the answer to a call of `measure`.
    (define (word-length arguments)
      (dictionary 'letters (string-length (json-ref arguments "word"))))

    ;;;> The tool that counts the letters of a word.
    (define measure
      (agent-tool "measure" "Returns how many letters a word has."
        (json->value "{\"type\": \"object\", \"required\": [\"word\"],
                       \"properties\": {\"word\": {\"type\": \"string\"}}}")
        word-length))

    ;;;> The agent.
    (define assistant
      (make-agent 'assistant :instructions "Answer in one sentence." :tools (list measure)))))
