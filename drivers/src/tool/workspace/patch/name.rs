//! The names of files in the headers of a patch: plain or quoted, with prefixes, with times.
//!
//! INVARIANT: a name that cannot be read as git or diff wrote it is refused, never used as it
//! stands.
//! It does not decide whether a name may be used; the workspace does.
//! Read next: `diff.rs`.
//!
//! Source: git, `quote.c` (C-style quoting) and `apply.c` (prefixes, times of files that are not
//! there).

use std::iter::Peekable;
use std::str::Bytes;

/// The name in place of a file that is not there.
const NOWHERE: &str = "/dev/null";

/// One side of a file in a patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Side {
    /// The name as it stands, without quotes.
    pub(super) name: String,
    /// Whether the header says that there is no such file on this side.
    is_absent: bool,
}

/// Both sides of a file in a patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The file's path.
    pub(super) path: String,
    pub(super) is_made: bool,
    pub(super) is_deleted: bool,
}

impl Side {
    /// Reads what follows `--- ` or `+++ `.
    ///
    /// # Errors
    /// Why the name cannot be read.
    pub(super) fn read(header: &str) -> Result<Self, String> {
        let header = header.trim_end_matches(['\n', '\r']);
        let (name, rest) = match header.strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let (name, rest) = header.split_once('\t').unwrap_or((header, ""));
                (name.to_owned(), rest)
            }
        };
        Ok(Self {
            is_absent: name == NOWHERE || is_beginning_of_time(rest.trim()),
            name,
        })
    }

    fn is_nowhere(&self) -> bool {
        self.name == NOWHERE
    }
}

impl Named {
    /// Joins both sides; `None` if they name no file.
    pub(super) fn of(old: &Side, new: &Side) -> Option<Self> {
        let named = if new.is_nowhere() { old } else { new };
        let path = match (has_prefixes(old, new), named.name.get(2..)) {
            (true, Some(path)) => path,
            (true, None) => return None,
            (false, _) => &named.name,
        };
        let is_named = !(path.is_empty() || (old.is_absent && new.is_absent));
        is_named.then(|| Self {
            path: path.to_owned(),
            is_made: old.is_absent,
            is_deleted: new.is_absent,
        })
    }

    /// Reads what follows `diff --git `, where both names are the same but for their prefixes;
    /// `None` if they are not.
    ///
    /// # Errors
    /// Why a name cannot be read.
    pub(super) fn of_git(header: &str) -> Result<Option<Self>, String> {
        let header = header.trim_end_matches(['\n', '\r']);
        let (old, new) = if let Some(quoted) = header.strip_prefix('"') {
            let (old, rest) = unquote(quoted)?;
            (old, rest.trim_start().to_owned())
        } else if let Some((old, new)) = header.split_once(" \"") {
            (old.to_owned(), format!("\"{new}"))
        } else {
            // Both have the same length, whatever blanks they contain.
            let middle = header.len() / 2;
            let halves = header.split_at_checked(middle);
            let halves = halves.and_then(|(old, new)| Some((old, new.strip_prefix(' ')?)));
            let Some((old, new)) = halves else { return Ok(None) };
            (old.to_owned(), new.to_owned())
        };
        let old = Side {
            name: old,
            is_absent: false,
        };
        let new = Side::read(&new)?;
        let is_same = old.name == new.name || (has_prefixes(&old, &new) && old.name.get(2..) == new.name.get(2..));
        Ok(is_same.then(|| Self::of(&old, &new)).flatten())
    }
}

/// Says whether git has put a letter before both names: `a/` and `b/`, or those that say what was
/// compared: the index, the work tree, a commit, an object.
fn has_prefixes(old: &Side, new: &Side) -> bool {
    let parts = |side: &Side| -> Option<(char, String)> {
        let mut characters = side.name.chars();
        let letter = characters.next().filter(|letter| "abciow".contains(*letter))?;
        Some((letter, characters.as_str().strip_prefix('/')?.to_owned()))
    };
    let is_usual = |side: &Side| parts(side).is_some_and(|(letter, _)| "ab".contains(letter));
    match (parts(old), parts(new)) {
        (Some((one, old)), Some((other, new))) => {
            one != other && (old == new || "ab".contains(one) && "ab".contains(other))
        }
        _ => (old.is_nowhere() && is_usual(new)) || (new.is_nowhere() && is_usual(old)),
    }
}

/// Reads a name up to its closing quote; returns what follows it too.
fn unquote(text: &str) -> Result<(String, &str), String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    loop {
        match rest.next().ok_or("a quoted name has no end")? {
            b'"' => break,
            b'\\' => bytes.push(unescape(&mut rest).ok_or("a quoted name has an unknown escape")?),
            byte => bytes.push(byte),
        }
    }
    let rest = &text[text.len() - rest.len()..];
    let name = String::from_utf8(bytes).map_err(|_| "a quoted name is not UTF-8")?;
    Ok((name, rest))
}

/// Reads what follows a backslash: a letter, or three octal digits.
fn unescape(rest: &mut Peekable<Bytes<'_>>) -> Option<u8> {
    let escaped = rest.next()?;
    Some(match escaped {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'"' | b'\\' => escaped,
        b'0'..=b'3' => {
            let mut octal = || Some(rest.next_if(|digit| (b'0'..=b'7').contains(digit))? - b'0');
            (escaped - b'0') * 64 + octal()? * 8 + octal()?
        }
        _ => return None,
    })
}

/// Says whether a time is 1970-01-01 00:00:00 UTC, in whatever zone: so diff marks a file that is
/// not there when it treats it as empty.
fn is_beginning_of_time(time: &str) -> bool {
    let mut words = time.split_whitespace();
    let (Some(date), Some(clock), Some(zone)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let minutes = |text: &str| -> Option<i32> {
        let (hours, minutes) = text.split_at_checked(2)?;
        Some(hours.parse::<i32>().ok()? * 60 + minutes.parse::<i32>().ok()?)
    };
    let at = || {
        let (hours, rest) = clock.split_once(':')?;
        let (of_hour, seconds) = rest.split_once(':')?;
        let of_day = minutes(&format!("{hours:0>2}{of_hour:0>2}"))?;
        let (sign, offset) = zone.split_at_checked(1)?;
        let offset = minutes(offset)? * if sign == "-" { -1 } else { 1 };
        let day = match date {
            "1970-01-01" => 0,
            "1969-12-31" => -24 * 60,
            _ => return None,
        };
        let is_whole = seconds == "00" && fraction.chars().all(|digit| digit == '0');
        is_whole.then_some(day + of_day - offset)
    };
    at() == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        let sides = Side::read(old).and_then(|old| Ok((old, Side::read(new)?)));
        let found = match sides {
            Err(problem) => problem,
            Ok((old, new)) => Named::of(&old, &new).map_or("none".to_owned(), |named| {
                let word = match (named.is_made, named.is_deleted) {
                    (true, _) => "makes",
                    (false, true) => "deletes",
                    (false, false) => "changes",
                };
                format!("{word} {}", named.path)
            }),
        };
        assert_eq!(found, expected, "{old} {new}");
    }

    #[test]
    fn quoted_names_are_those_of_files() {
        check("/dev/null\n", "\"b/t\\303\\251st.txt\"\n", "makes tést.txt");
        check("\"a/x\\ty\"\n", "\"b/x\\ty\"\n", "changes x\ty");
        check(
            "\"a/q\\\"u\\\\o\\n\"\t2026\n",
            "\"b/q\\\"u\\\\o\\n\"\n",
            "changes q\"u\\o\n",
        );
        check("a/two words\t\n", "b/two words\t\n", "changes two words");
        check("a/f\n", "\"b/f\n", "a quoted name has no end");
        check("a/f\n", "\"b/\\x\"\n", "a quoted name has an unknown escape");
        check("a/f\n", "\"b/\\377\"\n", "a quoted name is not UTF-8");
    }

    #[test]
    fn prefixes_are_those_that_git_writes() {
        check("a/f", "b/f", "changes f");
        check("b/f", "a/f", "changes f");
        check("i/f", "w/f", "changes f");
        check("a/f", "a/f", "changes a/f");
        check("i/f", "w/g", "changes w/g");
        check("f", "f", "changes f");
        check("a/f", "/dev/null", "deletes f");
        check("/dev/null", "/dev/null", "none");
    }

    #[test]
    fn a_time_before_all_files_says_that_there_is_none() {
        let new = "f\t2026-11-28 07:00:00.000000000 +0000";
        check("f\t1970-01-01 00:00:00.000000000 +0000", new, "makes f");
        check("f\t1970-01-01 01:00:00.000000000 +0100", new, "makes f");
        check("f\t1969-12-31 19:00:00 -0500", new, "makes f");
        check(new, "f\t1970-01-01 00:00:00 +0000", "deletes f");
        check("f\t1970-01-01 00:00:00 +0100", new, "changes f");
        check("f\t1970-01-01 00:00:01 +0000", new, "changes f");
    }

    #[test]
    fn names_of_git_without_hunks_are_read_from_its_first_line() {
        let found = |header: &str| Named::of_git(header).map(|named| named.map(|named| named.path));
        assert_eq!(found("a/empty b/empty\n"), Ok(Some("empty".to_owned())));
        assert_eq!(found("a/two b/b b/two b/b\n"), Ok(Some("two b/b".to_owned())));
        assert_eq!(found("\"a/t\\tb\" \"b/t\\tb\"\n"), Ok(Some("t\tb".to_owned())));
        assert_eq!(found("empty empty\n"), Ok(Some("empty".to_owned())));
        assert_eq!(found("a/one b/two\n"), Ok(None));
    }
}
