//! Manifests: the capabilities that an actor has by name.
//!
//! INVARIANT: a manifest grants what its names say and nothing else.
//! It does not judge actions; `gate.rs` does.
//! Read next: `capability.rs`.

use duet_journal::packed::PackedWriter;
use im::OrdSet;
use preserves::IOValue;

use crate::model::codec::{Codec, DecodeError};

/// The names of the capabilities of an actor; `prefix/*` grants every name that begins with
/// `prefix/`, and `*` grants every name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest(pub OrdSet<String>);

impl Manifest {
    /// Makes a manifest from names.
    pub fn of(names: &[&str]) -> Self {
        Self(names.iter().map(|name| (*name).to_owned()).collect())
    }

    /// Says whether the manifest grants `capability`.
    pub fn grants(&self, capability: &str) -> bool {
        let prefixes = capability
            .match_indices('/')
            .map(|(at, _)| format!("{}/*", &capability[..at]));
        self.0.contains("*")
            || self.0.contains(capability)
            || prefixes.into_iter().any(|prefix| self.0.contains(&prefix))
    }

    /// Says whether the manifest grants everything that `other` grants.
    pub fn includes(&self, other: &Self) -> bool {
        other.0.iter().all(|name| self.grants(name))
    }
}

impl Codec for Manifest {
    fn write(&self, out: &mut PackedWriter) {
        self.0.write(out);
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        Codec::decode(value).map(Self)
    }
}
