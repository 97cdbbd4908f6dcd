//! What a person grants a run that has begun.
//!
//! INVARIANT: a grant adds to what a run has and takes nothing away, except by the entries of
//! policy that it lays down.
//! It does not know what its note means; whoever drives the run does.
//! Read next: `../state/grants.rs`.

use preserves::IOValue;

use crate::codec_struct;
use crate::model::card::ToolCard;
use crate::model::fixed::FixedEntry;
use crate::model::manifest::Manifest;

/// A person's grant to a run that has begun.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// The further capabilities of the main program.
    pub manifest: Manifest,
    /// The tools that policy learns to judge by what they are.
    pub tools: Vec<ToolCard>,
    /// The entries of policy that hold from then on.
    pub policy: Vec<FixedEntry>,
    /// What the run may reach from then on; means something to whoever drives runs.
    pub note: IOValue,
}
codec_struct!(Grant "grant" { manifest, tools, policy, note });
