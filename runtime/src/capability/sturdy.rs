//! Sturdy references: signed capabilities that can leave a run and come back.
//!
//! INVARIANT: a reference is valid only with the signature that its secret key gives over its name
//! and each of its caveats in turn; any holder can add caveats, and nobody can remove one.
//! It does not know the meaning of a name.
//! Read next: `caveat.rs`.
//!
//! Source: the Syndicate protocol, `sturdy.prs`: f(k, d) is HMAC-BLAKE2s-256 cut to 16 bytes, the
//! signature f(… f(f(k, oid), caveat) …).

use std::fmt;

use blake2::Blake2s256;
use duet_journal::PackedValue;
use duet_journal::packed::PackedError;
use hmac::{Mac, SimpleHmac};
use preserves::{IOValue, Map, Value, ValueImpl};

use super::caveat::Caveat;
use super::error::CaveatError;
use crate::model::codec::label_of;

/// The length of a signature in bytes.
pub const SIGNATURE_BYTES: usize = 16;

/// A reference with a signature, which may be invalid.
#[derive(Clone, Debug, PartialEq)]
pub struct SturdyRef {
    oid: IOValue,
    caveats: Vec<Caveat>,
    signature: Vec<u8>,
}

/// Why a sturdy reference is invalid.
#[derive(Debug)]
pub enum SturdyError {
    /// It does not have the form `<ref {oid: … sig: …}>`.
    Malformed,
    /// A caveat is invalid.
    Caveat(CaveatError),
    /// A part cannot be encoded.
    Packed(PackedError),
    /// The signature does not match the key.
    Signature,
}

impl fmt::Display for SturdyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => write!(
                f,
                "it is no sturdy reference, which is written <ref {{oid: name, sig: bytes}}>"
            ),
            Self::Caveat(_) => write!(f, "a caveat of the sturdy reference cannot be used"),
            Self::Packed(_) => write!(f, "a part of the sturdy reference is too large"),
            Self::Signature => write!(f, "the sturdy reference was not signed with this key"),
        }
    }
}

impl std::error::Error for SturdyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Caveat(error) => Some(error),
            Self::Packed(error) => Some(error),
            Self::Malformed | Self::Signature => None,
        }
    }
}

impl From<CaveatError> for SturdyError {
    fn from(error: CaveatError) -> Self {
        Self::Caveat(error)
    }
}

impl From<PackedError> for SturdyError {
    fn from(error: PackedError) -> Self {
        Self::Packed(error)
    }
}

impl SturdyRef {
    /// Signs a reference to the object named `oid`.
    ///
    /// # Errors
    /// [`SturdyError::Packed`].
    pub fn mint(oid: IOValue, key: &[u8]) -> Result<Self, SturdyError> {
        let signature = sign(key, &oid)?;
        Ok(Self {
            oid,
            caveats: Vec::new(),
            signature,
        })
    }

    /// Adds a caveat; this needs no key.
    ///
    /// # Errors
    /// [`SturdyError::Packed`].
    pub fn attenuate(mut self, caveat: Caveat) -> Result<Self, SturdyError> {
        self.signature = sign(&self.signature, caveat.source())?;
        self.caveats.push(caveat);
        Ok(self)
    }

    /// Checks that `key` signed the reference.
    ///
    /// # Errors
    /// [`SturdyError::Signature`].
    pub fn validate(&self, key: &[u8]) -> Result<(), SturdyError> {
        let mut signature = sign(key, &self.oid)?;
        for caveat in &self.caveats {
            signature = sign(&signature, caveat.source())?;
        }
        // The comparison reads every byte, so that its duration reveals nothing.
        let difference = signature
            .as_slice()
            .iter()
            .zip(self.signature.as_slice())
            .fold(0_u8, |sum, (left, right)| sum | (left ^ right));
        let is_right = self.signature.len() == SIGNATURE_BYTES && difference == 0;
        is_right.then_some(()).ok_or(SturdyError::Signature)
    }

    /// Returns the name of the object.
    pub fn oid(&self) -> &IOValue {
        &self.oid
    }

    /// Returns the caveats, the newest last.
    pub fn caveats(&self) -> &[Caveat] {
        &self.caveats
    }

    /// Represents the reference as a value.
    pub fn to_value(&self) -> IOValue {
        let mut fields: Map<Value<IOValue>, IOValue> = Map::new();
        fields.insert(Value::symbol("oid"), self.oid.clone());
        fields.insert(Value::symbol("sig"), IOValue::bytes(self.signature.clone()));
        if !self.caveats.is_empty() {
            let caveats: Vec<IOValue> = self.caveats.iter().map(|caveat| caveat.source().clone()).collect();
            fields.insert(Value::symbol("caveats"), IOValue::new(caveats));
        }
        IOValue::record(IOValue::symbol("ref"), vec![IOValue::new(fields)])
    }

    /// Reads a reference from a value; [`validate`](Self::validate) checks the signature.
    ///
    /// # Errors
    /// [`SturdyError::Malformed`], [`SturdyError::Caveat`].
    pub fn from_value(value: &IOValue) -> Result<Self, SturdyError> {
        if label_of(value).as_deref() != Some("ref") || value.len() != 1 {
            return Err(SturdyError::Malformed);
        }
        let parameters: IOValue = value.index(0).into();
        if !parameters.is_dictionary() {
            return Err(SturdyError::Malformed);
        }
        let field = |name: &'static str| parameters.get(&Value::symbol(name)).map(IOValue::from);
        let oid = field("oid").ok_or(SturdyError::Malformed)?;
        let signature = field("sig").and_then(|sig| sig.as_bytestring().map(|bytes| bytes.into_owned()));
        let caveats = match field("caveats") {
            None => Vec::new(),
            Some(caveats) if caveats.is_sequence() => {
                let caveats = caveats.iter().map(|caveat| Caveat::read(&caveat.into()));
                caveats.collect::<Result<_, _>>()?
            }
            Some(_) => return Err(SturdyError::Malformed),
        };
        Ok(Self {
            oid,
            caveats,
            signature: signature.ok_or(SturdyError::Malformed)?,
        })
    }
}

fn sign(key: &[u8], value: &IOValue) -> Result<Vec<u8>, SturdyError> {
    let bytes = PackedValue::from_value(value)?;
    // INVARIANT: the method takes a key of any length.
    let mut mac = SimpleHmac::<Blake2s256>::new_from_slice(key).map_err(|_| SturdyError::Signature)?;
    mac.update(bytes.as_bytes());
    let mut signature = mac.finalize().into_bytes().to_vec();
    signature.truncate(SIGNATURE_BYTES);
    Ok(signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> IOValue {
        text.parse().expect("well formed")
    }

    fn hexadecimal(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_signature_is_the_protocols() {
        let minted = SturdyRef::mint(value("\"syndicate\""), b"").expect("it is small");
        assert_eq!(hexadecimal(&minted.signature), "69ca300c1dbfa08fba692102dd82311a");
        assert!(minted.validate(b"").is_ok());
        assert!(matches!(minted.validate(b"other"), Err(SturdyError::Signature)));
    }

    #[test]
    fn caveats_can_be_added_and_not_taken_away() {
        let key = b"a secret";
        let caveat = |text| Caveat::read(&value(text)).expect("a caveat");
        let narrow = SturdyRef::mint(value("workspace"), key).expect("it is small");
        let narrow = narrow
            .attenuate(caveat("<reject <lit 1>>"))
            .and_then(|one| one.attenuate(caveat("<reject <lit 2>>")));
        let narrow = narrow.expect("it is small");
        assert!(narrow.validate(key).is_ok());
        let back = SturdyRef::from_value(&narrow.to_value()).expect("it reads back");
        assert_eq!(back, narrow);
        for forged in [
            SturdyRef {
                caveats: narrow.caveats[..1].to_vec(),
                ..narrow.clone()
            },
            SturdyRef {
                caveats: narrow.caveats.iter().rev().cloned().collect(),
                ..narrow.clone()
            },
            SturdyRef {
                oid: value("other"),
                ..narrow.clone()
            },
            SturdyRef {
                signature: narrow.signature[..8].to_vec(),
                ..narrow.clone()
            },
            SturdyRef {
                signature: Vec::new(),
                ..narrow.clone()
            },
        ] {
            assert!(
                matches!(forged.validate(key), Err(SturdyError::Signature)),
                "{forged:?}"
            );
        }
    }

    #[test]
    fn what_is_no_sturdy_reference_is_refused() {
        for text in [
            "ref",
            "<ref>",
            "<ref 1>",
            "<ref {oid: 1}>",
            "<ref {oid: 1 sig: 2}>",
            "<ref {oid: 1 sig: #\"\" caveats: 3}>",
        ] {
            assert!(
                matches!(SturdyRef::from_value(&value(text)), Err(SturdyError::Malformed)),
                "{text}"
            );
        }
        let wrong = SturdyRef::from_value(&value("<ref {oid: 1 sig: #\"\" caveats: [<reject 3>]}>"));
        assert!(matches!(
            wrong,
            Err(SturdyError::Caveat(CaveatError::NotAPattern { .. }))
        ));
    }
}
