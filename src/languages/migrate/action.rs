//! The translation of actions.
//!
//! INVARIANT: an option that an action does not have is an error, never ignored.
//! It does not know states. Read next: `value.rs`.
//!
//! Source: the older workflow language, "Actions".

use super::code::Code;
use super::definition::Definition;
use super::error::{MigrationError, MigrationFault};
use super::options::Options;
use super::program::malformed;
use super::reader::{Form, FormKind};
use super::translate::{Scope, Translator};
use super::value::constant;

const ACTIONS: &str = "the actions and commands of workflows, and the functions of this one";

impl<'a> Translator<'a> {
    pub(super) fn action(&mut self, form: &'a Form, scope: &Scope<'a>) -> Result<Code, MigrationError> {
        let (head, operands) = form.headed().ok_or_else(|| malformed(form, "an action"))?;
        match (head, operands) {
            ("assert", [value]) => {
                let value = self.value(value, scope)?;
                if !self.retracts {
                    return Ok(Code::call("assert!", [value]));
                }
                self.needed.insert(Definition::Assertions);
                Ok(Code::call("assert-value!", [value]))
            }
            ("retract", [value]) => {
                self.needed.insert(Definition::Assertions);
                Ok(Code::call("retract-value!", [self.value(value, scope)?]))
            }
            ("log", [text]) => Ok(Code::call("log!", [self.value(text, scope)?])),
            ("observe" | "on", [condition, handler]) => self.observation(condition, handler, scope),
            ("assert" | "retract" | "log", _) => Err(malformed(form, "one value")),
            ("observe" | "on", _) => Err(malformed(form, "(on LABEL HANDLER) or (on (signal LABEL) HANDLER)")),
            (head, operands) => {
                let options = Options::of(form, operands);
                self.action_with_options(form, head, options, scope)
            }
        }
    }

    fn action_with_options(
        &mut self,
        form: &'a Form,
        head: &str,
        options: Result<Options<'a>, MigrationError>,
        scope: &Scope<'a>,
    ) -> Result<Code, MigrationError> {
        match head {
            "send" => {
                let mut options = options?;
                let parts = ["actor", "facet", "value"].map(|name| options.require(&[name]));
                options.finish("`:actor`, `:facet` and `:value`")?;
                let parts: Result<Vec<Code>, _> = parts.into_iter().map(|part| self.value(part?, scope)).collect();
                Ok(Code::call("send!", parts?))
            }
            "spawn" | "spawn-facet" => self.facet("spawn-facet!", options?.one("parent")?, scope),
            "stop" | "stop-facet" => self.facet("stop-facet!", options?.one("facet")?, scope),
            "spawn-entity" => self.entity("spawn-entity!", options?, scope),
            "attach-entity" => self.entity("attach-entity!", options?, scope),
            "detach-entity" => {
                let mut options = options?;
                let role = self.role(options.require(&["role"])?)?;
                options.finish("`:role`")?;
                Ok(Code::call("detach-entity!", [Code::quoted(role)]))
            }
            "invoke-tool" => self.tool_call(options?, scope),
            "generate-request-id" => {
                let mut options = options?;
                let role = self.role(options.require(&["role"])?)?;
                let property = name(options.require(&["store", "property"])?)?;
                options.finish("`:role`, `:store` and `:property`")?;
                let id = Code::call("generate-request-id!", [Code::quoted(role), Code::quoted(property)]);
                Ok(self.store(role, property, id))
            }
            "register-pattern" => self.registration(options?),
            "unregister-pattern" => {
                let mut options = options?;
                let role = self.role(options.require(&["role"])?)?;
                let (pattern, property) = (options.take(&["pattern"]), options.take(&["property"]));
                options.finish("`:role`, `:pattern` and `:property`")?;
                let property =
                    property.map_or_else(|| Ok(property_of(pattern)), |form| name(form).map(str::to_owned))?;
                Ok(Code::call("unwatch", [self.property(role, &property)]))
            }
            name => {
                let (name, known) = (name.to_owned(), ACTIONS);
                Err(form.fault(MigrationFault::UnknownForm { name, known }))
            }
        }
    }

    fn facet(&mut self, procedure: &str, facet: Option<&'a Form>, scope: &Scope<'a>) -> Result<Code, MigrationError> {
        let facet = facet.map(|facet| self.value(facet, scope)).transpose()?;
        Ok(Code::call(procedure, facet))
    }

    /// Returns the name of a role, which must be declared if any is.
    pub(super) fn role(&self, form: &'a Form) -> Result<&'a str, MigrationError> {
        let role = name(form)?;
        let roles = &self.program.roles;
        if roles.is_empty() || roles.iter().any(|declared| declared.name == role) {
            return Ok(role);
        }
        let name = role.to_owned();
        Err(form.fault(MigrationFault::Undefined { sort: "role", name }))
    }

    /// Translates the entry of a value as a role's property.
    fn store(&mut self, role: &str, property: &str, value: Code) -> Code {
        self.needed.insert(Definition::Properties);
        Code::call(
            "set-role-property!",
            [Code::quoted(role), Code::quoted(property), value],
        )
    }

    fn observation(
        &mut self,
        condition: &'a Form,
        handler: &'a Form,
        scope: &Scope<'a>,
    ) -> Result<Code, MigrationError> {
        let label = match condition.headed() {
            Some(("signal", [label])) => label.symbol(),
            Some(_) => None,
            None => condition.symbol(),
        };
        let label = label.ok_or_else(|| malformed(condition, "LABEL or (signal LABEL)"))?;
        let handler = self.handler(handler, scope)?;
        Ok(Code::call(
            "on-assert",
            [Code::call(label, [])].into_iter().chain(handler),
        ))
    }

    fn entity(&mut self, procedure: &str, mut options: Options<'a>, scope: &Scope<'a>) -> Result<Code, MigrationError> {
        let role = self.role(options.require(&["role"])?)?;
        let kinds = [
            ("type", options.take(&["entity-type", "type"])),
            ("agent-kind", options.take(&["agent-kind"])),
        ];
        let config = options.take(&["config"]);
        let facet = options.take(&["facet"]).filter(|_| procedure == "attach-entity!");
        options.finish("`:role`, `:type`, `:agent-kind`, `:config`, and for `attach-entity` `:facet`")?;
        let mut code = vec![Code::quoted(role)];
        if kinds.iter().any(|(_, kind)| kind.is_some()) {
            let mut entries = Vec::new();
            for (key, value) in kinds.into_iter().chain([("config", config)]) {
                if let Some(value) = value {
                    entries.extend([Code::quoted(key), self.value(value, scope)?]);
                }
            }
            code.extend([Code::atom(":config"), Code::call("dictionary", entries)]);
        } else if let Some(config) = config {
            code.extend([Code::atom(":config"), self.value(config, scope)?]);
        }
        if let Some(facet) = facet {
            code.extend([Code::atom(":facet"), self.value(facet, scope)?]);
        }
        Ok(Code::call(procedure, code))
    }

    fn tool_call(&mut self, mut options: Options<'a>, scope: &Scope<'a>) -> Result<Code, MigrationError> {
        let role = self.role(options.require(&["role"])?)?;
        let capability = name(options.require(&["capability"])?)?;
        let (payload, tag) = (options.take(&["payload"]), options.take(&["tag"]));
        options.finish("`:role`, `:capability`, `:payload` and `:tag`")?;
        let mut code = vec![Code::quoted(role), self.capability(role, capability)];
        code.push(payload.map_or_else(
            || Ok(Code::call("dictionary", [])),
            |payload| self.payload(payload, scope),
        )?);
        if let Some(tag) = tag {
            code.extend([Code::atom(":tag"), self.value(tag, scope)?]);
        }
        Ok(Code::call("invoke-tool!", code))
    }

    /// Translates the payload of a tool call: a dictionary, if the parts of a record or a list have
    /// names, because tools take named arguments.
    fn payload(&mut self, payload: &'a Form, scope: &Scope<'a>) -> Result<Code, MigrationError> {
        let parts = match payload.headed() {
            Some(("record", [_, fields @ ..])) => fields,
            _ => payload.list().unwrap_or_default(),
        };
        let Some(arguments) = named(parts) else {
            return self.value(payload, scope);
        };
        let mut entries = Vec::new();
        for (name, value) in arguments {
            entries.extend([Code::quoted(name), self.value(value, scope)?]);
        }
        Ok(Code::call("dictionary", entries))
    }

    /// Finds a capability: the role's property of this name, then `NAME-capability`, then
    /// `capability`, then the name itself.
    fn capability(&mut self, role: &str, capability: &str) -> Code {
        let of_role = self.program.roles.iter().find(|declared| declared.name == role);
        let keys = [capability, &format!("{capability}-capability"), "capability"];
        let has = |key: &&&str| of_role.is_some_and(|role| role.properties.iter().any(|(name, _)| name == *key));
        match keys.iter().find(has) {
            Some(key) => self.property(role, key),
            None => Code::text(capability),
        }
    }

    fn registration(&mut self, mut options: Options<'a>) -> Result<Code, MigrationError> {
        let role = self.role(options.require(&["role"])?)?;
        let pattern = options.require(&["pattern"])?;
        let property = options.take(&["property"]).map(name).transpose()?;
        options.finish("`:role`, `:pattern` and `:property`")?;
        let property = property.map_or_else(|| property_of(Some(pattern)), str::to_owned);
        let what = "the translation logs what matches the pattern; write what shall become of it";
        self.warnings.push((pattern.span.clone(), what.to_owned()));
        let shown = Code::call("log!", [Code::call("list", [Code::quoted(role), Code::name("event")])]);
        let handler = Code::call("lambda", [Code::call("event", []), shown]);
        let watched = Code::call("watch", [Code::call("pattern", [template(pattern)]), handler]);
        Ok(self.store(role, &property, watched))
    }
}

impl<'a> Options<'a> {
    /// The only option that a form may have.
    fn one(mut self, name: &'static str) -> Result<Option<&'a Form>, MigrationError> {
        let value = self.take(&[name]);
        self.finish("`:parent` for `spawn-facet` and `:facet` for `stop-facet`")?;
        Ok(value)
    }
}

/// The name that a symbol or a string is.
fn name(form: &Form) -> Result<&str, MigrationError> {
    match &form.kind {
        FormKind::Symbol(name) | FormKind::Text(name) => Ok(name),
        FormKind::Keyword(_)
        | FormKind::Integer(_)
        | FormKind::Decimal(_)
        | FormKind::Boolean(_)
        | FormKind::List(_) => Err(malformed(form, "a name")),
    }
}

/// The property under which the watch of a pattern without a property is kept.
fn property_of(pattern: Option<&Form>) -> String {
    pattern.map_or_else(
        || "pattern".to_owned(),
        |pattern| format!("pattern {}", constant(pattern).flat()),
    )
}

/// Translates a pattern. Those of workflows match records and lists of exactly their length.
fn template(form: &Form) -> Code {
    let Some(items) = form.list() else {
        return constant(form);
    };
    let inner = match form.headed() {
        Some(("record", [label, fields @ ..])) => Code::List(
            [constant(label)]
                .into_iter()
                .chain(fields.iter().map(template))
                .collect(),
        ),
        _ => {
            let items: Vec<String> = items.iter().map(|item| template(item).flat()).collect();
            Code::atom(format!("#({})", items.join(" ")))
        }
    };
    Code::List(vec![Code::atom(":exact"), inner])
}

/// The arguments that the parts of a payload name: pairs of a keyword and a value, or lists of a
/// name and a value. `None` if a part has no name.
fn named(parts: &[Form]) -> Option<Vec<(&str, &Form)>> {
    if parts.is_empty() {
        return None;
    }
    let by_keyword = parts.chunks(2).map(|pair| match pair {
        [
            Form {
                kind: FormKind::Keyword(name),
                ..
            },
            value,
        ] => Some((name.as_str(), value)),
        _ => None,
    });
    let by_list = || {
        parts.iter().map(|part| match part.headed() {
            Some((name, [value])) => Some((name, value)),
            _ => None,
        })
    };
    by_keyword.collect::<Option<_>>().or_else(|| by_list().collect())
}
