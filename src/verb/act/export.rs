//! `duet export`: writes a run into one file, with everything that a replay elsewhere needs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use duet_journal::beside::create_beside;
use duet_journal::copy::{Task, copy};
use duet_journal::parts::NamedParts;
use duet_journal::store::memory::MemoryStore;
use duet_journal::{Head, Record, RunId, Sequence, Store};
use duet_runtime::model::counted::counted;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::source::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::history::export_file;
use crate::history::journal::{Journal, Place, owner, read_address};
use crate::history::marks::{self, CopiedRun};
use crate::history::records::{Records, turns};
use crate::owner::owned_run::compiled;
use crate::text::error::CommandError;
use crate::text::redact::Secrets;
use crate::text::view::{Told, View};
use crate::verb::form::as_json;
use crate::verb::project::Project;

/// Writes a run into one file, from which it can be replayed elsewhere.
///
/// The file holds the records of the run, the texts of its program, its snapshots and its marks. If
/// the address has a branch, the file holds that branch alone. `duet import` reads the file into
/// another journal.
///
/// Duet masks secrets: the values of environment variables whose names say so (KEY, TOKEN, SECRET,
/// PASSWORD …), and the texts that `--redact` names. A masked history has other record names and no
/// snapshots. Duet replays it before it writes the file, and refuses it if the replay differs or a
/// program's text has a secret in it.
///
///   duet export review review.duet
///   duet export review/what-if part.duet --redact hunter2
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of the run or branch.
    address: String,
    /// The file to write, which must not exist.
    file: PathBuf,
    /// Masks this text as well; may be given several times.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    redact: Vec<String>,
    /// Masks nothing and leaves the records as they are, byte for byte.
    #[arg(long)]
    with_secrets: bool,
}

/// A run that is in a file.
pub(crate) struct Report {
    run: RunId,
    file: PathBuf,
    records: u64,
    /// How many secrets are masked.
    secrets: usize,
    /// The marks to which no exported branch leads.
    left_out: Vec<String>,
}

/// Writes a run into a file.
///
/// # Errors
/// If there is no such run, the file exists, or it would have a secret in it.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let path = &request.file;
    let journal = project.journal().clone();
    let look = project.look()?;
    let store = look.store;
    let place = look.resolve(Some(&request.address))?;
    let is_one = read_address(&request.address)?.branch.is_some();
    let heads = if is_one {
        vec![place.head.clone()]
    } else {
        store.heads(&place.run)?
    };
    let mut secrets = Secrets::of(&request.redact);
    if !request.with_secrets {
        learn(store, &place, &heads, &mut secrets)?;
    }
    let mut exported = MemoryStore::default();
    let task = Task {
        run: &place.run,
        heads: &heads,
        owner: &owner("export"),
        note: None,
    };
    let count = if secrets.count() == 0 {
        copy(store, &mut exported, task, None)?
    } else {
        let mut named = NamedParts::default();
        let mut mask = |record: &Record, parent| secrets.mask(record, parent, &mut named);
        let count = copy(store, &mut exported, task, Some(&mut mask))?;
        check(&exported, &place)?;
        count
    };
    let copied = CopiedRun {
        original: store,
        copy: &exported,
        run: &place.run,
        heads: &heads,
    };
    let (marks, left_out) = marked(&journal, &copied)?;
    let in_body = find_in_large_bodies(&secrets, &exported, &place.run)?;
    let bytes = export_file::pack(exported, &marks);
    if let Some(secret) = in_body.or_else(|| secrets.find_in(&bytes)) {
        let shown: String = secret.chars().take(2).collect();
        let problem = format!(
            "a secret that begins with `{shown}` stands in a text of the program, or in another place that \
             cannot be masked"
        );
        return Err(CommandError::problem(problem).advise("`--with-secrets` exports everything as it is"));
    }
    write(path, &bytes).map_err(|error| CommandError::caused(format!("cannot write `{}`", path.display()), &error))?;
    Ok(Report {
        run: place.run,
        file: path.clone(),
        records: count,
        secrets: secrets.count(),
        left_out,
    })
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    run: String,
    file: String,
    records: u64,
    /// How many secrets are masked.
    secrets_masked: usize,
    /// The marks to which no exported branch leads.
    marks_left_out: Vec<String>,
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(&Form {
            run: self.run.to_string(),
            file: self.file.display().to_string(),
            records: self.records,
            secrets_masked: self.secrets,
            marks_left_out: self.left_out.clone(),
        })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let mut told = Told::data("");
        if !self.left_out.is_empty() {
            told = told.say(format!(
                "left out, because no exported branch leads there: {}",
                self.left_out.join(" ")
            ));
        }
        let masked = match self.secrets {
            0 => String::new(),
            count => format!(", {} masked", counted(count, "secret")),
        };
        let (run, records, file) = (&self.run, self.records, self.file.display());
        told.say(format!("{} of {run} in {file}{masked}", counted(records, "record")))
    }
}

/// The lines of the marks whose turns are exported, by the names that their records have there, and
/// the other marks.
fn marked(journal: &Journal, copied: &CopiedRun<'_>) -> Result<(String, Vec<String>), CommandError> {
    let (mut lines, mut left_out) = (String::new(), Vec::new());
    for (mark, marked) in marks::of(journal, copied.run)? {
        match copied.find(marked)? {
            Some(marked) => lines.push_str(&marks::line(copied.run, &mark, marked)),
            None => left_out.push(mark.to_string()),
        }
    }
    Ok((lines, left_out))
}

/// Writes a file whole or not at all, and replaces none.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if path.exists() {
        return Err(std::io::Error::new(
            std::io::ErrorKind::AlreadyExists,
            "the file exists already",
        ));
    }
    let beside = path.with_extension("new");
    let mut file = create_beside(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(beside, path)
}

/// Finds a secret in a body that is stored in parts, where a cut may hide it.
fn find_in_large_bodies<'a>(
    secrets: &'a Secrets,
    store: &dyn Store,
    run: &RunId,
) -> Result<Option<&'a str>, CommandError> {
    if secrets.count() == 0 {
        return Ok(None);
    }
    for head in store.heads(run)? {
        let source = Source::new(store, run, &head.branch);
        let mut records = Records::oldest_first(source, Sequence::FIRST..=head.sequence);
        while let Some(record) = records.next_closed()? {
            if record.is_in_parts()
                && let Some(found) = secrets.find_in(records.open(record)?.body_bytes())
            {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// Collects the secrets that the world gave on branches of a run.
pub(crate) fn learn(
    store: &dyn Store,
    place: &Place,
    heads: &[Head],
    secrets: &mut Secrets,
) -> Result<(), CommandError> {
    for head in heads {
        let source = Source::new(store, &place.run, &head.branch);
        for turn in turns(source, Sequence::FIRST..=head.sequence) {
            secrets.learn(&turn?);
        }
    }
    Ok(())
}

/// Requires that every branch replays.
fn check(store: &dyn Store, place: &Place) -> Result<(), CommandError> {
    for head in store.heads(&place.run)? {
        let place = Place {
            branch: head.branch.clone(),
            head,
            ..place.clone()
        };
        let pinned = compiled::pinned(store, &place)?;
        let source = place.source(store);
        source.restore(None, pinned.programs, Snapshots::Ignore)?;
    }
    Ok(())
}
