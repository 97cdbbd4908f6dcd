//! The tools that a program calls by name.
//!
//! INVARIANT: only a call whose name is a literal counts; the program may compute the names of
//! others.
//! It does not say whether they are granted. Read next: `../gate/right.rs`.

use std::collections::BTreeMap;

use duet_kernel::core::{Core, CoreId, Unit};
use duet_kernel::datum::{Datum, Node};

use super::convert::EMBEDDED;
use super::programs::SchemePrograms;
use crate::model::failure::Origin;

/// The procedure that calls a tool, and the library that defines it.
const CALL_TOOL: (&str, &str) = ("(duet dataspace)", "call-tool");

/// Which of its arguments is the name of the tool.
const NAME: usize = 1;

/// Tools by name, each with the place of a call.
pub type CalledTools = BTreeMap<String, Origin>;

impl SchemePrograms {
    /// Names the tools that the program's own texts call with literal names.
    pub fn called_tools(&self) -> CalledTools {
        let mut found = CalledTools::new();
        for loaded in self.present.compared_units.values() {
            let unit = &loaded.unit;
            for (number, node) in (0..).zip(&unit.nodes) {
                let name = called_by(unit, node);
                let Some((name, origin)) = name.zip(self.own_origin(unit, CoreId(number))) else {
                    continue;
                };
                found.entry(name).or_insert(origin);
            }
        }
        found
    }

    /// The place of a form in a text of the program's own.
    pub(super) fn own_origin(&self, unit: &Unit, node: CoreId) -> Option<Origin> {
        let span = unit.spans[node.0 as usize];
        let source = &self.expander().source(span.source)?.name;
        let is_own = !source.starts_with(EMBEDDED);
        is_own.then(|| Origin {
            source: source.clone(),
            start: span.start.into(),
            end: span.end.into(),
        })
    }
}

/// The literal name of the tool that a form calls.
fn called_by(unit: &Unit, node: &Core) -> Option<String> {
    let Core::Call { procedure, arguments } = node else {
        return None;
    };
    let Core::Global(global) = &unit.nodes[procedure.0 as usize] else {
        return None;
    };
    let global = &unit.globals[global.0 as usize].name;
    if (global.library.as_str(), global.name.as_str()) != CALL_TOOL {
        return None;
    }
    let Core::Constant(name) = &unit.nodes[arguments.get(NAME)?.0 as usize] else {
        return None;
    };
    text_of(name)
}

fn text_of(name: &Datum) -> Option<String> {
    if let Node::Symbol(name) = name.node(name.root) {
        Some(name.as_str().to_owned())
    } else if let Node::String(name) = name.node(name.root) {
        Some(name.to_string())
    } else {
        None
    }
}
