//! The comparison of both sides.
//!
//! Owns the names of the explained differences.
//! INVARIANT: where watches do not react, each watch receives the same events in the same order in
//! each round. Where they do, neither side promises an order between sources, and the events of
//! each source must have one order. A sync is compared with the actor's own facts only, because it
//! says nothing about third parties.
//! Read next: `shrink.rs`.

use std::collections::BTreeMap;
use std::fmt;

use crate::program::{LogEntry, Owner, Program, Transcript, WatchName};

/// The key of one compared sequence: the events of a watch in a round, and their source if sources
/// are compared one by one.
type Key = (usize, WatchName, Option<Option<Owner>>);

/// A difference: what Duet and the reference say.
pub(crate) struct Difference {
    key: Key,
    ours: Vec<String>,
    reference: Vec<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (round, watch, source) = &self.key;
        writeln!(f, "in round {round}, {watch:?}, source {source:?}:")?;
        writeln!(f, "  Duet      {:?}", self.ours)?;
        write!(f, "  syndicate {:?}", self.reference)
    }
}

/// Whether two runs agree.
pub(crate) enum Agreement {
    Equal,
    /// They agree but for the difference of this name.
    Explained(&'static str),
    Different(Difference),
}

/// A stop hook asserts while the facet around it is stopping too: the reference drops the
/// assertion, Duet shows it come and go. Watches of it react on one side only.
pub(crate) const STOP_HOOK: &str = "stop-hook-in-stopping-facet";

/// Several watches and waits of one actor see the same change, and a reaction of one ends others:
/// neither side promises their order.
pub(crate) const ORDER: &str = "order-among-observers";

/// A reaction ends an actor, or a facet of it, that waits for the answer of a sync: Duet answers
/// after the actor has handled the sent events, the reference in the same batch.
pub(crate) const SYNC: &str = "sync-of-what-ends";

/// Compares two runs of a program.
pub(crate) fn compare(program: &Program, ours: &Transcript, reference: &Transcript) -> Agreement {
    let Some(first) = difference(program, &ours.entries, &reference.entries, &[]) else {
        return Agreement::Equal;
    };
    let mut cut = cut_short(program, reference);
    cut.extend(waits_cut_short(reference, [ours, reference]));
    if difference(program, &ours.entries, &reference.entries, &cut).is_none() {
        return Agreement::Explained(ORDER);
    }
    let cut = [cut, syncs_cut_short(reference)].concat();
    if difference(program, &ours.entries, &reference.entries, &cut).is_none() {
        return Agreement::Explained(SYNC);
    }
    let lost = &reference.lost_to_stopping;
    if lost.is_empty() {
        return Agreement::Different(first);
    }
    // Neither side is asked about facts that only one of them has seen, in the rounds in which that
    // happened, nor from then on about actors that react to those facts, or to such actors.
    let watchers = program.watchers();
    let strayed = strayed(program, lost);
    let is_asked = |entry: &&LogEntry| {
        // A wait takes its first match only, so one that has seen a lost fact is over on that side
        // for good.
        let is_over = |round: usize| matches!(entry.watch, WatchName::Wait(..)) && round < entry.round;
        let concerns_lost =
            |(round, fact): &(usize, String)| (*round == entry.round || is_over(*round)) && concerns(entry, fact);
        let owner = match entry.watch {
            WatchName::Watch(watch) => watchers.get(&watch).copied(),
            WatchName::Syncs(actor) | WatchName::Wait(actor, _) => Some(actor),
        };
        let concerns_strayed = |(actor, round): (&u32, &usize)| {
            let is_its = owner == Some(*actor) || entry.source.is_none_or(|source| source == Owner::Actor(*actor));
            *round <= entry.round && is_its
        };
        !lost.iter().any(concerns_lost) && !strayed.iter().any(concerns_strayed)
    };
    let ours: Vec<LogEntry> = ours.entries.iter().filter(is_asked).cloned().collect();
    let theirs: Vec<LogEntry> = reference.entries.iter().filter(is_asked).cloned().collect();
    match difference(program, &ours, &theirs, &cut) {
        None => Agreement::Explained(STOP_HOOK),
        Some(difference) => Agreement::Different(difference),
    }
}

/// Finds the actors that may do otherwise on one side, because they react to lost facts or to such
/// actors, and from which round on.
fn strayed(program: &Program, lost: &[(usize, String)]) -> BTreeMap<u32, usize> {
    let reactors = program.reactors();
    let mut strayed: BTreeMap<u32, usize> = BTreeMap::new();
    let owner_of = |fact: &str| fact.split(' ').nth(1).map(str::to_owned);
    let mut rest: Vec<(usize, String)> = lost
        .iter()
        .filter_map(|(round, fact)| Some((*round, owner_of(fact)?)))
        .collect();
    while let Some((round, owner)) = rest.pop() {
        for (actor, source) in &reactors {
            let is_earlier = strayed.get(actor).is_none_or(|known| round < *known);
            if source.to_string() == owner && is_earlier {
                strayed.insert(*actor, round);
                rest.push((round, Owner::Actor(*actor).to_string()));
            }
        }
    }
    strayed
}

/// Lists the rounds and watches in which one side may have received fewer events than the other.
fn cut_short(program: &Program, told: &Transcript) -> Vec<(usize, WatchName)> {
    let watchers = program.watchers();
    let of_cut = told.cut.iter().flat_map(|(round, actor, reacting)| {
        let others = watchers
            .iter()
            .filter(move |(watch, owner)| *owner == actor && *watch != reacting);
        others.map(|(watch, _)| (*round, WatchName::Watch(*watch)))
    });
    of_cut.collect()
}

/// Lists the rounds and waits that may have ended on one side before they saw a change.
fn waits_cut_short(told: &Transcript, sides: [&Transcript; 2]) -> Vec<(usize, WatchName)> {
    let of_actor = |entry: &LogEntry, (round, actor, _): &(usize, u32, u32)| {
        entry.round == *round && matches!(entry.watch, WatchName::Wait(of, _) if of == *actor)
    };
    let entries = sides.into_iter().flat_map(|side| &side.entries);
    let ended = entries.filter(|entry| told.cut.iter().any(|cut| of_actor(entry, cut)));
    ended.map(|entry| (entry.round, entry.watch)).collect()
}

/// Lists the rounds and actors whose syncs may not have been answered on one side.
fn syncs_cut_short(told: &Transcript) -> Vec<(usize, WatchName)> {
    let of_cut = told
        .cut
        .iter()
        .map(|(round, actor, _)| (*round, WatchName::Syncs(*actor)));
    of_cut.collect()
}

/// Says whether an entry may be about a fact `<fact owner number>`.
fn concerns(entry: &LogEntry, fact: &str) -> bool {
    let mut words = fact.trim_end_matches('>').split(' ').skip(1);
    let (owner, number) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let text = &entry.text;
    let of_owner = entry.source.is_none_or(|source| source.to_string() == owner);
    let is_number =
        text.ends_with(&format!("{number}>")) || text.ends_with(number) || text.ends_with(owner) || text.len() == 1;
    of_owner && is_number
}

/// Finds a difference; in the rounds of `cut` one sequence may be the beginning of the other.
fn difference(
    program: &Program,
    ours: &[LogEntry],
    reference: &[LogEntry],
    cut: &[(usize, WatchName)],
) -> Option<Difference> {
    let (ours, reference) = (sequences(program, ours), sequences(program, reference));
    let keys: std::collections::BTreeSet<&Key> = ours.keys().chain(reference.keys()).collect();
    let nothing = Vec::new();
    keys.into_iter().find_map(|key| {
        let (ours, reference) = (
            ours.get(key).unwrap_or(&nothing),
            reference.get(key).unwrap_or(&nothing),
        );
        let is_cut = cut.contains(&(key.0, key.1)) && (ours.starts_with(reference) || reference.starts_with(ours));
        (ours != reference && !is_cut).then(|| Difference {
            key: *key,
            ours: ours.clone(),
            reference: reference.clone(),
        })
    })
}

fn sequences(program: &Program, entries: &[LogEntry]) -> BTreeMap<Key, Vec<String>> {
    let mut sequences: BTreeMap<Key, Vec<String>> = BTreeMap::new();
    for entry in entries {
        let source = program.is_reactive.then_some(entry.source);
        let key = (entry.round, entry.watch, source);
        sequences.entry(key).or_default().push(entry.text.clone());
    }
    sequences
}
