;;; Files of the workspace as facts.
(define-library (duet files)
  (export watch-files!)
  (on-demand)
  (import
    (duet base)
    (only (duet dataspace) assert! retract! spawn spawn-facet! sleep call-tool log!)
    (only (duet internal control) %wrong-type)
    (only (duet internal options) %check-options %option))
  (include "files.scm"))
