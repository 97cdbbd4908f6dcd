//! The extent of what the macros of a unit make.
//!
//! INVARIANT: the nodes that are counted depend on the unit's text and on the macros that it uses,
//! never on the libraries that happen to be loaded for it; those have limits of their own.
//! It does not rewrite; `unit.rs` does. Read next: `top_level.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Expander, UnitExpander};
use crate::diagnostic::{DiagnosticKind, FormError, RuleProblem};
use crate::syntax::Syntax;

impl Expander {
    /// Ends the expansion of macros with an error while the flag is set: a person or a limit stops
    /// it.
    pub fn stop_on(&mut self, flag: Option<Arc<AtomicBool>>) {
        self.syntax.stop = flag;
    }

    fn is_stopped(&self) -> bool {
        let flag = self.syntax.stop.as_ref();
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl UnitExpander<'_> {
    /// Lets a macro rewrite `form` if the macros may make more nodes, and counts those that it
    /// makes.
    pub(super) fn within_extent(
        &mut self,
        form: Syntax,
        rewrite: impl FnOnce(&mut Self) -> Result<Syntax, FormError>,
    ) -> Result<Syntax, FormError> {
        if self.nodes_made > self.nodes_max {
            return Err(self.too_large(form));
        }
        if self.session.is_stopped() {
            return Err(self.failure(form, DiagnosticKind::Stopped));
        }
        let nodes_before = self.session.syntax.length();
        self.session.syntax.nodes_max = Some(self.nodes_limit());
        let rewritten = rewrite(self);
        self.session.syntax.nodes_max = None;
        self.nodes_made += self.session.syntax.length() - nodes_before;
        let is_too_large = |kind: &_| matches!(kind, DiagnosticKind::BadRule(RuleProblem::TooLarge));
        match rewritten {
            Err(_) if self.session.is_stopped() => Err(self.failure(form, DiagnosticKind::Stopped)),
            Err(failure) if is_too_large(&failure.kind) => Err(self.too_large(form)),
            rewritten => rewritten,
        }
    }

    /// Returns the number of nodes in the session beyond which the macros of this unit make none.
    pub(super) fn nodes_limit(&self) -> u32 {
        let left = self.nodes_max.saturating_sub(self.nodes_made);
        self.session.syntax.length().saturating_add(left)
    }

    /// Returns the error of code for which the macros made too many nodes.
    pub(crate) fn too_large(&self, place: Syntax) -> FormError {
        self.failure(place, DiagnosticKind::TooLarge { limit: self.nodes_max })
    }
}
