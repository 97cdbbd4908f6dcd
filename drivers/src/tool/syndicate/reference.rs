//! References in packets as programs see them, and back.
//!
//! A program has no embedded values but its own references, so `#:X` of a packet is the record
//! `<'#:' X>` for a program.
//! INVARIANT: nobody forges a reference: a record of this label in a packet is refused, so that the
//! records of this label in a program are the references of its packets. A reference of the run
//! itself never leaves.
//! It does not know what a reference names. Read next: `../syndicate.rs`.

use duet_runtime::driver::packed::{
    Compound, PackedError, PackedLimits, PackedValue, PackedWriter, Reader, Token, View, read_value,
};
use preserves::IOValue;

/// The label that stands for `#:`.
const LABEL: &str = "#:";

/// Why a value does not cross.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// A record with the label of references, in a packet.
    Forged,
    /// A reference of the run.
    Own,
    /// A reference that is not one value.
    Malformed,
    /// The value is too long or too deep.
    Packed(PackedError),
}

impl Misfit {
    pub(super) fn words(&self) -> String {
        match self {
            Self::Forged => "a record with the label `#:`, which stands for references".to_owned(),
            Self::Own => "a reference of this run, which means nothing elsewhere".to_owned(),
            Self::Malformed => "a record with the label `#:` that has not exactly one field".to_owned(),
            Self::Packed(error) => error.to_string(),
        }
    }
}

impl From<PackedError> for Misfit {
    fn from(error: PackedError) -> Self {
        Self::Packed(error)
    }
}

/// Makes a packet's value one for programs.
pub(super) fn enter(value: &IOValue) -> Result<IOValue, Misfit> {
    let packed = PackedValue::from_value(value)?;
    let mut reader = Reader::new(packed.as_bytes(), PackedLimits::NONE)?;
    let mut out = PackedWriter::default();
    let mut is_label = false;
    while let Some(token) = reader.next()? {
        match token {
            Token::Symbol(LABEL) if is_label => return Err(Misfit::Forged),
            Token::Open(Compound::Embedded) => {
                out.open(Compound::Record);
                out.symbol(LABEL);
            }
            Token::Close(Compound::Embedded) => out.close(Compound::Record),
            other => copy(other, &packed, &reader, &mut out),
        }
        is_label = token == Token::Open(Compound::Record);
    }
    Ok(read_value(&out.finish()?)?)
}

/// Makes a program's value one for a packet.
pub(super) fn leave(value: &IOValue) -> Result<IOValue, Misfit> {
    let packed = PackedValue::from_value(value)?;
    let mut reader = Reader::new(packed.as_bytes(), PackedLimits::NONE)?;
    let mut out = PackedWriter::default();
    // Whether each of the open values is a reference.
    let mut open: Vec<bool> = Vec::new();
    while let Some(token) = reader.next()? {
        match token {
            Token::Open(Compound::Embedded) => return Err(Misfit::Own),
            Token::Open(compound) => {
                let mut ahead = reader.clone();
                let is_reference = compound == Compound::Record && ahead.next()? == Some(Token::Symbol(LABEL));
                if is_reference {
                    reader = ahead;
                    out.open(Compound::Embedded);
                } else {
                    out.open(compound);
                }
                open.push(is_reference);
            }
            Token::Close(compound) => {
                let is_reference = open.pop().unwrap_or_default();
                // The label counts as well.
                if is_reference && reader.count() != 2 {
                    return Err(Misfit::Malformed);
                }
                out.close(if is_reference { Compound::Embedded } else { compound });
            }
            atom => copy(atom, &packed, &reader, &mut out),
        }
    }
    Ok(read_value(&out.finish()?)?)
}

/// Writes the token that the reader has just read.
fn copy(token: Token<'_>, packed: &PackedValue, reader: &Reader<'_>, out: &mut PackedWriter) {
    match token {
        Token::Open(compound) => out.open(compound),
        Token::Close(compound) => out.close(compound),
        _ => out.packed(View::checked(&packed.as_bytes()[reader.start()..reader.offset()])),
    }
}
