//! The facts that came and went in every turn of a branch, and the turns with calls of tools, in an
//! index, so that a query need not read the turns.
//!
//! Owns the terms of a change and of a tool in the index, and the search for a pattern. A turn that
//! calls tools or receives their answers files one entry without content under each tool.
//! INVARIANT: the index has a fact under each term of every pattern that matches it, so a search by
//! any of these terms misses nothing.
//! It does not store the index (`duet_journal::index` does) and executes nothing; the records say
//! what changed (`shadow.rs`).
//! Read next: `chain.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use duet_journal::Sequence;
use duet_journal::index::{Coverage, EntryPosition, FiledEntry, Index, MARK_EVERY, Order, Portion, REACH, Term};
use duet_journal::packed::{Class, View};

use crate::action::Action;
use crate::dataspace::pattern::{GroupKind, Pattern, Step};
use crate::history::shadow::{Changes, Shadow};
use crate::model::codec::DecodeError;
use crate::model::identity::ActorId;
use crate::model::value::Fact;
use crate::record::TurnRecord;
use crate::run::error::RunError;
use crate::run::source::Source;

/// A fact that appeared or disappeared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactChange {
    /// The turn.
    pub sequence: Sequence,
    /// The actor whose turn it was.
    pub actor: ActorId,
    /// Whether the fact appeared; otherwise it disappeared.
    pub came: bool,
    /// The fact.
    pub fact: Fact,
}

impl FactChange {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.came)];
        bytes.extend_from_slice(&self.actor.0.to_le_bytes());
        bytes.extend_from_slice(self.fact.bytes());
        bytes
    }

    fn from_bytes(sequence: Sequence, bytes: &[u8]) -> Option<Self> {
        let (&came, rest) = bytes.split_first()?;
        let (actor, fact) = rest.split_first_chunk()?;
        Some(Self {
            sequence,
            actor: ActorId(u64::from_le_bytes(*actor)),
            came: came == 1,
            fact: Fact::from_bytes(fact.to_vec()).ok()?,
        })
    }
}

/// The maximum number of a record's fields that the index has terms for.
const FIELDS_MAX: usize = 8;

/// Returns the terms of a fact: for a record its label, alone and with each of its first fields;
/// for anything else the whole value.
fn terms_of(fact: View<'_>) -> Vec<Term> {
    let Some(label) = fact.label().filter(|_| fact.class() == Class::Record) else {
        return vec![Term::of(&[b"value", fact.as_bytes()])];
    };
    let mut terms = vec![label_term(label)];
    let fields = fact.items().take(FIELDS_MAX).enumerate();
    terms.extend(fields.map(|(position, field)| field_term(label, position, field)));
    terms
}

fn label_term(label: View<'_>) -> Term {
    Term::of(&[b"label", label.as_bytes()])
}

fn field_term(label: View<'_>, position: usize, field: View<'_>) -> Term {
    let position = (position as u64).to_le_bytes();
    Term::of(&[b"field", label.as_bytes(), &position, field.as_bytes()])
}

/// Returns terms of every fact that the pattern matches; none if it may match anything, or
/// compounds that are not records.
fn terms_for(pattern: &Pattern) -> Vec<Term> {
    match pattern {
        Pattern::Discard => Vec::new(),
        Pattern::Bind(inner) => terms_for(inner),
        Pattern::Literal(fact) => terms_of(fact.view()),
        Pattern::Group {
            kind: GroupKind::Record(label),
            entries,
            ..
        } => {
            let field = |(step, inner): &(Step, Pattern)| match (step, literal(inner)) {
                (Step::Index(index), Some(fact)) => {
                    let position = usize::try_from(*index).ok().filter(|index| *index < FIELDS_MAX)?;
                    Some(field_term(label.view(), position, fact.view()))
                }
                (Step::Index(_) | Step::Key(_), _) => None,
            };
            std::iter::once(label_term(label.view()))
                .chain(entries.iter().filter_map(field))
                .collect()
        }
        Pattern::Group {
            kind: GroupKind::Sequence | GroupKind::Dictionary,
            ..
        } => Vec::new(),
    }
}

/// Returns the only value that a pattern matches, if there is only one.
fn literal(pattern: &Pattern) -> Option<&Fact> {
    match pattern {
        Pattern::Literal(fact) => Some(fact),
        Pattern::Bind(inner) => literal(inner),
        Pattern::Discard | Pattern::Group { .. } => None,
    }
}

/// The maximum number of portions in one commit of the index.
const PORTIONS: usize = 32;

/// Extends the index of a branch up to a turn; reads only turns that it does not cover yet.
///
/// # Errors
/// [`RunError`].
pub fn cover(index: &mut Index, source: &Source<'_>, at: Sequence) -> Result<Coverage, RunError> {
    cover_while(index, source, at, &mut |_| ControlFlow::Continue(()))
}

/// Extends the index of a branch as [`cover`] does, and calls `watch` with each turn that is
/// reached, about every thousand turns. If it says that nobody waits any more, the index keeps what
/// was read, and the coverage ends before the turn.
///
/// # Errors
/// [`RunError`].
pub fn cover_while(
    index: &mut Index,
    source: &Source<'_>,
    at: Sequence,
    watch: &mut dyn FnMut(Sequence) -> ControlFlow<()>,
) -> Result<Coverage, RunError> {
    let mut coverage = index.coverage(source.store, source.run, source.branch, at)?;
    if coverage.sequence() >= at {
        return Ok(coverage);
    }
    let mut shadow = Shadow::at(source, coverage.sequence())?;
    let mut is_wanted = true;
    while is_wanted && shadow.sequence() < at {
        let mut portions = Vec::new();
        while is_wanted && shadow.sequence() < at && portions.len() < PORTIONS {
            portions.push(portion(&mut shadow, source, at)?);
            is_wanted = watch(shadow.sequence()).is_continue();
        }
        index.extend(&mut coverage, &portions)?;
    }
    Ok(coverage)
}

/// Collects the changes of the next turns, up to the next mark of the index.
fn portion(shadow: &mut Shadow, source: &Source<'_>, at: Sequence) -> Result<Portion, RunError> {
    let mark = (shadow.sequence().number() / MARK_EVERY + 1) * MARK_EVERY;
    let to = Sequence::new(mark).map_or(at, |mark| mark.min(at));
    let mut entries = Vec::new();
    shadow.advance(source, to, |record, turn, changes| {
        let came = changes.appeared.iter().map(|(fact, _)| (true, fact));
        let went = changes.disappeared.iter().map(|fact| (false, fact));
        entries.extend(came.chain(went).map(|(came, fact)| {
            let sequence = record.header().sequence;
            let (actor, fact) = (turn.actor, fact.clone());
            let change = FactChange {
                sequence,
                actor,
                came,
                fact,
            };
            FiledEntry {
                sequence,
                terms: terms_of(change.fact.view()),
                bytes: change.to_bytes(),
            }
        }));
        entries.extend(calls(record.header().sequence, turn, changes));
        Ok(())
    })?;
    Ok(Portion {
        entries,
        end: (shadow.sequence(), shadow.newest()),
    })
}

/// The entry of a turn about the tools that it calls or that have answered, if there are any.
fn calls(sequence: Sequence, turn: &TurnRecord, changes: &Changes) -> Option<FiledEntry> {
    let called = turn.actions.iter().flat_map(Action::done).filter_map(Action::call);
    let called = called.map(|call| tool_term(Some(&call.tool)));
    let answered = changes.answered.iter().map(|tool| tool_term(tool.as_deref()));
    let terms: BTreeSet<Term> = called.chain(answered).collect();
    (!terms.is_empty()).then(|| FiledEntry {
        sequence,
        terms: terms.into_iter().collect(),
        bytes: Vec::new(),
    })
}

/// The term of the turns with calls of a tool; `None` stands for answers of which the records no
/// longer say who gave them.
fn tool_term(tool: Option<&str>) -> Term {
    match tool {
        Some(tool) => Term::of(&[b"tool", tool.as_bytes()]),
        None => Term::of(&[b"any tool"]),
    }
}

/// Lists the turns covered that call a tool or may receive an answer of it, in their order.
///
/// # Errors
/// [`RunError::Store`] if the index is damaged.
pub fn turns_of_tool(index: &Index, coverage: &Coverage, tool: &str) -> Result<BTreeSet<Sequence>, RunError> {
    let mut turns = BTreeSet::new();
    for term in [tool_term(Some(tool)), tool_term(None)] {
        index.find(coverage, term, Order::OldestFirst, |place, _| {
            turns.insert(place.0);
            ControlFlow::Continue(())
        })?;
    }
    Ok(turns)
}

/// The changes that a query asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// The facts that appeared in the first turn in which one did.
    First,
    /// The facts that appeared in the last turn in which one did.
    Last,
    /// All facts that appeared or disappeared.
    All,
}

/// Finds changes of facts that match one of the patterns among the turns covered, in the order of
/// the turns.
///
/// # Errors
/// [`RunError::Store`] if the index is damaged.
pub fn find(
    index: &Index,
    coverage: &Coverage,
    patterns: &[Pattern],
    sought: Sought,
) -> Result<Vec<FactChange>, RunError> {
    let mut found = BTreeMap::new();
    for pattern in patterns {
        let mut search = Search {
            pattern,
            sought,
            found: BTreeMap::new(),
            is_damaged: false,
        };
        let order = if sought == Sought::Last {
            Order::NewestFirst
        } else {
            Order::OldestFirst
        };
        match rarest(index, coverage, pattern)? {
            Some(term) => index.find(coverage, term, order, |place, bytes| search.look_at(place, bytes))?,
            None => {
                let all = Sequence::FIRST..=coverage.sequence();
                index.walk(coverage, all, order, |place, bytes| search.look_at(place, bytes))?;
            }
        }
        if search.is_damaged {
            return Err(malformed(coverage.sequence()));
        }
        found.append(&mut search.found);
    }
    let turn = match sought {
        Sought::First => found.keys().next(),
        Sought::Last => found.keys().next_back(),
        Sought::All => None,
    };
    if let Some((turn, _)) = turn.copied() {
        found.retain(|(sequence, _), _| *sequence == turn);
    }
    Ok(found.into_values().collect())
}

fn malformed(sequence: Sequence) -> RunError {
    RunError::Decode {
        sequence,
        source: DecodeError::Inconsistent {
            what: "the index files changes of facts",
        },
    }
}

/// The maximum count of a term; terms with more entries than this are equally good.
const MANY: usize = 4096;

/// Returns the term of a pattern with the fewest entries.
fn rarest(index: &Index, coverage: &Coverage, pattern: &Pattern) -> Result<Option<Term>, RunError> {
    let mut rarest = None;
    let mut least = usize::MAX;
    for term in terms_for(pattern) {
        let count = index.count(coverage, term, MANY.min(least))?;
        if count < least {
            (rarest, least) = (Some(term), count);
        }
    }
    Ok(rarest)
}

struct Search<'a> {
    pattern: &'a Pattern,
    sought: Sought,
    found: BTreeMap<EntryPosition, FactChange>,
    is_damaged: bool,
}

impl Search<'_> {
    fn look_at(&mut self, place: EntryPosition, bytes: &[u8]) -> ControlFlow<()> {
        if bytes.is_empty() {
            return ControlFlow::Continue(());
        }
        let is_all = self.sought == Sought::All;
        if !is_all && self.found.keys().next().is_some_and(|(turn, _)| *turn != place.0) {
            return ControlFlow::Break(());
        }
        let Some(change) = FactChange::from_bytes(place.0, bytes) else {
            self.is_damaged = true;
            return ControlFlow::Break(());
        };
        if (is_all || change.came) && self.pattern.matches(&change.fact.value()).is_some() {
            self.found.insert(place, change);
        }
        ControlFlow::Continue(())
    }
}

/// Compares the index of a branch, as far as it covers it, with the records; returns the first turn
/// for which they differ.
///
/// # Errors
/// [`RunError`] if a record cannot be read.
pub fn check(index: &Index, source: &Source<'_>) -> Result<Option<Sequence>, RunError> {
    let head = source.position(None)?;
    let coverage = index.coverage(source.store, source.run, source.branch, head)?;
    if coverage.sequence() == Sequence::FIRST {
        return Ok(None);
    }
    let mut shadow = Shadow::begin(&source.record(Sequence::FIRST)?)?;
    while shadow.sequence() < coverage.sequence() {
        if let Some(wrong) = check_reach(index, &coverage, source, &mut shadow)? {
            return Ok(Some(wrong));
        }
    }
    Ok(None)
}

/// Compares the index with the records of the next turns, up to the end of the index's reach.
fn check_reach(
    index: &Index,
    coverage: &Coverage,
    source: &Source<'_>,
    shadow: &mut Shadow,
) -> Result<Option<Sequence>, RunError> {
    let from = shadow.sequence().next().ok_or(RunError::Full)?;
    let end = (shadow.sequence().number() / REACH + 1) * REACH;
    let end = Sequence::new(end).map_or(coverage.sequence(), |end| end.min(coverage.sequence()));
    let mut terms = index.terms(coverage, from..=end)?;
    let mut filed = BTreeMap::new();
    index.walk(coverage, from..=end, Order::OldestFirst, |place, bytes| {
        filed.insert(place, bytes.to_vec());
        ControlFlow::Continue(())
    })?;
    while shadow.sequence() < end {
        let mut place = (Sequence::FIRST, 0);
        for mut entry in portion(shadow, source, end)?.entries {
            place = (entry.sequence, if place.0 == entry.sequence { place.1 + 1 } else { 0 });
            entry.terms.sort_unstable();
            if filed.remove(&place).as_ref() != Some(&entry.bytes) || terms.remove(&place) != Some(entry.terms) {
                return Ok(Some(place.0));
            }
        }
    }
    let left = filed.keys().chain(terms.keys()).min();
    Ok(left.map(|(sequence, _)| *sequence))
}

#[cfg(test)]
mod tests;
