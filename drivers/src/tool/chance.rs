//! `chance/integer` and `chance/real`: chance.
//!
//! INVARIANT: each call takes fresh bytes from the system; the journal keeps the answer, so a
//! replay gets the same.
//! It keeps no state between calls. Read next: `tool/clock.rs`.

use std::fs::File;
use std::io::Read;

use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use super::arguments::{Arguments, integer, positive};
use super::failure::Kind;
use super::interface::{Call, Context, Outcome, Stub, Tool, blocking};
use super::returns::Returns;
use crate::tool::description::{Answer, Description, Field, Shape};

const PAYLOAD: &[Field] = &[Field::required(
    "below",
    Shape::Positive,
    "the limit, which is never drawn",
)];

static INTEGER: Description = Description::pure(
    "chance/integer",
    "draws an integer from 0 to below a limit, each as likely as the others",
    PAYLOAD,
    Answer::new("an integer", Returns::Integer),
);

static REAL: Description = Description::pure(
    "chance/real",
    "draws a number from 0 to below 1",
    &[],
    Answer::new("a double", Returns::Double),
);

/// One of the two tools.
pub(crate) struct Chance {
    description: &'static Description,
    draw: fn(&IOValue) -> Outcome,
}

impl Chance {
    /// Makes `chance/integer`.
    pub(crate) fn integer() -> Self {
        Self {
            description: &INTEGER,
            draw: |payload| {
                let below = Arguments::read(&INTEGER, payload)?.required("below", positive)?;
                Ok(integer(number_below(below, fresh_bits)?))
            },
        }
    }

    /// Makes `chance/real`.
    pub(crate) fn real() -> Self {
        Self {
            description: &REAL,
            // 53 bits are the precision of a double.
            draw: |_| Ok(IOValue::new((fresh_bits()? >> 11) as f64 / (1_u64 << 53) as f64)),
        }
    }
}

/// Draws a number below `limit`; drops bits that would make small numbers likelier.
pub(crate) fn number_below(limit: u64, mut bits: impl FnMut() -> Result<u64, ToolFailure>) -> Result<u64, ToolFailure> {
    let rest = (u64::MAX % limit + 1) % limit;
    loop {
        let drawn = bits()?;
        if drawn <= u64::MAX - rest {
            return Ok(drawn % limit);
        }
    }
}

/// Takes 64 bits from the system's source of chance.
pub(crate) fn fresh_bits() -> Result<u64, ToolFailure> {
    let mut bytes = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(|error| Kind::Failed.because(format!("the system gives no random bytes: {error}")))?;
    Ok(u64::from_le_bytes(bytes))
}

impl Tool for Chance {
    fn description(&self) -> &Description {
        self.description
    }

    fn call(&self, payload: IOValue, _context: Context) -> Call {
        let draw = self.draw;
        blocking(move || draw(&payload))
    }

    /// The draw, for which no call has to wait: the system has random bytes at any time.
    fn stub(&self, payload: &IOValue, _context: &Context) -> Stub {
        Stub::Returns {
            outcome: (self.draw)(payload),
            delay_ms: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_below_its_limit_and_unlikely_bits_are_dropped() {
        for (limit, drawn, expected) in [
            (1, vec![7], 0),
            (10, vec![23], 3),
            (10, vec![u64::MAX, u64::MAX - 6], 9),
        ] {
            let mut drawn = drawn.into_iter();
            let number = number_below(limit, || Ok(drawn.next().expect("bits")));
            assert_eq!(number, Ok(expected), "below {limit}");
        }
    }

    #[test]
    fn a_real_number_is_below_one() {
        let drawn = (Chance::real().draw)(&IOValue::new(false)).expect("there is chance");
        let drawn = preserves::ValueImpl::as_double(&drawn).expect("a double");
        assert!((0.0..1.0).contains(&drawn), "{drawn}");
    }
}
