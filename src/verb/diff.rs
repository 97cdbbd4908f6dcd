//! `diff`: two branches or turns compared.
//!
//! INVARIANT: the report has the last shared turn, and what each side has alone after it.
//! Read next: `../../runtime/src/history/relation.rs`.

mod asked;
mod definitions;
mod texts;
pub(crate) mod words;

use std::collections::{BTreeMap, BTreeSet};

use duet_journal::Sequence;
use duet_runtime::action::Action;
use duet_runtime::driver::Stream;
use duet_runtime::history::alignment::{Alignment, align, recorded_ledgers};
use duet_runtime::history::relation::{BranchRelation, part};
use duet_runtime::history::shadow::Shadow;
use duet_runtime::model::codec::label_of;
use duet_runtime::model::counted::counted;
use duet_runtime::record::divergence::Divergence;
use duet_runtime::record::key::Ledger;
use preserves::{IOValue, ValueImpl};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::texts::TextApart;
use super::fitting::signed;
use super::form::as_json;
use super::project::{Project, ProjectReader};
use crate::history::journal::Place;
use crate::history::records::turns;
use crate::history::turn;
use crate::text::error::CommandError;
use crate::text::value_json;
use crate::text::value_text::{self, COMPARED_CHARACTERS, abbreviated, shown};
use crate::text::view::{Told, View};

/// Compares two turns or branches: where they part, and what each has alone.
///
/// Duet names the last turn that both share, the first difference of the turns after it, and then
/// everything that is only on the left (-) or only on the right (+): texts of the programs, calls
/// and questions, facts, output, and files that tools wrote. Requests are aligned by their content,
/// not by turns: Duet distinguishes other answers, another order, and other arguments. It compares
/// long texts word by word, as [-left-]{+right+}. `--stat` only counts.
///
/// `--code` compares only the texts that both execute, after `duet patch` or `duet resume --with`
/// too: it names the definitions that differ, and shows the lines as a patch.
///
/// Without B, Duet compares A with the head of the current branch. Two turns of one branch can be
/// compared as well. Facts about who observes what are left out, and ids that only this run has do
/// not count as differences.
///
///   duet diff review/main review/what-if
///   duet diff @5 @9 --json
///   duet diff review/main review/main-new --code
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address on the left.
    #[arg(value_name = "A")]
    pub(crate) left: String,
    /// The address on the right.
    #[arg(value_name = "B")]
    pub(crate) right: Option<String>,
    /// Only counts the differences of each sort.
    #[arg(long)]
    pub(crate) stat: bool,
    /// Compares only the texts of the programs.
    #[arg(long, conflicts_with = "stat")]
    pub(crate) code: bool,
}

/// The results of one side after the last shared turn.
#[derive(Default)]
struct Side {
    facts: Vec<IOValue>,
    /// The facts with keys in the place of ids that only this run has, in the same order.
    compared: Vec<IOValue>,
    output: String,
    errors: String,
    /// The last contents of each file that was written; nothing for a deleted one.
    files: BTreeMap<String, Option<String>>,
}

/// The differences of two places.
pub(crate) enum Report {
    /// All of them.
    Whole(Box<AllDifferences>),
    /// Those of the texts.
    Code(Code),
}

/// The texts of two places that differ.
pub(crate) struct Code {
    addresses: [String; 2],
    texts: Vec<TextApart>,
}

/// All differences of two places.
pub(crate) struct AllDifferences {
    places: [Place; 2],
    relation: BranchRelation,
    sides: [Side; 2],
    alignment: Alignment,
    texts: Vec<TextApart>,
    is_stat: bool,
}

/// Compares.
///
/// # Errors
/// If there are no such turns, or the journal cannot be read.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let left = look.resolve_turn(Some(&request.left))?;
    let right = look.resolve_turn(request.right.as_deref())?;
    if request.code {
        return Ok(Report::Code(Code {
            addresses: [&left, &right].map(|place| place.address(place.at())),
            texts: texts::apart(look.store, [&left, &right])?,
        }));
    }
    let [one, other] = [&left, &right].map(|place| place.source(look.store).up_to(place.at()));
    let relation = part(one, other)?;
    let ledgers = recorded_ledgers(one, other, relation.shared)?;
    let sides = [
        see(&look, &left, &relation, &ledgers[0])?,
        see(&look, &right, &relation, &ledgers[1])?,
    ];
    Ok(Report::Whole(Box::new(AllDifferences {
        alignment: align(&ledgers[0], &ledgers[1]),
        texts: texts::apart(look.store, [&left, &right])?,
        places: [left, right],
        relation,
        sides,
        is_stat: request.stat,
    })))
}

impl Report {
    pub(crate) fn json(&self) -> Value {
        as_json(&match self {
            Self::Whole(whole) => Form::Whole(Box::new(whole.form())),
            Self::Code(code) => Form::Code(code.form()),
        })
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        let text = match self {
            Self::Whole(whole) => whole.text(),
            Self::Code(code) => code.text(),
        };
        Told::data(signed(&text, view.is_styled))
    }
}

impl Code {
    fn form(&self) -> CodeForm {
        let [left, right] = self.addresses.clone();
        CodeForm {
            left,
            right,
            code: self.texts.clone(),
        }
    }

    fn text(&self) -> String {
        let [left, right] = &self.addresses;
        if self.texts.is_empty() {
            return format!("{left} and {right} execute the same texts\n");
        }
        let lines = self.texts.iter().flat_map(|text| text.patch([left, right]));
        let lines: Vec<String> = lines.collect();
        format!("{}\n", lines.join("\n"))
    }
}

impl AllDifferences {
    fn form(&self) -> WholeForm {
        let [left, right] = &self.places;
        let results = form_of([left, right], &self.relation, &self.sides);
        WholeForm {
            asked: asked::ListedRequests::of(&self.alignment).form(),
            texts: self.texts.clone(),
            ..results
        }
    }

    fn text(&self) -> String {
        let [left, right] = &self.places;
        let mut text = head([left, right], &self.relation);
        if self.is_stat {
            text.push_str(&self.stat());
            return text;
        }
        let told = asked::ListedRequests::of(&self.alignment).tell();
        if !self.texts.is_empty() {
            text.push_str("texts\n");
        }
        for line in texts::tell(&self.texts).into_iter().chain(told) {
            text.push_str(&line);
            text.push('\n');
        }
        text.push_str(&results(&self.sides));
        text
    }

    /// The number of differences of each sort.
    fn stat(&self) -> String {
        let [left, right] = &self.sides;
        let facts = facts_apart(left, right);
        let output = lines_apart(&left.output, &right.output);
        let errors = lines_apart(&left.errors, &right.errors);
        let files = files_apart(left, right);
        let mut counts = vec![("texts", [self.texts.len(); 2])];
        counts.extend(asked::ListedRequests::of(&self.alignment).counts());
        counts.extend([
            ("facts", facts.counts()),
            ("output", output.counts()),
            ("errors", errors.counts()),
            ("files", files.counts()),
        ]);
        let counts = counts.into_iter().filter(|(_, counts)| *counts != [0, 0]);
        let lines = counts.map(|(what, [left, right])| format!("{what:<8} -{left} +{right}\n"));
        lines.collect()
    }
}

/// Looks at one side.
fn see(
    look: &ProjectReader<'_>,
    place: &Place,
    relation: &BranchRelation,
    ledger: &Ledger,
) -> Result<Side, CommandError> {
    let facts = Shadow::at(&place.source(look.store), place.at())?.facts();
    let facts: Vec<IOValue> = facts.into_iter().filter(is_shown).collect();
    let mut side = Side {
        compared: facts
            .as_slice()
            .iter()
            .map(|fact| ledger.canonical(&without_names(fact)))
            .collect(),
        facts,
        ..Side::default()
    };
    let first = relation.shared.and_then(Sequence::next).unwrap_or(Sequence::FIRST);
    for turn in turns(place.source(look.store), first..=place.at()) {
        look.go_on()?;
        turn?
            .actions
            .iter()
            .flat_map(Action::done)
            .for_each(|action| side.see(action));
    }
    Ok(side)
}

impl Side {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other actions leave nothing outside the run"
    )]
    fn see(&mut self, action: &Action) {
        match action {
            Action::Write(write) => {
                let text = String::from_utf8_lossy(&write.bytes.0);
                match write.stream {
                    Stream::Output => self.output.push_str(&text),
                    Stream::Error => self.errors.push_str(&text),
                }
            }
            Action::InvokeTool(call) => {
                let payload = call.payload.value();
                let Some(path) = text_at(&payload, "path") else {
                    return;
                };
                match call.tool.as_str() {
                    "workspace/write" => drop(self.files.insert(path, text_at(&payload, "content"))),
                    "workspace/delete" => drop(self.files.insert(path, None)),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

fn text_at(payload: &IOValue, key: &str) -> Option<String> {
    if !payload.is_dictionary() {
        return None;
    }
    let found: IOValue = payload.get(IOValue::symbol(key.to_owned()).value())?.into();
    let bytes = found
        .as_bytestring()
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    found.as_string().map(|text| text.into_owned()).or(bytes)
}

/// What each of two sides has and the other does not.
#[derive(Debug, PartialEq)]
struct Apart<T> {
    left: Vec<T>,
    right: Vec<T>,
}

impl<T> Apart<T> {
    fn counts(&self) -> [usize; 2] {
        [self.left.len(), self.right.len()]
    }
}

/// The facts of either side that the other does not have.
fn facts_apart<'a>(left: &'a Side, right: &'a Side) -> Apart<&'a IOValue> {
    let only = |one: &'a Side, other: &Side| {
        let known: BTreeSet<&IOValue> = other.compared.as_slice().iter().collect();
        let facts = one.facts.as_slice().iter().zip(&one.compared);
        facts
            .filter(|(_, compared)| !known.contains(compared))
            .map(|(fact, _)| fact)
            .collect()
    };
    Apart {
        left: only(left, right),
        right: only(right, left),
    }
}

/// Says whether a fact is more than that somebody observes.
pub(crate) fn is_shown(fact: &IOValue) -> bool {
    label_of(fact).as_deref() != Some("Observe")
}

/// Leaves out of a question the names that differ on each branch; its second field has the text.
/// Returns any other fact as it is.
pub(crate) fn without_names(fact: &IOValue) -> IOValue {
    let is_question =
        fact.is_simple_record("user-input-request", Some(3)) || fact.is_simple_record("approval-request", Some(2));
    if is_question {
        IOValue::record(fact.label().into(), vec![fact.index(1).into()])
    } else {
        fact.clone()
    }
}

/// The lines between the common beginning and the common end of two texts.
fn lines_apart<'a>(left: &'a str, right: &'a str) -> Apart<&'a str> {
    let (mut left, mut right): (Vec<&str>, Vec<&str>) = (left.lines().collect(), right.lines().collect());
    let same = std::iter::zip(&left, &right)
        .take_while(|(left, right): &(&&str, &&str)| **left == **right)
        .count();
    left.drain(..same);
    right.drain(..same);
    while left.last().is_some() && left.last() == right.last() {
        left.pop();
        right.pop();
    }
    Apart { left, right }
}

fn first_shown(divergence: &Divergence, names: [&str; 2]) -> String {
    if divergence.part == "beginning" {
        return "their first records differ\n".to_owned();
    }
    let (turn, actor, part) = (divergence.sequence, turn::actor(divergence.actor), divergence.part);
    let number = divergence.element.map(|element| element + 1);
    let number = |noun: &str| number.map_or_else(String::new, |number| format!(" ({noun} {number})"));
    let what = match part {
        "events" => format!("in turn {turn}, {actor} receives something else{}", number("event")),
        "actions" => format!("in turn {turn}, {actor} does something else{}", number("action")),
        part => format!("turn {turn} of {actor} differs in its {part}{}", number("number")),
    };
    let sides = [divergence.journal_says.as_ref(), divergence.program_did.as_ref()];
    let mut told = sides.map(|side| side.map_or("nothing".to_owned(), |value| briefly(divergence.part, value)));
    if told[0] == told[1] {
        told = value_text::apart(sides);
    }
    let [left, right] = told;
    format!("{what}\n  - {}  {left}\n  + {}  {right}\n", names[0], names[1],)
}

/// A part of a turn for a line; in the words of the log, if the value itself is too long.
fn briefly(part: &str, value: &IOValue) -> String {
    let text = abbreviated(value);
    if text.chars().count() <= COMPARED_CHARACTERS {
        return text;
    }
    turn::short(&turn::line::element(part, value).unwrap_or(text), COMPARED_CHARACTERS)
}

/// Where both part.
fn head(places: [&Place; 2], relation: &BranchRelation) -> String {
    let names = places.map(|place| place.address(place.at()));
    let mut text = match relation.shared {
        Some(shared) => format!("- {}\n+ {}\nthey share the turns up to {shared}\n", names[0], names[1]),
        None => format!("- {}\n+ {}\nthey share no turn\n", names[0], names[1]),
    };
    if let Some(alike) = relation.alike.filter(|alike| Some(*alike) != relation.shared) {
        text.push_str(&format!("they did the same up to turn {alike}\n"));
    }
    match &relation.first {
        Some(first) => text.push_str(&first_shown(first, [&names[0], &names[1]])),
        None if places[0].at() == places[1].at() => text.push_str("no turn differs\n"),
        None => {}
    }
    text
}

/// What each side has come to.
fn results(sides: &[Side; 2]) -> String {
    let mut text = String::new();
    let [left, right] = sides;
    let facts = facts_apart(left, right);
    section(
        &mut text,
        "facts",
        briefs(&facts.left, &facts.right),
        briefs(&facts.right, &facts.left),
    );
    for (title, left, right) in [
        ("output", &left.output, &right.output),
        ("errors", &left.errors, &right.errors),
    ] {
        let lines = lines_apart(left, right);
        section(
            &mut text,
            title,
            lines.left.into_iter().map(str::to_owned),
            lines.right.into_iter().map(str::to_owned),
        );
    }
    let files = files_apart(left, right);
    section(&mut text, "files", files.left.into_iter(), files.right.into_iter());
    text
}

fn files_apart(left: &Side, right: &Side) -> Apart<String> {
    let differing = |one: &Side, other: &Side| {
        let files = one
            .files
            .iter()
            .filter(|(path, content)| other.files.get(*path) != Some(content));
        files
            .map(|(path, content)| match content {
                Some(content) => format!("{path}, {}", counted(content.len(), "byte")),
                None => format!("{path}, deleted"),
            })
            .collect()
    };
    Apart {
        left: differing(left, right),
        right: differing(right, left),
    }
}

/// Writes the facts that one side has; those that would look like one of the other side, in full.
fn briefs(facts: &[&IOValue], others: &[&IOValue]) -> impl Iterator<Item = String> {
    let others: BTreeSet<String> = others.iter().map(|fact| abbreviated(fact)).collect();
    facts.iter().map(move |fact| {
        Some(abbreviated(fact))
            .filter(|text| !others.contains(text))
            .unwrap_or_else(|| shown(fact))
    })
}

fn section(text: &mut String, title: &str, left: impl Iterator<Item = String>, right: impl Iterator<Item = String>) {
    let lines: Vec<String> = left
        .map(|line| format!("  - {line}\n"))
        .chain(right.map(|line| format!("  + {line}\n")))
        .collect();
    if !lines.is_empty() {
        text.push_str(title);
        text.push('\n');
        text.extend(lines);
    }
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Form {
    Whole(Box<WholeForm>),
    Code(CodeForm),
}

/// The texts that differ, as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CodeForm {
    /// The address of each side.
    left: String,
    right: String,
    code: Vec<TextApart>,
}

/// All differences as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WholeForm {
    /// The last turn that both sides share.
    shared: Option<u64>,
    /// The last turn up to which they did the same.
    alike: Option<u64>,
    /// The first difference of the turns after it.
    first: Option<FirstForm>,
    /// The requests of both, aligned by their content.
    asked: asked::Form,
    /// The texts of the programs that differ.
    texts: Vec<TextApart>,
    left: SideForm,
    right: SideForm,
}

/// A difference of two turns.
#[derive(Serialize, JsonSchema)]
struct FirstForm {
    turn: u64,
    /// The number of the actor.
    actor: u64,
    /// The part of the turn that differs.
    part: String,
    /// The position in that part, counted from 0.
    element: Option<usize>,
    left: Option<Value>,
    right: Option<Value>,
}

/// What one side has alone.
#[derive(Serialize, JsonSchema)]
struct SideForm {
    address: String,
    facts: Vec<Value>,
    /// Lines of output.
    output: Vec<String>,
    /// Files that tools wrote.
    files: Vec<String>,
}

fn form_of(places: [&Place; 2], relation: &BranchRelation, sides: &[Side; 2]) -> WholeForm {
    let [left, right] = sides;
    let facts = facts_apart(left, right);
    let lines = lines_apart(&left.output, &right.output);
    let files = files_apart(left, right);
    let side = |place: &Place, facts: Vec<&IOValue>, output: Vec<&str>, files: Vec<String>| SideForm {
        address: place.address(place.at()),
        facts: facts.into_iter().map(value_json::of).collect(),
        output: output.into_iter().map(str::to_owned).collect(),
        files,
    };
    WholeForm {
        shared: relation.shared.map(Sequence::number),
        alike: relation.alike.map(Sequence::number),
        first: relation.first.as_ref().map(|first| FirstForm {
            turn: first.sequence.number(),
            actor: first.actor.0,
            part: first.part.to_string(),
            element: first.element,
            left: first.journal_says.as_ref().map(value_json::of),
            right: first.program_did.as_ref().map(value_json::of),
        }),
        asked: asked::Form::default(),
        texts: Vec::new(),
        left: side(places[0], facts.left, lines.left, files.left),
        right: side(places[1], facts.right, lines.right, files.right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_both_begin_and_end_with_are_left_out() {
        for (left, right, only) in [
            ("a\nb\nc\n", "a\nx\nc\n", (vec!["b"], vec!["x"])),
            ("a\n", "a\n", (vec![], vec![])),
            ("a\na\n", "a\n", (vec!["a"], vec![])),
            ("", "a\n", (vec![], vec!["a"])),
        ] {
            let expected = Apart {
                left: only.0,
                right: only.1,
            };
            assert_eq!(lines_apart(left, right), expected, "{left:?} {right:?}");
        }
    }
}
