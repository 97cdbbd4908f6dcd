;;; Policy: constraints, grants, proposals and their approval.
;;; The runtime provides the procedures that are not defined here.
(define-library (duet policy)
  (export
    define-constraint remove-constraint! grant! set-policy! set-goal! record-fact! entry-text
    propose! explain pending-approvals approve! reject! session-name
    policy-refusal? refusal-code refusal-follows refusal-key refusal-explanation)
  (on-demand)
  (import (except (duet kernel) close-port close-output-port) (scheme base) (only (duet base)
                                                                              string-join keyword?
                                                                              keyword->symbol record
                                                                              dictionary?
                                                                              dictionary->alist)
          (only (duet dataspace) assert! retract! yield) (only (duet internal options) %option)
          (only (duet internal control) %wrong-type))
  (include "policy.scm"))
