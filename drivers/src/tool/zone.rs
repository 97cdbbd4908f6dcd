//! `clock/zone`: the offset of a time zone from UTC at a time, and the changes of its clocks.
//!
//! INVARIANT: the rules reach a run only as an answer, which its journal keeps: a later table
//! changes no replay.
//! It schedules nothing; `(duet calendar)` does.
//! Read next: `clock.rs`.
//!
//! Source: the IANA time zone database, of this machine or, without one, the one that is built in.

use duet_runtime::driver::ToolFailure;
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use preserves::IOValue;

use super::arguments::{Arguments, dictionary, string, whole};
use super::failure::Kind;
use super::interface::{Call, Context, Outcome, Tool, blocking};
use crate::tool::description::{Answer, Description, Field, Shape};
use crate::tool::returns::Returns;

const PAYLOAD: &[Field] = &[
    Field::required(
        "zone",
        Shape::Text,
        "its name in the IANA database, such as Europe/Berlin",
    ),
    Field::required(
        "time_ms",
        Shape::Integer,
        "milliseconds since 1970, less than 0 for a time before",
    ),
];

static DESCRIPTION: Description = Description::pure(
    "clock/zone",
    "says how far a time zone is from UTC at a time, and when its clocks changed and will change",
    PAYLOAD,
    Answer::new(
        "{offset_s: seconds to add to UTC; since_ms and before_s: when that began, and the offset before; until_ms and \
         after_s: when it ends, and the offset after; #f where there is no change}",
        Returns::Fields(&[
            ("offset_s", Returns::Integer),
            ("since_ms", Returns::Optional(&Returns::Integer)),
            ("before_s", Returns::Optional(&Returns::Integer)),
            ("until_ms", Returns::Optional(&Returns::Integer)),
            ("after_s", Returns::Optional(&Returns::Integer)),
        ]),
    ),
);

/// How many entries of the table without a change of the offset are passed over.
const ENTRIES_MAX: usize = 64;

/// The tool.
pub(crate) struct Zone;

impl Tool for Zone {
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    fn call(&self, payload: IOValue, _context: Context) -> Call {
        blocking(move || rules(&payload))
    }
}

fn rules(payload: &IOValue) -> Outcome {
    let mut fields = Arguments::read(&DESCRIPTION, payload)?;
    let name = fields.required("zone", string)?;
    let time_ms = fields.required("time_ms", whole)?;
    let refuse = |field: &str, problem: String| -> ToolFailure {
        let message = format!("field `{field}` of {}: {problem}", DESCRIPTION.name);
        Kind::BadArgument.with(message, [("field", IOValue::symbol(field.to_owned()))])
    };
    let zone = TimeZone::get(&name).map_err(|_| refuse("zone", format!("there is no time zone `{name}`")))?;
    let time = Timestamp::from_millisecond(time_ms);
    let time = time.map_err(|_| refuse("time_ms", "it is not in the years from −9999 to 9999".to_owned()))?;
    let offset = zone.to_offset(time);
    // A change at the time itself has happened.
    let now = Timestamp::from_millisecond(time.as_millisecond() + 1).unwrap_or(time);
    let mut before = zone.preceding(now).take(ENTRIES_MAX).peekable();
    let mut since = None;
    while let Some(change) = before.next() {
        let earlier = before
            .peek()
            .map_or_else(|| zone.to_offset(just_before(change.timestamp())), |it| it.offset());
        if earlier != offset {
            since = Some((change.timestamp(), earlier));
            break;
        }
    }
    let after = zone.following(time).take(ENTRIES_MAX);
    let until = after
        .map(|it| (it.timestamp(), it.offset()))
        .find(|(_, later)| *later != offset);
    Ok(dictionary([
        ("offset_s", seconds(offset)),
        ("since_ms", milliseconds(since)),
        ("before_s", since.map_or_else(none, |(_, offset)| seconds(offset))),
        ("until_ms", milliseconds(until)),
        ("after_s", until.map_or_else(none, |(_, offset)| seconds(offset))),
    ]))
}

fn just_before(time: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(time.as_millisecond() - 1).unwrap_or(time)
}

fn none() -> IOValue {
    IOValue::new(false)
}

fn seconds(offset: Offset) -> IOValue {
    IOValue::new(i64::from(offset.seconds()))
}

fn milliseconds(change: Option<(Timestamp, Offset)>) -> IOValue {
    change.map_or_else(none, |(time, _)| IOValue::new(time.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(payload: &str, expected: &str) {
        let found = rules(&payload.parse().expect("a value")).expect(payload);
        assert_eq!(found, expected.parse().expect("a value"), "{payload}");
    }

    #[test]
    fn the_clocks_change_where_the_table_says() {
        let summer =
            "{offset_s: 7200, since_ms: 1774746000000, before_s: 3600, until_ms: 1792890000000, after_s: 3600}";
        check(r#"{zone: "Europe/Berlin", time_ms: 1774746000000}"#, summer);
        check(r#"{zone: "Europe/Berlin", time_ms: 1792889999999}"#, summer);
        let winter =
            "{offset_s: 3600, since_ms: 1761440400000, before_s: 7200, until_ms: 1774746000000, after_s: 7200}";
        check(r#"{zone: "Europe/Berlin", time_ms: 1774745999999}"#, winter);
        let never = "{offset_s: 0, since_ms: #f, before_s: #f, until_ms: #f, after_s: #f}";
        check(r#"{zone: "UTC", time_ms: 0}"#, never);
        let before_1970 =
            "{offset_s: 3600, since_ms: -1618700400000, before_s: 7200, until_ms: -938905200000, after_s: 7200}";
        check(r#"{zone: "Europe/Berlin", time_ms: -1262304000000}"#, before_1970);
    }

    #[test]
    fn what_is_no_zone_is_refused() {
        let refused = |payload: &str| rules(&payload.parse().expect("a value")).expect_err(payload).message;
        assert_eq!(
            refused(r#"{zone: "Europe/Nowhere", time_ms: 0}"#),
            "field `zone` of clock/zone: there is no time zone `Europe/Nowhere`"
        );
        assert_eq!(
            refused(r#"{zone: "UTC", time_ms: 999999999999999999}"#),
            "field `time_ms` of clock/zone: it is not in the years from −9999 to 9999"
        );
    }
}
