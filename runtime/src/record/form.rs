//! How a turn is written as the body of a record.
//!
//! INVARIANT: a turn is written in one form, the shortest, and no other form of it is read.
//! It does not know what the parts mean. Read next: `../run/replay.rs`.

use duet_journal::packed::{Compound, PackedError, PackedLimits, PackedWriter, Reader, Token, View, read_value};
use duet_journal::{PackedValue, Sequence};
use preserves::IOValue;

use super::{Outcome, TurnRecord};
use crate::gate::Verdict;
use crate::model::codec::{Codec, DecodeError, Fields, label_of};
use crate::model::identity::ActorId;
use crate::state::event::{Cause, Event};

/// The version of bodies, which the first record of a run says.
pub const VERSION: u64 = 1;

const LABEL: &str = "turn";

/// A cause: the position of the turn that sent the events, or a record.
struct ShortCause(Cause);

impl Codec for ShortCause {
    fn write(&self, out: &mut PackedWriter) {
        match &self.0 {
            Cause::Turn { sequence } => sequence.write(out),
            cause @ (Cause::Start {} | Cause::Input {}) => cause.write(out),
        }
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        // Elsewhere here its `write` would be in the way.
        use preserves::ValueImpl as _;
        if !value.is_record() {
            return Sequence::decode(value).map(|sequence| Self(Cause::Turn { sequence }));
        }
        match Cause::decode(value)? {
            Cause::Turn { .. } => Err(DecodeError::kind("the position of a turn", value)),
            cause @ (Cause::Start {} | Cause::Input {}) => Ok(Self(cause)),
        }
    }
}

/// An outcome: `#t` if the turn committed, or a record.
struct ShortOutcome(Outcome);

impl Codec for ShortOutcome {
    fn write(&self, out: &mut PackedWriter) {
        match &self.0 {
            Outcome::Committed {} => out.boolean(true),
            outcome @ Outcome::Failed { .. } => outcome.write(out),
        }
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        use preserves::ValueImpl as _;
        if value.as_boolean() == Some(true) {
            return Ok(Self(Outcome::Committed {}));
        }
        match Outcome::decode(value)? {
            Outcome::Committed {} => Err(DecodeError::kind("#t", value)),
            outcome @ Outcome::Failed { .. } => Ok(Self(outcome)),
        }
    }
}

impl Codec for TurnRecord {
    fn write(&self, out: &mut PackedWriter) {
        let begin = |out: &mut PackedWriter| {
            self.actor.write(out);
            ShortCause(self.cause.clone()).write(out);
            self.events.write(out);
        };
        if self.is_bare() {
            return out.sequence(|out| {
                begin(out);
                self.actions.write(out);
                self.fuel.write(out);
            });
        }
        out.record(LABEL, |out| {
            begin(out);
            self.dropped.write(out);
            self.actions.write(out);
            let verdicts = if self.is_allowed() { &[][..] } else { &self.verdicts };
            out.sequence(|out| verdicts.iter().for_each(|verdict| verdict.write(out)));
            self.attempts.write(out);
            self.fuel.write(out);
            ShortOutcome(self.outcome.clone()).write(out);
        });
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        if label_of(value).is_none() {
            return Self::decode_bare(value);
        }
        let mut fields = Fields::of(value, LABEL, 9)?;
        let mut turn = Self::new(fields.read("actor")?, read_cause(&mut fields)?, fields.read("events")?);
        turn.dropped = fields.read("dropped")?;
        turn.actions = fields.read("actions")?;
        turn.verdicts = fields.read("verdicts")?;
        turn.attempts = fields.read("attempts")?;
        turn.fuel = fields.read("fuel")?;
        turn.outcome = fields.read::<ShortOutcome>("outcome")?.0;
        if turn.verdicts.is_empty() {
            turn.allow_all();
        } else if turn.is_allowed() {
            return inconsistent("there are no verdicts if all was allowed");
        }
        if turn.verdicts.len() != turn.actions.len() {
            return inconsistent("each action has one verdict");
        }
        if turn
            .attempts
            .iter()
            .any(|attempt| attempt.verdict == (Verdict::Allow {}))
        {
            return inconsistent("the gate did not allow an attempt");
        }
        if turn.is_bare() {
            return inconsistent("a turn is written in its shortest form");
        }
        Ok(turn)
    }
}

impl TurnRecord {
    /// Packs the record's body for the journal.
    ///
    /// # Errors
    /// [`PackedError`] if it is too large.
    pub fn pack(&self) -> Result<PackedValue, PackedError> {
        PackedValue::write(|out| self.write(out))
    }

    fn decode_bare(value: &IOValue) -> Result<Self, DecodeError> {
        let mut fields = Fields::of_sequence(value, LABEL, 5)?;
        let mut turn = Self::new(fields.read("actor")?, read_cause(&mut fields)?, fields.read("events")?);
        turn.actions = fields.read("actions")?;
        turn.fuel = fields.read("fuel")?;
        turn.allow_all();
        Ok(turn)
    }

    /// Says whether the body leaves out that nothing was dropped or refused, all was allowed, and
    /// the turn committed.
    fn is_bare(&self) -> bool {
        let is_uneventful = self.dropped.is_empty() && self.attempts.is_empty() && self.is_allowed();
        is_uneventful && self.outcome == (Outcome::Committed {})
    }

    fn is_allowed(&self) -> bool {
        self.verdicts.iter().all(|verdict| *verdict == Verdict::Allow {})
    }

    fn allow_all(&mut self) {
        self.verdicts = vec![Verdict::Allow {}; self.actions.len()];
    }
}

fn read_cause(fields: &mut Fields) -> Result<Cause, DecodeError> {
    fields.read::<ShortCause>("cause").map(|cause| cause.0)
}

fn inconsistent<T>(what: &'static str) -> Result<T, DecodeError> {
    Err(DecodeError::Inconsistent { what })
}

/// The actor, the cause and the events of a turn.
pub(crate) struct TurnInput {
    /// Whose turn it was.
    pub(crate) actor: ActorId,
    /// Why it took place.
    pub(crate) cause: Cause,
    pub(crate) events: Vec<Event>,
}

/// Reads the actor, the cause and the events of the turn that a body describes; the body may be
/// anything.
pub(crate) fn input(body: &[u8]) -> Option<TurnInput> {
    let mut reader = Reader::new(body, PackedLimits::default()).ok()?;
    let first = reader.next().ok()??;
    let is_full = first == Token::Open(Compound::Record) && reader.next().ok()?? == Token::Symbol(LABEL);
    if !is_full && first != Token::Open(Compound::Sequence) {
        return None;
    }
    let mut field = || -> Option<IOValue> {
        let start = reader.offset();
        let mut depth = 0_usize;
        loop {
            let token = reader.next().ok()??;
            if let Token::Open(_) = token {
                depth += 1;
            } else if let Token::Close(_) = token {
                depth = depth.checked_sub(1)?;
            }
            if depth == 0 {
                return read_value(body.get(start..reader.offset())?).ok();
            }
        }
    };
    let (actor, cause, events) = (field()?, field()?, field()?);
    Some(TurnInput {
        actor: ActorId::decode(&actor).ok()?,
        cause: ShortCause::decode(&cause).ok()?.0,
        events: Vec::decode(&events).ok()?,
    })
}

/// Counts the bytes of a turn's events and actions in its body.
pub fn payload_bytes(body: View<'_>) -> usize {
    // A bare body leaves out the part between them.
    let places = if body.label().is_some() { [2, 4] } else { [2, 3] };
    let parts = body.items().enumerate();
    let payload = parts.filter(|(place, _)| places.contains(place));
    payload.map(|(_, part)| part.as_bytes().len()).sum()
}

/// How the body of a turn begins, full or bare, up to the length of the actor's number.
const ACTOR: [&[u8]; 2] = [b"\xb4\xb3\x04turn\xb0", b"\xb5\xb0"];
/// How the causes inside the run begin, which follow the number: a record, or the turn's position.
const CAUSES: [&[u8]; 2] = [b"\xb4\xb3\x05start", b"\xb0"];
/// How the full body ends of a turn that was committed: `#t`, and the end of the record.
const COMMITTED: &[u8] = b"\x81\x84";
/// How a bare body begins, which is that of a turn that was committed.
const SEQUENCE: &[u8] = b"\xb5";

/// Says whether a turn came from inside the run, by a body that may be anything.
pub(crate) fn has_internal_cause(body: &[u8]) -> bool {
    let number = ACTOR.iter().find_map(|actor| body.strip_prefix(*actor)?.split_first());
    let cause = number.and_then(|(length, rest)| rest.get(usize::from(*length)..));
    cause.is_some_and(|cause| CAUSES.iter().any(|inside| cause.starts_with(inside)))
}

/// Says whether a turn was committed, by a body that may be anything: one that failed ends in the
/// ends of three records.
pub(crate) fn has_committed(body: &[u8]) -> bool {
    body.starts_with(SEQUENCE) || body.ends_with(COMMITTED)
}
