//! `clock/second`, `clock/millisecond` and `clock/jiffy`: the time.
//!
//! INVARIANT: each call reads the time once; the journal keeps the answer, so a replay gets the
//! same.
//! It starts no timers; `world.rs` does.
//! Read next: `world.rs`.

use preserves::IOValue;

use super::interface::{Call, Context, Stub, Tool};
use crate::clock::WorldClock;
use crate::tool::description::{Answer, Description};
use crate::tool::returns::Returns;

static SECOND: Description = Description::pure(
    "clock/second",
    "says how many seconds have passed since the beginning of 1970",
    &[],
    Answer::new("a double", Returns::Double),
);

static JIFFY: Description = Description::pure(
    "clock/jiffy",
    "says how many microseconds have passed since the beginning of 1970",
    &[],
    Answer::new("an integer", Returns::Integer),
);

static MILLISECOND: Description = Description::pure(
    "clock/millisecond",
    "says how many milliseconds have passed since the beginning of 1970",
    &[],
    Answer::new("an integer", Returns::Integer),
);

/// One of the three tools.
pub(crate) struct Clock {
    description: &'static Description,
    /// Converts the time since 1970 to the tool's result.
    convert: fn(std::time::Duration) -> IOValue,
    clock: WorldClock,
}

impl Clock {
    /// Makes the three tools, which read a clock.
    pub(crate) fn all(clock: &WorldClock) -> [Self; 3] {
        [Self::second(), Self::jiffy(), Self::millisecond()].map(|tool| Self {
            clock: clock.clone(),
            ..tool
        })
    }
}

impl Clock {
    fn read(&self) -> IOValue {
        (self.convert)(self.clock.since_1970())
    }

    /// Makes `clock/second`.
    pub(crate) fn second() -> Self {
        Self {
            description: &SECOND,
            convert: |elapsed| IOValue::new(elapsed.as_secs_f64()),
            clock: WorldClock::default(),
        }
    }

    /// Makes `clock/jiffy`.
    pub(crate) fn jiffy() -> Self {
        Self {
            description: &JIFFY,
            convert: |elapsed| IOValue::new(u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX)),
            clock: WorldClock::default(),
        }
    }
}

impl Clock {
    /// Makes `clock/millisecond`.
    pub(crate) fn millisecond() -> Self {
        Self {
            description: &MILLISECOND,
            convert: |elapsed| IOValue::new(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)),
            clock: WorldClock::default(),
        }
    }
}

impl Tool for Clock {
    fn description(&self) -> &Description {
        self.description
    }

    fn call(&self, _payload: IOValue, _context: Context) -> Call {
        let time = self.read();
        Box::pin(async move { Ok(time) })
    }

    /// The time, for which no call has to wait.
    fn stub(&self, _payload: &IOValue, _context: &Context) -> Stub {
        Stub::Returns {
            outcome: Ok(self.read()),
            delay_ms: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_tell_the_same_time() {
        let past_2020 = std::time::Duration::from_secs(50 * 365 * 86_400);
        assert_eq!(
            (Clock::second().convert)(past_2020),
            IOValue::new(past_2020.as_secs_f64())
        );
        assert_eq!(
            (Clock::jiffy().convert)(past_2020),
            IOValue::new(past_2020.as_micros() as u64)
        );
    }
}
