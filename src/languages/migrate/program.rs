//! The parts of a workflow: its roles, functions and states.
//!
//! Owns the forms of the top level.
//! INVARIANT: names of roles, functions and states are unique.
//! It does not look into instructions; `translate.rs` does. Read next: `translate.rs`.
//!
//! Source: the older workflow language, "Top level".

use std::ops::Range;

use super::error::{MigrationError, MigrationFault};
use super::reader::{Form, FormKind};

/// A workflow.
#[derive(Debug, Default)]
pub(super) struct Program<'a> {
    pub(super) name: Option<&'a str>,
    /// The entries of its metadata, in order.
    pub(super) metadata: Vec<(&'a str, &'a Form)>,
    pub(super) roles: Vec<Role<'a>>,
    pub(super) functions: Vec<Function<'a>>,
    /// The states, in the order in which one falls through to the next.
    pub(super) states: Vec<State<'a>>,
    /// Forms of the top level that mean nothing, because there are states.
    pub(super) ignored: Vec<Range<usize>>,
}

/// A role with its properties.
#[derive(Debug)]
pub(super) struct Role<'a> {
    pub(super) name: &'a str,
    pub(super) properties: Vec<(&'a str, &'a Form)>,
}

/// A function: `(defn NAME (PARAMETER …) INSTRUCTION …)`.
#[derive(Debug)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) parameters: Vec<&'a str>,
    pub(super) body: Vec<&'a Form>,
}

/// A state: `(state NAME FORM …)`.
#[derive(Debug)]
pub(super) struct State<'a> {
    pub(super) name: &'a str,
    pub(super) body: Vec<&'a Form>,
}

impl<'a> Program<'a> {
    /// Finds the parts among the forms of a file.
    ///
    /// # Errors
    /// [`MigrationError`] if a part is malformed or defined twice.
    pub(super) fn of(forms: &'a [Form]) -> Result<Self, MigrationError> {
        let mut program = Self::default();
        let mut others = Vec::new();
        for form in forms {
            if let Some(("workflow", [name, inner @ ..])) = form.headed() {
                program.name = name.symbol();
                inner.iter().try_for_each(|form| program.add(form, &mut others))?;
            } else {
                program.add(form, &mut others)?;
            }
        }
        if program.states.is_empty() {
            program.states.push(State {
                name: "main",
                body: others,
            });
        } else {
            program.ignored = others.iter().map(|form| form.span.clone()).collect();
        }
        Ok(program)
    }

    fn add(&mut self, form: &'a Form, others: &mut Vec<&'a Form>) -> Result<(), MigrationError> {
        match form.headed() {
            Some(("metadata", entries)) => {
                for entry in entries {
                    let Some((key, [value])) = entry.headed() else {
                        return Err(malformed(entry, "(KEY VALUE)"));
                    };
                    self.metadata.push((key, value));
                }
            }
            Some(("roles", roles)) => {
                for form in roles {
                    let (name, properties) = form.headed().ok_or_else(|| malformed(form, "(NAME :KEY VALUE …)"))?;
                    unique("role", form, name, self.roles.iter().map(|role| role.name))?;
                    let properties = options(form, properties)?;
                    self.roles.push(Role { name, properties });
                }
            }
            Some(("defn", operands)) => {
                let function = read_function(form, operands)?;
                let names = self.functions.iter().map(|function| function.name);
                unique("function", form, function.name, names)?;
                self.functions.push(function);
            }
            Some(("state", operands)) => {
                let Some((Some(name), body)) = operands.split_first().map(|(name, body)| (name.symbol(), body)) else {
                    return Err(malformed(form, "(state NAME FORM …)"));
                };
                unique("state", form, name, self.states.iter().map(|state| state.name))?;
                let body = body.iter().collect();
                self.states.push(State { name, body });
            }
            _ => others.push(form),
        }
        Ok(())
    }
}

fn read_function<'a>(form: &Form, operands: &'a [Form]) -> Result<Function<'a>, MigrationError> {
    let grammar = "(defn NAME (PARAMETER …) INSTRUCTION …)";
    let [name, parameters, body @ ..] = operands else {
        return Err(malformed(form, grammar));
    };
    let parameters = parameters
        .list()
        .and_then(|names| names.iter().map(Form::symbol).collect());
    let (Some(name), Some(parameters)) = (name.symbol(), parameters) else {
        return Err(malformed(form, grammar));
    };
    Ok(Function {
        name,
        parameters,
        body: body.iter().collect(),
    })
}

/// Reads `:KEY VALUE …`, the operands of a form.
pub(super) fn options<'a>(form: &Form, operands: &'a [Form]) -> Result<Vec<(&'a str, &'a Form)>, MigrationError> {
    let pairs = operands.chunks(2).map(|pair| match pair {
        [
            Form {
                kind: FormKind::Keyword(key),
                ..
            },
            value,
        ] => Some((key.as_str(), value)),
        _ => None,
    });
    pairs
        .collect::<Option<_>>()
        .ok_or_else(|| malformed(form, "pairs of a keyword and a value"))
}

pub(super) fn malformed(form: &Form, grammar: &'static str) -> MigrationError {
    form.fault(MigrationFault::Malformed { grammar })
}

fn unique<'a>(
    sort: &'static str,
    form: &Form,
    name: &str,
    mut known: impl Iterator<Item = &'a str>,
) -> Result<(), MigrationError> {
    if known.any(|known| known == name) {
        let name = name.to_owned();
        return Err(form.fault(MigrationFault::DefinedTwice { sort, name }));
    }
    Ok(())
}
