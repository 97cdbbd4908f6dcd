//! The peers of a run: what each has asserted under its own names, and its objects that values in
//! the run refer to.
//!
//! INVARIANT: an object of a peer has a facet and a capability exactly while an assertion of the
//! peer that mentions it is present.
//! It does not know the values; the dataspace does.
//! Read next: `../action/publish.rs`.

use duet_journal::packed::PackedWriter;
use preserves::IOValue;

use crate::codec_struct;
use crate::collections::tracked::{Tracked, tracked_fields};
use crate::model::codec::{Codec, DecodeError, Fields};
use crate::model::identity::{ActorId, CapabilityId, FacetId, Handle, ObserverId};

/// An assertion of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Its handle in the run.
    pub handle: Handle,
    /// The observer, if it asserts that it observes.
    pub observer: Option<ObserverId>,
    /// The peer at whose object it is, if it is not in the dataspace.
    pub given_to: Option<ActorId>,
    /// The peer's objects that it mentions, each once.
    pub oids: Vec<u64>,
}
codec_struct!(Published "published" { handle, observer, given_to, oids });

/// An object of a peer, to which others can send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The facet that stands for it.
    pub facet: FacetId,
    /// The capability to send to it.
    pub capability: CapabilityId,
    /// The number of assertions that mention it.
    pub count: u64,
}
codec_struct!(Imported "imported" { facet, capability, count });

/// The peers of a run.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// The assertions, by peer and the peer's name for each.
    pub published: Tracked<(ActorId, u64), Published>,
    /// The objects, by peer and the peer's number for each.
    pub imported: Tracked<(ActorId, u64), Imported>,
    /// The objects by facet.
    oids: Tracked<FacetId, u64>,
}
tracked_fields!(Peers {
    published,
    imported,
    oids
});

impl Peers {
    /// Returns the number of the object that a facet stands for.
    pub fn oid(&self, facet: FacetId) -> Option<u64> {
        self.oids.get(&facet).copied()
    }

    /// Adds an object.
    pub(crate) fn import(&mut self, key: (ActorId, u64), imported: Imported) {
        self.oids.insert(imported.facet, key.1);
        self.imported.insert(key, imported);
    }

    /// Counts one mention less of an object; returns the object if that was the last.
    pub(crate) fn release(&mut self, key: (ActorId, u64)) -> Option<Imported> {
        let imported = self.imported.get_mut(&key)?;
        imported.count = imported.count.saturating_sub(1);
        if imported.count > 0 {
            return None;
        }
        let last = self.imported.remove(&key)?;
        self.oids.remove(&last.facet);
        Some(last)
    }

    /// Forgets a peer; returns what it has given to others.
    pub(crate) fn forget(&mut self, peer: ActorId) -> Vec<(ActorId, Handle)> {
        let all = (peer, 0)..=(peer, u64::MAX);
        let published: Vec<_> = self.published.range(all.clone()).map(|(key, _)| *key).collect();
        let published = published.iter().filter_map(|key| self.published.remove(key));
        let given = published.filter_map(|published| Some((published.given_to?, published.handle)));
        let given = given.collect();
        let imported: Vec<_> = self.imported.range(all).map(|(key, _)| *key).collect();
        for key in imported {
            if let Some(last) = self.imported.remove(&key) {
                self.oids.remove(&last.facet);
            }
        }
        given
    }
}

impl Codec for Peers {
    fn write(&self, out: &mut PackedWriter) {
        out.record("peers", |out| {
            self.published.write(out);
            self.imported.write(out);
        });
    }

    fn decode(value: &IOValue) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value, "peers", 2)?;
        let (published, imported): (_, Tracked<(ActorId, u64), Imported>) =
            (fields.read("published")?, fields.read("imported")?);
        let oids = imported
            .iter()
            .map(|((_, oid), imported)| (imported.facet, *oid))
            .collect();
        Ok(Self {
            published,
            imported,
            oids,
        })
    }
}
