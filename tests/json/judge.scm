;; Judges the files of two public suites, of JSON and of JSON Schema, with (duet json).
;;
;; Arguments: `texts` and a list of files whose names say whether they are JSON (y_), are none (n_)
;; or may be either (i_); or `schemas` and a list of files of cases. Both lists are files with a
;; name on each line. A judgement that differs is written as a line: its name, and what is wrong.
(import (scheme base) (scheme file) (scheme process-context) (scheme write) (duet base)
  (duet json))

(define kind (list-ref (command-line) 1))

(define (lines-of path)
  (call-with-input-file path
    (lambda (port)
      (let loop ((lines '()))
        (let ((line (read-line port)))
          (if (eof-object? line) (reverse lines) (loop (cons line lines))))))))

(define (bytes-of path)
  (let ((port (open-binary-input-file path)))
    (let loop ((parts '()))
      (let ((part (read-bytevector 65536 port)))
        (if (eof-object? part)
            (apply bytevector-append (reverse parts))
            (loop (cons part parts)))))))

(define (last-part path)
  (let loop ((place (string-length path)))
    (if (or (= place 0) (char=? (string-ref path (- place 1)) #\/))
        (substring path place (string-length path))
        (loop (- place 1)))))

(define right (dictionary))
(define all (dictionary))
(define (count! table key) (dictionary-set! table key (+ 1 (dictionary-ref table key 0))))
(define (judged! group name is-right? what)
  (count! all group)
  (if is-right?
      (count! right group)
      (for-each display (list name "\t" what "\n"))))

;; The value of a thunk, or the message of what it raises.
(define (outcome thunk)
  (guard (e ((condition? e) (list 'refused (condition-message e)))) (list 'value (thunk))))
(define (refused? outcome) (eq? (car outcome) 'refused))

(define (judge-text path)
  (let* ((name (last-part path))
         (found (outcome (lambda () (json->value (utf8->string (bytes-of path)))))))
    (case (string-ref name 0)
      ((#\y) (judged! 'y name (not (refused? found)) (cadr found)))
      ((#\n) (judged! 'n name (refused? found) "it is taken")))))

(define (judge-case file case)
  (let ((schema (outcome (lambda () (json-schema (json-ref case 'schema))))))
    (for-each
      (lambda (test)
        (let* ((expected (json-ref test 'valid))
               (found
                 (if (refused? schema)
                     schema
                     (outcome (lambda () (json-valid? (cadr schema) (json-ref test 'data)))))))
          (judged! 'schemas
            (string-append (last-part file) ": " (json-ref case 'description) ": "
              (json-ref test 'description))
            (and (not (refused? found)) (eq? expected (cadr found)))
            (if (refused? found) (cadr found) (if expected "it is refused" "it is taken")))))
      (json-ref case 'tests))))

(define (judge-schemas path)
  (for-each
    (lambda (case) (judge-case path case))
    (json->value (utf8->string (bytes-of path)))))

(for-each (if (equal? kind "texts") judge-text judge-schemas)
          (lines-of (list-ref (command-line) 2)))
(for-each
  (lambda (group)
    (for-each display
      (list "= " group ": " (dictionary-ref right group 0) " of " (dictionary-ref all group) "\n")))
  (dictionary-keys all))
