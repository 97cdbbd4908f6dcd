//! One item of a proposal, a call or a delta, and the ruling on it alone.
//!
//! Owns the order of the checks: capability and scope, constraints and invariants, the schema of
//! the arguments.
//! INVARIANT: a constraint that denies outweighs any that allow, the strictest denial decides, and
//! an item that no constraint allows is denied; the order of the constraints does not matter.
//! It does not judge relations between items; `proposal.rs` does.
//! Read next: `proposal.rs`.
//!
//! Source: SS-01, "Arbitration contract" and "Minimal constraint payload".

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use preserves::IOValue;
use serde_json::{Value, json};

use super::authority::{self, NAMESPACES};
use super::constraint::{Broken, Constraint, Effect, Subject};
use super::document::Malformed;
use super::entry::{CONSTRAINTS, Entries, Entry, INVARIANTS};
use super::evidence;
use super::place::Places;
use super::predicate::{Predicate, Situation, sum_until};
use super::ruling::{Code, OnFail, Ruling};
use super::schema::{self, Schema};
use super::token::{GRANTS, Principal};

/// The prefix of the capability that a change of an entry exercises: `state.write.goal` for
/// `goal.x`.
const STATE_WRITE: &str = "state.write.";

/// One item of a proposal.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A call of a tool.
    Call {
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: Value,
        /// Whether a capability value conveys the right, so that the principal needs no grant.
        is_conveyed: bool,
    },
    /// A change of an entry.
    Delta {
        /// The key.
        key: String,
        /// The new text, or `None` to remove the entry.
        text: Option<String>,
    },
}

/// The facts about a tool that policy needs.
#[derive(Clone, Debug, Default)]
pub struct Tool {
    /// The capabilities that it needs.
    pub capabilities: BTreeSet<String>,
    /// The schema of its arguments.
    pub arguments: Option<ArgumentSchema>,
    /// Whether a person must approve each call.
    pub needs_approval: bool,
}

/// The schema of a tool's arguments. The first ruling on a call reads it: a run has many tools, and
/// calls few of them before it sleeps.
#[derive(Clone, Debug)]
pub struct ArgumentSchema {
    text: String,
    read: OnceLock<ReadSchema>,
}

#[derive(Clone, Debug)]
struct ReadSchema {
    /// The arguments that are paths or addresses.
    places: Places,
    schema: Result<Schema, Malformed>,
}

impl ReadSchema {
    fn of(source: &Value) -> Self {
        Self {
            places: Places::of(source),
            schema: Schema::parse(source).map_err(Malformed::from),
        }
    }
}

impl ArgumentSchema {
    /// Takes a schema; an invalid one accepts no arguments.
    pub fn of(source: &Value) -> Self {
        Self {
            text: String::new(),
            read: OnceLock::from(ReadSchema::of(source)),
        }
    }

    /// Takes the text of a schema; one that is not JSON accepts no arguments.
    pub fn of_text(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            read: OnceLock::new(),
        }
    }

    fn read(&self) -> &ReadSchema {
        let read = || ReadSchema::of(&super::json::parse(&self.text).unwrap_or_default());
        self.read.get_or_init(read)
    }

    fn ready(&self) -> Result<&Schema, &Malformed> {
        self.read().schema.as_ref()
    }

    fn fault(&self, arguments: &Value) -> Option<String> {
        match self.ready() {
            Ok(schema) => schema.fault(arguments),
            Err(fault) => Some(fault.to_string()),
        }
    }
}

/// The tools of a run.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// The tools with a description; `prefix/*` stands for every name that begins with `prefix/`.
    pub known: BTreeMap<String, Tool>,
    /// Whether other tools exist; each needs the capability of its own name.
    pub is_open: bool,
}

impl Tools {
    /// Returns what is known about a tool, or about the nearest family to which its name belongs.
    pub fn find(&self, name: &str) -> Option<&Tool> {
        let mut families = name.rmatch_indices('/').map(|(end, _)| format!("{}/*", &name[..end]));
        let known = self.known.get(name);
        known.or_else(|| families.find_map(|family| self.known.get(&family)))
    }
}

/// The grounds on which an item is judged.
#[derive(Clone, Copy, Debug)]
pub struct Grounds<'a> {
    /// The snapshot.
    pub entries: &'a Entries,
    /// The schemas known by name.
    pub schemas: &'a BTreeMap<String, Result<Schema, Malformed>>,
    /// The tools.
    pub tools: &'a Tools,
    /// The principal that proposes.
    pub principal: &'a Principal,
    /// Whether a person has approved; this satisfies every `ask`.
    pub is_approved: bool,
}

/// An item with the values that constraints read from it.
#[derive(Debug)]
pub(super) struct Case<'a> {
    item: &'a Item,
    /// The arguments as they are given, with paths and addresses in their normal forms.
    arguments: Value,
    /// The same with the defaults of what is left out, if there are any.
    filled: Option<Value>,
    /// The paths and addresses among them that have none that is known.
    unknown: Vec<String>,
    capabilities: BTreeSet<String>,
}

impl<'a> Case<'a> {
    pub(super) fn of(item: &'a Item, tools: &Tools) -> Self {
        match item {
            Item::Call { tool, arguments, .. } => {
                let known = tools.find(tool);
                let mut capabilities = known.map(|tool| tool.capabilities.clone()).unwrap_or_default();
                let mut arguments = arguments.clone();
                let mut filled = known.and_then(|tool| tool.filled(&arguments));
                let normalise = |arguments: &mut Value| known.map(|tool| tool.normalise(arguments)).unwrap_or_default();
                let unknown = filled.as_mut().map(normalise);
                let unknown_given = normalise(&mut arguments);
                if tools.is_open {
                    capabilities.insert(tool.clone());
                }
                Self {
                    item,
                    arguments,
                    filled,
                    unknown: unknown.unwrap_or(unknown_given),
                    capabilities,
                }
            }
            Item::Delta { key, text } => {
                let value = text
                    .as_ref()
                    .map(|text| super::json::parse(text).unwrap_or_else(|_| json!(text)));
                let namespace = NAMESPACES.iter().find(|(name, ..)| key.split('.').next() == Some(name));
                let exercised = |(name, _, capability): &(&str, _, &str)| {
                    [(*capability).to_owned(), format!("{STATE_WRITE}{name}")]
                };
                let capabilities = namespace.into_iter().flat_map(exercised).collect();
                Self {
                    item,
                    arguments: json!({"key": key, "value": value}),
                    filled: None,
                    unknown: Vec::new(),
                    capabilities,
                }
            }
        }
    }

    fn is_covered(&self, subject: &Subject) -> bool {
        match (subject, self.item) {
            (Subject::All, _) => true,
            (Subject::Tool(name), Item::Call { tool, .. }) => name == tool,
            (Subject::Tool(_), Item::Delta { .. }) => false,
            (Subject::Capability(name), _) => self.capabilities.contains(name),
        }
    }

    /// Judges the item apart from its relations to other items.
    ///
    /// The proposal leads to the state `after`; `earlier` calls come before the item.
    pub(super) fn rule(&self, grounds: Grounds<'_>, after: &Entries, earlier: usize) -> Ruling {
        let entitled = match self.item {
            Item::Call { tool, is_conveyed, .. } => self.entitlement_fault(grounds, tool, *is_conveyed, earlier),
            Item::Delta { key, text } => self.delta_fault(grounds, key, text.as_deref()),
        };
        if let Some(fault) = entitled {
            return fault;
        }
        let ruling = self.weigh(grounds).or_stricter(self.invariant_ruling(grounds, after));
        match self.item {
            Item::Call { tool, .. } => match grounds.tools.find(tool) {
                Some(known) => ruling.or_stricter(known.fault(&self.arguments, grounds.is_approved)),
                None => ruling,
            },
            Item::Delta { key, text: Some(_) } if key.starts_with("fact.") => {
                let value = self.arguments.get("value").unwrap_or(&Value::Null);
                evidence::fault(grounds.entries, key, value).map_or(ruling.clone(), |fault| ruling.or_stricter(fault))
            }
            Item::Delta { .. } => ruling,
        }
    }

    fn entitlement_fault(&self, grounds: Grounds<'_>, tool: &str, is_conveyed: bool, earlier: usize) -> Option<Ruling> {
        if !grounds.tools.is_open && grounds.tools.find(tool).is_none() {
            return Some(Ruling::deny(Code::ToolUnknown, format!("\"{tool}\"")));
        }
        if !is_conveyed && !grounds.principal.is_granted(grounds.entries, tool) {
            return Some(Ruling::deny(
                Code::CapabilityMissing,
                format!("`{tool}` was not granted"),
            ));
        }
        if !grounds.principal.is_in_token(tool) {
            return Some(Ruling::deny(
                Code::CapabilityMissing,
                format!("the token does not name `{tool}`"),
            ));
        }
        let now_ms = grounds.entries.now_ms();
        grounds
            .principal
            .limits
            .fault(now_ms, &self.capabilities, &self.arguments, earlier)
    }

    fn delta_fault(&self, grounds: Grounds<'_>, key: &str, text: Option<&str>) -> Option<Ruling> {
        if let Err(denial) = authority::check(&grounds.principal.roles, key) {
            return Some(denial);
        }
        let entry = Entry::read(key, text?);
        if let Some(fault) = entry.fault() {
            return Some(Ruling::deny(Code::MalformedValue, format!("{key}: {fault}")));
        }
        // A principal cannot grant more than it has.
        let subject = entry.constraint.filter(|_| key.starts_with(GRANTS))?.ok()?.subject;
        let is_excess = match &subject {
            Subject::Capability(name) | Subject::Tool(name) => !grounds.principal.is_granted(grounds.entries, name),
            Subject::All => !grounds.principal.tools.0.contains("*"),
        };
        is_excess.then(|| Ruling::deny(Code::Scope, "whoever grants cannot grant more than they were granted"))
    }

    /// Bounds the steps that the schemas of the tool and of the constraints take; more than
    /// `steps_max` are only told to be more.
    pub(super) fn work(&self, grounds: Grounds<'_>, steps_max: u64) -> u64 {
        let known = match self.item {
            Item::Call { tool, .. } => grounds.tools.find(tool),
            Item::Delta { .. } => None,
        };
        let of_tool = known.map_or(0, |tool| {
            tool.work(&self.arguments, schema::text_bytes(&self.arguments), steps_max)
        });
        let constraints = grounds.entries.under(CONSTRAINTS).filter_map(|(_, entry)| {
            let constraint = entry.constraint.as_ref()?.as_ref().ok()?;
            self.is_covered(&constraint.subject)
                .then_some(constraint.when.as_ref()?)
        });
        let situation = self.situation(grounds, grounds.entries);
        let work = |predicate: &Predicate, steps_max| predicate.work(situation, steps_max);
        let left = steps_max.saturating_sub(of_tool);
        of_tool.saturating_add(sum_until(constraints, left, work))
    }

    fn situation<'s>(&'s self, grounds: Grounds<'s>, entries: &'s Entries) -> Situation<'s> {
        Situation {
            entries,
            arguments: self.filled.as_ref().unwrap_or(&self.arguments),
            given: &self.arguments,
            unknown: &self.unknown,
            schemas: grounds.schemas,
        }
    }

    /// Weighs the constraints against each other.
    fn weigh(&self, grounds: Grounds<'_>) -> Ruling {
        let mut scale = Scale {
            is_allowed: self.is_allowed_by_grant(grounds),
            ..Scale::default()
        };
        for (key, entry) in grounds.entries.under(CONSTRAINTS) {
            self.put(&mut scale, grounds, key, entry);
        }
        scale.read()
    }

    fn put(&self, scale: &mut Scale, grounds: Grounds<'_>, key: &str, entry: &Entry) {
        match self.speaks(grounds, grounds.entries, entry) {
            Speech::Silent => {}
            Speech::Broken(fault) => scale.against(Ruling::deny(Code::ConstraintMalformed, fault).by(key)),
            Speech::Against(constraint) => {
                let fired = Ruling::fail(constraint.on_fail, Code::ConstraintDeny, constraint.reason.clone());
                if !(grounds.is_approved && constraint.on_fail == OnFail::Ask) {
                    scale.against(fired.by(key));
                }
            }
            Speech::For => scale.is_allowed = true,
            Speech::Unmet(constraint) => {
                if grounds.is_approved && constraint.on_fail == OnFail::Ask {
                    scale.is_allowed = true;
                } else {
                    scale.unmet(Ruling::fail(constraint.on_fail, Code::AllowUnmet, constraint.reason.clone()).by(key));
                }
            }
        }
    }

    /// Evaluates a constraint on the item, with these entries.
    fn speaks<'e>(&self, grounds: Grounds<'_>, entries: &Entries, entry: &'e Entry) -> Speech<'e> {
        let constraint = match &entry.constraint {
            None => return Speech::Silent,
            Some(Err(Broken { subject, fault })) if self.is_covered(subject) => {
                return Speech::Broken(fault.to_string());
            }
            Some(Ok(constraint)) if self.is_covered(&constraint.subject) => constraint,
            Some(_) => return Speech::Silent,
        };
        let situation = self.situation(grounds, entries);
        match (constraint.holds(situation), constraint.effect) {
            (Err(fault), _) => Speech::Broken(fault.to_string()),
            (Ok(true), Effect::Deny) => Speech::Against(constraint),
            (Ok(false), Effect::Deny) => Speech::Silent,
            (Ok(true), Effect::Allow) => Speech::For,
            (Ok(false), Effect::Allow) => Speech::Unmet(constraint),
        }
    }

    /// Finds an invariant that denies the item in the state after the proposal.
    fn invariant_ruling(&self, grounds: Grounds<'_>, after: &Entries) -> Ruling {
        let is_denial = |entry| {
            matches!(
                self.speaks(grounds, after, entry),
                Speech::Broken(_) | Speech::Against(_)
            )
        };
        let mut invariants = after.under(INVARIANTS);
        match invariants.find(|(_, entry)| is_denial(entry)) {
            Some((key, _)) => Ruling::deny(Code::Invariant, "").by(key),
            None => Ruling::allow(),
        }
    }

    fn is_allowed_by_grant(&self, grounds: Grounds<'_>) -> bool {
        let principal = grounds.principal;
        let is_granted = match self.item {
            Item::Call { tool, is_conveyed, .. } => *is_conveyed || principal.is_granted(grounds.entries, tool),
            // The roles that may write follow from the grants already.
            Item::Delta { .. } => true,
        };
        principal.grants_allow && is_granted
    }
}

impl Item {
    /// Bounds the steps that schemas take to judge the item; more than `steps_max` are only told to
    /// be more.
    pub(crate) fn work(&self, grounds: Grounds<'_>, steps_max: u64) -> u64 {
        Case::of(self, grounds.tools).work(grounds, steps_max)
    }
}

impl Tool {
    /// Bounds the work to judge the arguments of a call, whose texts have this number of bytes, in
    /// steps; more than `steps_max` are only told to be more.
    pub(crate) fn work(&self, arguments: &Value, text_bytes: u64, steps_max: u64) -> u64 {
        self.schema()
            .map_or(0, |schema| schema.work_of(arguments, text_bytes, steps_max))
    }

    /// Returns how many levels below the top of a call's arguments the tool's own schema looks at.
    pub(crate) fn levels(&self) -> usize {
        self.schema().map_or(0, Schema::levels)
    }

    fn schema(&self) -> Option<&Schema> {
        self.arguments.as_ref()?.ready().ok()
    }

    /// Puts paths and addresses among the arguments into their normal forms, and names those whose
    /// form cannot be known.
    fn normalise(&self, arguments: &mut Value) -> Vec<String> {
        let schema = self.arguments.as_ref();
        schema.map_or_else(Vec::new, |schema| schema.read().places.normalise(arguments))
    }

    /// Returns arguments with the defaults of what they leave out, if the schema names some.
    fn filled(&self, arguments: &Value) -> Option<Value> {
        self.arguments.as_ref()?.read().places.filled(arguments)
    }

    /// Returns a payload with its paths and addresses in the form in which the tool uses them;
    /// `None` if that of one cannot be known.
    pub(crate) fn as_used(&self, payload: &IOValue) -> Option<IOValue> {
        match &self.arguments {
            Some(schema) => schema.read().places.normal_payload(payload),
            None => Some(payload.clone()),
        }
    }

    fn fault(&self, arguments: &Value, is_approved: bool) -> Ruling {
        let fault = self.arguments.as_ref().and_then(|schema| schema.fault(arguments));
        match fault {
            Some(fault) => Ruling::deny(Code::ArgsSchema, fault),
            None if self.needs_approval && !is_approved => Ruling::fail(OnFail::Ask, Code::ApprovalRequired, ""),
            None => Ruling::allow(),
        }
    }
}

/// The result of a constraint on an item.
enum Speech<'e> {
    Silent,
    Broken(String),
    Against(&'e Constraint),
    For,
    Unmet(&'e Constraint),
}

/// The combined results of the constraints.
#[derive(Default)]
struct Scale {
    denial: Option<Ruling>,
    unmet: Option<Ruling>,
    is_allowed: bool,
}

impl Scale {
    /// Keeps the strictest denial; among equals, one of a malformed constraint, then the first.
    fn against(&mut self, found: Ruling) {
        let rank = |ruling: &Ruling| (ruling.on_fail, ruling.code == Code::ConstraintMalformed);
        if self.denial.as_ref().is_none_or(|kept| rank(&found) > rank(kept)) {
            self.denial = Some(found);
        }
    }

    /// Keeps the mildest consequence, because allowances are alternatives.
    fn unmet(&mut self, found: Ruling) {
        if self.unmet.as_ref().is_none_or(|kept| found.on_fail < kept.on_fail) {
            self.unmet = Some(found);
        }
    }

    fn read(self) -> Ruling {
        match (self.denial, self.is_allowed, self.unmet) {
            (Some(denial), ..) => denial,
            (None, true, _) => Ruling::allow(),
            (None, false, Some(unmet)) => unmet,
            (None, false, None) => Ruling::deny(Code::NoApplicableAllow, ""),
        }
    }
}
