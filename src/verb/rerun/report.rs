//! The requests of changed code, compared with the recorded ones: in words, and as JSON.
//!
//! INVARIANT: each recorded request and each new one appears once; whatever stays done in the world
//! appears with the turn that did it.
//! It runs nothing. Read next: `verb/rerun.rs`.

use std::collections::BTreeMap;
use std::path::Path;

use duet_drivers::text::Text;
use duet_drivers::tool::description::EffectClass;
use duet_journal::Sequence;
use duet_kernel::expander::SourceText;
use duet_runtime::driver::EffectKind;
use duet_runtime::gate::payload::as_json;
use duet_runtime::history::rerun::comparison::{
    Comparison, CountDifference, Fresh, MatchedRequest, Unused, UnusedInput,
};
use duet_runtime::model::counted::counted;
use duet_runtime::model::identity::RequestId;
use duet_runtime::record::key::{Key, LedgerRequest};
use duet_runtime::state::event::Event;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::number;
use super::output::LinesApart;
use crate::history::turn::short;
use crate::text::error::{CommandError, ExitCode};
use crate::text::render::SourceTexts;
use crate::text::saying::{Saying, Way, quoted, say};
use crate::text::value_text::{abbreviated, apart};
use crate::verb::form::as_json as as_form;
use crate::world::world_options::WorldOptions;

/// The characters of a line that was typed that are shown.
const TYPED_CHARACTERS: usize = 60;

/// A comparison of changed code with a recorded run.
pub(crate) struct Report {
    /// The path of the changed program.
    pub(super) program: String,
    /// The address of the turn up to which answers are given.
    pub(super) address: String,
    /// The branch of that turn.
    pub(super) name: String,
    pub(super) comparison: Comparison,
    /// The lines that only one of both shows.
    pub(super) output: LinesApart,
    /// The facts that only one of both has at the end.
    pub(super) facts: LinesApart,
    /// The exit code, if the changed code has ended the run.
    pub(super) ended: Option<u64>,
    /// Whether the recorded run can take the text on, because it has not ended.
    pub(super) can_be_patched: bool,
    /// The texts of both programs.
    pub(super) texts: [SourceTexts; 2],
}

/// A report as JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Form {
    identical: bool,
    program: String,
    from: String,
    /// The number of turns that the changed code took.
    turns: u64,
    ended: Option<u64>,
    same: Vec<PlainMet>,
    moved: Vec<PlainMet>,
    new: Vec<PlainFresh>,
    no_longer_asked: Vec<PlainUnused>,
    asked_more_often: Vec<PlainShifted>,
    /// The questions whose recorded answers may belong to other times, because some times are left.
    asked_less_often: Vec<PlainShifted>,
    inputs_left: Vec<PlainHeard>,
    /// The turns whose changed texts were not applied.
    patches_left: Vec<u64>,
    output: LinesApart,
    /// The facts that only one of both has at the end.
    facts: LinesApart,
}

/// A request as plain data.
#[derive(Debug, Serialize, JsonSchema)]
struct PlainAsked {
    actor: String,
    definition: String,
    what: String,
    nth: u64,
    arguments: Value,
    turn: u64,
    source: Option<String>,
    line: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlainMet {
    #[serde(flatten)]
    asked: PlainAsked,
    recorded: PlainAsked,
    is_answered: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlainFresh {
    #[serde(flatten)]
    asked: PlainAsked,
    is_open: bool,
    nearest: Option<PlainAsked>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlainUnused {
    #[serde(flatten)]
    recorded: PlainAsked,
    is_answered: bool,
    effect: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlainShifted {
    actor: String,
    definition: String,
    what: String,
    arguments: Value,
    before: u64,
    now: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlainHeard {
    turn: u64,
    kind: String,
    text: String,
    failure: Option<String>,
}

impl Report {
    /// Says whether the changed code asks, shows and asserts the same.
    pub(crate) fn is_same(&self) -> bool {
        let is_alike = self.output == LinesApart::default() && self.facts == LinesApart::default();
        self.comparison.is_same() && is_alike
    }

    /// Says whether both programs have the same texts.
    pub(crate) fn has_same_texts(&self) -> bool {
        let [before, now] = &self.texts;
        let of = |texts: &SourceTexts| {
            let texts = texts.all().iter().map(|text| (text.name.clone(), text.text.clone()));
            texts.collect::<BTreeMap<_, _>>()
        };
        of(before) == of(now)
    }

    /// The texts of the changed program.
    pub(crate) fn sources(&self) -> &[SourceText] {
        self.texts[1].all()
    }

    /// What the changed program asks that nobody has asked before.
    pub(crate) fn asked_anew(&self) -> impl Iterator<Item = &EffectKind> {
        self.comparison.fresh.iter().map(|fresh| &fresh.asked.question)
    }

    /// Says whether the changed program has ended the run.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Why a strict person does not go on with it, if there is a reason.
    pub(crate) fn strict_refusal(&self) -> Option<CommandError> {
        let what = if self.comparison.leaves_answers() {
            "recorded answers are left"
        } else if self.comparison.asks_less_often() {
            "recorded answers may belong to other times"
        } else {
            return None;
        };
        let refused = CommandError::problem(format!("{what}, so no branch begins"));
        let refused = refused.advise("without `--strict` the run goes on where the program asks something else");
        Some(refused.with_code(ExitCode::DIVERGED))
    }

    /// The number of recorded answers that were given again.
    fn given(&self) -> usize {
        self.comparison.met.iter().filter(|met| met.is_answered).count()
    }

    /// What a new branch begins with.
    pub(crate) fn beginning(&self) -> String {
        let answers = match self.given() {
            1 => "1 recorded answer".to_owned(),
            given => format!("{given} recorded answers"),
        };
        format!("begins with {} and {answers}", self.program)
    }

    /// The way on from a run that only looks.
    pub(crate) fn ways(&self) -> Option<Saying> {
        if self.is_same() {
            return None;
        }
        let program = quoted(&self.program);
        let way = Way::at("resume", &self.name).with(format!("--with {program}"));
        let stays = format!(" goes on with it on a new branch, and {} stays as it is", self.name);
        let ways = say![way, stays];
        if !self.can_be_patched {
            return Some(ways);
        }
        let patch = Way::at("patch", &self.name).with(program);
        let does = format!(" changes {} where it stands", self.name);
        Some(ways.and("; ").and(patch).and(does))
    }

    /// The report as JSON, with members all the way down.
    pub(crate) fn json(&self) -> Value {
        let [recorded, now] = &self.texts;
        let met = |met: &MatchedRequest| PlainMet {
            asked: plain(&met.asked, now),
            recorded: plain(&met.recorded, recorded),
            is_answered: met.is_answered,
        };
        let (moved, same): (Vec<&MatchedRequest>, Vec<&MatchedRequest>) =
            self.comparison.met.iter().partition(|met| is_moved(met));
        let (more, less): (Vec<&CountDifference>, Vec<&CountDifference>) = self
            .comparison
            .shifted
            .iter()
            .partition(|shifted| shifted.now > shifted.before);
        as_form(&Form {
            identical: self.is_same(),
            program: self.program.clone(),
            from: self.address.clone(),
            turns: number(self.comparison.turn),
            ended: self.ended,
            same: same.into_iter().map(met).collect(),
            moved: moved.into_iter().map(met).collect(),
            new: self
                .comparison
                .fresh
                .iter()
                .map(|fresh| self.plain_fresh(fresh))
                .collect(),
            no_longer_asked: self
                .comparison
                .unused
                .iter()
                .map(|unused| self.plain_unused(unused))
                .collect(),
            asked_more_often: more.into_iter().map(plain_shifted).collect(),
            asked_less_often: less.into_iter().map(plain_shifted).collect(),
            inputs_left: self.comparison.unheard.iter().map(plain_heard).collect(),
            patches_left: self.comparison.patched.iter().map(|turn| turn.number()).collect(),
            output: self.output.clone(),
            facts: self.facts.clone(),
        })
    }

    fn plain_fresh(&self, fresh: &Fresh) -> PlainFresh {
        PlainFresh {
            asked: plain(&fresh.asked, &self.texts[1]),
            is_open: fresh.is_open,
            nearest: self.near(fresh).map(|near| plain(near, &self.texts[0])),
        }
    }

    fn plain_unused(&self, unused: &Unused) -> PlainUnused {
        PlainUnused {
            recorded: plain(&unused.recorded, &self.texts[0]),
            is_answered: unused.outcome.is_some(),
            effect: effect(&unused.recorded.key.what).map(|class| class.to_string()),
        }
    }

    /// The report in words.
    pub(crate) fn tell(&self) -> Text {
        let mut lines = vec![self.first_line()];
        let comparison = &self.comparison;
        lines.extend(
            comparison
                .met
                .iter()
                .filter(|met| is_moved(met))
                .map(|met| self.moved(met)),
        );
        let paired = comparison
            .fresh
            .iter()
            .filter_map(|fresh| Some(self.near(fresh)?.request));
        let paired: Vec<RequestId> = paired.collect();
        lines.extend(comparison.fresh.iter().flat_map(|fresh| self.fresh(fresh)));
        lines.extend(
            comparison
                .met
                .iter()
                .filter(|met| self.is_lost(met))
                .map(|met| self.lost(met)),
        );
        lines.extend(comparison.shifted.iter().map(|shifted| self.shifted(shifted)));
        let is_told = |unused: &&Unused| !paired.contains(&unused.recorded.request);
        lines.extend(
            comparison
                .unused
                .iter()
                .filter(is_told)
                .map(|unused| self.unused(unused)),
        );
        lines.extend(comparison.unheard.iter().map(|heard| self.unheard(heard)));
        lines.extend(self.unapplied());
        // Lines and facts that are missing may still come, unless both have come equally far.
        let is_level = comparison.fresh.is_empty();
        let apart = [
            ("output", &self.output.before, &self.output.now),
            ("facts", &self.facts.before, &self.facts.now),
        ];
        for (what, before, now) in apart {
            let before = if is_level { &**before } else { &[] };
            if !(before.is_empty() && now.is_empty()) {
                lines.push(what.to_owned());
                lines.extend(before.iter().map(|line| format!("  - {line}")));
                lines.extend(now.iter().map(|line| format!("  + {line}")));
            }
        }
        Text::lines(&lines.join("\n"))
    }

    /// Says whether the changed code waits for an answer that only the world can give.
    fn is_under_way(&self) -> bool {
        self.comparison.fresh.iter().any(|fresh| fresh.is_open)
    }

    fn first_line(&self) -> String {
        let met = self.comparison.met.len();
        let anew = self.comparison.fresh.len();
        let left = self.comparison.unused.len();
        let all = if self.is_same() { "identical: " } else { "" };
        let lost = if self.is_under_way() {
            "not asked so far"
        } else {
            "no longer asked"
        };
        let moved = self.comparison.met.iter().filter(|met| is_moved(met)).count();
        let stands = match self.ended {
            Some(code) => format!("it ends with code {code}"),
            None => format!("it stands at turn {}", number(self.comparison.turn)),
        };
        format!(
            "{all}{} on the answers of {}: {} the same, {moved} moved, {anew} new, {left} {lost}; {stands}",
            self.program,
            self.address,
            met - moved,
        )
    }

    fn moved(&self, met: &MatchedRequest) -> String {
        let [before, now] = [(&met.recorded, &self.texts[0]), (&met.asked, &self.texts[1])]
            .map(|(asked, texts)| where_asked(asked, texts));
        let (key, turn) = (&met.recorded.key, met.recorded.turn);
        if met.is_elsewhere() {
            let definition = definition(&met.asked.key);
            return format!(
                "moved: {key} {before}is asked {now}in {definition}; it has the answer of {}@{turn}",
                self.name
            );
        }
        format!(
            "moved: {key} {before}is asked {now}in another order; it has the answer of {}@{turn}",
            self.name
        )
    }

    /// Says whether the result of a call that the changed code waits for is lost.
    fn is_lost(&self, met: &MatchedRequest) -> bool {
        self.ended.is_none() && met.is_open && !met.is_answered && met.asked.key.what.contains('/')
    }

    fn lost(&self, met: &MatchedRequest) -> String {
        let (key, turn) = (&met.recorded.key, met.recorded.turn);
        format!(
            "in flight: {key} of {}@{turn} has no recorded result; unless its tool may be repeated, it fails as \
             interrupted, and `--retry-errors interrupted` makes it again",
            self.name
        )
    }

    /// The recorded request that a new one changes: not one that is yet to come, because its call
    /// stands elsewhere in the changed text as it stood.
    fn near<'a>(&self, fresh: &'a Fresh) -> Option<&'a LedgerRequest> {
        let near = fresh.near.as_ref()?;
        let [old, new] = &self.texts;
        let call = call_of(near, old);
        let is_same_call = call.is_none() || call == call_of(&fresh.asked, new);
        let is_elsewhere = || call.is_some_and(|call| new.all().iter().any(|text| text.text.contains(call)));
        (near.key.asks_the_same(&fresh.asked.key) || is_same_call || !is_elsewhere()).then_some(near)
    }

    fn fresh(&self, fresh: &Fresh) -> Vec<String> {
        let now = where_asked(&fresh.asked, &self.texts[1]);
        let (key, turn) = (&fresh.asked.key, fresh.asked.turn);
        let Some(near) = self.near(fresh) else {
            let arguments = abbreviated(&key.arguments.value());
            return vec![format!("new: {key} {now}in turn {turn}"), format!("  + {arguments}")];
        };
        let before = where_asked(near, &self.texts[0]);
        let name = &self.name;
        let recorded = format!("`duet show {name}@{}` shows the recorded call", near.turn);
        if near.key.asks_the_same(key) {
            return vec![format!(
                "new: {key} {now}in turn {turn} asks as {} {before}in {name}@{}, and is asked again; {recorded}",
                near.key, near.turn
            )];
        }
        let [left, right] = apart([Some(&near.key.arguments.value()), Some(&key.arguments.value())]);
        let of_near = self
            .comparison
            .unused
            .iter()
            .find(|unused| unused.recorded.request == near.request);
        let stays = of_near.map_or("", stays);
        vec![
            format!(
                "changed: {key} asks something else in turn {turn} than in {name}@{}; {recorded}",
                near.turn
            ),
            format!("  - {before}{left}{stays}"),
            format!("  + {now}{right}"),
        ]
    }

    fn shifted(&self, shifted: &CountDifference) -> String {
        let CountDifference { key, before, now } = shifted;
        let so_far = if now < before && self.is_under_way() {
            " so far"
        } else {
            ""
        };
        let now = counted(*now, "time");
        format!("{key} is asked {now}{so_far}, before it was {before}: the answers may belong to other times")
    }

    fn unused(&self, unused: &Unused) -> String {
        let recorded = &unused.recorded;
        let before = where_asked(recorded, &self.texts[0]);
        let what = if self.is_under_way() {
            "not asked so far"
        } else {
            "no longer asked"
        };
        let again = if self.is_under_way() && has_lasted(unused) {
            "; if the program makes it after that, it is done once more"
        } else {
            ""
        };
        format!(
            "{what}: {} {before}in {}@{}{}{again}",
            recorded.key,
            self.name,
            recorded.turn,
            stays(unused)
        )
    }

    fn unheard(&self, unheard: &UnusedInput) -> String {
        let PlainHeard {
            turn,
            kind,
            text,
            failure,
        } = plain_heard(unheard);
        let name = &self.name;
        match failure {
            Some(failure) => format!("failed: the {kind} of {name}@{turn}: {text}: {failure}"),
            None => format!("not given: the {kind} of {name}@{turn}: {text}"),
        }
    }

    /// The changed texts that the recorded run has taken on, and this one has not.
    fn unapplied(&self) -> Option<String> {
        let turns: Vec<String> = self.comparison.patched.iter().map(Sequence::to_string).collect();
        let name = &self.name;
        match &*turns {
            [] => None,
            [turn] => Some(format!("1 patch of the old text was not applied: {name}@{turn}")),
            [..] => Some(format!(
                "{} patches of the old text were not applied: {name}@{}",
                turns.len(),
                turns.join(&format!(", {name}@")),
            )),
        }
    }
}

/// Names the lasting effects of a recorded call that the new program does not make.
fn stays(unused: &Unused) -> &'static str {
    let what = &unused.recorded.key.what;
    match (&unused.outcome, effect(what)) {
        (Some(Err(_)), _) => "; it failed",
        (_, Some(EffectClass::Pure)) => "; it changed nothing",
        (None, Some(_)) => "; nobody knows whether it was done",
        (Some(Ok(_)), Some(EffectClass::Reversible)) => "; what it did stays done (reversible)",
        (Some(Ok(_)), Some(EffectClass::Compensable)) => "; what it did stays done (compensable)",
        (Some(Ok(_)), Some(EffectClass::Irreversible)) => "; what it did stays done (irreversible)",
        (Some(Ok(_)), None) if what.contains('/') => "; what it did stays done",
        (Some(Ok(_)) | None, None) => "",
    }
}

/// Whether a recorded call has changed something.
fn has_lasted(unused: &Unused) -> bool {
    let what = &unused.recorded.key.what;
    let is_call = what.contains('/') && effect(what) != Some(EffectClass::Pure);
    is_call && matches!(unused.outcome, Some(Ok(_)))
}

fn is_moved(met: &MatchedRequest) -> bool {
    met.is_moved || met.is_elsewhere()
}

fn definition(key: &Key) -> &str {
    match &*key.definition {
        "" => "the top level",
        definition => definition,
    }
}

/// The call that makes a request, as its text has it.
fn call_of<'a>(asked: &LedgerRequest, texts: &'a SourceTexts) -> Option<&'a str> {
    let origin = asked.origin.as_ref()?;
    let mut named = texts.all().iter().filter(|text| text.name == origin.source);
    let range = usize::try_from(origin.start).ok()?..usize::try_from(origin.end).ok()?;
    named.next_back()?.text.get(range)
}

/// The place of a request with a space behind it; nothing if it is unknown.
fn where_asked(asked: &LedgerRequest, texts: &SourceTexts) -> String {
    let Some(origin) = &asked.origin else {
        return String::new();
    };
    match texts.line_of(&origin.source, origin.start) {
        Some(line) => format!("({}:{line}) ", origin.source),
        None => String::new(),
    }
}

fn plain(asked: &LedgerRequest, texts: &SourceTexts) -> PlainAsked {
    let LedgerRequest { key, turn, origin, .. } = asked;
    PlainAsked {
        actor: key.actor.clone(),
        definition: key.definition.clone(),
        what: key.what.clone(),
        nth: key.nth,
        arguments: as_json(&key.arguments.value()),
        turn: turn.number(),
        source: origin.as_ref().map(|origin| origin.source.clone()),
        line: origin
            .as_ref()
            .and_then(|origin| texts.line_of(&origin.source, origin.start)),
    }
}

fn plain_shifted(shifted: &CountDifference) -> PlainShifted {
    let CountDifference { key, before, now } = shifted;
    PlainShifted {
        actor: key.actor.clone(),
        definition: key.definition.clone(),
        what: key.what.clone(),
        arguments: as_json(&key.arguments.value()),
        before: *before,
        now: *now,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else comes without a request")]
fn plain_heard(unheard: &UnusedInput) -> PlainHeard {
    let (kind, text) = match &unheard.heard.event {
        Event::Evaluate { text, .. } => ("typed text", short(text, TYPED_CHARACTERS)),
        Event::Told { value, .. } => ("told value", abbreviated(&value.value())),
        Event::Merged { asserted, .. } => ("merge", counted(asserted.len(), "fact")),
        Event::Granted { .. } => ("grant", "capabilities".to_owned()),
        Event::Restart {} => ("restart", unheard.actor.clone()),
        _ => ("input", String::new()),
    };
    PlainHeard {
        turn: unheard.heard.turn.number(),
        kind: kind.to_owned(),
        text,
        failure: unheard.failure.as_ref().map(ToString::to_string),
    }
}

/// The class of the effect of a tool; nothing for what is no tool, and for a tool of a server,
/// whose effect nobody knows here.
fn effect(tool: &str) -> Option<EffectClass> {
    let tools = WorldOptions::default().tools(Path::new(".")).ok()?;
    tools.find(tool).ok().map(|tool| tool.description().effect)
}
