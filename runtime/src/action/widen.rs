//! `widen`: the main program has more capabilities from now on, because the person who owns the
//! run grants them. No program can perform it, so it needs no right.

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::grant::Grant;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Widens what the acting actor may do.
#[derive(Clone, Debug, PartialEq)]
pub struct Widen {
    /// The person's grant.
    pub grant: Grant,
}
codec_struct!(Widen "widen" { grant });

impl Act for Widen {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        draft.acting_mut()?.manifest.add(&self.grant.manifest);
        draft.state.grant(&self.grant);
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn show(&self) -> String {
        let names: Vec<String> = self.grant.manifest.grants_shown().collect();
        format!(
            "by {}",
            if names.is_empty() {
                "no further capability".to_owned()
            } else {
                names.join(" ")
            }
        )
    }
}
