//! Moments of the clock as text, for people.
//!
//! INVARIANT: the text is a function of the number alone: UTC, without the rules of any zone.
//! It reads no clock. Read next: `action/due.rs`.

use std::fmt;

const DAY_MS: u64 = 86_400_000;

/// A number of milliseconds since 1970, which is written as in RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(pub u64);

impl fmt::Display for Moment {
    /// Writes the moment, with milliseconds only if there are some.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, rest) = (self.0 / DAY_MS, self.0 % DAY_MS);
        let (year, month, day) = civil(days);
        let (seconds, ms) = (rest / 1000, rest % 1000);
        write!(f, "{year:04}-{month:02}-{day:02}")?;
        write!(f, "T{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
        if ms > 0 {
            write!(f, ".{ms:03}")?;
        }
        f.write_str("Z")
    }
}

/// The year, month and day of a number of days since 1970-01-01, in the Gregorian calendar.
///
/// The years are counted from March of year 0, so that a leap day is the last of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    const DAYS_TO_1970: u64 = 719_468;
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    // Without its leap days, every year has 365.
    let year_of_era = (day_of_era - leap_days.min(day_of_era)) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_in_utc() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (951_868_800_000, "2000-03-01T00:00:00Z"),
            (1_700_000_000_000, "2023-11-14T22:13:20Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00Z"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (253_402_300_799_000, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(Moment(ms).to_string(), text);
        }
        let _no_overflow = Moment(u64::MAX).to_string();
    }

    /// Each day follows the one before, through a leap year, a century and 400 years.
    #[test]
    fn days_follow_each_other() {
        let mut before = civil(0);
        for days in 1..200_000 {
            let (year, month, day) = civil(days);
            let is_next = (year, month, day) == (before.0, before.1, before.2 + 1)
                || (year, month, day) == (before.0, before.1 + 1, 1)
                || (month, day) == (1, 1) && year == before.0 + 1 && (before.1, before.2) == (12, 31);
            assert!(is_next && day <= 31, "{before:?} {days}");
            before = (year, month, day);
        }
    }
}
