//! Policy's view of a turn: actions as items, the actor as a principal.
//!
//! INVARIANT: a ruling depends on the state before the turn, the principal and the actions of the
//! turn so far, so a program receives the same ruling before it acts as the gate makes afterwards.
//! It does not know the consequences of a ruling.
//! Read next: `../policy/proposal.rs`.

use std::collections::BTreeMap;

use super::{Proposal, payload};
use crate::action::Action;
use crate::action::invoke_tool::InvokeTool;
use crate::model::identity::Handle;
use crate::policy::authority::{NAMESPACES, Role};
use crate::policy::document::Malformed;
use crate::policy::entry::Entries;
use crate::policy::item::{Grounds, Item, Tool, Tools};
use crate::policy::keyed::{self, Keyed};
use crate::policy::predicate::sum_until;
use crate::policy::proposal::judge_with;
use crate::policy::ruling::{Code, Ruling};
use crate::policy::schema::Schema;
use crate::policy::token::{Limits, Names, Principal, TOKENS};
use crate::state::before::StateBefore;

/// The policy before a turn, with the changes that the turn has made to it.
pub(crate) struct Bench<'a> {
    proposal: Proposal<'a>,
    before: &'a Entries,
    schemas: BTreeMap<String, Result<Schema, Malformed>>,
    tools: &'a Tools,
    principal: Principal,
    /// The ruling on every call if the actor's token is malformed.
    broken_token: Option<Ruling>,
    after: Entries,
    calls: usize,
    ledger: Ledger,
}

/// How much of the arguments of a call an item has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The levels that the tool's own schema looks at.
    Looked,
    /// All.
    Whole,
}

/// Who holds which entries: unlike the entries after a turn, it knows of a second text under a key.
#[derive(Clone)]
struct Ledger {
    entries: Entries,
    /// The entries that the turn has made.
    made: BTreeMap<Handle, Keyed>,
}

impl Ledger {
    /// Notes an action, and returns the key that it enters a text under, if it does.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only assertions and retractions count")]
    fn note(&mut self, before: StateBefore<'_>, action: &Action) -> Option<String> {
        match action {
            Action::Pass(pass) => self.note(before, pass.action.first()?),
            Action::Assert(assert) => {
                let entry = keyed::of(&assert.value)?;
                self.entries.add(&entry.key, &entry.text);
                self.made.insert(assert.handle, entry.clone());
                Some(entry.key)
            }
            Action::Retract(retract) if retract.ignored.is_none() => {
                let made = self.made.remove(&retract.handle);
                let held = || keyed::of(&before.held(retract.handle)?.fact);
                let entry = made.or_else(held)?;
                self.entries.remove(&entry.key, &entry.text);
                None
            }
            _ => None,
        }
    }

    fn is_ambiguous(&self, key: &str) -> bool {
        self.entries.get(key).is_some() && self.entries.text(key).is_none()
    }
}

/// The refusal of a second text under a key.
pub(super) fn second_text(key: &str) -> Ruling {
    let detail = "the key has another value already; update! replaces one that is your own";
    Ruling::deny(Code::MalformedValue, detail).by(key)
}

impl<'a> Bench<'a> {
    /// Prepares the judgement of a turn that has not acted yet.
    pub(crate) fn new(proposal: Proposal<'a>) -> Self {
        let before = proposal.before.entries();
        let mut principal = Principal {
            roles: Vec::new(),
            tools: Names(proposal.principal.manifest.names().cloned().collect()),
            limits: Limits::default(),
            token: None,
            session: Some(session(proposal.principal.actor)),
            grants_allow: true,
        };
        principal.roles = roles(&principal, before);
        let broken_token = limit(&mut principal, before);
        Self {
            proposal,
            before,
            schemas: before.schemas(),
            tools: proposal.before.tools(),
            principal,
            broken_token,
            after: before.clone(),
            ledger: Ledger {
                entries: before.clone(),
                made: BTreeMap::new(),
            },
            calls: usize::try_from(proposal.before.calls(proposal.principal.actor)).unwrap_or(usize::MAX),
        }
    }

    /// Says whether policy or the manifest grants `capability` to the principal.
    pub(crate) fn is_granted(&self, capability: &str) -> bool {
        self.principal.is_granted(self.before, capability)
    }

    /// Judges attempts that happen together after the noted actions; [`None`] if policy does not
    /// apply to them.
    pub(crate) fn rule(&self, attempts: &[Action], is_approved: bool) -> Option<Ruling> {
        let mut after = self.after.clone();
        let items = attempts.iter().filter_map(|attempt| self.item(attempt, Extent::Looked));
        items.for_each(|item| apply(&mut after, &item));
        let ruling = self.rule_with(attempts, &after, is_approved)?;
        let second = self.second_text(attempts);
        Some(second.map_or(ruling.clone(), |second| ruling.or_stricter(second)))
    }

    /// Refuses attempts that together enter a text under a key that has another one.
    fn second_text(&self, attempts: &[Action]) -> Option<Ruling> {
        let mut ledger = self.ledger.clone();
        let entered: Vec<String> = attempts
            .iter()
            .filter_map(|attempt| ledger.note(self.proposal.before, attempt))
            .collect();
        entered
            .iter()
            .find(|key| ledger.is_ambiguous(key))
            .map(|key| second_text(key))
    }

    /// Bounds the steps that schemas take to judge attempts; more than `steps_max` are only told to
    /// be more.
    pub(crate) fn work(&self, attempts: &[Action], steps_max: u64) -> u64 {
        let done = attempts.iter().flat_map(Action::done);
        let items = done.filter_map(|attempt| self.item(attempt, Extent::Whole));
        sum_until(items, steps_max, |item, steps_max| {
            item.work(self.grounds(false), steps_max)
        })
    }

    fn grounds(&self, is_approved: bool) -> Grounds<'_> {
        Grounds {
            entries: self.before,
            schemas: &self.schemas,
            tools: self.tools,
            principal: &self.principal,
            is_approved,
        }
    }

    /// Judges actions of a turn that leads to the entries `after`; [`None`] if policy does not
    /// apply to them.
    pub(crate) fn rule_with(&self, attempts: &[Action], after: &Entries, is_approved: bool) -> Option<Ruling> {
        let items_of = |extent| -> Vec<Item> {
            let items = attempts.iter().filter_map(|attempt| self.item(attempt, extent));
            items.collect()
        };
        let judge = |items: &[Item]| judge_with(self.grounds(is_approved), items, after, self.calls);
        let extent = self.extent(after);
        let mut items = items_of(extent);
        if items.is_empty() {
            return None;
        }
        let mut ruling = judge(&items);
        if extent == Extent::Looked && !ruling.is_allowed() {
            // The reason may quote what was left out.
            items = items_of(Extent::Whole);
            ruling = judge(&items);
        }
        let has_call = items.iter().any(|item| matches!(item, Item::Call { .. }));
        let broken = self.broken_token.clone().filter(|_| has_call);
        let shared = if extent == Extent::Whole {
            attempts.iter().filter_map(call).find_map(shared_name)
        } else {
            None
        };
        let stricter = [broken, shared].into_iter().flatten();
        Some(stricter.fold(ruling, Ruling::or_stricter))
    }

    /// Notes that an action was performed. A turn may have very many, and each call is judged after
    /// all of them, so it does not look at what a call says.
    pub(crate) fn note(&mut self, action: &Action) {
        for action in action.done() {
            self.calls += usize::from(call(action).is_some());
            if let Some(Delta { key, text }) = self.delta(action) {
                self.after.set(&key, text.as_deref());
            }
            self.ledger.note(self.proposal.before, action);
        }
    }

    /// Returns the entries after the noted actions.
    pub(crate) fn after(&self) -> &Entries {
        &self.after
    }

    /// Says how much of the arguments of calls is judged: where there are no entries, only the
    /// tool's own schema looks at them.
    fn extent(&self, after: &Entries) -> Extent {
        if self.before.is_empty() && after.is_empty() {
            Extent::Looked
        } else {
            Extent::Whole
        }
    }

    fn levels(&self, tool: &str, extent: Extent) -> usize {
        match extent {
            Extent::Whole => usize::MAX,
            Extent::Looked => self.tools.find(tool).map_or(0, Tool::levels),
        }
    }

    /// Makes the item that policy sees of an action; policy does not apply to the other actions.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "policy is about calls and entries; the table of actions is long"
    )]
    fn item(&self, action: &Action, extent: Extent) -> Option<Item> {
        match action {
            Action::InvokeTool(call) => Some(Item::Call {
                tool: call.tool.clone(),
                arguments: payload::to_level(call.payload.view(), self.levels(&call.tool, extent)),
                is_conveyed: call.via.is_some(),
            }),
            Action::Pass(pass) => self.item(pass.action.first()?, extent),
            _ => self.delta(action).map(|Delta { key, text }| Item::Delta { key, text }),
        }
    }

    /// Returns the change that an action makes to the entries, if it makes one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only assertions and retractions count")]
    fn delta(&self, action: &Action) -> Option<Delta> {
        match action {
            Action::Pass(pass) => self.delta(pass.action.first()?),
            Action::Assert(assert) => {
                let entry = keyed::of(&assert.value)?;
                Some(Delta {
                    key: entry.key,
                    text: Some(entry.text),
                })
            }
            Action::Retract(retract) if retract.ignored.is_none() => {
                let entry = keyed::of(&self.proposal.before.held(retract.handle)?.fact)?;
                Some(Delta {
                    key: entry.key,
                    text: None,
                })
            }
            _ => None,
        }
    }
}

/// A change of an entry: its key, and its text unless it goes.
struct Delta {
    key: String,
    text: Option<String>,
}

/// Returns the call of a tool that an action is, also through a capability.
#[expect(clippy::wildcard_enum_match_arm, reason = "the table of actions is long")]
fn call(action: &Action) -> Option<&InvokeTool> {
    match action {
        Action::InvokeTool(call) => Some(call),
        Action::Pass(pass) => call(pass.action.first()?),
        _ => None,
    }
}

/// Refuses a call with two members of one name: neither policy nor a person could tell them apart,
/// and a tool that reads JSON would receive one of them.
fn shared_name(call: &InvokeTool) -> Option<Ruling> {
    let name = payload::shared_name(call.payload.view())?;
    let detail = format!(
        "a dictionary in the arguments of {} has two keys with the name `{name}`",
        call.tool
    );
    Some(Ruling::deny(Code::MalformedValue, detail))
}

/// Returns the name under which an actor's grants are kept.
pub fn session(actor: crate::model::identity::ActorId) -> String {
    format!("actor-{}", actor.0)
}

fn apply(entries: &mut Entries, item: &Item) {
    if let Item::Delta { key, text } = item {
        entries.set(key, text.as_deref());
    }
}

/// Limits a principal by its token, if it has one.
fn limit(principal: &mut Principal, before: &Entries) -> Option<Ruling> {
    let key = format!("{TOKENS}{}", principal.session.as_ref()?);
    let read = before
        .get(&key)?
        .document
        .as_ref()
        .map_err(Clone::clone)
        .and_then(Limits::read);
    match read {
        Ok((tools, limits)) => (principal.token, principal.limits) = (tools, limits),
        Err(fault) => return Some(Ruling::deny(Code::ConstraintMalformed, fault.to_string()).by(&key)),
    }
    None
}

fn roles(principal: &Principal, before: &Entries) -> Vec<Role> {
    let granted = NAMESPACES
        .iter()
        .filter(|(.., capability)| principal.is_granted(before, capability));
    granted.flat_map(|(_, roles, _)| roles.iter().copied()).collect()
}
