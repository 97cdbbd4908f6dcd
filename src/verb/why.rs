//! `why`: where the values of a fact, a line of output, a call or a variable came from, and the
//! turns that led to it, back to an input.
//!
//! The report begins with what is explained. Below it stand the values in it, each with the
//! expression that it came from and, further in, what that expression used, across turns, strands
//! and actors (`why/value.rs`), shorter chains first. Then come the turns, each with its cause.
//! INVARIANT: each turn caused the one before it in the report.
//! Read next: `../../runtime/src/history/chain.rs`.

mod doors;
mod output;
mod value;

use std::num::NonZeroUsize;

use duet_drivers::text::Text;
use duet_journal::Sequence;
use duet_kernel::machine::Cut;
use duet_runtime::action::Action;
use duet_runtime::history::chain::{CausalTurn, causal_turns};
use duet_runtime::history::changes::{FactChange, Sought};
use duet_runtime::model::codec::Codec;
use duet_runtime::model::counted::counted;
use duet_runtime::record::Body;
use duet_runtime::scheme::{SchemePrograms, Wanted};
use duet_runtime::state::event::{Cause, Event};
use preserves::IOValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fitting::{BOLD, cut, styled_line};
use super::form::as_json;
use super::project::{Project, ProjectReader};
use super::sought::Asked;
use crate::history::journal::Place;
use crate::history::origins::Origins;
use crate::history::turn;
use crate::history::turn::json::{CauseForm, Kinded, json_action, json_cause, json_event};
use crate::history::turn::line::{Tone, actor, did};
use crate::owner::owned_run;
use crate::text::error::{CommandError, ExitCode};
use crate::text::query::Query;
use crate::text::render::{SourceTexts, TextForm};
use crate::text::value_json;
use crate::text::value_text::abbreviated;
use crate::text::view::{Told, View};
use output::{of_output, of_written};
use value::Values;

/// Shows where the values of a fact, a line of output, a call or a variable came from.
///
/// The first line has the expression that asserted the fact. The lines below it have the values in
/// it, each with the expression that it came from, and further in the values that this expression
/// used, down to literals and inputs. A literal or a variable that a condition chose leads on to
/// that condition. A variable, a field or a waiting procedure leads back to the turn that wrote it,
/// an answer to the arguments of its call, a fact that the program received to the expression that
/// asserted it; each such line names its turn. Duet finds them by taking the turn again, and as
/// many turns before it as the values need; it follows ten million instructions in all, and says so
/// if there are more.
///
/// Then comes the turn in which the fact came last, or the line was written. Each line below is the
/// turn that caused the one above, down to an input of a person or the start of the run. A tool's
/// result leads back to the turn that called the tool. Duet counts turns in which a fiber only
/// continued, and leaves them out, and shows the newest 20 of the others, and at most as many
/// values; `--limit` shows another number of both, and `--all` shows 10000. Without `--all`, it
/// stops after 100000 turns that only continued. `--json` has the same turns whole.
///
/// With `--output`, `--call` or `--variable` the pattern is left out. `--output N` means the N-th
/// line that the program displayed, counted from 1; `--call N` the N-th call of a tool in the turn
/// at the address; `--variable NAME` a variable of a procedure that waits there or failed there, as
/// `duet frames` shows them. The address may also come first, where it cannot be the pattern.
///
///   duet why '<report _>'
///   duet why greeted review@7
///   duet why --output 3 review
///   duet why --call 1 --argument path review@7
///   duet why --variable total review@12
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The pattern that the fact must match; with `--output`, `--call` or `--variable`, the
    /// address.
    #[arg(required_unless_present_any = ["output", "call", "variable"])]
    pub(crate) pattern: Option<String>,
    /// The address of a turn, or of the branch whose newest turn is meant.
    pub(crate) address: Option<String>,
    /// Begins at this line of output.
    #[arg(long, value_name = "N", conflicts_with = "address")]
    output: Option<NonZeroUsize>,
    /// Begins at this line of the turn's output, counted from 1.
    #[arg(skip)]
    written: Option<NonZeroUsize>,
    /// Begins at this call of a tool in the turn.
    #[arg(long, value_name = "N", conflicts_with_all = ["address", "output"])]
    call: Option<NonZeroUsize>,
    /// Explains only the argument of this name.
    #[arg(long, value_name = "NAME", requires = "call")]
    argument: Option<String>,
    /// Begins at this variable of a procedure that waits or failed.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["address", "output", "call"])]
    variable: Option<String>,
    /// Looks only at this frame, counted from 1 at the innermost that `duet frames` shows.
    #[arg(long, value_name = "N", requires = "variable")]
    frame: Option<NonZeroUsize>,
    /// Looks only at this fiber.
    #[arg(long, value_name = "NUMBER", requires = "variable")]
    fiber: Option<u64>,
    /// Shows at most this many turns, the newest, and at most as many values.
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// Shows more than the newest turns.
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

impl Request {
    /// The address for a line of output, a call or a variable. The command line has it in the place
    /// of the pattern; servers name it.
    fn start(&self) -> Option<&str> {
        self.address.as_deref().or(self.pattern.as_deref())
    }
}

/// A fact or a line, and the turns that led to it.
pub(crate) struct Report {
    place: Place,
    /// The fact.
    fact: Option<IOValue>,
    /// The line of output.
    line: Option<String>,
    call: Option<doors::Call>,
    variable: Option<doors::Named>,
    /// The call or the variable in words.
    head: Option<String>,
    /// The expression that made it, if it is known.
    by: Option<TextForm>,
    /// Where its values came from.
    values: Values,
    told: Vec<Shown>,
    /// Whether older turns are left out.
    is_cut: bool,
    notes: Vec<String>,
    /// Whether each line is shown whole.
    is_whole: bool,
}

/// A turn of the chain.
struct Shown {
    link: CausalTurn,
    /// The actor, and what it did.
    words: String,
    /// How many turns between the one above and this one only went on.
    skipped: u64,
}

/// The maximum number of turns that are shown, and with `--all`.
const SHOWN_MAX: usize = 20;
const ALL_MAX: usize = 10_000;

/// The maximum number of turns of a chain that only went on and are passed over, unless all are
/// wanted: a run may have taken any number of them.
const PASSED_MAX: u64 = 100_000;

/// Finds the turns that led to a fact or a line.
///
/// # Errors
/// If there is no such turn, the pattern is none, or the journal or its index is damaged.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let look = project.look()?;
    let most = if request.all { ALL_MAX } else { SHOWN_MAX };
    let most = request.limit.map_or(most, |limit| limit.get().min(ALL_MAX));
    let mut report = found(&look, request, most)?;
    report.is_whole = request.all;
    Ok(report)
}

fn found(look: &ProjectReader<'_>, request: &Request, most: usize) -> Result<Report, CommandError> {
    if let Some(number) = request.output {
        return of_output(look, request, number, most);
    }
    if let Some(number) = request.written {
        return of_written(look, request, number, most);
    }
    if let Some(number) = request.call {
        let place = look.resolve_turn(request.start())?;
        let opened = doors::call(look, &place, number, request.argument.as_deref(), most)?;
        let mut report = Report::nothing(place);
        report.call = Some(opened.what);
        report.open(look, opened.head, opened.explained, most)?;
        return Ok(report);
    }
    if let Some(name) = &request.variable {
        let place = look.resolve_turn(request.start())?;
        let sought = doors::Sought {
            name,
            frame: request.frame,
            fiber: request.fiber,
        };
        let opened = doors::variable(look, &place, &sought, most)?;
        let mut report = Report::nothing(place);
        report.variable = Some(opened.what);
        report.open(look, opened.head, opened.explained, most)?;
        return Ok(report);
    }
    of_fact(look, request, most)
}

fn of_fact(look: &ProjectReader<'_>, request: &Request, most: usize) -> Result<Report, CommandError> {
    let pattern = request.pattern.as_deref();
    let pattern =
        pattern.ok_or_else(|| CommandError::usage("a pattern says which fact is meant, such as `<job _>` or `job`"))?;
    let asked = Asked::of(look, pattern, request.address.as_deref());
    let query = Query::read(asked.what)?;
    let place = asked.place(look, "why")?;
    let (found, notes) = look.changes(&place, &query, Sought::Last)?;
    let mut report = Report::nothing(place);
    report.notes = notes;
    if let Some(FactChange { sequence, fact, .. }) = found.into_iter().next() {
        report.fact = Some(fact.value());
        let asserts = |action: &Action| matches!(action, Action::Assert(assert) if assert.value == fact);
        let action = action_of(look, &report.place, sequence, &asserts);
        let place = report.place.at_turn(sequence);
        let explained = match action {
            Some(action) => value::explained(look, &place, &Wanted::Action(action), most)?,
            None => None,
        };
        // A trace names the call of a procedure that the compiler integrated, not its body.
        report.by = action.and_then(|action| by(look, &report.place, sequence, action));
        if let Some(explained) = explained {
            report.by = report.by.or(explained.by);
            report.values = explained.values;
        }
        report.lead(look, sequence, most)?;
    }
    Ok(report)
}

/// The maximum length of a form in words.
const FORM_CHARACTERS: usize = 80;

/// Finds an action of a turn.
fn action_of(look: &ProjectReader<'_>, place: &Place, at: Sequence, is_it: &dyn Fn(&Action) -> bool) -> Option<usize> {
    let Body::Turn(taken) = turn::body(&owned_run::record_at(look.store, place, at).ok()?).ok()? else {
        return None;
    };
    let mut actions = taken.actions.iter();
    actions.position(|action| action.done().iter().any(is_it))
}

/// Finds the expression that performed an action of a turn, by taking the turn again up to there;
/// nothing if that is not possible, or the text is one of Duet's own libraries.
fn by(look: &ProjectReader<'_>, place: &Place, at: Sequence, action: usize) -> Option<TextForm> {
    let record = look.store.closed_at(&place.run, &place.branch, at).ok()??;
    let before = Place {
        turn: Sequence::new(at.number().checked_sub(1)?).ok(),
        ..place.clone()
    };
    let run = owned_run::restore(look.store, &before).ok()?;
    let texts = SourceTexts::of(run.programs::<SchemePrograms>().expander());
    let origin = run.place_of(&record, action).ok()??;
    texts.form_at(&origin)
}

impl Report {
    fn nothing(place: Place) -> Self {
        Self {
            place,
            fact: None,
            line: None,
            call: None,
            variable: None,
            head: None,
            by: None,
            values: Values::default(),
            told: Vec::new(),
            is_cut: false,
            notes: Vec::new(),
            is_whole: false,
        }
    }

    /// Takes in what explains a call or a variable, and follows the causes of the turn.
    fn open(
        &mut self,
        look: &ProjectReader<'_>,
        head: String,
        explained: Option<value::Explained>,
        most: usize,
    ) -> Result<(), CommandError> {
        self.head = Some(head);
        if let Some(explained) = explained {
            self.by = explained.by;
            self.values = explained.values;
        }
        self.lead(look, self.place.at(), most)
    }

    /// Follows the causes of a turn. Turns that only went on are counted and not kept, so memory
    /// follows what is shown, however long the chain is.
    fn lead(&mut self, look: &ProjectReader<'_>, from: Sequence, most: usize) -> Result<(), CommandError> {
        let source = self.place.source(look.store);
        let mut origins = Origins::of(self.place.source(look.store));
        let (mut skipped, mut last, mut passed) = (0, None, 0);
        for link in causal_turns(&source, from) {
            look.go_on()?;
            let link = link?;
            if self.told.len() == most {
                self.is_cut = true;
                return Ok(());
            }
            if !self.told.is_empty() && is_going_on(&link) {
                skipped += 1;
                passed += 1;
                last = Some(link);
                if passed == PASSED_MAX && most < ALL_MAX {
                    self.is_cut = true;
                    break;
                }
                continue;
            }
            last = None;
            self.told.push(Shown {
                words: told(&link, &mut origins)?,
                link,
                skipped: std::mem::take(&mut skipped),
            });
        }
        if let Some(link) = last {
            // The report has the end of a chain, or the last turn that was looked at.
            self.told.push(Shown {
                words: told(&link, &mut origins)?,
                link,
                skipped: skipped - 1,
            });
        }
        Ok(())
    }

    pub(crate) fn json(&self) -> Value {
        as_json(&Form {
            fact: self.fact.as_ref().map(value_json::of),
            line: self.line.clone(),
            call: self.call.clone(),
            variable: self.variable.clone(),
            by: self.by.clone(),
            values: self.values.clone(),
            chain: self.told.iter().map(form_of).collect(),
            is_cut: self.is_cut,
        })
    }

    pub(crate) fn tell(&self, view: &View) -> Told {
        let head = match (&self.fact, &self.line, &self.head) {
            (Some(fact), ..) => abbreviated(fact),
            (None, Some(line), _) => format!("{line:?}"),
            (None, None, Some(head)) => duet_drivers::text::line(head).into_owned(),
            (None, None, None) => {
                let until = self.place.address(self.place.at());
                let mut told = Told::data("").say(format!("there was no such fact or line up to {until}"));
                told.code = ExitCode::FAILED;
                return told;
            }
        };
        let by = self.by.as_ref().map(|TextForm { source, line, form }| {
            let form = duet_drivers::text::line(&turn::short(form, FORM_CHARACTERS)).into_owned();
            format!("  by {form} at {}:{line}\n", duet_drivers::text::line(source))
        });
        let text = format!(
            "{head}\n{}{}{}",
            by.unwrap_or_default(),
            self.values.text(),
            self.text()
        );
        let columns = view.columns.filter(|_| !self.is_whole);
        let lines = text
            .lines()
            .enumerate()
            .map(|(at, line)| styled_line(&cut(line, columns), (at == 0 && view.is_styled).then_some(BOLD)));
        let told = Told::data(Text::styled(&lines.collect::<String>()));
        let mut told = self.notes.iter().fold(told, |told, note| told.say(note));
        if let Some(cut) = self.values.cut {
            let since = self.values.since.map(|turn| format!(" back to turn {turn}"));
            let since = since.unwrap_or_default();
            let reason = match cut {
                Cut::Instructions => "after ten million instructions",
                Cut::Memory => "where the program's memory was full",
            };
            told = told.say(format!("Duet followed the values{since}, and stopped {reason}"));
        }
        if self.values.left_out > 0 && !self.is_cut {
            return told.say("further values are left out; `--all` shows more");
        }
        if self.is_cut {
            return told.say("older turns are left out; `--all` shows more");
        }
        told
    }

    /// The turns in words.
    fn text(&self) -> String {
        let mut text = String::new();
        for Shown { link, words, skipped } in &self.told {
            if *skipped > 0 {
                text.push_str(&format!("  after {} in which it went on\n", counted(*skipped, "turn")));
            }
            let events = link.turn.events.iter();
            let received: Vec<String> = events.map(|event| abbreviated(&event.encode())).collect();
            let cause = match link.turn.cause {
                Cause::Input {} => "  input",
                Cause::Start {} => "  start",
                Cause::Turn { .. } => "  received",
            };
            let asked = link
                .asked
                .map(|asked| format!(", asked for in turn {asked}"))
                .unwrap_or_default();
            text.push_str(&format!(
                "{} {words}\n{cause} {}{asked}\n",
                self.place.address(link.sequence),
                received.join("; ")
            ));
        }
        text
    }
}

/// Whether a turn in the middle of a chain only continued a fiber.
fn is_going_on(link: &CausalTurn) -> bool {
    link.turn
        .events
        .iter()
        .all(|event| matches!(event, Event::Resume { .. }))
}

/// The actor of a turn, and what it did.
fn told(link: &CausalTurn, origins: &mut Origins<'_>) -> Result<String, CommandError> {
    let role = origins.role(link.turn.actor, link.sequence)?;
    let did = did(&link.turn, link.sequence, origins)?;
    let loud: Vec<&str> = did
        .iter()
        .filter(|piece| piece.tone != Tone::Structural)
        .map(|piece| piece.text.as_str())
        .collect();
    let shown = if loud.is_empty() {
        "no effect".to_owned()
    } else {
        loud.join("; ")
    };
    Ok(format!("{:<8} {shown}", actor(link.turn.actor, role.as_deref())))
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    /// The fact; null if there never was one.
    fact: Option<Value>,
    /// The line of output, if one was asked about.
    line: Option<String>,
    /// The call, if one was asked about.
    call: Option<doors::Call>,
    /// The variable, if one was asked about.
    variable: Option<doors::Named>,
    /// The expression that asserted the fact; null if it is not known. It is
    /// unknown for a displayed line, because a program's output is written when it waits.
    by: Option<TextForm>,
    /// The expressions, variables and inputs that its values came from, in the turn that made it.
    values: Values,
    /// The turns that led to it, newest first.
    chain: Vec<LinkForm>,
    /// Whether older turns are left out.
    is_cut: bool,
}

/// A turn of the chain.
#[derive(Serialize, JsonSchema)]
struct LinkForm {
    turn: u64,
    /// How many turns between the one before and this one only went on.
    skipped: u64,
    /// The turn that made the request whose answer this turn received.
    asked: Option<u64>,
    /// The number of the actor.
    actor: u64,
    cause: CauseForm,
    events: Vec<Kinded>,
    actions: Vec<Kinded>,
}

fn form_of(Shown { link, skipped, .. }: &Shown) -> LinkForm {
    LinkForm {
        skipped: *skipped,
        turn: link.sequence.number(),
        asked: link.asked.map(Sequence::number),
        actor: link.turn.actor.0,
        cause: json_cause(&link.turn.cause),
        events: link.turn.events.iter().map(json_event).collect(),
        actions: link.turn.actions.iter().map(json_action).collect(),
    }
}
