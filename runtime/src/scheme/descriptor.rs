//! Wait descriptors: the records that describe what `await` waits for.
//!
//! Owns their forms: `(signal label [:scope v])`, `(record label :field n :equals v)`,
//! `(tool-result :tag t)`, `(user-input :prompt v [:tag t])`, `(predicate procedure [:pattern p])`,
//! `(elapsed milliseconds)`, a pattern, and a list of these, of which the first to hold decides.
//! INVARIANT: a wait returns the whole value that satisfies it, because the pattern's first capture
//! is that value.
//! It does not wait; the turn does.
//! Read next: `convert.rs`.

use duet_kernel::heap::Kind;
use duet_kernel::heap::kind::record;
use duet_kernel::value::Value;
use preserves::IOValue;

use super::convert;
use super::host::call::{COPIED_BYTES, Call, Fault};
use crate::action::{Need, ask_user, timer};
use crate::dataspace::pattern::{GroupKind, Pattern, Step};
use crate::model::codec::Codec;
use crate::model::value::Fact;
use crate::turn::task::WaitCondition;

/// The labels of patterns, which are descriptors themselves.
const PATTERN_LABELS: [&str; 4] = ["_", "bind", "lit", "group"];

/// The names of descriptors that a list of data can have.
const NAMES: [&str; 5] = ["signal", "record", "tool-result", "user-input", "elapsed"];

/// Returns whether a list is a descriptor written as data, such as `'(signal ready)`, and not a
/// list of descriptors.
pub(super) fn is_datum(call: &Call<'_>, list: Value) -> bool {
    let heap = &call.instance.heap;
    list.is_pair() && heap.is_symbol(heap.car(list))
}

/// Returns the elements of a list; nothing if it does not end like one.
fn elements(call: &Call<'_>, mut list: Value) -> Option<Vec<Value>> {
    let mut elements = Vec::new();
    while list.is_pair() {
        if elements.len() > DATUM_LENGTH_MAX {
            return None;
        }
        elements.push(call.instance.heap.car(list));
        list = call.instance.heap.cdr(list);
    }
    (list == Value::NIL).then_some(elements)
}

/// The maximum length of a descriptor that is a list; a longer one is none, or goes in a circle.
const DATUM_LENGTH_MAX: usize = 16;

/// Reads a descriptor that is written as data.
fn read_datum(call: &mut Call<'_>, descriptor: Value) -> Result<Described, Fault> {
    let parts = elements(call, descriptor).ok_or_else(|| malformed(descriptor))?;
    let (name, fields) = parts.split_first().ok_or_else(|| malformed(descriptor))?;
    let name = call.instance.heap.symbol_name(*name);
    if !NAMES.contains(&name.as_str()) {
        return Err(malformed(descriptor));
    }
    match (name.as_str(), fields) {
        ("record", [label, options @ ..]) => field_wait(call, *label, options, descriptor).map(Described::Ready),
        (name, fields) => named(call, name, fields, descriptor)?.ok_or_else(|| malformed(descriptor)),
    }
}

/// A descriptor that has been read.
enum Described {
    /// A pattern, or the answer to a request that has been made.
    Ready(WaitCondition),
    /// A pattern and a procedure.
    Predicate(Pattern, Value),
    /// A question to the person, with its tag.
    Question(IOValue, Option<String>),
    /// A time in milliseconds.
    Elapsed(u64),
}

/// Reads descriptors and, if the actor may wait for all of them, asks the questions and starts the
/// timers.
pub(super) fn begin(call: &mut Call<'_>, descriptors: &[Value]) -> Result<Vec<WaitCondition>, Fault> {
    let mut described = Vec::new();
    for descriptor in descriptors {
        described.push(read(call, *descriptor)?);
    }
    for described in &described {
        described.check(call)?;
    }
    described.into_iter().map(|described| described.begin(call)).collect()
}

/// Reads a descriptor and checks that the actor may wait for it.
pub(super) fn check(call: &mut Call<'_>, descriptor: Value) -> Result<(), Fault> {
    read(call, descriptor)?.check(call)
}

impl Described {
    /// Checks that the actor may wait for it.
    fn check(&self, call: &mut Call<'_>) -> Result<(), Fault> {
        match self {
            Self::Ready(WaitCondition::Matching(pattern) | WaitCondition::Accepted(pattern, _))
            | Self::Predicate(pattern, _) => {
                call.turn.require_observing(pattern)?;
            }
            Self::Ready(WaitCondition::Answer(_)) => {}
            // The attempt fails, and is on record.
            Self::Question(prompt, tag) if !call.turn.holds(&Need::of(ask_user::CAPABILITY)) => {
                call.turn.ask_user(prompt.clone(), tag.clone())?;
            }
            Self::Elapsed(delay_ms) if !call.turn.holds(&Need::of(timer::CAPABILITY)) => {
                call.turn.start_timer(*delay_ms)?;
            }
            Self::Question(..) | Self::Elapsed(_) => {}
        }
        Ok(())
    }

    /// Asks the question, or starts the timer.
    fn begin(self, call: &mut Call<'_>) -> Result<WaitCondition, Fault> {
        Ok(match self {
            Self::Ready(wanted) => wanted,
            Self::Predicate(pattern, procedure) => WaitCondition::Accepted(pattern, call.root(procedure)?),
            Self::Question(prompt, tag) => WaitCondition::Answer(call.turn.ask_user(prompt, tag)?),
            Self::Elapsed(delay_ms) => WaitCondition::Answer(call.turn.start_timer(delay_ms)?),
        })
    }
}

/// Reads a descriptor.
fn read(call: &mut Call<'_>, descriptor: Value) -> Result<Described, Fault> {
    if is_datum(call, descriptor) {
        return read_datum(call, descriptor);
    }
    let heap = &call.instance.heap;
    if !heap.is_kind(descriptor, Kind::Record) || !heap.is_labelled(descriptor) {
        return Err(malformed(descriptor));
    }
    let label = heap.record_label(descriptor);
    let fields: Vec<Value> = (0..heap.record_length(descriptor))
        .map(|field| heap.field(descriptor, record::FIELDS + field))
        .collect();
    let name = if heap.is_symbol(label) {
        heap.symbol_name(label)
    } else {
        String::new()
    };
    if let Some(described) = named(call, &name, &fields, descriptor)? {
        return Ok(described);
    }
    if PATTERN_LABELS.contains(&name.as_str()) {
        let pattern = whole(call.pattern(descriptor)?);
        return Ok(Described::Ready(WaitCondition::Matching(pattern)));
    }
    field_wait(call, label, &fields, descriptor).map(Described::Ready)
}

/// Reads a descriptor that has its own name; `None` if it has none of them.
fn named(call: &mut Call<'_>, name: &str, fields: &[Value], descriptor: Value) -> Result<Option<Described>, Fault> {
    Ok(Some(match (name, fields) {
        ("signal", [signal, options @ ..]) => Described::Ready(signal_wait(call, *signal, options, descriptor)?),
        ("tool-result", options) => Described::Ready(tool_result(call, options, descriptor)?),
        ("user-input", options) => user_input(call, options, descriptor)?,
        ("elapsed", [delay]) => elapsed(*delay, descriptor)?,
        ("predicate", [procedure, options @ ..]) => predicate(call, *procedure, options, descriptor)?,
        _ => return Ok(None),
    }))
}

fn malformed(descriptor: Value) -> Fault {
    let message = "await: expected (signal label [:scope v]), (record label :field n :equals v), (tool-result :tag t), \
                   (user-input :prompt v [:tag t]), (predicate procedure [:pattern p]), \
                   (elapsed milliseconds) or a pattern";
    Fault::condition_of("bad-descriptor", message, vec![descriptor])
}

/// Returns a pattern whose first capture is the whole value that it matches.
fn whole(pattern: Pattern) -> Pattern {
    if matches!(pattern, Pattern::Bind(_)) {
        pattern
    } else {
        Pattern::bind(pattern)
    }
}

fn literal(value: IOValue) -> Result<Pattern, Fault> {
    fact(value).map(Pattern::Literal)
}

fn fact(value: IOValue) -> Result<Fact, Fault> {
    Fact::new(value).map_err(|error| Fault::condition_of("too-large", &error.to_string(), Vec::new()))
}

fn signal_wait(
    call: &mut Call<'_>,
    label: Value,
    options: &[Value],
    descriptor: Value,
) -> Result<WaitCondition, Fault> {
    let [scope] = call.options(options, ["scope"]).ok_or_else(|| malformed(descriptor))?;
    let label = call.leave(label)?;
    let pattern = match scope {
        None => Pattern::record(fact(label)?, Vec::new()),
        Some(scope) => {
            let scope = call.leave(scope)?;
            Pattern::record(fact(IOValue::symbol("signal"))?, vec![literal(label)?, literal(scope)?])
        }
    };
    Ok(WaitCondition::Matching(Pattern::bind(pattern)))
}

fn field_wait(call: &mut Call<'_>, label: Value, options: &[Value], descriptor: Value) -> Result<WaitCondition, Fault> {
    let [field, equals] = call
        .options(options, ["field", "equals"])
        .ok_or_else(|| malformed(descriptor))?;
    let label = fact(call.leave(label)?)?;
    let entries = match (
        field
            .and_then(Value::as_fixnum)
            .and_then(|field| u64::try_from(field).ok()),
        equals,
    ) {
        (Some(field), Some(equals)) => vec![(Step::Index(field), literal(call.leave(equals)?)?)],
        (None, None) if options.is_empty() => Vec::new(),
        _ => return Err(malformed(descriptor)),
    };
    Ok(WaitCondition::Matching(Pattern::bind(Pattern::Group {
        kind: GroupKind::Record(label),
        size: None,
        entries,
    })))
}

fn tool_result(call: &mut Call<'_>, options: &[Value], descriptor: Value) -> Result<WaitCondition, Fault> {
    let tag = call
        .options(options, ["tag"])
        .and_then(|[tag]| tag)
        .ok_or_else(|| malformed(descriptor))?;
    let text = call.name_of(tag).ok_or_else(|| malformed(descriptor))?;
    match call.turn.tool_call(&text) {
        Some(request) => Ok(WaitCondition::Answer(request)),
        None => Err(Fault::condition_of(
            "no-such-request",
            "await: no tool call with this tag is waited for",
            vec![tag],
        )),
    }
}

fn user_input(call: &mut Call<'_>, options: &[Value], descriptor: Value) -> Result<Described, Fault> {
    let [prompt, tag] = call
        .options(options, ["prompt", "tag"])
        .ok_or_else(|| malformed(descriptor))?;
    let prompt = call.leave(prompt.ok_or_else(|| malformed(descriptor))?)?;
    let tag = tag
        .map(|tag| call.name_of(tag).ok_or_else(|| malformed(descriptor)))
        .transpose()?;
    Ok(Described::Question(prompt, tag))
}

/// The longest wait, in milliseconds: a hundred years.
const DELAY_MS_MAX: u64 = 100 * 366 * 86_400_000;

fn elapsed(delay: Value, descriptor: Value) -> Result<Described, Fault> {
    let delay_ms = delay.as_fixnum().and_then(|delay| u64::try_from(delay).ok());
    let Some(delay_ms) = delay_ms.filter(|delay| *delay <= DELAY_MS_MAX) else {
        let message = "elapsed: a time is an exact number of milliseconds from 0 to a hundred years";
        return Err(Fault::condition_of("bad-descriptor", message, vec![descriptor]));
    };
    Ok(Described::Elapsed(delay_ms))
}

fn predicate(call: &mut Call<'_>, procedure: Value, options: &[Value], descriptor: Value) -> Result<Described, Fault> {
    let [pattern] = call
        .options(options, ["pattern"])
        .ok_or_else(|| malformed(descriptor))?;
    let pattern = match pattern {
        Some(pattern) => call.pattern(pattern)?,
        None => Pattern::Discard,
    };
    if !call.is_procedure(procedure) {
        return Err(malformed(descriptor));
    }
    Ok(Described::Predicate(whole(pattern), procedure))
}

impl Call<'_> {
    /// Reads a pattern from a value.
    pub(super) fn pattern(&mut self, value: Value) -> Result<Pattern, Fault> {
        let encoded = convert::leave(&self.instance.heap, value).map_err(Fault::Boundary)?;
        let name = self.procedure.name.trim_start_matches('%');
        let bad = |message: String| Fault::condition_of("bad-pattern", &message, vec![value]);
        let pattern = Pattern::decode(&encoded).map_err(|error| {
            bad(format!(
                "{name}: this is no pattern, which `(pattern template)` makes: {error}"
            ))
        })?;
        if pattern.is_possible() {
            Ok(pattern)
        } else {
            Err(bad(format!(
                "{name}: nothing can match the pattern: it looks for more entries than it allows"
            )))
        }
    }

    /// Reads `:keyword value` pairs with these keywords, each at most once.
    pub(super) fn options<const N: usize>(&self, options: &[Value], names: [&str; N]) -> Option<[Option<Value>; N]> {
        let heap = &self.instance.heap;
        let mut found = [None; N];
        let pairs = options.chunks_exact(2);
        if !pairs.remainder().is_empty() {
            return None;
        }
        for pair in pairs {
            if !heap.is_kind(pair[0], Kind::Keyword) {
                return None;
            }
            let name = heap.symbol_name(pair[0]);
            let position = names.iter().position(|known| **known == *name)?;
            if found[position].replace(pair[1]).is_some() {
                return None;
            }
        }
        Some(found)
    }

    /// Returns the text of a string, symbol or keyword, and charges for the copy.
    pub(super) fn name_of(&self, value: Value) -> Option<String> {
        let heap = &self.instance.heap;
        let name = if heap.is_string(value) {
            heap.string_text(value)
        } else if heap.is_symbol(value) || heap.is_kind(value, Kind::Keyword) {
            heap.symbol_name(value)
        } else {
            return None;
        };
        heap.charge(name.len() as u64 / COPIED_BYTES);
        Some(name)
    }
}
