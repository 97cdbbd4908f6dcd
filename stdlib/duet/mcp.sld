;;; Servers of the Model Context Protocol: calls whose questions the person answers, resources,
;;; prompts.
(define-library (duet mcp)
  (export
    mcp-call mcp-wait mcp-value mcp-text mcp-tools mcp-resources mcp-read mcp-prompts mcp-prompt)
  (on-demand)
  (import
    (scheme base)
    (only (scheme write) display)
    (only (duet base)
      dictionary dictionary? dictionary-ref dictionary-set! dictionary-contains? dictionary-count
      dictionary->alist dictionary-keys filter filter-map find record string-index string-join
      string-prefix? string-split string-trim string-trim-left with-output-to-string)
    (only (duet calendar) text->time)
    (only (duet dataspace) await call-tool user-input)
    (only (duet internal control) %wrong-type))
  (include "mcp.scm"))
