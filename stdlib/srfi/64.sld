;;; SRFI 64: tests.
(define-library (srfi 64)
  (export
    test-begin test-end test-group test-group-with-cleanup test-assert test-equal test-eqv test-eq
    test-approximate test-error
    test-apply test-with-runner test-match-name test-match-nth test-match-any test-match-all
    test-skip test-expect-fail test-runner? test-runner-null test-runner-simple test-runner-create
    test-runner-factory test-runner-current test-runner-get
    test-runner-reset test-runner-test-name test-runner-group-stack test-runner-group-path
    test-runner-pass-count test-runner-fail-count test-runner-xpass-count test-runner-xfail-count
    test-runner-skip-count test-runner-on-test-begin test-runner-on-test-begin!
    test-runner-on-test-end test-runner-on-test-end! test-runner-on-group-begin
    test-runner-on-group-begin! test-runner-on-group-end test-runner-on-group-end!
    test-runner-on-final test-runner-on-final! test-runner-on-bad-count test-runner-on-bad-count!
    test-runner-on-bad-end-name test-runner-on-bad-end-name! test-runner-aux-value
    test-runner-aux-value! test-result-kind test-passed? test-result-ref test-result-set!
    test-result-remove test-result-clear test-result-alist
    test-on-test-begin-simple test-on-test-end-simple test-on-group-begin-simple
    test-on-group-end-simple test-on-final-simple test-on-bad-count-simple
    test-on-bad-end-name-simple)
  (on-demand)
  (import (scheme base) (only (scheme cxr) caddr) (scheme case-lambda) (scheme write)
          (only (duet internal lists) any every remove) (only (duet internal ports) %at-end!)
          (only (duet kernel) %exit %explain %keep-told! %make-condition %report-failure
            %write-limited message!)
          (only (duet base) condition? condition-kind condition-message condition-irritants
            dictionary? dictionary-contains? dictionary-keys dictionary-ref record record?
            record-label record-fields set? set-contains? set->list))
  (include "64/runner.scm" "64/apart.scm" "64/report.scm" "64/tests.scm"))
