;;; Sessions are served as they were asked for, or not at all.
(import (duet base) (duet dataspace) (duet sessions) (scheme process-context))
(on-assert (session/hosted) (log! 'hosted))
(on-retract (session/hosted) (log! 'hosted-no-longer))
(on-assert (session/ended :session $id :reason $reason) (log! (list id 'ended reason)))
(on-assert (session/capability :session $id :capability $name) (log! (list id 'may name)))
(on-assert (session/event :session $id :kind $kind :payload $payload :tag $tag :number _)
  (log! (list id kind payload)))

(define (serve! . options)
  (guard (why (#t (log! (list 'refused (condition-kind why) (condition-message why)))))
    (apply serve-sessions! options)))

;; What would fail when the first session begins fails now, and no session can begin.
(serve! :grants '((dataspace/fly (pattern (a $_)))))
(serve! :grants '((dataspace/assert a)))
(serve! :grants "all")
(serve! :imports '((scheme base)) :fact-limit -1)
(serve! :imports "all")
(serve! :imports '((scheme base) (no such library)))
(serve! :memory-limit 1000000000000000)
(serve! :limit 3)
(message! (record 'session/request :session "ada" :payload ''never :tag 1))
(sleep 10)

;; A facet of its own, so that sessions end with it.
(define facet (spawn-facet!))
(spawn
  (lambda ()
    (serve! :imports '((scheme base)) :grants '(console (dataspace/message (pattern (says $_))))))
  facet)
(sleep 10)
;; The id of a session is a string: a symbol in its place could be a wildcard of a grant.
(for-each
  (lambda (id) (message! (record 'session/request :session id :payload ''never :tag 1)))
  (list 7 '_ '$x "$x" 7))
(sleep 10)
(stop-facet! facet)
(sleep 10)
(exit 0)
