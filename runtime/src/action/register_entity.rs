//! `register-entity`: a role gets a class, which is a procedure of a library. The actors that the
//! acting one spawns later know the role too.

use super::{Act, Claims};
use crate::codec_struct;
use crate::state::actor::EntityClass;
use crate::state::draft::Draft;
use crate::state::refusal::Refusal;

/// Names the class of entities that play a role.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterEntity {
    /// The role.
    pub role: String,
    /// The class.
    pub class: EntityClass,
}
codec_struct!(RegisterEntity "register-entity" { role, class });

impl Act for RegisterEntity {
    fn perform(&self, draft: &mut Draft) -> Result<(), Refusal> {
        let roles = &mut draft.acting_mut()?.roles;
        roles.insert(self.role.as_str().into(), self.class.clone().into());
        Ok(())
    }

    fn claims(&self) -> Claims {
        Claims::default()
    }

    fn show(&self) -> String {
        format!("{} played by {}", self.role, self.class)
    }
}
