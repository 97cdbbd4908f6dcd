//! The values that a person gives, with a changed text, to variables which waiting frames do not
//! have.
//!
//! INVARIANT: each is a literal or the name of another variable: nothing of the program runs before
//! all frames have moved. Read next: `moving.rs`.

use std::collections::BTreeMap;

use duet_kernel::code::moves::Given;
use duet_kernel::datum::reader::read_one;
use duet_kernel::datum::{Datum, Node};

use crate::model::failure::Failure;

/// Values that the person gives to variables which frames do not have.
#[derive(Clone, Debug, Default)]
pub(super) struct GivenValues {
    pub(super) by_name: BTreeMap<String, Given>,
    pub(super) literals: Vec<Datum>,
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
                    "`{value}` gives no value: after NAME= stands a literal, a quoted datum or the name of another \
                     variable of the frame"
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
        if let Node::Symbol(name) = root {
            return Some(Given::Variable(name.as_str().to_owned()));
        } else if let Node::Pair(quote, rest) = root {
            let is_quote = matches!(&datum.nodes[quote.0 as usize], Node::Symbol(name) if name.as_str() == "quote");
            let Node::Pair(quoted, _) = &datum.nodes[rest.0 as usize] else {
                return None;
            };
            datum.root = Some(*quoted).filter(|_| is_quote)?;
        } else if let Node::Nil = root {
            return None;
        }
        self.literals.push(datum);
        Some(Given::Literal(self.literals.len() - 1))
    }
}
