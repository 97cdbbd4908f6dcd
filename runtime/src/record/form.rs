//! How a turn is written as the body of a record, in each version of bodies.
//!
//! Owns what differs from version to version. INVARIANT: what is read as a turn is what one version writes, to the byte, and has one meaning; so a
//! reader need not know the version, and only who writes does.
//! It does not choose the version; the run's first record does, for all of its turns.
//! Read next: `../replay.rs`.

use duet_journal::packed::{PackedError, PackedWriter, View};
use duet_journal::{PackedValue, Sequence};
use preserves::IOValue;

use super::{Outcome, TurnRecord};
use crate::gate::Verdict;
use crate::model::codec::{Codec, DecodeError, Fields, label_of, record};
use crate::state::event::Cause;

/// The oldest version: each verdict, each cause and the outcome are records.
pub const OLDEST: u64 = 1;

/// The first version with short parts: what is so of nearly every turn is a byte or two.
const SHORT: u64 = 2;

/// The first version with bare bodies: one that would say that nothing was dropped, all was allowed and the turn committed is a sequence of its other parts.
const BARE: u64 = 3;

/// The version of bodies that new runs have.
pub const VERSION: u64 = BARE;

const LABEL: &str = "turn";
const FIELDS: usize = 8;

/// The places in a full body of what a bare one leaves out: `dropped`, `verdicts` and `outcome`.
const LEFT_OUT: [usize; 3] = [3, 5, 7];

/// A part of a body: a record, or something short in its place.
#[derive(PartialEq)]
enum Part<S, T> {
    Short(S),
    Full(T),
}

impl<S: Codec, T: Codec> Codec for Part<S, T> {
    fn encode(&self) -> IOValue {
        match self {
            Self::Short(short) => short.encode(),
            Self::Full(full) => full.encode(),
        }
    }

    fn write(&self, out: &mut PackedWriter) {
        match self {
            Self::Short(short) => short.write(out),
            Self::Full(full) => full.write(out),
        }
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        // Elsewhere here its `write` would be in the way.
        use preserves::ValueImpl as _;
        if value.is_record() {
            T::decode(value).map(Self::Full)
        } else {
            S::decode(value).map(Self::Short)
        }
    }
}

impl TurnRecord {
    /// Encodes the record's body for the journal, in the version that the run has.
    ///
    /// # Errors
    /// [`PackedError`] if it is too large.
    pub fn pack(&self, version: u64) -> Result<PackedValue, PackedError> {
        let packed = PackedValue::write(|out| self.write(version, out));
        debug_assert_eq!(
            packed,
            PackedValue::from_value(&self.encode(version)),
            "both ways to encode a record agree"
        );
        packed
    }

    /// Represents the record's body.
    pub fn encode(&self, version: u64) -> IOValue {
        let verdicts = self.verdicts(version).iter().map(Verdict::encode);
        let fields = vec![
            self.actor.encode(),
            self.cause(version).encode(),
            self.events.encode(),
            self.dropped.encode(),
            self.actions.encode(),
            IOValue::new(verdicts.collect::<Vec<_>>()),
            self.fuel.encode(),
            self.outcome(version).encode(),
        ];
        if self.is_bare(version) {
            let parts = (0..).zip(fields).filter(|(place, _)| !LEFT_OUT.contains(place));
            IOValue::new(parts.map(|(_, part)| part).collect::<Vec<_>>())
        } else {
            record(LABEL, fields)
        }
    }

    fn write(&self, version: u64, out: &mut PackedWriter) {
        if self.is_bare(version) {
            return out.sequence(|out| {
                self.actor.write(out);
                self.cause(version).write(out);
                self.events.write(out);
                self.actions.write(out);
                self.fuel.write(out);
            });
        }
        out.record(LABEL, |out| {
            self.actor.write(out);
            self.cause(version).write(out);
            self.events.write(out);
            self.dropped.write(out);
            self.actions.write(out);
            out.sequence(|out| self.verdicts(version).iter().for_each(|verdict| verdict.write(out)));
            self.fuel.write(out);
            self.outcome(version).write(out);
        });
    }

    /// Reads the body of any version.
    ///
    /// # Errors
    /// [`DecodeError`] if it is not what one of them writes.
    pub fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        if label_of(value).is_some() {
            Self::decode_full(value)
        } else {
            Self::decode_full(&full(value)?)
        }
    }

    fn decode_full(value: &IOValue) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value, LABEL, FIELDS)?;
        let actor = fields.read("actor")?;
        let cause: Part<Sequence, Cause> = fields.read("cause")?;
        let events = fields.read("events")?;
        let dropped = fields.read("dropped")?;
        let actions: Vec<_> = fields.read("actions")?;
        let verdicts: Vec<Verdict> = fields.read("verdicts")?;
        let fuel = fields.read("fuel")?;
        let outcome: Part<bool, Outcome> = fields.read("outcome")?;
        let turn = Self {
            actor,
            cause: match &cause {
                Part::Short(sequence) => Cause::Turn { sequence: *sequence },
                Part::Full(cause) => cause.clone(),
            },
            events,
            dropped,
            verdicts: if verdicts.is_empty() {
                vec![Verdict::Allow {}; actions.len()]
            } else {
                verdicts.clone()
            },
            actions,
            fuel,
            outcome: match &outcome {
                Part::Short(_) => Outcome::Committed {},
                Part::Full(outcome) => outcome.clone(),
            },
        };
        if turn.verdicts.len() != turn.actions.len() {
            return inconsistent("each action has one verdict");
        }
        let writes = |version| {
            turn.cause(version) == cause && turn.verdicts(version) == verdicts && turn.outcome(version) == outcome
        };
        if (OLDEST..=VERSION).any(writes) {
            Ok(turn)
        } else {
            inconsistent("one version writes all parts of a turn as they are")
        }
    }

    /// Says whether the body is a bare one: nothing was dropped, all was allowed, and the turn committed.
    fn is_bare(&self, version: u64) -> bool {
        version >= BARE
            && self.dropped.is_empty()
            && self.verdicts(version).is_empty()
            && self.outcome(version) == Part::Short(true)
    }

    /// Why the turn took place: the position of the turn that sent its events is enough.
    fn cause(&self, version: u64) -> Part<Sequence, Cause> {
        match self.cause {
            Cause::Turn { sequence } if version >= SHORT => Part::Short(sequence),
            Cause::Turn { .. } | Cause::Start {} | Cause::Input {} => Part::Full(self.cause.clone()),
        }
    }

    /// The verdicts: none, if all are yes.
    fn verdicts(&self, version: u64) -> &[Verdict] {
        let is_yes = |verdict: &Verdict| *verdict == Verdict::Allow {};
        if version >= SHORT && self.verdicts.iter().all(is_yes) {
            &[]
        } else {
            &self.verdicts
        }
    }

    /// How the turn ended: that it committed is one byte.
    fn outcome(&self, version: u64) -> Part<bool, Outcome> {
        if version >= SHORT && self.outcome == (Outcome::Committed {}) {
            Part::Short(true)
        } else {
            Part::Full(self.outcome.clone())
        }
    }
}

/// Makes the full body that a bare one stands for.
fn full(bare: &IOValue) -> Result<IOValue, DecodeError> {
    let mut fields: Vec<IOValue> = Codec::decode(bare)?;
    let expected = FIELDS - LEFT_OUT.len();
    if fields.len() != expected {
        return Err(DecodeError::Arity {
            label: LABEL,
            expected,
            found: fields.len(),
        });
    }
    let nothing = IOValue::new(Vec::<IOValue>::new());
    for (place, part) in LEFT_OUT.into_iter().zip([nothing.clone(), nothing, IOValue::new(true)]) {
        fields.insert(place, part);
    }
    Ok(record(LABEL, fields))
}

fn inconsistent<T>(what: &'static str) -> Result<T, DecodeError> {
    Err(DecodeError::Inconsistent { what })
}

/// Counts the bytes of a turn's events and actions in its body, of whatever version.
pub fn told_and_done_bytes(body: View<'_>) -> usize {
    // A bare body leaves out the part between them.
    let places = if body.label().is_some() { [2, 4] } else { [2, 3] };
    let parts = body.items().enumerate();
    let told_and_done = parts.filter(|(place, _)| places.contains(place));
    told_and_done.map(|(_, part)| part.as_bytes().len()).sum()
}

/// How the body of a turn begins, full or bare, up to the length of the actor's number.
const ACTOR: [&[u8]; 2] = [b"\xb4\xb3\x04turn\xb0", b"\xb5\xb0"];
/// How the causes inside the run begin, which follow the number: a record, or the turn's position.
const CAUSES: [&[u8]; 3] = [b"\xb4\xb3\x05start", b"\xb4\xb3\x04turn", b"\xb0"];
/// How the full body ends of a turn that was committed: a record or `#t`, and the ends of what it is in.
const COMMITTED: [&[u8]; 2] = [b"committed\x84\x84", b"\x81\x84"];
/// How a bare body begins, which is that of a turn that was committed.
const SEQUENCE: &[u8] = b"\xb5";

/// Says whether a turn came from inside the run, by a body that may be anything.
pub(crate) fn has_internal_cause(body: &[u8]) -> bool {
    let number = ACTOR.iter().find_map(|actor| body.strip_prefix(*actor)?.split_first());
    let cause = number.and_then(|(length, rest)| rest.get(usize::from(*length)..));
    cause.is_some_and(|cause| CAUSES.iter().any(|inside| cause.starts_with(inside)))
}

/// Says whether a turn was committed, by a body that may be anything: one that failed ends in the ends of three records.
pub(crate) fn has_committed(body: &[u8]) -> bool {
    body.starts_with(SEQUENCE) || COMMITTED.iter().any(|end| body.ends_with(end))
}
