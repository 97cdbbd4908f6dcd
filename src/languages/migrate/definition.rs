//! Definitions that translated code may need, as text.
//!
//! INVARIANT: a definition stands in the code once, and only if something uses it.
//! It does not know which instructions use them. Read next: `translate.rs`.

/// A definition that translated code may need; they stand in the code in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Definition {
    /// Access to the properties of roles.
    Properties,
    /// The value of the last wait.
    LastWait,
    /// The limit of loops.
    Rounds,
    /// The question whether a condition holds at this moment.
    Present,
    /// Assertions that can be taken back by their value.
    Assertions,
}

impl Definition {
    /// The definition.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Properties => {
                "(define (role-property role key) (dictionary-ref properties (list role key)))\n\
                 (define (set-role-property! role key value)\n  \
                   (dictionary-set! properties (list role key) value))\n"
            }
            Self::LastWait => ";; The value for which the program waited last.\n(define last-wait #f)\n",
            Self::Rounds => {
                "(define (check-rounds round)\n  \
                   (if (> round 1000) (error \"a loop took more than 1,000 rounds\")))\n"
            }
            Self::Present => {
                ";; Whether a condition holds at this moment.\n\
                 (define (present? condition) (with-timeout 0 condition))\n"
            }
            Self::Assertions => {
                ";; Assertions with their handles, the newest first.\n\
                 (define assertions '())\n\
                 (define (assert-value! value)\n  \
                   (set! assertions (cons (cons value (assert! value)) assertions)))\n\
                 (define (without entry entries)\n  \
                   (if (eq? entry (car entries))\n      \
                       (cdr entries)\n      \
                       (cons (car entries) (without entry (cdr entries)))))\n\
                 ;; Takes back the newest assertion of a value.\n\
                 (define (retract-value! value)\n  \
                   (let ((found (assoc value assertions)))\n    \
                     (if (not found) (error \"this value is not asserted\" value))\n    \
                     (retract! (cdr found))\n    \
                     (set! assertions (without found assertions))))\n"
            }
        }
    }
}
