//! The inbox of a run that this process owns: what others could not say at its door.
//!
//! INVARIANT: a letter is taken in the commit of the record that has heard it; one that leads to no
//! record is taken with the reason. So whoever owns the run next does not hear it again.
//! It does not know what may be asked; `serve.rs` does. Read next: the crate's `owner/mail.rs`.

use duet_journal::{Letter, Store, Taken};
use duet_runtime::driver::Drivers;
use duet_runtime::model::codec::{Codec, record};
use duet_runtime::run::error::RunError;

use super::OwnedRun;
use super::serve::{OwnerRequest, Refusal};
use crate::owner::mail;

impl OwnedRun {
    /// Hears the letters that have come. Returns whether one asks the run to stop.
    ///
    /// # Errors
    /// If the run cannot go on.
    pub(super) fn read_letters(&mut self, store: &mut dyn Store) -> Result<bool, RunError> {
        let mut is_to_stop = false;
        if !self.ownership.lease().take_mail() {
            return Ok(is_to_stop);
        }
        for letter in store.letters(self.run.id(), self.run.branch())? {
            let outcome = match mail::request_of(&letter) {
                None => Err("the owner of the run does not know this request; it is of another version".to_owned()),
                Some(OwnerRequest::Stop {}) if self.manner.is_at_prompt => {
                    Err("a person is at the prompt of this session; ask them to leave it with `,quit`".to_owned())
                }
                Some(OwnerRequest::Stop {}) => {
                    self.run.flush_to(store, &mut self.world as &mut dyn Drivers)?;
                    is_to_stop = true;
                    Ok(record("stopped", vec![self.head().number().encode()]))
                }
                Some(owner_request) => {
                    self.run.catch_up()?;
                    match self.grant(owner_request, store, Some(&letter)) {
                        Ok(done) => Ok(done),
                        Err(Refusal::Why(why)) => Err(why),
                        Err(Refusal::Run(error)) => return Err(error),
                    }
                }
            };
            self.take_letter(&letter, outcome, store)?;
        }
        Ok(is_to_stop)
    }

    /// Takes a letter, unless its record has taken it already.
    fn take_letter(
        &mut self,
        letter: &Letter,
        outcome: Result<preserves::IOValue, String>,
        store: &mut dyn Store,
    ) -> Result<(), RunError> {
        if store.reply(self.run.id(), letter.id)?.is_some() {
            return Ok(());
        }
        let taken = Taken {
            letter: letter.id,
            reply: mail::reply(outcome),
        };
        Ok(store.refuse(self.run.id(), self.run.epoch(), &taken)?)
    }
}
