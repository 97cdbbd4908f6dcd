;;; SRFI 146: mappings by the hashes of their keys. Hashmaps are immutable: the procedures with `!`
;;; return a hashmap like the others.
(define-library (srfi 146 hash)
  (export
    hashmap hashmap-unfold hashmap? hashmap-contains? hashmap-empty? hashmap-disjoint?
    hashmap-ref hashmap-ref/default hashmap-key-comparator
    hashmap-adjoin hashmap-set hashmap-replace hashmap-delete hashmap-delete-all hashmap-intern
    hashmap-update hashmap-update/default
    hashmap-pop hashmap-search
    (rename hashmap-adjoin hashmap-adjoin!) (rename hashmap-set hashmap-set!)
    (rename hashmap-replace hashmap-replace!) (rename hashmap-delete hashmap-delete!)
    (rename hashmap-delete-all hashmap-delete-all!) (rename hashmap-intern hashmap-intern!)
    (rename hashmap-update hashmap-update!) (rename hashmap-update/default hashmap-update!/default)
    (rename hashmap-pop hashmap-pop!)
    (rename hashmap-search hashmap-search!)
    hashmap-size hashmap-find hashmap-count hashmap-any? hashmap-every? hashmap-keys hashmap-values
    hashmap-entries hashmap-map hashmap-for-each hashmap-fold hashmap-map->list hashmap-filter
    hashmap-remove hashmap-partition (rename hashmap-filter hashmap-filter!)
    (rename hashmap-remove hashmap-remove!) (rename hashmap-partition hashmap-partition!)
    hashmap-copy hashmap->alist alist->hashmap alist->hashmap!
    hashmap=? hashmap<? hashmap>? hashmap<=? hashmap>=?
    hashmap-union hashmap-intersection hashmap-difference hashmap-xor
    (rename hashmap-union hashmap-union!) (rename hashmap-intersection hashmap-intersection!)
    (rename hashmap-difference hashmap-difference!) (rename hashmap-xor hashmap-xor!)
    comparator? make-hashmap-comparator hashmap-comparator)
  (on-demand)
  (import (scheme base) (scheme case-lambda) (srfi 128) (only (duet internal control) call/ec)
          (only (duet internal lists) fold))
  (include "tree.scm" "entries.scm" "hashmap.scm"))
