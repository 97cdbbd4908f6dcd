//! Rows of the procedures on syntax objects, outside of expansion.

use super::Row;

const REFUSED: &str = "out-of-phase: syntax objects exist only while a program is expanded: ";

pub(super) const ROWS: &[Row] = &[
    ("syntax?", "1", REFUSED),
    ("identifier?", "a", REFUSED),
    ("bound-identifier=?", "a b", REFUSED),
    ("free-identifier=?", "a b", REFUSED),
    ("syntax->datum", "a", REFUSED),
    ("datum->syntax", "a b", REFUSED),
    ("syntax->list", "(a)", REFUSED),
    ("generate-temporaries", "(a)", REFUSED),
    ("make-variable-transformer", "a", REFUSED),
    ("syntax-violation", "a \"b\" c", REFUSED),
    ("%syntax-match", "\"p\" a", REFUSED),
    ("%syntax-fill", "\"t\" a b", REFUSED),
    ("%syntax-rules", "\"r\" a", REFUSED),
    ("%syntax-no-match", "a", REFUSED),
];
