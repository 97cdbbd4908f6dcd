//! Syntax objects: predicates, taking them apart and making them.
//!
//! INVARIANT: syntax objects exist only while a program is expanded. At expansion time the expander
//! answers these procedures (`transformer.rs`); at any other time each of them raises a condition,
//! so that a library can define helpers for its macros beside those for its programs.
//! It does not implement them.
//! Read next: `transformer.rs`.
//!
//! Source: R6RS, libraries, chapter 12.

use super::{Context, PrimitiveError};
use crate::value::Value;

primitives! {
    /// Returns whether the argument is a syntax object.
    "syntax?" "object" [1, 1] free => only_at_expansion_time;

    /// Returns whether the argument is a syntax object that is an identifier.
    "identifier?" "object" [1, 1] free => only_at_expansion_time;

    /// Returns whether two identifiers would bind each other: they have the same name and the same
    /// scopes.
    /// Fails with `wrong-type` if one is not an identifier.
    "bound-identifier=?" "identifier₁ identifier₂" [2, 2] free => only_at_expansion_time;

    /// Returns whether two identifiers mean the same: they have the same binding, or the same name
    /// and no binding.
    /// Fails with `wrong-type` if one is not an identifier.
    "free-identifier=?" "identifier₁ identifier₂" [2, 2] free => only_at_expansion_time;

    /// Returns the datum of a syntax object, without scopes.
    "syntax->datum" "syntax" [1, 1] free => only_at_expansion_time;

    /// Returns a datum as syntax; its symbols mean what they would mean at the place of
    /// `identifier`.
    /// Fails with `wrong-type` if that is not an identifier.
    "datum->syntax" "identifier datum" [2, 2] free => only_at_expansion_time;

    /// Returns the elements of a syntax object that is a list, or `#f` for another.
    "syntax->list" "syntax" [1, 1] free => only_at_expansion_time;

    /// Makes a list of fresh identifiers, one for each element of `list`, a list or syntax object;
    /// none of them captures or refers to another name.
    "generate-temporaries" "list" [1, 1] free => only_at_expansion_time;

    /// Makes a transformer that also rewrites assignments to its keyword.
    /// Fails with `wrong-type` if the argument is not a procedure.
    "make-variable-transformer" "procedure" [1, 1] free => only_at_expansion_time;

    /// Ends the expansion with an error at `subform`, or at `form` if there is none. `who` is a
    /// symbol, a string or `#f`.
    "syntax-violation" "who message form [subform]" [3, 4] free => only_at_expansion_time;

    /// Returns a vector of the matches of a pattern's variables, or `#f` if it does not match.
    "%syntax-match" "pattern object" [2, 2] free => only_at_expansion_time;

    /// Fills a template.
    "%syntax-fill" "template object …" [1, _] free => only_at_expansion_time;

    /// Rewrites a form by `syntax-rules`.
    "%syntax-rules" "rules form" [2, 2] free => only_at_expansion_time;

    /// Ends the expansion because no clause matches a form.
    "%syntax-no-match" "object" [1, 1] free => only_at_expansion_time;
}

fn only_at_expansion_time(_: &mut Context<'_>, _: &[Value]) -> Result<Value, PrimitiveError> {
    Err(PrimitiveError::Condition {
        kind: "out-of-phase",
        message: "syntax objects exist only while a program is expanded".to_owned(),
        irritants: Vec::new(),
    })
}
