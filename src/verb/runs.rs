//! `runs`: the runs of a journal, and how they stand.
//!
//! INVARIANT: a run with several branches stands as the one does that was used last.
//! Read next: `standing.rs`.

use std::path::PathBuf;

use duet_drivers::text::{self, Text};
use duet_journal::{BranchName, Head, RunId, Sequence};
use duet_runtime::model::counted::counted;
use duet_runtime::run::heads::kept_up_to;
use duet_runtime::run::source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::fitting::{BOLD, GREEN, RED, columns_of, cut, styled_line};
use super::form::as_json;
use super::log::line::duration;
use super::project::{Project, ProjectReader};
use super::run_times::RunTimes;
use crate::history::journal::{self, FIRST_BRANCH};
use crate::history::turn::{program_name, short};
use crate::text::error::CommandError;
use crate::text::exchange::{Usage, dollars};
use crate::text::view::{Told, View};
use crate::verb::standing::{Rest, RunStanding, RunStatus, Standings, Status, age, until};

/// Lists the runs of the journal.
///
/// One line is one run: its name, its program, the number of its turns, how it stands, and what its
/// language models cost. It is `running` with the process that executes it, `waiting for a person`
/// with the first open question, `waiting for a signal`, `waiting for a webhook`, `sleeping` until
/// a timer runs out, `waiting for a worker`, `finished`, `failed` with the reason, `stuck`, or
/// `left`, if its process was stopped or has died. A time says for how long it runs, when its
/// process was last heard of, or until when it waits.
///
/// A run with several branches stands as the one does that was used last, or has the newest turn:
/// its name is there, too, unless it is the first branch. `--branches` lists each branch.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// Lists at most this many runs, the last by name.
    #[arg(long, value_name = "N")]
    limit: Option<std::num::NonZeroUsize>,
    /// Lists each branch of a run.
    #[arg(long)]
    branches: bool,
    /// Shows when each run began, and how long it took up to its newest turn; terminals always show
    /// both.
    #[arg(long)]
    times: bool,
    /// Lists only the run of this address, which stands as the branch of the address does.
    #[arg(skip)]
    only: Option<String>,
}

/// The runs.
pub(crate) struct Report {
    listed: Vec<Listed>,
    /// The journal, if it belongs to a folder above the present one.
    above: Option<PathBuf>,
    /// When they were listed, by the clock of the journal, in milliseconds since 1970.
    now_ms: u64,
    /// Whether each has its times, wherever it is printed.
    has_times: bool,
}

/// A run in the list.
struct Listed {
    run: RunId,
    /// The branch that it stands for.
    branch: BranchName,
    program: String,
    heads: Vec<Head>,
    /// The number of turns of the branch that it stands for.
    turns: u64,
    found: RunStanding,
    /// The times of its first turn and of its newest.
    times: RunTimes,
    /// When it was claimed, if it is running, or when its process was last heard of.
    since_ms: Option<u64>,
}

/// Lists the runs.
///
/// # Errors
/// If the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let above = Some(project.journal()).filter(|journal| journal.is_above());
    let above = above.map(|journal| journal.path().to_owned());
    let look = project.look()?;
    let mut standings = look.standings();
    let mut listed = Vec::new();
    if let Some(only) = &request.only {
        let place = look.resolve(Some(only))?;
        listed.extend(Listed::find(&look, place.run, &place.branch, &mut standings)?);
        standings.keep();
        return Ok(Report {
            listed,
            above,
            now_ms: look.now_ms(),
            has_times: request.times,
        });
    }
    let runs = look.store.runs()?;
    let limit = request.limit.map_or(usize::MAX, std::num::NonZeroUsize::get);
    let skipped = runs.len().saturating_sub(limit);
    let used = look.used();
    for run in runs.into_iter().skip(skipped) {
        look.go_on()?;
        let heads = look.store.heads(&run)?;
        let used = used
            .get(&run)
            .filter(|used| heads.iter().any(|head| head.branch == **used));
        let branches: Vec<BranchName> = match used {
            _ if request.branches => heads.into_iter().map(|head| head.branch).collect(),
            Some(used) => vec![used.clone()],
            None => newest(&look, &run, heads)?.into_iter().collect(),
        };
        for branch in branches {
            listed.extend(Listed::find(&look, run.clone(), &branch, &mut standings)?);
        }
    }
    standings.keep();
    Ok(Report {
        listed,
        above,
        now_ms: look.now_ms(),
        has_times: request.times,
    })
}

/// The branch of a run whose newest turn came last; the first branch if none did. A branch that
/// only keeps turns which another has left is not the run's state.
fn newest(look: &ProjectReader<'_>, run: &RunId, heads: Vec<Head>) -> Result<Option<BranchName>, CommandError> {
    let is_left = |head: &Head| {
        let mut others = heads.iter().map(|other| &other.branch);
        others.any(|other| kept_up_to(head.branch.as_str(), other) == Some(head.sequence))
    };
    let mut living: Vec<&Head> = heads.iter().filter(|head| !is_left(head)).collect();
    if living.len() == 1 {
        return Ok(living.pop().map(|head| head.branch.clone()));
    }
    let mut dated = Vec::new();
    for Head {
        branch, sequence: at, ..
    } in living
    {
        let times = look.store.times(run, branch, *at..at.next().unwrap_or(*at))?;
        let ms = times.first().and_then(|time| time.ms());
        dated.push((ms, branch.as_str() == FIRST_BRANCH, branch));
    }
    Ok(dated.into_iter().max().map(|(.., branch)| branch.clone()))
}

impl Listed {
    /// Finds how a run stands, as this branch of it does if there is one.
    fn find(
        look: &ProjectReader<'_>,
        run: RunId,
        branch: &BranchName,
        standings: &mut Standings<'_>,
    ) -> Result<Option<Self>, CommandError> {
        let heads = look.store.heads(&run)?;
        let first = heads.iter().find(|head| head.branch == *branch);
        let Some(head) = first.or(heads.first()) else {
            return Ok(None);
        };
        let program = match look.store.record_at(&run, &head.branch, Sequence::FIRST)? {
            Some(record) => program_name(&source::genesis(&record)?),
            None => String::new(),
        };
        let (found, since_ms) = standings.found(look.store, &run, head)?;
        let (branch, turns) = (head.branch.clone(), head.sequence.number());
        let times = RunTimes::of(look.store, &run, head)?;
        Ok(Some(Self {
            run,
            branch,
            program,
            turns,
            times,
            heads,
            found,
            since_ms,
        }))
    }

    /// How it stands at a moment by the clock of the journal, in words.
    fn state(&self, now_ms: u64) -> String {
        let age = self.since_ms.map(|since_ms| age(since_ms, now_ms));
        let age = age.filter(|age| !age.is_empty());
        match (&self.found.standing, age) {
            (RunStatus::Running(owner, questions), age) => {
                let for_long = age.map(|age| format!(" for {age}")).unwrap_or_default();
                let place = if owner.is_here() { "" } else { " elsewhere" };
                let asks = match questions {
                    0 => String::new(),
                    questions => format!(", asks {}", counted(*questions, "question")),
                };
                let (process, command) = (owner.process, text::line(&owner.command));
                format!("running{for_long}{place}: process {process}, duet {command}{asks}")
            }
            (RunStatus::Resting(rest), age) => {
                let words = match self.found.words.as_str() {
                    "" => String::new(),
                    words => format!(": {}", text::line(&short(words, WORDS_CHARACTERS))),
                };
                let until = self.found.until_ms.map(|at_ms| until(at_ms, now_ms));
                let until = match (until, rest) {
                    (None, _) => String::new(),
                    (Some(until), Rest::Sleeping) => format!(" {until}"),
                    (Some(until), _) => format!(" ({until})"),
                };
                let ago = age.map(|age| format!(", {age} ago")).unwrap_or_default();
                format!("{}{words}{until}{ago}", rest.shown())
            }
        }
    }

    fn cost(&self) -> String {
        let Usage {
            input_tokens,
            output_tokens,
            usd,
        } = self.found.usage;
        match usd {
            Some(usd) => dollars(usd),
            None if input_tokens + output_tokens > 0 => counted(input_tokens + output_tokens, "token"),
            None => String::new(),
        }
    }

    fn form(&self) -> RunForm {
        let branches = self.heads.iter().map(|head| BranchForm {
            branch: head.branch.to_string(),
            turn: head.sequence.number(),
        });
        let (process, code, questions) = match &self.found.standing {
            RunStatus::Running(owner, questions) => (Some(owner.process), None, Some(*questions)),
            RunStatus::Resting(Rest::Ended(code)) => (None, Some(*code), None),
            RunStatus::Resting(Rest::Asking(questions)) => (None, None, Some(*questions)),
            RunStatus::Resting(Rest::Waiting | Rest::Listening) => (None, None, Some(0)),
            RunStatus::Resting(
                Rest::Sleeping | Rest::Queued | Rest::Reading | Rest::Stuck | Rest::Left | Rest::Broken,
            ) => (None, None, None),
        };
        RunForm {
            run: self.run.to_string(),
            branch: self.branch.to_string(),
            program: self.program.clone(),
            branches: branches.collect(),
            turns: self.turns,
            status: self.found.standing.status(),
            words: self.found.words.clone(),
            until_ms: self.found.until_ms,
            process: process.map(Into::into),
            code,
            questions,
            since_ms: self.since_ms,
            began_ms: self.times.began_ms,
            duration_ms: self.times.duration_ms(),
            usage: UsageForm {
                input_tokens: self.found.usage.input_tokens,
                output_tokens: self.found.usage.output_tokens,
                usd: self.found.usage.usd,
            },
        }
    }
}

/// The report as JSON.
pub(crate) type Form = Vec<RunForm>;

/// A run.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RunForm {
    run: String,
    /// The branch for which it stands.
    branch: String,
    program: String,
    branches: Vec<BranchForm>,
    /// The number of turns of the branch for which it stands.
    turns: u64,
    status: Status,
    /// The first open question, the awaited fact, why the run failed or was left; otherwise empty.
    words: String,
    /// Until when it waits at most, in milliseconds since 1970.
    until_ms: Option<u64>,
    /// The number of the process that executes it.
    process: Option<u64>,
    /// The exit code, if it has ended.
    code: Option<u64>,
    /// How many questions it asks a person.
    questions: Option<u64>,
    /// When it was claimed, if it is running, or when its process was last heard of, in
    /// milliseconds since 1970.
    since_ms: Option<u64>,
    /// When its beginning became durable, in milliseconds since 1970, if that is known.
    began_ms: Option<u64>,
    /// How long after that its newest turn did, in milliseconds.
    duration_ms: Option<u64>,
    usage: UsageForm,
}

/// A branch.
#[derive(Serialize, JsonSchema)]
struct BranchForm {
    branch: String,
    /// Its newest turn.
    turn: u64,
}

/// The costs of language models.
#[derive(Serialize, JsonSchema)]
struct UsageForm {
    input_tokens: u64,
    output_tokens: u64,
    /// US dollars; null if no price is known.
    usd: Option<f64>,
}

/// The maximum length of a reason or a question, in characters.
const WORDS_CHARACTERS: usize = 60;

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(&self.listed.iter().map(Listed::form).collect::<Form>())
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        if self.listed.is_empty() {
            return Told::data("");
        }
        let has_times = self.has_times || view.columns.is_some();
        // A column without anything in it is left out.
        let has_cost = self.listed.iter().any(|listed| !listed.cost().is_empty());
        let is_shown = [true, true, true, has_times, has_times, has_cost, true];
        let head = ["run", "program", "turns", "began", "took", "cost", "state"].map(str::to_owned);
        let rows = self.listed.iter().map(|listed| listed.row(self.now_ms));
        let rows: Vec<[String; COLUMNS]> = std::iter::once(head).chain(rows).collect();
        let width = |column: usize| rows.iter().map(|row| columns_of(&row[column])).max().unwrap_or(0);
        let widths: [usize; COLUMNS] = std::array::from_fn(width);
        let mut text = String::new();
        for (position, row) in rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate().filter(|(column, _)| is_shown[*column]) {
                let blanks = " ".repeat(widths[column] - columns_of(cell));
                line.push_str(&match column {
                    _ if column + 1 == COLUMNS => cell.clone(),
                    _ if NUMBERS.contains(&column) => format!("{blanks}{cell}  "),
                    _ => format!("{cell}{blanks}  "),
                });
            }
            let style = position.checked_sub(1).and_then(|at| self.listed[at].style());
            text.push_str(&styled_line(
                &cut(&line, view.columns),
                style.filter(|_| view.is_styled),
            ));
        }
        let told = Told::data(Text::styled(&text));
        match &self.above {
            Some(path) => told.say(format!("these runs are in {}", path.display())),
            None => told,
        }
    }
}

/// The columns of the list, and those with numbers, whose ends stand below each other.
const COLUMNS: usize = 7;
const NUMBERS: [usize; 3] = [2, 4, 5];

impl Listed {
    /// The cells of its row.
    fn row(&self, now_ms: u64) -> [String; COLUMNS] {
        [
            journal::name(&self.run, &self.branch),
            text::line(&self.program).into_owned(),
            self.turns.to_string(),
            self.times.began_briefly(),
            self.times.duration_ms().map(duration).unwrap_or_default(),
            self.cost(),
            self.state(now_ms),
        ]
    }

    /// The colour of its row.
    fn style(&self) -> Option<&'static str> {
        match self.found.standing.status() {
            Status::Failed | Status::Broken | Status::Stuck => Some(RED),
            Status::Waiting => Some(BOLD),
            Status::Running => Some(GREEN),
            Status::Finished | Status::Sleeping | Status::Queued | Status::Left => None,
        }
    }
}
