//! Addresses: `run/branch@turn`, the one way to name a place in a journal.
//!
//! Owns parsing and printing them. INVARIANT: a parsed address prints as it was written.
//! It does not check whether the place exists.
//! Read next: `failure.rs`.

use std::fmt;
use std::str::FromStr;

use duet_journal::identity::IdentityError;
use duet_journal::{BranchName, RunId, Sequence};

/// A place in a journal; the caller chooses a default for each part that is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// The run.
    pub run: Option<RunId>,
    /// The branch.
    pub branch: Option<BranchName>,
    /// The turn.
    pub turn: Option<TurnAddress>,
}

/// A turn of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnAddress {
    /// The turn at a position: `@12`.
    At(Sequence),
    /// The turn that is this number of turns before the head: `@-3`; the head itself is `@-0`.
    BeforeHead(u64),
    /// A turn with a name: `@before-the-move`.
    Marked(Mark),
}

/// The name of a turn: 1 to 64 ASCII letters, digits, `-`, `_` and `.`, the first a letter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(String);

impl Mark {
    /// Returns the mark of this name, or `None` if the name is not well formed.
    pub fn new(name: &str) -> Option<Self> {
        let begins_well = name.starts_with(|first: char| first.is_ascii_alphabetic());
        (begins_well && BranchName::new(name).is_ok()).then(|| Self(name.to_owned()))
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is not an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressError {
    /// The run's name is not well formed.
    Run(IdentityError),
    /// The branch's name is not well formed.
    Branch(IdentityError),
    /// The text after `@` is neither a number, nor `-` and a number, nor the name of a mark.
    Turn {
        /// The text after `@`.
        found: String,
    },
    /// The number is too large.
    Sequence(IdentityError),
    /// The text is empty.
    Empty,
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(_) => write!(f, "the part before `/` does not name a run"),
            Self::Branch(_) => write!(f, "the part after `/` does not name a branch"),
            Self::Turn { found } => write!(
                f,
                "after `@` comes a turn such as `12` or `-3`, or a mark, found `{found}`"
            ),
            Self::Sequence(_) => write!(f, "the turn after `@` is out of range"),
            Self::Empty => write!(
                f,
                "an address is written run/branch@turn, any part of which may be left out"
            ),
        }
    }
}

impl std::error::Error for AddressError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Run(error) | Self::Branch(error) | Self::Sequence(error) => Some(error),
            Self::Turn { .. } | Self::Empty => None,
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    /// Parses `run`, `run/branch`, `run@turn`, `run/branch@turn`, `/branch`, `/branch@turn` or
    /// `@turn`.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text.is_empty() {
            return Err(AddressError::Empty);
        }
        let (place, turn) = text
            .split_once('@')
            .map_or((text, None), |(place, turn)| (place, Some(turn)));
        let (run, branch) = place
            .split_once('/')
            .map_or((place, None), |(run, branch)| (run, Some(branch)));
        let run = if run.is_empty() {
            None
        } else {
            Some(RunId::new(run).map_err(AddressError::Run)?)
        };
        let branch = branch
            .map(|branch| BranchName::new(branch).map_err(AddressError::Branch))
            .transpose()?;
        Ok(Self {
            run,
            branch,
            turn: turn.map(read_turn).transpose()?,
        })
    }
}

fn read_turn(text: &str) -> Result<TurnAddress, AddressError> {
    if let Some(mark) = Mark::new(text) {
        return Ok(TurnAddress::Marked(mark));
    }
    let (digits, is_backwards) = text.strip_prefix('-').map_or((text, false), |digits| (digits, true));
    let is_plain = digits == "0" || (!digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit()));
    let number = if is_plain { digits.parse().ok() } else { None };
    let number: u64 = number.ok_or_else(|| AddressError::Turn { found: text.to_owned() })?;
    if is_backwards {
        return Ok(TurnAddress::BeforeHead(number));
    }
    Sequence::new(number)
        .map(TurnAddress::At)
        .map_err(AddressError::Sequence)
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(run) = &self.run {
            write!(f, "{run}")?;
        }
        if let Some(branch) = &self.branch {
            write!(f, "/{branch}")?;
        }
        match &self.turn {
            Some(TurnAddress::At(sequence)) => write!(f, "@{sequence}"),
            Some(TurnAddress::Marked(mark)) => write!(f, "@{mark}"),
            Some(TurnAddress::BeforeHead(turns)) => write!(f, "@-{turns}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use duet_journal::identity::MAX_SEQUENCE;

    use super::*;

    #[track_caller]
    fn check(text: &str, run: Option<&str>, branch: Option<&str>, turn: Option<TurnAddress>) {
        let run = run.map(|name| RunId::new(name).unwrap());
        let branch = branch.map(|name| BranchName::new(name).unwrap());
        assert_eq!(text.parse(), Ok(Address { run, branch, turn }));
        assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
    }

    fn at(number: u64) -> Option<TurnAddress> {
        Some(TurnAddress::At(Sequence::new(number).unwrap()))
    }

    #[test]
    fn any_part_may_be_left_out() {
        check("plan", Some("plan"), None, None);
        check("plan/main", Some("plan"), Some("main"), None);
        check("plan/main@12", Some("plan"), Some("main"), at(12));
        check("plan@0", Some("plan"), None, at(0));
        check("/try-2@-3", None, Some("try-2"), Some(TurnAddress::BeforeHead(3)));
        check("@12", None, None, at(12));
        check(
            "plan@first.draft",
            Some("plan"),
            None,
            Mark::new("first.draft").map(TurnAddress::Marked),
        );
    }

    #[track_caller]
    fn refuse(text: &str, expected: &str) {
        assert_eq!(
            text.parse::<Address>().map_err(|error| error.to_string()),
            Err(expected.to_owned()),
            "{text:?}"
        );
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let turn = |found: &str| format!("after `@` comes a turn such as `12` or `-3`, or a mark, found `{found}`");
        refuse(
            "",
            "an address is written run/branch@turn, any part of which may be left out",
        );
        refuse("plan/", "the part after `/` does not name a branch");
        refuse("a b/main", "the part before `/` does not name a run");
        refuse("plan/a/b", "the part after `/` does not name a branch");
        refuse("plan@", &turn(""));
        refuse("plan@012", &turn("012"));
        refuse("plan@+1", &turn("+1"));
        refuse("plan@two words", &turn("two words"));
        refuse("plan@99999999999999999999999", &turn("99999999999999999999999"));
        refuse(
            &format!("plan@{}", MAX_SEQUENCE + 1),
            "the turn after `@` is out of range",
        );
    }
}
