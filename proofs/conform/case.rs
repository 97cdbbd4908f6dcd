//! Cases: situations with the expected ruling, one JSON object per line, as in conformance files.
//!
//! INVARIANT: an absent part of a case is empty; a part of the wrong shape is an error that names
//! the place.
//! It does not read files; the command does.
//! Read next: `../conform.rs`, `runtime/src/policy.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

use duet_runtime::policy::authority::Role;
use duet_runtime::policy::document::Malformed;
use duet_runtime::policy::entry::{CLOCK, Entries};
use duet_runtime::policy::item::{ArgumentSchema, Grounds, Item, Tool, Tools};
use duet_runtime::policy::ruling::{Code, Ruling};
use duet_runtime::policy::schema::Schema;
use duet_runtime::policy::token::{Limits, Names, Principal};
use duet_runtime::policy::{json, proposal};

/// Why a line is not a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CaseError {
    /// It is not JSON.
    Json(String),
    /// A part has the wrong shape.
    Shape {
        /// The place, such as `proposal.deltas`.
        at: String,
        /// The shape that belongs there.
        expected: &'static str,
    },
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "not JSON: {error}"),
            Self::Shape { at, expected } => write!(f, "{at} must be {expected}"),
        }
    }
}

impl std::error::Error for CaseError {}

/// The ruling that a case expects, or the one that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// `allow`, `defer` or `deny`.
    pub(crate) decision: String,
    /// The consequence, if the decision is not `allow`.
    pub(crate) on_fail: Option<String>,
    /// The reason's code.
    pub(crate) reason_code: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on_fail = self.on_fail.as_deref().unwrap_or("-");
        write!(f, "{} {on_fail} {}", self.decision, self.reason_code)
    }
}

impl From<&Ruling> for Outcome {
    fn from(ruling: &Ruling) -> Self {
        Self {
            decision: ruling.decision().name().to_owned(),
            on_fail: ruling.on_fail.map(|on_fail| on_fail.name().to_owned()),
            reason_code: ruling.code.name().to_owned(),
        }
    }
}

/// A case.
#[derive(Debug)]
pub(crate) struct Case {
    /// The name.
    pub(crate) name: String,
    /// The expected ruling.
    pub(crate) expected: Outcome,
    snapshot: Option<String>,
    entries: Option<Entries>,
    schemas: BTreeMap<String, Result<Schema, Malformed>>,
    tools: Tools,
    principal: Principal,
    proposed_for: Option<String>,
    approval: Approval,
    items: Vec<Item>,
}

/// A person's decision on the proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Approval {
    /// The person has not decided.
    None,
    /// The person approved it.
    Given,
    /// The person approved another proposal or policy, or the approval was used before.
    Stale,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// [`CaseError`], with the place.
    pub(crate) fn parse(text: &str) -> Result<Self, CaseError> {
        let value = json::parse(text).map_err(|error| CaseError::Json(error.to_string()))?;
        let case = Part {
            at: String::new(),
            value: &value,
        };
        let proposal = case.field("proposal");
        let expect = case.field("expect");
        Ok(Self {
            name: case.field("name").text()?.unwrap_or_default(),
            expected: Outcome {
                decision: expect.field("decision").required_text()?,
                on_fail: expect.field("on_fail").text()?,
                reason_code: expect.field("reason_code").required_text()?,
            },
            snapshot: case.field("state_snapshot_id").text()?,
            entries: entries(&case)?,
            schemas: schemas(&case.field("schemas"))?,
            tools: tools(&case.field("tools"))?,
            principal: principal(&case.field("principal"))?,
            proposed_for: proposal.field("state_snapshot_id").text()?,
            approval: approval(&case)?,
            items: items(&proposal)?,
        })
    }

    /// Judges the case.
    pub(crate) fn rule(&self) -> Ruling {
        let Some(entries) = &self.entries else {
            return Ruling::deny(Code::PolicyUnavailable, "");
        };
        if self.snapshot.is_some() && self.snapshot != self.proposed_for {
            return Ruling::deny(Code::StaleSnapshot, "");
        }
        let grounds = Grounds {
            entries,
            schemas: &self.schemas,
            tools: &self.tools,
            principal: &self.principal,
            is_approved: self.approval == Approval::Given,
        };
        if self.approval == Approval::Stale {
            return Ruling::deny(Code::ApprovalStale, "");
        }
        proposal::judge(grounds, &self.items, 0)
    }
}

/// Reads the approval, which holds once, for the proposal and the policy that it names by hash.
fn approval(case: &Part<'_>) -> Result<Approval, CaseError> {
    let approval = case.field("approval");
    if approval.fields()?.is_none() {
        return Ok(Approval::None);
    }
    let is_same = |name: &str, present: &Part<'_>| -> Result<bool, CaseError> {
        let named = approval.field(name).text()?;
        Ok(named.is_some() && named == present.text()?)
    };
    let is_fresh = is_same("proposal_hash", &case.field("proposal").field("hash"))?
        & is_same("policy_hash", &case.field("policy_hash"))?
        & !approval.field("used").is_true()?;
    Ok(if is_fresh { Approval::Given } else { Approval::Stale })
}

/// A part of a case with its place.
struct Part<'a> {
    at: String,
    value: &'a Value,
}

impl<'a> Part<'a> {
    fn field(&self, name: &str) -> Part<'a> {
        let at = if self.at.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.at)
        };
        Part {
            at,
            value: self.value.get(name).unwrap_or(&Value::Null),
        }
    }

    fn wrong<T>(&self, expected: &'static str) -> Result<T, CaseError> {
        Err(CaseError::Shape {
            at: self.at.clone(),
            expected,
        })
    }

    fn text(&self) -> Result<Option<String>, CaseError> {
        match self.value {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text.clone())),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => self.wrong("a string"),
        }
    }

    fn required_text(&self) -> Result<String, CaseError> {
        self.text()?.map_or_else(|| self.wrong("a string"), Ok)
    }

    fn parts(&self) -> Result<Vec<Part<'a>>, CaseError> {
        let part = |(index, value)| Part {
            at: format!("{}[{index}]", self.at),
            value,
        };
        match self.value {
            Value::Null => Ok(Vec::new()),
            Value::Array(items) => Ok(items.iter().enumerate().map(part).collect()),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => self.wrong("a list"),
        }
    }

    fn texts(&self) -> Result<Option<Vec<String>>, CaseError> {
        if self.value.is_null() {
            return Ok(None);
        }
        self.parts()?
            .iter()
            .map(Part::required_text)
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn fields(&self) -> Result<Option<&'a Map<String, Value>>, CaseError> {
        match self.value {
            Value::Null => Ok(None),
            Value::Object(fields) => Ok(Some(fields)),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => self.wrong("an object"),
        }
    }

    fn is_true(&self) -> Result<bool, CaseError> {
        match self.value {
            Value::Null => Ok(false),
            Value::Bool(flag) => Ok(*flag),
            Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => self.wrong("true or false"),
        }
    }

    fn natural(&self) -> Result<Option<u64>, CaseError> {
        if self.value.is_null() {
            return Ok(None);
        }
        let number = self.value.as_u64();
        number.map_or_else(|| self.wrong("a number of milliseconds"), |number| Ok(Some(number)))
    }
}

/// Reads the entries; a null means that no policy is available, and gives `None`.
fn entries(case: &Part<'_>) -> Result<Option<Entries>, CaseError> {
    let part = case.field("f_sparse");
    if case.value.get("f_sparse").is_some_and(Value::is_null) {
        return Ok(None);
    }
    let mut entries = Entries::default();
    for key in part.fields()?.into_iter().flat_map(Map::keys) {
        entries.set(key, Some(&part.field(key).required_text()?));
    }
    for name in ["now_ms", "now"] {
        if let Some(now_ms) = case.field(name).natural()? {
            entries.set(CLOCK, Some(&format!("{{\"v\":1,\"value\":{now_ms}}}")));
        }
    }
    Ok(Some(entries))
}

fn schemas(part: &Part<'_>) -> Result<BTreeMap<String, Result<Schema, Malformed>>, CaseError> {
    let fields = part.fields()?.into_iter().flatten();
    Ok(fields
        .map(|(name, schema)| (name.clone(), Schema::parse(schema).map_err(Malformed::from)))
        .collect())
}

fn tools(part: &Part<'_>) -> Result<Tools, CaseError> {
    let mut tools = Tools::default();
    for name in part.fields()?.into_iter().flat_map(Map::keys) {
        let tool = part.field(name);
        let schema = tool.field("args_schema");
        let described = Tool {
            capabilities: tool.field("capabilities").texts()?.into_iter().flatten().collect(),
            arguments: (!schema.value.is_null()).then(|| ArgumentSchema::of(schema.value)),
            needs_approval: tool.field("requires_approval").is_true()?,
        };
        tools.known.insert(name.clone(), described);
    }
    Ok(tools)
}

fn principal(part: &Part<'_>) -> Result<Principal, CaseError> {
    let roles = part.field("role").text()?.and_then(|name| Role::of_name(&name));
    let token = ["token", "capability_token"].map(|name| part.field(name));
    let sources: Vec<&Part<'_>> = std::iter::once(part)
        .chain(&token)
        .filter(|part| !part.value.is_null())
        .collect();
    let mut limits = Limits::default();
    let mut tools: Option<BTreeSet<String>> = None;
    for source in sources {
        source.fields()?;
        if let Some(named) = source.field("tools").texts()? {
            // A token narrows the rights of the principal.
            let named = Names(named.into_iter().collect());
            tools = Some(match tools {
                Some(known) => known
                    .into_iter()
                    .filter(|name| named.include(name))
                    .chain(narrowed(part, &named))
                    .collect(),
                None => named.0,
            });
        }
        add_limits(&mut limits, source)?;
    }
    let tools = Names(tools.unwrap_or_default());
    Ok(Principal {
        roles: roles.into_iter().collect(),
        tools,
        limits,
        token: None,
        session: None,
        grants_allow: false,
    })
}

/// Returns the tools that a token names and that a prefix among the principal's tools covers.
fn narrowed(principal: &Part<'_>, named: &Names) -> Vec<String> {
    let has = principal.field("tools").texts().ok().flatten().unwrap_or_default();
    let has = Names(has.into_iter().collect());
    named.0.iter().filter(|name| has.include(name)).cloned().collect()
}

fn add_limits(limits: &mut Limits, part: &Part<'_>) -> Result<(), CaseError> {
    for name in ["capabilities", "scopes"] {
        if let Some(named) = part.field(name).texts()? {
            limits.capabilities = Some(Names(named.into_iter().collect()));
        }
    }
    limits.read_roots = part.field("fs_read_roots").texts()?.or(limits.read_roots.take());
    limits.write_roots = part.field("fs_write_roots").texts()?.or(limits.write_roots.take());
    limits.hosts = part.field("net_allowlist").texts()?.or(limits.hosts.take());
    for name in ["expires_at", "expires_at_ms"] {
        limits.expires_at_ms = part.field(name).natural()?.or(limits.expires_at_ms);
    }
    limits.is_revoked |= part.field("revoked").is_true()?;
    limits.is_expired |= part.field("expired").is_true()?;
    for name in ["budget", "budgets"] {
        let budgets = part.field(name);
        if let Some(calls) = budgets.value.as_f64() {
            limits.budgets.insert("tool_calls".to_owned(), calls);
            continue;
        }
        for (name, value) in budgets.fields()?.into_iter().flatten() {
            let left = value
                .as_f64()
                .map_or_else(|| budgets.field(name).wrong("a number"), Ok)?;
            limits.budgets.insert(name.clone(), left);
        }
    }
    Ok(())
}

fn items(proposal: &Part<'_>) -> Result<Vec<Item>, CaseError> {
    proposal.fields()?;
    let mut items = Vec::new();
    for delta in proposal.field("deltas").parts()? {
        let key = delta.field("key").required_text()?;
        items.push(Item::Delta {
            key,
            text: delta.field("value").text()?,
        });
    }
    for call in proposal.field("tool_calls").parts()? {
        let arguments = call.field("args").value.clone();
        let arguments = if arguments.is_null() {
            Value::Object(Map::new())
        } else {
            arguments
        };
        items.push(Item::Call {
            tool: call.field("tool_id").required_text()?,
            arguments,
            is_conveyed: false,
        });
    }
    Ok(items)
}
