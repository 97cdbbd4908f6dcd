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
        if is_label && token == Token::Symbol(LABEL) {
            return Err(Misfit::Forged);
        }
        if token == Token::Open(Compound::Embedded) {
            out.open(Compound::Record);
            out.symbol(LABEL);
        } else if token == Token::Close(Compound::Embedded) {
            out.close(Compound::Record);
        } else if let Token::Open(compound) = token {
            out.open(compound);
        } else if let Token::Close(compound) = token {
            out.close(compound);
        } else {
            out.packed(atom(&packed, &reader));
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
        if token == Token::Open(Compound::Embedded) {
            return Err(Misfit::Own);
        }
        if let Token::Open(compound) = token {
            let mut ahead = reader.clone();
            let is_reference = compound == Compound::Record && ahead.next()? == Some(Token::Symbol(LABEL));
            if is_reference {
                reader = ahead;
                out.open(Compound::Embedded);
            } else {
                out.open(compound);
            }
            open.push(is_reference);
        } else if let Token::Close(compound) = token {
            let is_reference = open.pop().unwrap_or_default();
            // The label counts as well.
            if is_reference && reader.count() != 2 {
                return Err(Misfit::Malformed);
            }
            out.close(if is_reference { Compound::Embedded } else { compound });
        } else {
            out.packed(atom(&packed, &reader));
        }
    }
    Ok(read_value(&out.finish()?)?)
}

/// The atom that the reader has just read.
fn atom<'a>(packed: &'a PackedValue, reader: &Reader<'_>) -> View<'a> {
    View::checked(&packed.as_bytes()[reader.start()..reader.offset()])
}
