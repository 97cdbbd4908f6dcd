//! `environment/NAME`: one tool for each variable of the process's environment, so that each is
//! granted by itself.
//!
//! INVARIANT: the environment is read once, when the tools are made; variables that are not UTF-8
//! are left out.
//! It does not hide secrets; `secret.rs` does. Called as `environment/*` it returns all variables.
//! Read next: `tool/secret.rs`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use preserves::IOValue;

use super::interface::{Call, Context, Tool};
use crate::tool::description::{Answer, Description};
use crate::tool::returns::Returns;

const NAME: &str = "environment/*";
const PREFIX: &str = "environment/";

static DESCRIPTION: Description = Description::pure(
    NAME,
    "tells the value of the environment variable whose name stands in place of `*`, as in environment/HOME",
    &[],
    Answer::new(
        "a string, or false if it is not set; of environment/* itself, a list of lists of name and value",
        Returns::Optional(&Returns::Either(
            &Returns::Text,
            &Returns::List(&Returns::List(&Returns::Text)),
        )),
    ),
);

/// The tools.
pub struct Environment {
    variables: Arc<BTreeMap<String, String>>,
}

impl Environment {
    /// Makes the tools for an environment.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let variables = variables
            .into_iter()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self {
            variables: Arc::new(variables.collect()),
        }
    }

    fn value(variables: &BTreeMap<String, String>, tool: &str) -> IOValue {
        if tool == NAME {
            let pair = |(name, value): (&String, &String)| {
                IOValue::new(vec![IOValue::new(name.clone()), IOValue::new(value.clone())])
            };
            return IOValue::new(variables.iter().map(pair).collect::<Vec<_>>());
        }
        let value = tool.strip_prefix(PREFIX).and_then(|name| variables.get(name));
        value.map_or_else(|| IOValue::new(false), |value| IOValue::new(value.clone()))
    }
}

impl Tool for Environment {
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    fn call(&self, _payload: IOValue, context: Context) -> Call {
        let value = Self::value(&self.variables, &context.tool);
        Box::pin(async move { Ok(value) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_told_one_by_one_or_together() {
        let set = [("HOME", "ann"), ("EMPTY", "")];
        let environment = Environment::new(set.map(|(name, value)| (name.into(), value.into())));
        for (tool, expected) in [
            ("environment/HOME", "\"ann\""),
            ("environment/EMPTY", "\"\""),
            ("environment/PATH", "#f"),
            ("environment/*", "[[\"EMPTY\" \"\"] [\"HOME\" \"ann\"]]"),
        ] {
            let value = Environment::value(&environment.variables, tool);
            assert_eq!(value, expected.parse::<IOValue>().expect("a value"), "{tool}");
        }
    }
}
