//! `duet log`: draws the turns of a run as a graph, newest first.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use duet_journal::store::Opener;
use duet_journal::{ClosedRecord, Head, Record, RecordHash, Sequence, Store};
use duet_runtime::action::exit::MAIN;
use duet_runtime::model::codec::label_of;
use duet_runtime::model::identity::ActorId;
use duet_runtime::record::Body;
use duet_runtime::run::source::Source;
use serde_json::json;

use crate::error::{CommandError, ExitCode};
use crate::following::Following;
use crate::graph::Graph;
use crate::journal::{Journal, Place, read_address};
use crate::query::Query;
use crate::terminal::Terminal;
use crate::turn;

/// Lists the turns of a run, newest first, with its branches.
///
/// One line is one turn: its number, the branches that end there, the actor, its cause, and its
/// actions. `@` is the head of the addressed branch, `×` a turn that failed and was undone, `◆` the
/// beginning. An address with a branch or a turn lists only the history of that place, otherwise
/// all branches of the run. `duet show` shows a turn in full.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of a turn, or of the branch whose newest turn is meant.
    address: Option<String>,
    /// Lists at most this many turns, the newest.
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// Lists the turns of this actor, which is `main` or a number.
    #[arg(long, value_name = "NAME")]
    actor: Option<String>,
    /// Lists turns with an action of this kind, such as `write`, or with a value of this label.
    #[arg(long, allow_hyphen_values = true)]
    label: Option<String>,
    /// Lists turns with a matching value, asserted, sent or received; `_` matches anything.
    #[arg(long, allow_hyphen_values = true)]
    pattern: Option<String>,
    /// Lists turns in which the gate refused an attempt, also if the turn failed.
    #[arg(long)]
    refused: bool,
    /// Lists turns from this one on.
    #[arg(long, value_name = "TURN", allow_negative_numbers = true)]
    since: Option<String>,
    /// Lists turns up to this one.
    #[arg(long, value_name = "TURN", allow_negative_numbers = true)]
    until: Option<String>,
    /// Prints a JSON array with the whole records.
    #[arg(long)]
    json: bool,
    /// Goes on with the turns that come, oldest first, until no process executes the run.
    #[arg(long, conflicts_with = "until")]
    follow: bool,
    #[command(flatten)]
    journal: Journal,
}

/// Records are read from the journal in portions of this many.
const PORTION: u64 = 256;

/// The turns to list.
struct History {
    /// By position and name, so that the newest are last.
    records: BTreeMap<(Sequence, RecordHash), ClosedRecord>,
    limit: usize,
    filter: Filter,
}

/// Which turns are wanted.
#[derive(Default)]
struct Filter {
    actor: Option<ActorId>,
    label: Option<String>,
    query: Option<Query>,
    is_refused: bool,
    since: Option<Sequence>,
    until: Option<Sequence>,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let limit = arguments.limit.map_or(usize::MAX, NonZeroUsize::get);
    let journal = &arguments.journal;
    let store = journal.open_to_read()?;
    let place = journal.resolve_turn(&store, arguments.address.as_deref())?;
    let address = arguments
        .address
        .as_deref()
        .map(read_address)
        .transpose()?
        .unwrap_or_default();
    let is_one_line = address.branch.is_some() || address.turn.is_some();
    let heads = store.heads(&place.run)?;
    let filter = Filter::read(arguments, journal, &store, &place)?;
    let mut history = History {
        records: BTreeMap::new(),
        limit,
        filter,
    };
    if is_one_line {
        history.walk(&store, &place, place.at())?;
    } else {
        for head in &heads {
            let place = Place {
                branch: head.branch.clone(),
                head: head.clone(),
                ..place.clone()
            };
            history.walk(&store, &place, head.sequence)?;
        }
    }
    if arguments.json {
        let mut opener = Opener::new(&store);
        let records = history.newest_first(&store)?.into_iter().map(|record| {
            let record = opener.open(record.clone())?;
            Ok(turn::json(&record, &turn::body(&record)?))
        });
        let records: Vec<_> = records.collect::<Result<_, CommandError>>()?;
        terminal.json(&json!(records))?;
    } else {
        draw(&store, &history, (&heads, &place), terminal)?;
    }
    if arguments.follow {
        follow(&store, &place, (&history.filter, arguments.json), terminal)?;
    }
    Ok(ExitCode::OK)
}

/// Lists the turns after the newest one of a place as they come.
fn follow(
    store: &dyn Store,
    place: &Place,
    (filter, is_json): (&Filter, bool),
    terminal: &mut Terminal,
) -> Result<(), CommandError> {
    let mut following = Following::after(place, place.head.sequence);
    while let Some(records) = following.next(store)? {
        for record in records {
            if filter.is_any() && !filter.admits(&record)? {
                continue;
            }
            let body = turn::body(&record)?;
            if is_json {
                terminal.json(&turn::json(&record, &body))?;
            } else {
                let glyph = if turn::is_failed(&body) { '×' } else { '○' };
                let at = record.header().sequence;
                let asked = turn::asked_on(place.source(store), at);
                terminal.data(format!("{glyph}  {at:>3}  {}\n", turn::line(&body, &asked)))?;
            }
        }
    }
    terminal.message(format!("no process executes {} any more", place.name()));
    Ok(())
}

impl History {
    /// Adds a branch's turns from `last` back, as far as the limit asks and they are not there yet.
    fn walk(&mut self, store: &dyn Store, place: &Place, last: Sequence) -> Result<(), CommandError> {
        let mut end = last.number() + 1;
        // What a filter leaves out does not count.
        let mut wanted = if self.filter.is_any() { usize::MAX } else { self.limit };
        while end > 0 && wanted > 0 {
            let start = end.saturating_sub(PORTION.min(wanted as u64));
            let position = |number| Sequence::new(number).unwrap_or(last);
            let records = store.read_closed(&place.run, &place.branch, position(start)..position(end))?;
            wanted -= records.len().min(wanted);
            for record in records.into_iter().rev() {
                let key = (record.header().sequence, record.hash());
                if self.records.insert(key, record).is_some() {
                    return Ok(());
                }
            }
            end = start;
        }
        Ok(())
    }

    fn newest_first(&self, store: &dyn Store) -> Result<Vec<&ClosedRecord>, CommandError> {
        let mut found = Vec::new();
        let mut opener = Opener::new(store);
        for record in self.records.values().rev() {
            if found.len() == self.limit {
                break;
            }
            if !self.filter.is_any() || self.filter.admits(&opener.open(record.clone())?)? {
                found.push(record);
            }
        }
        Ok(found)
    }
}

impl Filter {
    fn read(arguments: &Arguments, journal: &Journal, store: &dyn Store, place: &Place) -> Result<Self, CommandError> {
        let turn = |option: Option<&str>| {
            let read = |text: &str| {
                let turn = text.strip_prefix('@').unwrap_or(text);
                let address = format!("{}/{}@{turn}", place.run, place.branch);
                Ok::<_, CommandError>(journal.resolve(store, Some(&address))?.turn)
            };
            Ok::<_, CommandError>(option.map(read).transpose()?.flatten())
        };
        Ok(Self {
            actor: arguments.actor.as_deref().map(read_actor).transpose()?,
            label: arguments.label.clone(),
            query: arguments.pattern.as_deref().map(Query::read).transpose()?,
            is_refused: arguments.refused,
            since: turn(arguments.since.as_deref())?,
            until: turn(arguments.until.as_deref())?,
        })
    }

    fn is_any(&self) -> bool {
        self.actor.is_some()
            || self.label.is_some()
            || self.query.is_some()
            || self.is_refused
            || self.since.is_some()
            || self.until.is_some()
    }

    fn admits(&self, record: &Record) -> Result<bool, CommandError> {
        let at = record.header().sequence;
        if self.since.is_some_and(|since| at < since) || self.until.is_some_and(|until| at > until) {
            return Ok(false);
        }
        let Body::Turn(turn) = turn::body(record)? else {
            return Ok(self.actor.is_none() && self.label.is_none() && self.query.is_none() && !self.is_refused);
        };
        let values = turn::values(&turn);
        let has_label = |label: &String| {
            turn.actions.iter().any(|action| action.name() == *label)
                || values.iter().any(|value| label_of(value).as_ref() == Some(label))
        };
        Ok(self.actor.is_none_or(|actor| turn.actor == actor)
            && self.label.as_ref().is_none_or(has_label)
            && (!self.is_refused || !turn.attempts.is_empty())
            && self
                .query
                .as_ref()
                .is_none_or(|query| values.iter().any(|value| query.finds(value))))
    }
}

fn read_actor(text: &str) -> Result<ActorId, CommandError> {
    if text == "main" {
        return Ok(MAIN);
    }
    let number = text.strip_prefix("actor ").unwrap_or(text).parse();
    number.map(ActorId).map_err(|_| {
        CommandError::usage(format!(
            "`--actor {text}`: an actor is `main` or a number, as `duet log` shows it"
        ))
    })
}

/// For each turn, the position of the first head it leads to: the addressed branch's, then the
/// others in order of their names.
fn ranks(newest_first: &[&ClosedRecord], heads: &[Head], own: RecordHash) -> BTreeMap<RecordHash, usize> {
    let mut ranks = BTreeMap::new();
    for (rank, head) in std::iter::once(own)
        .chain(heads.iter().map(|head| head.hash))
        .enumerate()
    {
        ranks.entry(head).or_insert(rank);
    }
    for record in newest_first {
        if let (Some(rank), Some(parent)) = (ranks.get(&record.hash()).copied(), record.header().parent) {
            let known = ranks.entry(parent).or_insert(rank);
            *known = rank.min(*known);
        }
    }
    ranks
}

fn draw(
    store: &dyn Store,
    history: &History,
    (heads, place): (&[Head], &Place),
    terminal: &mut Terminal,
) -> Result<(), CommandError> {
    let mut graph = Graph::default();
    let width = place.head.sequence.to_string().len().max(3);
    let mut order = history.newest_first(store)?;
    // Among turns of one position, the addressed branch's comes first, so that its column is the
    // leftmost.
    let ranks = ranks(&order, heads, place.head.hash);
    order.sort_by_key(|record| {
        (
            std::cmp::Reverse(record.header().sequence),
            ranks.get(&record.hash()).copied(),
        )
    });
    let mut opener = Opener::new(store);
    for record in order {
        let (header, body) = (record.header(), turn::body(&opener.open(record.clone())?)?);
        let ends: Vec<&str> = heads
            .iter()
            .filter(|head| head.hash == record.hash())
            .map(|head| head.branch.as_str())
            .collect();
        let glyph = match header.parent {
            _ if record.hash() == place.head.hash => '@',
            _ if turn::is_failed(&body) => '×',
            None => '◆',
            Some(_) => '○',
        };
        let (before, drawn) = if history.filter.is_any() {
            // Between turns that were picked out there is no line to draw.
            (Vec::new(), format!("{glyph} "))
        } else {
            graph.node(glyph, record.hash(), header.parent)
        };
        for line in before {
            terminal.data(format!("{line}\n"))?;
        }
        let ends = if ends.is_empty() {
            String::new()
        } else {
            format!("[{}] ", ends.join(" "))
        };
        // The branch of the head that the turn leads to has the calls before it.
        let rank = ranks.get(&record.hash()).and_then(|rank| rank.checked_sub(1));
        let branch = rank
            .and_then(|other| heads.get(other))
            .map_or(&place.branch, |head| &head.branch);
        let source = Source {
            branch,
            ..place.source(store)
        };
        let asked = turn::asked_on(source, header.sequence);
        terminal.data(format!(
            "{drawn} {:>width$}  {ends}{}\n",
            header.sequence,
            turn::line(&body, &asked)
        ))?;
    }
    if graph.is_open() {
        terminal.data(format!("{}\n", graph.continued().trim_end()))?;
    }
    Ok(())
}
