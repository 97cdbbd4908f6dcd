//! `log`: the turns of a run, newest first.
//!
//! INVARIANT: a report is a page: at most 256 turns, and few bytes of whole records; `more` of one
//! report is `before` of the next request. The cost follows the page, but for what a filter has to
//! look through, which lies between the turns that it names.
//! It does not draw; `log/line.rs` does. Read next: `log/filter.rs`.

mod filter;
mod follow;
mod form;
pub(crate) mod line;
mod names;
mod times;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use duet_journal::store::Opener;
use duet_journal::{ClosedRecord, CommitTime, Head, Record, RecordHash, Sequence};
use duet_runtime::record::{Body, TurnRecord};
use duet_runtime::state::event::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::form::as_json;
use super::project::{Project, ProjectReader};
use crate::history::journal::{Place, read_address};
use crate::history::origins::{KnownOrigins, Origin, Origins};
use crate::history::turn;
use crate::history::turn::json::{By, CauseForm, TurnForm, json_cause, json_of};
use crate::history::turn::line::{Piece, did, heard};
use crate::owner::owned_run::compiled;
use crate::text::error::CommandError;
use crate::text::render::SourceTexts;
use crate::text::view::{Told, View};
use filter::Filter;
pub(crate) use follow::follow;
pub(crate) use form::{Form, PageForm};
use line::Drawing;
use times::{Times, position};

/// Lists the turns of a run, newest first, with its branches.
///
/// One line is one turn: its number, the branches that end there, the actor by its role and number,
/// what it received, and after `⇒` what it did. `@` is the head of the addressed branch, `×` a turn
/// that failed and was undone, `◆` the beginning, `○` any other turn, and `~` stands for turns that
/// are left out. Duet folds equal lines into one, with their number, leaves out actions that only
/// move a program along, which `--verbose` shows, and cuts lines at the width of the terminal;
/// `--wide` shows them whole. An address with a branch or a turn lists only the history of that
/// place, otherwise all branches of the run. `duet show` shows a turn in full.
///
///   duet log review --tool process/run --failed
///   duet log review --grep 'src/a.rs' --limit 20
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of a turn, or of the branch whose newest turn is meant.
    pub(crate) address: Option<String>,
    /// Lists at most this many turns, the newest.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Lists the turns of this actor: `main`, a number, a role, a role and a number, or its path of
    /// names, as in `main/worker`; those of its fibers with this name, such as `par-map 3`; or
    /// those in which this agent asks its model or calls a tool, and receives the answer. A name
    /// that nothing in the run has is an error.
    #[arg(long, value_name = "NAME")]
    pub(crate) actor: Option<String>,
    /// Lists turns with an event or an action of this kind, such as `write` or `answered`.
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// Lists turns that call this tool or receive what it returned, or in which a model asks for
    /// it; `process/*` means all of them. A name that no tool of the run has is an error.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Lists turns in whose words or values this text is.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) grep: Option<String>,
    /// Lists turns with an action of this kind, such as `write`, or with a value of this label.
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) label: Option<String>,
    /// Lists turns with a matching value, asserted, sent or received; `_` matches anything.
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) pattern: Option<String>,
    /// Lists turns that failed, or that learned of a failure or an exit code other than 0.
    #[arg(long)]
    pub(crate) failed: bool,
    /// Lists turns in which the gate refused an attempt, also if the turn failed.
    #[arg(long)]
    pub(crate) refused: bool,
    /// Lists turns from this one on.
    #[arg(long, value_name = "TURN", allow_negative_numbers = true)]
    pub(crate) since: Option<String>,
    /// Lists turns up to this one.
    #[arg(long, value_name = "TURN", allow_negative_numbers = true)]
    pub(crate) until: Option<String>,
    /// Where the page before ended.
    #[arg(skip)]
    pub(crate) before: Option<Cursor>,
    /// Whether the whole records are wanted.
    #[arg(skip)]
    pub(crate) is_whole: bool,
}

/// A place in a log: a turn's number, and the position of its branch among those of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Cursor(u64, usize);

/// A page of turns.
pub(crate) struct Report {
    /// The branch that is meant.
    name: String,
    /// The number of its newest turn.
    head: u64,
    /// Whether turns were picked out.
    is_filtered: bool,
    pub(crate) turns: Vec<Turn>,
    /// Where older turns begin, if there may be some.
    pub(crate) more: Option<Cursor>,
}

/// A turn, or the beginning of a run.
pub(crate) struct Turn {
    number: u64,
    record: RecordHash,
    parent: Option<RecordHash>,
    /// When it became durable, in milliseconds since 1970, if that is known.
    stamp_ms: Option<u64>,
    /// How long after the turn before it that was, if both times are known.
    pause_ms: Option<u64>,
    /// The branches that end here.
    ends: Vec<String>,
    /// Whether it is the newest of the branch that is meant.
    is_head: bool,
    is_failed: bool,
    what: What,
    /// The whole record, if it was wanted.
    pub(crate) whole: Option<TurnForm>,
}

/// What happened.
enum What {
    /// The run of this program begins.
    Begins(String),
    /// An actor took a turn.
    Taken {
        /// The actor by role and number.
        actor: String,
        id: u64,
        /// The name of the fiber that ran first, if it has one.
        strand: Option<String>,
        cause: CauseForm,
        heard: Vec<Piece>,
        did: Vec<Piece>,
    },
}

/// Records are read from the journal in portions of this many, which is also the length of a page.
const PORTION: u64 = 256;

/// A page with whole records ends after about this many bytes.
const WHOLE_BYTES_MAX: usize = 4 << 20;

/// Lists a page of turns.
///
/// # Errors
/// If there is no such place, an option is wrong, or the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    page(project, request, &mut Kept::default())
}

/// What the pages of one log know together: the origins of each branch, by its newest record. A
/// branch that has moved on between two pages is searched anew.
#[derive(Default)]
pub(crate) struct Kept(BTreeMap<RecordHash, KnownOrigins>);

/// As [`perform`], for one of several pages.
///
/// # Errors
/// As [`perform`].
pub(crate) fn page(project: &mut Project, request: &Request, kept: &mut Kept) -> Result<Report, CommandError> {
    let look = project.look()?;
    let place = look.resolve_turn(request.address.as_deref())?;
    let filter = Filter::read(request, &look, &place)?;
    let heads = look.store.heads(&place.run)?;
    let lines = lines(&place, &heads, request)?;
    let mut history = History {
        look: &look,
        ends: lines.iter().map(|line| filter.end(line.at())).collect(),
        first: filter.first(),
        texts: None,
        origins: lines
            .iter()
            .map(|line| {
                let known = kept.0.remove(&line.head.hash).unwrap_or_default();
                filter.origins(line.source(look.store), known)
            })
            .collect(),
        lines: &lines,
        heads: &heads,
        times: vec![Times::default(); lines.len()],
    };
    if let Some(Cursor(number, _)) = request.before {
        history.ends.iter_mut().for_each(|end| *end = (*end).min(number + 1));
    }
    let limit = request.limit.map_or(usize::MAX, NonZeroUsize::get);
    let mut page = Page {
        turns: Vec::new(),
        left: limit.min(usize::try_from(PORTION).unwrap_or(usize::MAX)),
        bytes: 0,
        before: request.before,
        filter: &filter,
        is_whole: request.is_whole,
    };
    let mut more = None;
    while more.is_none()
        && let Some(portion) = history.portion(page.wanted())?
    {
        look.go_on()?;
        more = page.take(portion, &mut history)?;
    }
    if page.turns.is_empty() && request.before.is_none() {
        names::require(request, &look, &place, &heads)?;
    }
    let origins = std::mem::take(&mut history.origins).into_iter();
    for (line, origins) in lines.iter().zip(origins) {
        kept.0.insert(line.head.hash, origins.into_known());
    }
    Ok(Report {
        name: place.name(),
        head: place.head.sequence.number(),
        is_filtered: filter.is_any(),
        turns: page.turns,
        more,
    })
}

/// The branches of a log, the one that is meant first.
fn lines(place: &Place, heads: &[Head], request: &Request) -> Result<Vec<Place>, CommandError> {
    let address = request.address.as_deref().map(read_address).transpose()?;
    let is_one = address.is_some_and(|address| address.branch.is_some() || address.turn.is_some());
    let others = heads.iter().filter(|head| !is_one && head.branch != place.branch);
    let others = others.map(|head| Place {
        branch: head.branch.clone(),
        head: head.clone(),
        turn: None,
        ..place.clone()
    });
    Ok(std::iter::once(place.clone()).chain(others).collect())
}

/// The branches of a log, as far as they are read.
struct History<'a> {
    look: &'a ProjectReader<'a>,
    lines: &'a [Place],
    heads: &'a [Head],
    /// The requests and actors of each branch.
    origins: Vec<Origins<'a>>,
    /// The number after that of the newest turn that is still to be read, by branch.
    ends: Vec<u64>,
    /// When the turns of the newest portion of each branch became durable.
    times: Vec<Times>,
    /// The number of the oldest turn that is wanted.
    first: u64,
    /// The texts of the program, once a turn that failed is shown whole.
    texts: Option<SourceTexts>,
}

/// A record, and where it stands.
struct LogRow {
    at: Cursor,
    record: ClosedRecord,
}

impl History<'_> {
    /// Reads the next portion, newest first; `None` at the end. Among turns of one number, the
    /// branch that is meant comes first, so that its column is the leftmost. A turn that several
    /// branches lead to belongs to the first of them, and ends the reading of the others.
    fn portion(&mut self, count: u64) -> Result<Option<Vec<LogRow>>, CommandError> {
        let Some(end) = self.ends.iter().copied().max().filter(|end| *end > self.first) else {
            return Ok(None);
        };
        let start = end.saturating_sub(count).max(self.first);
        let (mut found, mut seen): (Vec<LogRow>, BTreeSet<RecordHash>) = (Vec::new(), BTreeSet::new());
        for (line, place) in self.lines.iter().enumerate() {
            if self.ends[line] <= start {
                continue;
            }
            let end = self.ends[line];
            self.ends[line] = start;
            // The pause before a turn begins at the turn before.
            self.times[line] = Times::between(start.saturating_sub(1), end);
            let store = self.look.store;
            let records = store.read_closed(&place.run, &place.branch, position(start)?..position(end)?)?;
            for record in records.into_iter().rev() {
                if !seen.insert(record.hash()) {
                    self.ends[line] = 0;
                    break;
                }
                let at = Cursor(record.header().sequence.number(), line);
                found.push(LogRow { at, record });
            }
        }
        found.sort_by_key(|found| (Reverse(found.at.0), found.at.1));
        Ok(Some(found))
    }

    fn time(&mut self, Cursor(number, line): Cursor) -> Result<CommitTime, CommandError> {
        self.times[line].of(self.look.store, &self.lines[line], number)
    }

    /// Describes a record.
    fn turn(&mut self, at: Cursor, record: &Record, is_whole: bool) -> Result<Turn, CommandError> {
        let time = self.time(at)?;
        let Cursor(number, line) = at;
        let before = match number.checked_sub(1) {
            Some(before) => self.time(Cursor(before, line))?.ms(),
            None => None,
        };
        let (header, body) = (record.header(), turn::body(record)?);
        let ends = self.heads.iter().filter(|head| head.hash == record.hash());
        let origins = &mut self.origins[line];
        let mut turn = Turn {
            number,
            record: record.hash(),
            parent: header.parent,
            stamp_ms: time.ms(),
            pause_ms: time.ms().zip(before).map(|(ms, before)| ms.saturating_sub(before)),
            ends: ends.map(|head| head.branch.to_string()).collect(),
            is_head: self.lines[0].head.hash == record.hash(),
            is_failed: turn::is_failed(&body),
            whole: is_whole.then(|| whole(record, time, &body, origins)).transpose()?,
            what: What::of(&body, header.sequence, origins, is_whole)?,
        };
        if let Some(whole) = turn.whole.as_mut().filter(|whole| whole.is_failed()) {
            whole.note_lines(self.texts());
        }
        if let (Body::Turn(taken), Some(end_ms)) = (&body, time.ms()) {
            let durations = self.durations(line, taken, header.sequence, end_ms)?;
            if let Some(whole) = &mut turn.whole {
                whole.note_durations(&durations);
            }
            if let What::Taken { heard, .. } = &mut turn.what {
                for (piece, duration_ms) in heard.iter_mut().zip(durations) {
                    piece.duration_ms = duration_ms;
                }
            }
        }
        Ok(turn)
    }

    /// The texts of the program; none if it cannot be compiled any more.
    fn texts(&mut self) -> &SourceTexts {
        let (store, place) = (self.look.store, &self.lines[0]);
        self.texts.get_or_insert_with(|| {
            compiled::pinned(store, place)
                .map(|pinned| pinned.texts)
                .unwrap_or_default()
        })
    }

    /// How long the request took that each event of a turn answers, in milliseconds, if it answers
    /// one. (A timer says that by its name.)
    fn durations(
        &mut self,
        line: usize,
        turn: &TurnRecord,
        at: Sequence,
        end_ms: u64,
    ) -> Result<Vec<Option<u64>>, CommandError> {
        let (place, origins) = (&self.lines[line], &mut self.origins[line]);
        let mut durations = vec![None; turn.events.len()];
        for (event, duration_ms) in turn.events.iter().zip(&mut durations) {
            let Event::Answered { request, .. } = event else {
                continue;
            };
            let is_timer = matches!(origins.request(*request, at)?, Origin::Timer(_));
            if let Some(asked) = origins.asked_at(*request, at)?.filter(|_| !is_timer) {
                let times = self.look.store.times(&place.run, &place.branch, asked..next(asked))?;
                let begin_ms = times.first().and_then(|time| time.ms());
                *duration_ms = begin_ms.map(|begin_ms| end_ms.saturating_sub(begin_ms));
            }
        }
        Ok(durations)
    }
}

impl What {
    /// Tells what happened; nothing in words if the whole record is wanted.
    fn of(body: &Body, at: Sequence, origins: &mut Origins<'_>, is_whole: bool) -> Result<Self, CommandError> {
        let turn = match body {
            Body::Genesis(genesis) => return Ok(Self::Begins(turn::program_name(genesis))),
            Body::Turn(turn) => turn,
        };
        let role = origins.role(turn.actor, at)?;
        let (heard, did) = if is_whole {
            (Vec::new(), Vec::new())
        } else {
            (heard(turn, at, origins)?, did(turn, at, origins)?)
        };
        Ok(Self::Taken {
            actor: turn::line::actor(turn.actor, role.as_deref()),
            id: turn.actor.0,
            strand: origins.strand(turn, at)?,
            cause: json_cause(&turn.cause),
            heard,
            did,
        })
    }
}

/// The whole record, with the role of its actor.
pub(super) fn whole(
    record: &Record,
    time: CommitTime,
    body: &Body,
    origins: &mut Origins<'_>,
) -> Result<TurnForm, CommandError> {
    let by = match body {
        Body::Turn(turn) => {
            let at = record.header().sequence;
            let role = origins.role(turn.actor, at)?;
            By {
                role: role.unwrap_or_else(|| turn::actor(turn.actor)),
                strand: origins.strand(turn, at)?,
            }
        }
        Body::Genesis(_) => By::default(),
    };
    Ok(json_of(record, time, body, by))
}

/// The page that is made.
struct Page<'a> {
    turns: Vec<Turn>,
    /// How many more turns it takes.
    left: usize,
    /// The length of the whole records in it.
    bytes: usize,
    before: Option<Cursor>,
    /// The turns that it takes.
    filter: &'a Filter,
    /// Whether it has whole records.
    is_whole: bool,
}

impl Page<'_> {
    /// How many turns of a branch are worth reading at once: a filter may leave most of them out.
    fn wanted(&self) -> u64 {
        // The first turn of a page may be the last one of the page before.
        let left = u64::try_from(self.left).unwrap_or(PORTION).saturating_add(1);
        if self.filter.is_any() {
            PORTION
        } else {
            left.min(PORTION)
        }
    }

    /// Takes turns of a portion; where the page ends, if it is full.
    fn take(&mut self, portion: Vec<LogRow>, history: &mut History<'_>) -> Result<Option<Cursor>, CommandError> {
        // In the order of a log: larger numbers first, then the branches in their order.
        let is_left = |Cursor(number, line): &Cursor| {
            let before = self.before.map(|Cursor(number, line)| (Reverse(number), line));
            before.is_none_or(|before| (Reverse(*number), *line) > before)
        };
        let mut portion: Vec<LogRow> = portion.into_iter().filter(|found| is_left(&found.at)).collect();
        if !self.filter.is_any() {
            portion.truncate(self.left);
        }
        let mut opener = Opener::new(history.look.store);
        if self.is_whole {
            return self.take_whole(portion, history);
        }
        // The oldest first, because a turn that asks comes before the one that is answered.
        let mut turns = Vec::new();
        for found in portion.into_iter().rev() {
            let (at, record) = (found.at, opener.open(found.record)?);
            let body = turn::body(&record)?;
            let origins = &mut history.origins[at.1];
            if let Body::Turn(turn) = &body {
                origins.learn(turn, record.header().sequence);
            }
            let is_wanted = !self.filter.is_any() || self.filter.admits(&record, &body, origins)?;
            if is_wanted {
                turns.push((at, history.turn(at, &record, false)?));
            }
        }
        for (cursor, turn) in turns.into_iter().rev() {
            self.turns.push(turn);
            self.left -= 1;
            if self.left == 0 {
                return Ok(Some(cursor));
            }
        }
        Ok(None)
    }

    /// As [`take`](Self::take), with whole records, one after the other.
    fn take_whole(&mut self, portion: Vec<LogRow>, history: &mut History<'_>) -> Result<Option<Cursor>, CommandError> {
        let mut opener = Opener::new(history.look.store);
        for found in portion {
            let (at, record) = (found.at, opener.open(found.record)?);
            let body = turn::body(&record)?;
            if self.filter.is_any() && !self.filter.admits(&record, &body, &mut history.origins[at.1])? {
                continue;
            }
            let turn = history.turn(at, &record, true)?;
            self.bytes += turn.whole.as_ref().map_or(0, |whole| as_json(whole).to_string().len());
            self.turns.push(turn);
            self.left -= 1;
            if self.left == 0 || self.bytes > WHOLE_BYTES_MAX {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(&PageForm {
            branch: self.name.clone(),
            turns: self.turns.iter().map(Turn::form).collect(),
            more: self.more,
        })
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        let mut drawing = Drawing::new(*view);
        let page = drawing.page(self);
        let mut told = Told::data(duet_drivers::text::Text::joined(&[page, drawing.end()], ""));
        if let Some(nothing) = drawing.nothing(self) {
            told = told.say(nothing);
        }
        told
    }
}

/// The number after a turn's.
fn next(turn: Sequence) -> Sequence {
    turn.next().unwrap_or(turn)
}
