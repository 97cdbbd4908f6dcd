//! `generate-request-id`: the program draws a text that nothing else in the run has.

use preserves::IOValue;

use super::{Act, Claims};
use crate::codec_struct;
use crate::model::identity::RequestId;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Draws a unique text for a program's own use.
#[derive(Clone, Debug, PartialEq)]
pub struct GenerateRequestId {
    /// The number from which the text is made.
    pub request: RequestId,
    /// The role for which the program draws it.
    pub role: IOValue,
    /// What the role uses it for.
    pub property: IOValue,
    /// The text.
    pub text: String,
}
codec_struct!(GenerateRequestId "generate-request-id" { request, role, property, text });

impl Act for GenerateRequestId {
    fn perform(&self, _draft: &mut Draft) -> Result<(), Refusal> {
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn show(&self) -> String {
        format!("{:?} for {:?} of {:?}", self.text, self.property, self.role)
    }
}
