//! The layout of forms that have a body: how many operands stand before it.
//!
//! INVARIANT: the prompt's indenter and the formatter read the same table.
//! It does not know the macros of a program; `macros.rs` reads them.
//! Read next: `layout.rs`.

/// Forms with a body, and how many operands stand before it.
const BODIES: &[(&str, usize)] = &[
    ("and-let*", 1),
    ("async", 0),
    ("begin", 0),
    ("case", 1),
    ("case-lambda", 0),
    ("case-receive", 1),
    ("control", 1),
    ("control-at", 2),
    ("curried", 1),
    ("define", 1),
    ("define-curried", 1),
    ("define-generator", 2),
    ("define-library", 1),
    ("define-record-type", 1),
    ("define-stream", 1),
    ("define-syntax", 1),
    ("define-tool", 2),
    ("define-values", 1),
    ("delay", 0),
    ("do", 2),
    ("dotimes", 1),
    ("during", 1),
    ("either-guard", 1),
    ("either-let*", 1),
    ("either-let*-values", 1),
    ("except", 1),
    ("generator-lambda", 2),
    ("guard", 1),
    ("lambda", 1),
    ("let-optionals", 2),
    ("let-optionals*", 2),
    ("library", 1),
    ("match", 1),
    ("maybe-let*", 1),
    ("maybe-let*-values", 1),
    ("migrate-records", 2),
    ("named-lambda", 1),
    ("on-assert", 1),
    ("on-message", 1),
    ("on-retract", 1),
    ("only", 1),
    ("opt*-lambda", 1),
    ("opt-lambda", 1),
    ("parameterize", 1),
    ("prompt", 0),
    ("prompt-at", 1),
    ("rec", 1),
    ("receive", 2),
    ("rename", 1),
    ("reset", 0),
    ("reset-at", 1),
    ("shift", 1),
    ("shift-at", 2),
    ("stream-lambda", 1),
    ("stream-let", 2),
    ("syntax-case", 2),
    ("syntax-rules", 1),
    ("test-property", 2),
    ("unless", 1),
    ("when", 1),
];

/// How forms begin that have a body behind their bindings, such as `let*`.
const BODY_PREFIXES: &[&str] = &["fluid-let", "let"];

/// How procedures and forms begin whose last operands are laid out as a body, such as
/// `with-exception-handler`.
const CUSTOMS: &[&str] = &["define-", "with-", "call-with-", "test-"];

/// Forms whose operands begin a line each, under the first.
const COLUMNS: &[&str] = &["cond", "if"];

/// Forms that take as many operands on a line as fit.
const FILLED: &[&str] = &[
    "dictionary",
    "export",
    "import",
    "include",
    "list",
    "string-append",
    "vector",
];

/// Procedures whose operands are pairs of a key and its value, which stay on one line if they fit.
const PAIRED: &[&str] = &["dictionary"];

/// Forms whose operands are names one after the other: what does not fit on a line goes to the
/// beginning of the next.
const FLOWING: &[&str] = &["except", "export", "import", "include", "only"];

/// Forms whose body consists of clauses.
const CLAUSED: &[&str] = &["cond", "case", "case-lambda", "match", "syntax-rules", "syntax-case"];

/// How many operands stand before the body of a form; nothing if it has none.
pub(crate) fn operands_before_body(head: &str) -> Option<usize> {
    let listed = BODIES.iter().find(|(name, _)| *name == head).map(|(_, before)| *before);
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| head.starts_with(prefix)).then_some(1);
    listed.or_else(|| begins(BODY_PREFIXES)).or_else(|| begins(CUSTOMS))
}

/// How many columns an operand before the body stands in if it begins a line. A procedure has the
/// same number for all its operands.
pub(crate) fn columns_before_body(head: &str) -> usize {
    let is_form = head.starts_with("define") || BODIES.iter().any(|(name, _)| *name == head);
    let is_procedure = !is_form && CUSTOMS.iter().any(|prefix| head.starts_with(prefix));
    if is_procedure { 2 } else { 4 }
}

/// Whether each part of the body begins a line once the form does not fit on one.
pub(crate) fn has_lines(head: &str) -> bool {
    let is_listed = BODIES.iter().any(|(name, _)| *name == head) && !matches!(head, "only" | "except" | "rename");
    is_listed || BODY_PREFIXES.iter().any(|prefix| head.starts_with(prefix))
}

/// Whether the operands of a form begin a line each, under the first, once it does not fit on one.
pub(crate) fn is_column(head: &str) -> bool {
    COLUMNS.contains(&head)
}

/// Whether a form takes as many operands on a line as fit; another begins a line with each.
pub(crate) fn is_filled(head: &str) -> bool {
    FILLED.contains(&head)
}

/// Whether the operands of a form that do not fit on a line go to the beginning of the next.
pub(crate) fn is_flowing(head: &str) -> bool {
    FLOWING.contains(&head)
}

/// Whether the operands of a form are pairs of a key and its value.
pub(crate) fn has_pairs(head: &str) -> bool {
    PAIRED.contains(&head)
}

/// Whether the body of a form consists of clauses.
pub(crate) fn has_clauses(head: &str) -> bool {
    CLAUSED.contains(&head)
}

/// Whether the first list of a form is its bindings.
pub(crate) fn has_bindings(head: &str) -> bool {
    let is_let = head.starts_with("let") && head != "let/ec";
    is_let || head.contains("-let") || matches!(head, "do" | "parameterize")
}
