//! `duet grant`: makes sturdy references to a run, lists and revokes them.

use duet_kernel::datum::reader::read_all;
use duet_kernel::datum::{Datum, SourceId};
use duet_runtime::model::manifest::{Manifest, Right};
use duet_runtime::scheme::grants;
use preserves::IOValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::history::grants::{Grant, Grants};
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};
use crate::text::value_text::shown;
use crate::text::view::{Told, View};
use crate::verb::form::as_json;
use crate::verb::project::Project;

/// Makes a reference by which a client of `duet serve` reaches a run.
///
/// The reference is the only credential of a client: whoever has it may do what it grants. It is
/// printed once and not stored. With `--observe`, `--assert` and `--message` the client may do only
/// what they name; without any of them it has all rights in the dataspace that the run's program
/// has.
///
/// With `--session` the client may have texts evaluated in the session of this name, answer its
/// questions, and act with its rights, but not reach other sessions. With `--approve` as well, it
/// may approve what policy wants approved in that session.
///
///   duet grant chat
///   duet grant chat --session ada
///   duet grant chat --observe '(says $_ $_)' --assert '(says "Ada" $_)' --until 8h
///   duet grant --list
///   duet grant --revoke 1f3a9c0e
///
/// A revoked reference, or one whose time is over, ends the connections of those who use it.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The run, or a branch of it.
    #[arg(required_unless_present_any = ["list", "revoke"])]
    run: Option<String>,
    /// Lets the client observe what this pattern matches; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    observe: Vec<String>,
    /// Lets the client assert what this pattern matches; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    assert: Vec<String>,
    /// Lets the client send messages that this pattern matches; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    message: Vec<String>,
    /// Lets the client use the session of this name.
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Lets the client also approve what policy wants approved in the session.
    #[arg(long, requires = "session")]
    approve: bool,
    /// Lets the client begin branches of the run, on which it goes on by itself.
    #[arg(long)]
    fork: bool,
    /// Ends the grant after this time, such as 30m, 8h or 7d.
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    until: Option<u64>,
    /// Lists the grants.
    #[arg(long, conflicts_with = "revoke")]
    list: bool,
    /// Revokes the grant with this id.
    #[arg(long, value_name = "ID")]
    revoke: Option<String>,
}

/// A reference that was made, the grants that there are, or the end of one.
pub(crate) enum Report {
    Made {
        id: String,
        reference: IOValue,
    },
    /// The grants, and the time by the clock of the journal, in milliseconds since 1970.
    Listed(Grants, u64),
    Revoked(String),
}

/// Makes a reference, lists the grants, or revokes one.
///
/// # Errors
/// If there is no such run or grant, or a pattern is none.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let journal = project.journal().clone();
    let look = project.look()?;
    if let Some(id) = &request.revoke {
        Grants::revoke(&journal, id)?;
        return Ok(Report::Revoked(id.clone()));
    }
    let Some(run) = &request.run else {
        return Ok(Report::Listed(Grants::read(&journal), journal.now_ms()));
    };
    let place = look.resolve(Some(run))?;
    let grant = Grant {
        run: if run.contains('/') {
            format!("{}/{}", place.run, place.branch)
        } else {
            place.run.to_string()
        },
        rights: rights(request)?,
        until_ms: request.until.map(|span_ms| journal.now_ms().saturating_add(span_ms)),
        may_fork: request.fork,
        approves: request.session.clone().filter(|_| request.approve),
    };
    let (id, reference) = Grants::add(&journal, &grant)?;
    Ok(Report::Made { id, reference })
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Form {
    /// A reference was made.
    Made { id: String, reference: String },
    /// One was taken back.
    Revoked { revoked: String },
    /// The references that there are.
    Listed(Vec<GrantForm>),
}

/// A reference that was made before.
#[derive(Serialize, JsonSchema)]
pub(crate) struct GrantForm {
    id: String,
    run: String,
    /// What its holder may do.
    rights: Vec<String>,
    /// Until when it holds, in milliseconds since 1970; null if it has no end.
    until_ms: Option<u64>,
    may_fork: bool,
    /// The session whose questions its holder may answer, if there is one.
    approves_in: Option<String>,
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        as_json(&match self {
            Self::Made { id, reference } => Form::Made {
                id: id.clone(),
                reference: shown(reference),
            },
            Self::Revoked(id) => Form::Revoked { revoked: id.clone() },
            Self::Listed(grants, _) => {
                let rows = grants.iter().map(|(id, grant)| GrantForm {
                    id: id.clone(),
                    run: grant.run.clone(),
                    rights: grant.rights.grants_shown().collect(),
                    until_ms: grant.until_ms,
                    may_fork: grant.may_fork,
                    approves_in: grant.approves.clone(),
                });
                Form::Listed(rows.collect())
            }
        })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        match self {
            Self::Made { id, reference } => Told::data(format!("{}\n", shown(reference))).say(say![
                "whoever has this reference may do what it grants; ",
                Way::of("grant").with(format!("--revoke {id}")),
                " takes it back",
            ]),
            Self::Revoked(id) => Told::data("").say(format!("{id} gives nothing any more")),
            Self::Listed(grants, now_ms) => {
                let lines = grants
                    .iter()
                    .map(|(id, grant)| format!("{id}  {}\n", described(grant, *now_ms)));
                Told::data(lines.collect::<String>())
            }
        }
    }
}

/// A grant in words.
fn described(grant: &Grant, now_ms: u64) -> String {
    let rights: Vec<String> = grant.rights.grants_shown().collect();
    let left = grant.until_ms.map(|until_ms| until_ms.saturating_sub(now_ms) / 60_000);
    let left = match left {
        None => String::new(),
        Some(0) => ", over in less than a minute, or over".to_owned(),
        Some(minutes) => format!(", for {minutes} min"),
    };
    let fork = if grant.may_fork { ", with forks" } else { "" };
    let approve = if grant.approves.is_some() {
        ", with approvals"
    } else {
        ""
    };
    format!("{}  {}{fork}{approve}{left}", grant.run, rights.join(" "))
}

fn rights(request: &Request) -> Result<Manifest, CommandError> {
    let limits = [
        (Right::Observe, &request.observe),
        (Right::Assert, &request.assert),
        (Right::Message, &request.message),
    ];
    if request.session.is_none() && limits.iter().all(|(_, patterns)| patterns.is_empty()) {
        return Ok(Manifest::of(&["dataspace/*"]));
    }
    let mut rights = Manifest::default();
    for (right, rest) in SESSION.iter().filter(|_| request.session.is_some()) {
        let session = request.session.as_deref().unwrap_or_default();
        let (label, fields) = rest.split_once(' ').unwrap_or((rest, ""));
        add(&mut rights, *right, &format!("({label} :session {session:?} {fields})"))?;
    }
    for (right, patterns) in limits {
        for pattern in patterns {
            add(&mut rights, right, pattern)?;
        }
    }
    Ok(rights)
}

/// The rights of a client in a session: records of the library `(duet sessions)`, without the
/// session's name.
const SESSION: [(Right, &str); 11] = [
    (Right::Assert, "session/request :payload _ :tag _"),
    (Right::Message, "session/request :payload _ :tag _"),
    (Right::Assert, "session/present "),
    (Right::Message, "session/seen :number _"),
    (Right::Message, "session/answer :question _ :payload _"),
    (Right::Message, "session/cancel :tag _"),
    (Right::Message, "session/close "),
    (Right::Observe, "session/event :kind _ :payload _ :tag _ :number _"),
    (Right::Observe, "session/ready "),
    (Right::Observe, "session/capability :capability _"),
    (Right::Observe, "session/ended :reason _"),
];

fn add(rights: &mut Manifest, right: Right, pattern: &str) -> Result<(), CommandError> {
    let wrong = |why: &str| {
        CommandError::usage(format!("`{pattern}` is no pattern: {why}"))
            .advise("a pattern is written as in a program, such as (says \"Ada\" $_) or _")
    };
    let (reading, errors) = read_all(pattern, SourceId(0));
    let &[_] = &reading.forms[..] else {
        return Err(wrong("it is not one datum"));
    };
    if !errors.is_empty() {
        return Err(wrong("it cannot be read"));
    }
    let text = format!("({} (pattern {pattern}\n))", right.name());
    let (reading, _) = read_all(&text, SourceId(0));
    let datum = Datum {
        root: reading
            .forms
            .first()
            .copied()
            .ok_or_else(|| wrong("it cannot be read"))?,
        nodes: reading.nodes,
    };
    grants::add(rights, &datum, datum.root).map_err(|error| wrong(&error.to_string()))
}

/// Reads a time in milliseconds, such as `30m`.
fn read_time(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no time: write a number with s, m, h or d, such as 30m or 7d");
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit_ms: u64 = match &text[digits.len()..] {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong()),
    };
    let number = digits.parse::<u64>().ok();
    number.and_then(|number| number.checked_mul(unit_ms)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_with_a_unit() {
        assert_eq!(read_time("30m"), Ok(1_800_000));
        assert_eq!(read_time("7d"), Ok(604_800_000));
        for wrong in ["", "m", "7", "-1h", "1y", "99999999999999999999d", "99999999999999999d"] {
            assert!(read_time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_pattern_is_one_datum() {
        let mut rights = Manifest::default();
        assert!(add(&mut rights, Right::Observe, "(says $_ $_)").is_ok());
        let shown: Vec<String> = rights.grants_shown().collect();
        assert_eq!(shown.len(), 1);
        for wrong in ["", "a b", "(says", "a) (b"] {
            assert!(add(&mut rights, Right::Observe, wrong).is_err(), "{wrong}");
        }
    }
}
