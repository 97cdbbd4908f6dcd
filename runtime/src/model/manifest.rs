//! Manifests: what actors were granted by name.
//!
//! INVARIANT: a manifest grants what its names say and nothing else.
//! It does not judge; `gate.rs` does.
//! Read next: `capability.rs`.

use duet_journal::packed::PackedWriter;
use im::OrdSet;
use preserves::IOValue;

use crate::model::codec::{Codec, DecodeError};

/// What an actor was granted: names of capabilities; `prefix/*` grants all that begin with `prefix/`, and `*` grants everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest(pub OrdSet<String>);

impl Manifest {
    /// Makes a manifest of names.
    pub fn of(names: &[&str]) -> Self {
        Self(names.iter().map(|name| (*name).to_owned()).collect())
    }

    /// Says whether `capability` was granted.
    pub fn grants(&self, capability: &str) -> bool {
        let prefixes = capability
            .match_indices('/')
            .map(|(at, _)| format!("{}/*", &capability[..at]));
        self.0.contains("*")
            || self.0.contains(capability)
            || prefixes.into_iter().any(|prefix| self.0.contains(&prefix))
    }

    /// Says whether everything that `other` grants is granted here.
    pub fn includes(&self, other: &Self) -> bool {
        other.0.iter().all(|name| self.grants(name))
    }
}

impl Codec for Manifest {
    fn encode(&self) -> IOValue {
        self.0.encode()
    }

    fn write(&self, out: &mut PackedWriter) {
        self.0.write(out);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Codec::decode(value).map(Self)
    }
}
