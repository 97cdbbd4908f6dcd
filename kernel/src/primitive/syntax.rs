//! Syntax objects: asking about them, taking them apart and making them.
//!
//! INVARIANT: syntax objects exist only while a program is expanded. There these procedures are answered by the expander (`transformer.rs`); anywhere
//! else each of them raises a condition, so that a library may define what its macros need beside what its programs need.
//! Read next: `transformer.rs`.
//!
//! Source: R6RS, libraries, chapter 12.

use super::{Context, Failure};
use crate::value::Value;

primitives! {
    /// Whether the argument is a syntax object.
    "syntax?" "object" [1, 1] => only_at_expansion_time;

    /// Whether the argument is a syntax object that is an identifier.
    "identifier?" "object" [1, 1] => only_at_expansion_time;

    /// Whether two identifiers would bind each other: they have the same name and the same scopes. Fails with `wrong-type` if one is no identifier.
    "bound-identifier=?" "identifier₁ identifier₂" [2, 2] => only_at_expansion_time;

    /// Whether two identifiers mean the same: they have the same binding, or the same name and none. Fails with `wrong-type` if one is no identifier.
    "free-identifier=?" "identifier₁ identifier₂" [2, 2] => only_at_expansion_time;

    /// The datum that a syntax object stands for, without scopes.
    "syntax->datum" "syntax" [1, 1] => only_at_expansion_time;

    /// A datum as syntax, whose symbols mean what they would mean where `identifier` stands. Fails with `wrong-type` if that is no identifier.
    "datum->syntax" "identifier datum" [2, 2] => only_at_expansion_time;

    /// The elements of a syntax object that is a list, or `#f` if it is none.
    "syntax->list" "syntax" [1, 1] => only_at_expansion_time;

    /// A list of as many identifiers as `list`, a list or syntax object, has elements; none of them means or captures anything else.
    "generate-temporaries" "list" [1, 1] => only_at_expansion_time;

    /// A transformer that is also asked to rewrite assignments to its keyword. Fails with `wrong-type` if the argument is no procedure.
    "make-variable-transformer" "procedure" [1, 1] => only_at_expansion_time;

    /// Ends the expansion with an error at `subform`, or at `form` if there is none. `who` is a symbol, a string or `#f`.
    "syntax-violation" "who message form [subform]" [3, 4] => only_at_expansion_time;

    /// What the variables of a pattern matched, a vector, or `#f` if it does not match.
    "%syntax-match" "pattern object" [2, 2] => only_at_expansion_time;

    /// A template, filled in.
    "%syntax-fill" "template object …" [1, _] => only_at_expansion_time;

    /// A form, rewritten by `syntax-rules`.
    "%syntax-rules" "rules form" [2, 2] => only_at_expansion_time;

    /// Ends the expansion because no clause matches a form.
    "%syntax-no-match" "object" [1, 1] => only_at_expansion_time;
}

fn only_at_expansion_time(_: &mut Context<'_>, _: &[Value]) -> Result<Value, Failure> {
    Err(Failure::Condition {
        kind: "out-of-phase",
        message: "syntax objects exist only while a program is expanded".to_owned(),
        irritants: Vec::new(),
    })
}
