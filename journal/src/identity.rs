//! The names of things in a journal: runs, branches, positions, owners' epochs, hashes.
//!
//! INVARIANT: a value of these types is well formed; nothing downstream checks it again.
//! Nothing here touches a store or a record's bytes.
//! Read next: `record.rs`.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The longest name of a run or branch, in bytes.
pub const MAX_NAME_BYTES: usize = 64;

/// The greatest sequence number of a record: 2⁵³ − 1, which every number format in use can hold.
pub const MAX_SEQUENCE: u64 = (1 << 53) - 1;

/// Says why a text does not name a run, a branch or a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityError {
    /// The name has no characters.
    Empty,
    /// The name has more than [`MAX_NAME_BYTES`] bytes.
    TooLong {
        /// Its length.
        length_bytes: usize,
    },
    /// The name has a character other than an ASCII letter, a digit, `-`, `_` or `.`.
    Character {
        /// The first such character.
        found: char,
        /// Where it stands, in bytes.
        offset_bytes: usize,
    },
    /// The text is not 64 hexadecimal digits.
    NotAHash,
    /// There is no epoch after this one.
    EpochsUsedUp,
    /// The number is above [`MAX_SEQUENCE`].
    SequenceTooLarge {
        /// The number.
        found: u64,
    },
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the name is empty"),
            Self::TooLong { length_bytes } => {
                write!(
                    f,
                    "the name has {length_bytes} bytes, at most {MAX_NAME_BYTES} are allowed"
                )
            }
            Self::Character { found, offset_bytes } => write!(
                f,
                "the name has {found:?} at byte {offset_bytes}, allowed are ASCII letters, digits, '-', '_' and '.'"
            ),
            Self::NotAHash => write!(f, "a hash is written as 64 hexadecimal digits"),
            Self::EpochsUsedUp => write!(f, "the run has been claimed too often"),
            Self::SequenceTooLarge { found } => write!(f, "sequence number {found} is above {MAX_SEQUENCE}"),
        }
    }
}

impl std::error::Error for IdentityError {}

fn check_name(name: &str) -> Result<(), IdentityError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() {
        return Err(IdentityError::Empty);
    }
    if let Some((offset_bytes, found)) = name.char_indices().find(|&(_, c)| !allowed(c)) {
        return Err(IdentityError::Character { found, offset_bytes });
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(IdentityError::TooLong {
            length_bytes: name.len(),
        });
    }
    Ok(())
}

macro_rules! names {
    ($($(#[doc = $doc:literal])* $name:ident)*) => {$(
        $(#[doc = $doc])*
        ///
        /// One to 64 ASCII letters, digits, `-`, `_` and `.`; cheap to clone.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks `name` and makes it an identity.
            ///
            /// # Errors
            /// [`IdentityError`] if it is empty, too long or has a character that is not allowed.
            pub fn new(name: impl Into<String>) -> Result<Self, IdentityError> {
                let name = name.into();
                check_name(&name)?;
                Ok(Self(name.into()))
            }

            /// Returns the text of the name.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdentityError;

            fn from_str(text: &str) -> Result<Self, IdentityError> {
                Self::new(text)
            }
        }
    )*};
}

names! {
    /// Names a run: one execution of a program, with all its branches.
    RunId
    /// Names a branch of a run: a line of history that has a head.
    BranchName
}

/// The position of a record in its chain: the number of its ancestors; 0 to [`MAX_SEQUENCE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sequence(u64);

impl Sequence {
    /// The position of a record without a parent.
    pub const FIRST: Self = Self(0);

    /// Makes a position of a number.
    ///
    /// # Errors
    /// [`IdentityError::SequenceTooLarge`] above [`MAX_SEQUENCE`].
    pub fn new(number: u64) -> Result<Self, IdentityError> {
        if number > MAX_SEQUENCE {
            Err(IdentityError::SequenceTooLarge { found: number })
        } else {
            Ok(Self(number))
        }
    }

    /// Returns the number.
    pub fn number(self) -> u64 {
        self.0
    }

    /// Returns the position of a child, or `None` after the last position there is.
    pub fn next(self) -> Option<Self> {
        Self::new(self.0 + 1).ok()
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Counts the owners a run has had: each [claim](crate::Store::claim) raises it, and an append
/// under an older one is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(pub u64);

impl Epoch {
    /// Returns the epoch after a claim.
    ///
    /// # Errors
    /// [`IdentityError::EpochsUsedUp`] after 2⁶³ − 1, the last one every store can hold.
    pub fn next(self) -> Result<Self, IdentityError> {
        let next = self.0.checked_add(1).filter(|&next| i64::try_from(next).is_ok());
        next.map(Self).ok_or(IdentityError::EpochsUsedUp)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! hashes {
    ($($(#[doc = $doc:literal])* $name:ident)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub [u8; 32]);

        impl $name {
            /// Hashes `bytes` with BLAKE3.
            pub fn of(bytes: &[u8]) -> Self {
                Self(*blake3::hash(bytes).as_bytes())
            }

            /// Makes a name of its 32 bytes; `None` if there are more or fewer.
            pub fn from_slice(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self)
            }

            /// Returns the 32 bytes.
            pub fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = IdentityError;

            fn from_str(text: &str) -> Result<Self, IdentityError> {
                parse_hash(text).map(Self)
            }
        }
    )*};
}

hashes! {
    /// Names a record: the BLAKE3 hash of its bytes, with its parent's name as the key.
    RecordHash
    /// Names a blob: the BLAKE3 hash of its bytes.
    BlobHash
}

/// The greatest length of a blob, in bytes (256 MiB).
pub const MAX_BLOB_BYTES: usize = 256 << 20;

fn parse_hash(text: &str) -> Result<[u8; 32], IdentityError> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
    let digits: Option<Vec<u8>> = text.bytes().map(digit).collect();
    let bytes: Vec<u8> = digits
        .ok_or(IdentityError::NotAHash)?
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |a, b| a << 4 | b))
        .collect();
    if text.len() == 64 {
        bytes.try_into().map_err(|_| IdentityError::NotAHash)
    } else {
        Err(IdentityError::NotAHash)
    }
}

impl RecordHash {
    /// Names the record with these bytes that follows `parent`: their BLAKE3 hash with the parent's
    /// name as the key.
    pub(crate) fn following(parent: Self, bytes: &[u8]) -> Self {
        Self(*blake3::keyed_hash(&parent.0, bytes).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Result<(), IdentityError>) {
        assert_eq!(RunId::new(name).map(|_| ()), expected, "{name:?}");
        assert_eq!(BranchName::new(name).map(|_| ()), expected, "{name:?}");
    }

    #[test]
    fn names_are_short_and_plain() {
        check("main", Ok(()));
        check("2026-03-01_a.b", Ok(()));
        check(&"x".repeat(64), Ok(()));
        check("", Err(IdentityError::Empty));
        check(&"x".repeat(65), Err(IdentityError::TooLong { length_bytes: 65 }));
        check(
            "a/b",
            Err(IdentityError::Character {
                found: '/',
                offset_bytes: 1,
            }),
        );
        check(
            "a@1",
            Err(IdentityError::Character {
                found: '@',
                offset_bytes: 1,
            }),
        );
        check(
            "né",
            Err(IdentityError::Character {
                found: 'é',
                offset_bytes: 1,
            }),
        );
    }

    #[test]
    fn a_hash_reads_back_what_it_prints() {
        let hash = RecordHash::of(b"duet");
        assert_eq!(hash.to_string().parse::<RecordHash>().unwrap(), hash);
        for wrong in ["", "00", &"g".repeat(64), &"0".repeat(63), &"0".repeat(65)] {
            assert_eq!(wrong.parse::<BlobHash>(), Err(IdentityError::NotAHash), "{wrong:?}");
        }
    }

    #[test]
    fn epochs_end_before_they_overflow() {
        assert_eq!(Epoch(7).next(), Ok(Epoch(8)));
        let last = Epoch(i64::MAX.cast_unsigned());
        assert_eq!(last.next(), Err(IdentityError::EpochsUsedUp));
        assert_eq!(Epoch(u64::MAX).next(), Err(IdentityError::EpochsUsedUp));
    }

    #[test]
    fn sequences_end_before_they_overflow() {
        assert_eq!(Sequence::FIRST.next().unwrap().number(), 1);
        assert_eq!(Sequence::new(MAX_SEQUENCE).unwrap().next(), None);
        assert_eq!(
            Sequence::new(MAX_SEQUENCE + 1),
            Err(IdentityError::SequenceTooLarge { found: 1 << 53 })
        );
    }
}
