;; Libraries of R7RS-large that are SRFIs under another name.

(import (scheme base))
(import (only (scheme list) fold) (only (scheme vector) vector-count))
(import (only (scheme sort) list-sort) (only (scheme box) box unbox))
(import (only (scheme bitwise) bit-swap))
(import (only (scheme hash-table) hash-table?) (only (scheme set) set-size))
(import (only (scheme generator) make-range-generator) (only (scheme stream) stream-null))
(import (only (scheme comparator) make-default-comparator) (only (scheme charset) char-set:digit))
(import (only (scheme list-queue) list-queue) (only (scheme division) floor/))
(import (only (scheme fixnum) fx+) (only (scheme regex) regexp-matches?))
(import (only (scheme mapping) mapping mapping-ref/default))
(import (only (scheme mapping hash) hashmap hashmap-ref/default))
(fold + 0 '(1 2 3))            ; => 6
(vector-count even? #(1 2 4))  ; => 2
(list-sort < '(3 1 2))         ; => (1 2 3)
(unbox (box 1))                ; => 1
(regexp-matches? '(+ num) "12") ; => #t
(mapping-ref/default (mapping (make-default-comparator) 'a 1) 'a 0)  ; => 1
(hashmap-ref/default (hashmap (make-default-comparator) 'b 2) 'b 0)  ; => 2
