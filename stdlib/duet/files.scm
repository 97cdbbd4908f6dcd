;;; The tool waits until a directory is not as the program has seen it, and what it has seen is part
;;; of the run. So a run that continues learns what changed while nobody ran it.

;;; The wait before another attempt after a failure, in milliseconds.
(define %wait-again 5000)

;;;> Keeps a fact `<file name path kind size modified>` for each entry of a directory in the
;;;> workspace: `(watch-files! name [:path path] [:recursive boolean])`. Returns the facet that does
;;;> it; its facts disappear when it stops.
;;;>
;;;> `kind` is one of the symbols `file`, `directory`, `symlink` and `other`; `size` counts bytes;
;;;> `modified` is in milliseconds since 1970, 0 for what is no file. When a file changes, its new
;;;> fact appears before the old one disappears. Without `:path` the directory is the workspace;
;;;> with `:recursive` those inside belong to it. Hidden entries and those that `.gitignore` names
;;;> are left out. A directory has at most 2,000 entries, and a change is noticed after about half a
;;;> second. The program needs the tool `workspace/watch`.
(define (watch-files! name . options)
  (%check-options 'watch-files! options '(:path :recursive))
  (if (not (symbol? name)) (%wrong-type 'watch-files! "a symbol" name))
  (let ((facet (spawn-facet!)) (place (dictionary)) (path (%option options :path #f)))
    (if path (dictionary-set! place 'path path))
    (dictionary-set! place 'recursive (and (%option options :recursive #f) #t))
    (spawn (lambda () (%watch-files! name place '() (dictionary))) facet)
    facet))

;;; Looks for what differs from `seen`; `handles` has the facts' handles by entry.
(define (%watch-files! name place seen handles)
  (let ((found
          (guard (failure ((condition? failure)
                           (log! (list name (condition-kind failure) (condition-message failure)))
                           #f))
            (dictionary-set! place 'seen seen)
            (call-tool name "workspace/watch" place))))
    (cond (found
           (%update-files! name found handles)
           (%watch-files! name place found handles))
          (else
           (sleep %wait-again)
           (%watch-files! name place seen handles)))))

(define (%update-files! name found handles)
  (let ((stays (dictionary)))
    (for-each
      (lambda (entry)
        (dictionary-set! stays entry #t)
        (if (not (dictionary-contains? handles entry))
            (dictionary-set! handles entry
              (assert!
                (apply record 'file name
                  (map (lambda (key) (dictionary-ref entry key))
                       '(path kind size_bytes modified_ms)))))))
      found)
    (for-each
      (lambda (entry)
        (if (not (dictionary-contains? stays entry))
            (begin
              (retract! (dictionary-ref handles entry))
              (dictionary-delete! handles entry))))
      (dictionary-keys handles))))
