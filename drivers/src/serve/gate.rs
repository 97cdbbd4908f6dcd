//! What a sturdy reference gives, and who says so.
//!
//! INVARIANT: a connection takes up only what a gate has resolved for it.
//! It does not know how references are made. Read next: `relay.rs`.

use duet_runtime::model::manifest::Manifest;
use preserves::IOValue;

use super::host::Host;

/// What a sturdy reference gives.
pub struct Admission {
    /// The run.
    pub host: Host,
    /// The name of the grant, for whose clients a rate limit is kept.
    pub grant: String,
    /// The rights in its dataspace.
    pub manifest: Manifest,
    /// The caveats, the newest last.
    pub caveats: Vec<IOValue>,
}

/// Decides about sturdy references.
pub trait Gate: Send + Sync {
    /// Says what a reference gives. `<branch NAME REFERENCE>` in its place gives the same on a
    /// branch of the run that the server executes, and `<fork NAME REFERENCE>` on one that begins
    /// now at the newest turn. `<approve QUESTION ANSWER REFERENCE>` first answers what the session
    /// of the reference wants approved. The reference has to grant both.
    ///
    /// # Errors
    /// Why it gives nothing, for the client.
    fn resolve(&self, reference: &IOValue) -> Result<Admission, String>;

    /// Says whether what was resolved before would still be let in.
    ///
    /// # Errors
    /// Why not, for the client.
    fn check(&self, reference: &IOValue) -> Result<(), String>;
}
