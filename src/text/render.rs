//! The layout of errors: the source line, a caret, a hint, and the turn to go back to.
//!
//! INVARIANT: no span, however wrong, makes rendering fail: a span is clamped to its text; and each
//! part that may hold data of a program is clean before styles come to it.
//! It decides nothing about exit codes; `error.rs` does.
//! Read next: `error.rs`.

mod backtrace;
mod texts;

use duet_runtime::model::counted::counted;
use duet_runtime::model::failure;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use duet_drivers::text::{Text, line};
use duet_kernel::diagnostic::{Diagnostic, DiagnosticKind};
use duet_kernel::expander::SourceText;
use duet_runtime::action::exit::MAIN;
use duet_runtime::record::divergence::Divergence;
use preserves::{CompoundClass, IOValue, ValueClass, ValueImpl};

use crate::text::error::Problem;
use crate::text::exports::home_of;
use crate::text::saying::Speaker;
use crate::text::value_text::shown;
pub(crate) use texts::{SourceTexts, TextForm};

/// Lays out groups whose parts come from [`prose`], [`line()`] or [`snippet`].
fn laid_out(groups: &[Group<'_>], is_styled: bool) -> Text {
    if is_styled {
        Text::styled(&Renderer::styled().render(groups))
    } else {
        Text::lines(&Renderer::plain().render(groups))
    }
}

/// Makes text of several lines a part of a layout.
fn prose(text: &str) -> String {
    let words: Vec<Cow<'_, str>> = text.split(' ').map(shortened).collect();
    Text::lines(&words.join(" ")).to_string()
}

/// The maximum length of a word in a message, such as a name, in characters.
const WORD_CHARACTERS_MAX: usize = 300;

/// The beginning of a word that is too long to show.
fn shortened(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(WORD_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}… ({} characters)", &word[..end], word.chars().count()).into(),
        None => word.into(),
    }
}

/// The nearest range inside the text that begins and ends between characters.
fn clamp(text: &str, start: usize, end: usize) -> Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(start);
    start..floor(end).max(start)
}

fn snippet<'a>(source: &'a SourceText, annotations: Vec<Annotation<'a>>) -> Snippet<'a, Annotation<'a>> {
    // A text that stands in a file begins at a line of it.
    let (path, first) = failure::read_file_line(&source.name).unwrap_or((&source.name, 1));
    Snippet::source(&*source.text)
        .path(line(path))
        .line_start(first)
        .annotations(annotations)
}

/// Lays out errors or warnings of program texts, one below the other.
pub(crate) fn diagnostics(level: &Level<'static>, found: &[Diagnostic], texts: &SourceTexts, is_styled: bool) -> Text {
    let mut rendered = Vec::new();
    for diagnostic in found {
        let text = laid_out(&groups(level, diagnostic, texts), is_styled);
        // A library that is read for several importers has the same errors each time.
        if !rendered.contains(&text) {
            rendered.push(text);
        }
    }
    Text::joined(&rendered, "\n\n")
}

/// Lays out errors of a single text.
pub(crate) fn plain_diagnostics(found: &[Diagnostic], name: &str, text: &str) -> Text {
    let text = SourceText {
        name: name.to_owned(),
        text: Arc::from(text),
    };
    diagnostics(&Level::ERROR, found, &SourceTexts::new(vec![text]), false)
}

/// Lays out a message about a place of a single text.
pub(crate) fn located(level: &Level<'static>, what: &str, source: &SourceText, span: Range<usize>) -> Text {
    let place = AnnotationKind::Primary.span(clamp(&source.text, span.start, span.end));
    let title = level.clone().primary_title(prose(what));
    laid_out(&[title.element(snippet(source, vec![place]))], false)
}

/// One error: its place with the notes in the same text, then the notes in other texts, then the
/// advice.
fn groups<'a>(level: &Level<'static>, diagnostic: &Diagnostic, texts: &'a SourceTexts) -> Vec<Group<'a>> {
    let title = level.clone().primary_title(prose(&diagnostic.kind.to_string()));
    let Some((source, place)) = texts.at_span(diagnostic.span) else {
        return vec![Group::with_title(title)];
    };
    let mut annotations = vec![AnnotationKind::Primary.span(place)];
    let (near, far): (Vec<_>, Vec<_>) = diagnostic
        .notes
        .iter()
        .partition(|note| note.span.source == diagnostic.span.source);
    annotations.extend(near.into_iter().filter_map(|note| {
        let (_, place) = texts.at_span(note.span)?;
        Some(
            AnnotationKind::Context
                .span(place)
                .label(line(&note.kind.to_string()).into_owned()),
        )
    }));
    let mut main = title.element(snippet(source, annotations));
    if let Some(hint) = diagnostic.hint() {
        main = main.element(Level::HELP.message(prose(&hint.to_string())));
    }
    if let DiagnosticKind::Unbound { name, .. } = &diagnostic.kind
        && let Some(library) = home_of(name.as_str())
    {
        main = main.element(Level::HELP.message(format!("`{name}` is in `{library}`, which has to be imported")));
    }
    let elsewhere = far.into_iter().filter_map(|note| {
        let (source, place) = texts.at_span(note.span)?;
        let annotation = AnnotationKind::Primary.span(place);
        Some(
            Level::NOTE
                .secondary_title(prose(&note.kind.to_string()))
                .element(snippet(source, vec![annotation])),
        )
    });
    std::iter::once(main).chain(elsewhere).collect()
}

/// Lays out an uncaught condition, with advice on how to go back.
pub(crate) fn uncaught(failure: &failure::Failure, texts: &SourceTexts, advice: &[String], is_styled: bool) -> Text {
    let group = explained_failure(failure, texts, advice, None);
    laid_out(&[group], is_styled)
}

/// The title of a check that failed.
pub(crate) struct CheckTitle<'a> {
    pub(crate) name: &'a str,
    /// The fault, in a clause.
    pub(crate) what: &'a str,
    /// Whether the calls that led to it are shown.
    pub(crate) has_calls: bool,
}

/// Lays out what was wrong with a test, with its place if that is known.
pub(crate) fn failed_check(
    title: &CheckTitle<'_>,
    failure: Option<&failure::Failure>,
    texts: &SourceTexts,
    is_styled: bool,
) -> Text {
    let mut group = Group::with_title(
        Level::ERROR
            .primary_title(prose(&cut(title.what)))
            .id(line(title.name).into_owned()),
    );
    if let Some((source, place)) = failure.and_then(|failure| texts.of_failure(failure)) {
        group = group.element(snippet(source, vec![AnnotationKind::Primary.span(place)]));
    }
    if let Some(trace) = failure
        .filter(|_| title.has_calls)
        .and_then(|failure| calls(failure, texts))
    {
        group = group.element(Level::NOTE.message(prose(&trace)));
    }
    laid_out(&[group], is_styled)
}

/// The calls that led to a failure.
fn calls(failure: &failure::Failure, texts: &SourceTexts) -> Option<String> {
    let source = failure.origin.as_ref().map(|origin| origin.source.as_str());
    backtrace::shown(&failure.backtrace, source, texts)
}

/// Lays out the failure of an actor, which is named unless it is the main program.
pub(crate) fn failed_actor(
    failed: &failure::ActorFailure,
    texts: &SourceTexts,
    advice: &[String],
    is_styled: bool,
) -> Text {
    let is_main = failed.actor == MAIN;
    let who = (!is_main).then(|| format!("{} failed in turn {}", failed.name(), failed.turn));
    let group = explained_failure(&failed.failure, texts, advice, who);
    laid_out(&[group], is_styled)
}

/// A failure that the program has taken and a person should see too.
pub(crate) fn taken_failure(
    failed: &failure::ActorFailure,
    texts: &SourceTexts,
    advice: &[String],
    is_styled: bool,
) -> Text {
    let who = format!("{} in turn {}; the run goes on", failed.name(), failed.turn);
    laid_out(
        &[explained_failure(&failed.failure, texts, advice, Some(who))],
        is_styled,
    )
}

/// A failure with its place, its trace, the actor that failed, and advice.
fn explained_failure<'a>(
    failure: &'a failure::Failure,
    texts: &'a SourceTexts,
    advice: &[String],
    who: Option<String>,
) -> Group<'a> {
    let what = message_of(failure);
    let mut group = Group::with_title(
        Level::ERROR
            .primary_title(prose(&cut(&what)))
            .id(line(&failure.kind).into_owned()),
    );
    if let Some((source, place)) = texts.of_failure(failure) {
        group = group.element(snippet(source, vec![AnnotationKind::Primary.span(place)]));
    }
    if let Some(trace) = calls(failure, texts) {
        group = group.element(Level::NOTE.message(prose(&trace)));
    }
    let is_main = who.is_none();
    if let Some(who) = who {
        group = group.element(Level::NOTE.message(line(&who).into_owned()));
    }
    for advice in way_out(failure, is_main).iter().chain(advice) {
        group = group.element(Level::HELP.message(prose(advice)));
    }
    group
}

/// The beginning of a message that is too long to show.
fn cut(message: &str) -> Cow<'_, str> {
    match message.char_indices().nth(MESSAGE_CHARACTERS_MAX) {
        Some((end, _)) => {
            let more = message[end..].chars().count();
            format!("{}… ({})", &message[..end], counted(more, "more character")).into()
        }
        None => message.into(),
    }
}

/// Advice for conditions of some kinds.
fn way_out(failure: &failure::Failure, is_main: bool) -> Option<String> {
    if matches!(
        failure.kind.as_str(),
        failure::Failure::OUT_OF_MEMORY | failure::Failure::EXHAUSTED
    ) {
        return Some(
            "`duet run --memory-limit SIZE` gives a run more memory, of which one actor may fill a quarter".to_owned(),
        );
    }
    if failure.kind != "capability-denied" {
        return None;
    }
    let ways = [
        (
            "`workspace/",
            "`duet run --workspace DIR FILE`, or `duet repl --workspace DIR`, lets a program write and delete in DIR",
        ),
        (
            "`http/",
            "`--allow-host HOST` of `duet run`, `duet resume` and `duet repl` lets a single file speak to HOST",
        ),
        (
            "`model/",
            "`--provider NAME` of `duet run`, `duet resume` and `duet repl` lets a single file call language models; \
             `duet providers` lists the names",
        ),
    ];
    let way = ways.iter().find(|(tools, _)| failure.message.contains(tools));
    let other = "a folder is granted what its `manifest.scm` names, a single file the tools of the servers that \
                 `--allow-server` names";
    let way = way.map_or(other, |(_, way)| way);
    // Another actor has what its maker grants.
    let lacking = failure.message.split('`').nth(1).filter(|_| is_main);
    let later = lacking.map(|name| {
        format!("; `duet run --grant {name}` grants it, and `duet resume RUN --grant {name}` a run that has begun")
    });
    Some(format!("{way}{}", later.unwrap_or_default()))
}

/// Lays out the difference between a program and its journal, with the place in the program if that
/// is known.
pub(crate) fn divergence(divergence: &Divergence, texts: &SourceTexts, is_styled: bool) -> Text {
    let parting = Problem::from(divergence);
    let mut group = Group::with_title(Level::ERROR.primary_title(prose(&parting.what)));
    if let Some((source, place)) = divergence.span.as_ref().and_then(|origin| texts.at(origin)) {
        group = group.element(snippet(source, vec![AnnotationKind::Primary.span(place)]));
    }
    laid_out(&[explained(group, &parting, Speaker::Command)], is_styled)
}

/// Lays out a problem.
pub(crate) fn problem(problem: &Problem, speaker: Speaker, is_styled: bool) -> Text {
    let group = Group::with_title(Level::ERROR.primary_title(prose(&problem.what)));
    laid_out(&[explained(group, problem, speaker)], is_styled)
}

/// Adds the causes and the advice to a problem's title.
fn explained<'a>(mut group: Group<'a>, problem: &Problem, speaker: Speaker) -> Group<'a> {
    for cause in &problem.because {
        group = group.element(Level::NOTE.message(prose(cause)));
    }
    for advice in &problem.advice {
        group = group.element(Level::HELP.message(prose(advice.spelled(speaker).as_str())));
    }
    group
}

/// The maximum length of a message with its irritants, in characters.
const MESSAGE_CHARACTERS_MAX: usize = 2_000;

/// The maximum depth of values in messages, in levels.
const SHOWN_DEPTH: usize = 8;

/// The message of a failure with what it is about, as a program writes data.
pub(crate) fn message_of(failure: &failure::Failure) -> String {
    failure.told(|irritant| in_scheme(irritant, SHOWN_DEPTH))
}

/// Writes data as a program writes them, and other values as Preserves text.
pub(crate) fn in_scheme(value: &IOValue, depth: usize) -> String {
    if depth == 0 {
        return "…".to_owned();
    }
    let all = |items: &mut dyn Iterator<Item = preserves::Value<IOValue>>| {
        items
            .map(|item| in_scheme(&item.into(), depth - 1))
            .collect::<Vec<_>>()
            .join(" ")
    };
    match value.value_class() {
        ValueClass::Compound(CompoundClass::Sequence) => format!("({})", all(&mut value.iter())),
        ValueClass::Compound(CompoundClass::Record) => {
            let label = in_scheme(&value.label().into(), depth - 1);
            format!("#[{label} {}]", all(&mut value.iter()))
        }
        ValueClass::Compound(CompoundClass::Dictionary | CompoundClass::Set)
        | ValueClass::Atomic(_)
        | ValueClass::Embedded => match value.as_string() {
            // A value that is no datum, such as a procedure, is here as the text that shows it.
            Some(text) if text.starts_with("#<") && text.ends_with('>') => text.into_owned(),
            Some(_) | None => shown(value),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_clamped_to_their_text() {
        let text = "aé";
        for (start, end, expected) in [(0, 1, 0..1), (2, 2, 1..1), (1, 99, 1..3), (7, 3, 3..3), (3, 1, 3..3)] {
            assert_eq!(clamp(text, start, end), expected, "{start}..{end}");
        }
    }
}
