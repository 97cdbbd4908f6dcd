//! The values that a person gives, with a changed text, to variables which waiting frames do not
//! have.
//!
//! Each is a literal, or an expression over variables of the frame and what the new text defines.
//! INVARIANT: the texts alone determine the units of the expressions.
//! It does not evaluate them; `apart.rs` does. Read next: `moving.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_kernel::code::moves::Given;
use duet_kernel::datum::reader::read_one;
use duet_kernel::datum::{Datum, Node};

use crate::model::failure::Failure;

/// Values that the person gives to variables which frames do not have.
#[derive(Clone, Debug, Default)]
pub(super) struct GivenValues {
    pub(super) by_name: BTreeMap<String, Given>,
    pub(super) literals: Vec<Datum>,
    /// The texts of the expressions, by number.
    pub(super) expressions: Vec<String>,
    /// The units that make procedures of expressions, by the number of the expression and the
    /// variables that the procedure takes; before each those of libraries that it needs.
    pub(super) units: BTreeMap<(usize, Vec<String>), Vec<usize>>,
}

impl GivenValues {
    /// Reads values of the form `NAME=VALUE`.
    ///
    /// # Errors
    /// [`Failure`] if one has another form.
    pub(super) fn read(values: &[String]) -> Result<Self, Failure> {
        let mut given = Self::default();
        for value in values {
            let read = value
                .split_once('=')
                .and_then(|(name, text)| Some((name, given.value(text)?)));
            let Some((name, value)) = read.filter(|(name, _)| !name.is_empty()) else {
                let message = format!(
                    "`{value}` gives no value: after NAME= stands one expression, over variables of the frame and \
                     what the new text defines"
                );
                return Err(Failure::new("patch-refused", message));
            };
            given.by_name.insert(name.to_owned(), value);
        }
        Ok(given)
    }

    fn value(&mut self, text: &str) -> Option<Given> {
        let (mut datum, end) = read_one(text, 0).ok()??;
        if !text.get(end..)?.trim().is_empty() {
            return None;
        }
        let root = &datum.nodes[datum.root.0 as usize];
        if let Node::Symbol(_) = root {
            return Some(self.expression(&datum, text));
        } else if let Node::Pair(first, rest) = root {
            let is_quote = matches!(&datum.nodes[first.0 as usize], Node::Symbol(name) if name.as_str() == "quote");
            let Node::Pair(quoted, _) = &datum.nodes[rest.0 as usize] else {
                return Some(self.expression(&datum, text));
            };
            if !is_quote {
                return Some(self.expression(&datum, text));
            }
            datum.root = *quoted;
        } else if let Node::Nil = root {
            return None;
        }
        self.literals.push(datum);
        Some(Given::Literal(self.literals.len() - 1))
    }

    fn expression(&mut self, datum: &Datum, text: &str) -> Given {
        let mut names = BTreeSet::new();
        for node in &datum.nodes {
            if let Node::Symbol(name) = node {
                names.insert(name.as_str().to_owned());
            }
        }
        self.expressions.push(text.trim().to_owned());
        Given::Expression {
            number: self.expressions.len() - 1,
            names,
        }
    }
}
