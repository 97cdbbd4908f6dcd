//! `duet runs`: lists the runs of a journal.

use duet_drivers::text;
use duet_journal::{Head, RunId, Sequence, Store};
use duet_runtime::run::source;
use serde_json::{Value, json};

use crate::error::{CommandError, ExitCode};
use crate::journal::{FIRST_BRANCH, Journal};
use crate::standing::{Rest, Standing, Standings, age};
use crate::terminal::Terminal;
use crate::turn::program_name;

/// Lists the runs of the journal.
///
/// One line is one run: its name, its program, its branches with their newest turns, and how it
/// stands: `running` with the process that executes it, `waiting for a person` with the number of
/// open questions, `waiting for a signal`, `finished`, `failed` with its exit code, or `left`, if
/// its process was stopped or has died. A time says for how long it runs, or when its process was
/// last heard of.
///
/// A run with several branches stands as its first one does.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    journal: Journal,
}

/// A run in the list.
struct Listed {
    run: RunId,
    program: String,
    heads: Vec<Head>,
    standing: Standing,
    /// When it was claimed, if it is running, or when its process was last heard of.
    since_ms: Option<u64>,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    let journal = &arguments.journal;
    let store = journal.open_to_read()?;
    let mut standings = Standings::of(journal);
    let mut listed = Vec::new();
    for run in store.runs()? {
        listed.extend(Listed::find(&store, run, &mut standings)?);
    }
    standings.keep();
    if arguments.json {
        terminal.json(&json!(listed.iter().map(Listed::as_json).collect::<Vec<_>>()))?;
        return Ok(ExitCode::OK);
    }
    let width = listed.iter().map(|listed| listed.run.as_str().len()).max();
    for listed in &listed {
        terminal.data(listed.line(width.unwrap_or_default()))?;
    }
    Ok(ExitCode::OK)
}

impl Listed {
    fn find(store: &dyn Store, run: RunId, standings: &mut Standings<'_>) -> Result<Option<Self>, CommandError> {
        let heads = store.heads(&run)?;
        let first = heads.iter().find(|head| head.branch.as_str() == FIRST_BRANCH);
        let Some(head) = first.or(heads.first()) else {
            return Ok(None);
        };
        let program = match store.record_at(&run, &head.branch, Sequence::FIRST)? {
            Some(record) => program_name(&source::genesis(&record)?),
            None => String::new(),
        };
        let (standing, since_ms) = standings.standing(store, &run, head)?;
        Ok(Some(Self {
            run,
            program,
            heads,
            standing,
            since_ms,
        }))
    }

    fn line(&self, width: usize) -> String {
        let heads: Vec<String> = self
            .heads
            .iter()
            .map(|head| format!("{}@{}", head.branch, head.sequence))
            .collect();
        let age = self.since_ms.map(age).filter(|age| !age.is_empty());
        let standing = match (&self.standing, age) {
            (Standing::Running(owner, questions), age) => {
                let for_long = age.map(|age| format!(" for {age}")).unwrap_or_default();
                let place = if owner.is_here() { "" } else { " elsewhere" };
                let asks = match questions {
                    0 => String::new(),
                    1 => ", asks 1 question".to_owned(),
                    many => format!(", asks {many} questions"),
                };
                let (process, command) = (owner.process, text::line(&owner.command));
                format!("running{for_long}{place}: process {process}, duet {command}{asks}")
            }
            (Standing::Resting(rest), Some(age)) => format!("{}, {age} ago", rest.shown()),
            (Standing::Resting(rest), None) => rest.shown(),
        };
        let (run, program) = (self.run.as_str(), text::line(&self.program));
        format!("{run:<width$}  {program}  {}  {standing}\n", heads.join(" "))
    }

    fn as_json(&self) -> Value {
        let branches = self
            .heads
            .iter()
            .map(|head| json!({ "branch": head.branch.as_str(), "turn": head.sequence.number() }));
        let (status, process, code, questions) = match &self.standing {
            Standing::Running(owner, questions) => ("running", Some(owner.process), None, Some(*questions)),
            Standing::Resting(Rest::Ended(0)) => ("finished", None, Some(0), None),
            Standing::Resting(Rest::Ended(code)) => ("failed", None, Some(*code), None),
            Standing::Resting(Rest::Asking(questions)) => ("waiting", None, None, Some(*questions)),
            Standing::Resting(Rest::Waiting) => ("waiting", None, None, Some(0)),
            Standing::Resting(Rest::Left) => ("left", None, None, None),
            Standing::Resting(Rest::Broken) => ("broken", None, None, None),
        };
        json!({
            "run": self.run.as_str(),
            "program": self.program,
            "branches": branches.collect::<Vec<_>>(),
            "status": status,
            "process": process,
            "code": code,
            "questions": questions,
            "since_ms": self.since_ms,
        })
    }
}
