//! The translation of values and conditions.
//!
//! INVARIANT: a value without variables and special forms becomes a constant.
//! It does not know instructions. Read next: `translate.rs`.
//!
//! Source: the older workflow language, "Values" and "Conditions".

use super::code::Code;
use super::definition::Definition;
use super::error::{MigrationError, MigrationFault};
use super::options::Options;
use super::program::malformed;
use super::reader::{Form, FormKind};
use super::translate::{Scope, Translator, variable};

const CONDITIONS: &str = "LABEL, (signal …), (record …), (tool-result …) and (user-input …)";

impl<'a> Translator<'a> {
    pub(super) fn value(&mut self, form: &'a Form, scope: &Scope<'a>) -> Result<Code, MigrationError> {
        if let Some(name) = form.symbol().filter(|name| scope.variables.contains(name)) {
            return Ok(variable(name));
        }
        if let Some(code) = self.special_value(form, scope)? {
            return Ok(code);
        }
        let Some(items) = form.list() else {
            return Ok(quoted(form));
        };
        if items.iter().all(|item| is_constant(item, scope)) {
            return Ok(quoted(form));
        }
        let items: Result<Vec<Code>, _> = items.iter().map(|item| self.value(item, scope)).collect();
        Ok(Code::call("list", items?))
    }

    /// Translates a value that is not written as it is.
    fn special_value(&mut self, form: &'a Form, scope: &Scope<'a>) -> Result<Option<Code>, MigrationError> {
        let Some((head, operands)) = form.headed().filter(|(head, _)| is_special(head, scope)) else {
            return Ok(None);
        };
        let code = match (head, operands) {
            ("record", [_, ..]) | ("string-append", _) => {
                let operands: Result<Vec<Code>, _> = operands.iter().map(|part| self.value(part, scope)).collect();
                Code::call(head, operands?)
            }
            ("role-property", [role, key]) => {
                let role = self.role(role)?;
                let key = key
                    .symbol()
                    .ok_or_else(|| malformed(form, "(role-property ROLE KEY)"))?;
                self.property(role, key)
            }
            ("last-wait", []) => {
                self.needed.insert(Definition::LastWait);
                Code::name("last-wait")
            }
            (
                "last-wait-field",
                [
                    Form {
                        kind: FormKind::Integer(place),
                        ..
                    },
                ],
            ) => {
                self.needed.insert(Definition::LastWait);
                let fields = Code::call("record-fields", [Code::name("last-wait")]);
                Code::call("list-ref", [fields, Code::atom(place.to_string())])
            }
            ("record", _) => return Err(malformed(form, "(record LABEL VALUE …)")),
            ("role-property", _) => return Err(malformed(form, "(role-property ROLE KEY)")),
            ("last-wait", _) => return Err(malformed(form, "(last-wait)")),
            _ => return Err(malformed(form, "(last-wait-field N)")),
        };
        Ok(Some(code))
    }

    /// The value of a role's property.
    pub(super) fn property(&mut self, role: &str, key: &str) -> Code {
        self.needed.insert(Definition::Properties);
        Code::call("role-property", [Code::quoted(role), Code::quoted(key)])
    }

    /// Translates a condition; returns the procedure that waits for it, and the descriptor. Signals
    /// and records are awaited as they appear, as the old interpreter did.
    pub(super) fn condition(
        &mut self,
        form: &'a Form,
        scope: &Scope<'a>,
    ) -> Result<(&'static str, Code), MigrationError> {
        if let Some(label) = form.symbol() {
            return Ok(("await-next", Code::call("signal", [Code::quoted(label)])));
        }
        match form.headed() {
            Some(("signal", [label, rest @ ..])) => {
                let mut options = Options::of(form, rest)?;
                let scoped = options.take(&["scope"]);
                options.finish("`:scope`")?;
                let mut code = vec![self.value(label, scope)?];
                if let Some(scoped) = scoped.filter(|_| !self.is_faithful) {
                    let what = "the old interpreter ignored `:scope`; the translation waits for this scope only \
                                (`--faithful` ignores it)";
                    self.warnings.push((scoped.span.clone(), what.to_owned()));
                    code.extend([Code::atom(":scope"), self.value(scoped, scope)?]);
                }
                Ok(("await-next", Code::call("signal", code)))
            }
            Some(("record", [label, rest @ ..])) => {
                let mut options = Options::of(form, rest)?;
                let (field, equals) = (options.require(&["field"])?, options.require(&["equals"])?);
                options.finish("`:field` and `:equals`")?;
                let code = [
                    self.value(label, scope)?,
                    Code::atom(":field"),
                    self.value(field, scope)?,
                    Code::atom(":equals"),
                    self.value(equals, scope)?,
                ];
                Ok(("await-next", Code::call("record", code)))
            }
            Some(("tool-result", [tag])) => {
                let code = [Code::atom(":tag"), self.value(tag, scope)?];
                Ok(("await", Code::call("tool-result", code)))
            }
            Some(("user-input", [prompt])) => {
                let code = [Code::atom(":prompt"), self.value(prompt, scope)?];
                Ok(("await", Code::call("user-input", code)))
            }
            Some((head @ ("tool-result" | "user-input"), rest)) => {
                let mut options = Options::of(form, rest)?;
                let mut code = Vec::new();
                if head == "user-input" {
                    code.extend([Code::atom(":prompt"), self.value(options.require(&["prompt"])?, scope)?]);
                }
                let tag = if head == "tool-result" {
                    Some(options.require(&["tag"])?)
                } else {
                    options.take(&["tag"])
                };
                if let Some(tag) = tag {
                    code.extend([Code::atom(":tag"), self.value(tag, scope)?]);
                }
                options.finish("`:prompt` and `:tag`")?;
                Ok(("await", Code::call(head, code)))
            }
            Some((name, _)) => {
                let (name, known) = (name.to_owned(), CONDITIONS);
                Err(form.fault(MigrationFault::UnknownForm { name, known }))
            }
            None => Err(malformed(form, "a condition")),
        }
    }
}

/// Whether a list with this head is more than a list.
fn is_special(head: &str, scope: &Scope<'_>) -> bool {
    let is_local = ["last-wait", "last-wait-field", "string-append"].contains(&head);
    ["record", "role-property"].contains(&head) || is_local && scope.is_function
}

fn is_constant(form: &Form, scope: &Scope<'_>) -> bool {
    if form.headed().is_some_and(|(head, _)| is_special(head, scope)) {
        return false;
    }
    match form.list() {
        Some(items) => items.iter().all(|item| is_constant(item, scope)),
        None => form.symbol().is_none_or(|name| !scope.variables.contains(&name)),
    }
}

/// The datum that a form without variables is.
pub(super) fn constant(form: &Form) -> Code {
    match &form.kind {
        FormKind::Symbol(name) => Code::name(name),
        FormKind::Keyword(name) => Code::atom(format!(":{name}")),
        FormKind::Text(content) => Code::text(content),
        FormKind::Integer(number) => Code::atom(number.to_string()),
        FormKind::Decimal(number) => Code::atom(format!("{number:?}")),
        FormKind::Boolean(truth) => Code::atom(if *truth { "#t" } else { "#f" }),
        FormKind::List(items) => Code::List(items.iter().map(constant).collect()),
    }
}

/// The expression for a form without variables.
pub(super) fn quoted(form: &Form) -> Code {
    match (&form.kind, constant(form)) {
        (FormKind::Symbol(_) | FormKind::List(_), datum) => Code::atom(format!("'{}", datum.flat())),
        (_, datum) => datum,
    }
}
