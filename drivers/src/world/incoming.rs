//! What reaches a run besides the answers to its effects: wake-ups, requests of other processes,
//! and what people type or give.
//!
//! INVARIANT: a request stays queued until the thread that runs turns takes it, and is answered or
//! refused then.
//! It does not know what a request asks for. Read next: the crate's `door.rs`.

use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use duet_runtime::driver::{Drivers, Effect, EffectKind, Input};
use duet_runtime::model::identity::{ActorId, RequestId};
use duet_runtime::model::peer::PeerNotice;
use preserves::IOValue;

use super::happening::{Due, Happening};
use super::{Engine, World};
use crate::client_request::ClientRequest;
use crate::door::{Door, DoorOwner, Request};
use crate::report::Report;
use crate::serve::host::Host;
use crate::waker::Waker;

impl World {
    /// Lets other processes ask for things at a socket.
    ///
    /// # Errors
    /// As `Door::open`.
    pub fn open_door(&mut self, path: &Path) -> io::Result<()> {
        if let Some(Engine { threads, .. }) = &self.engine {
            let owner = DoorOwner {
                reporter: self.reporter.clone(),
                waker: Waker::new(threads, &self.reporter, &self.stop),
                name: Arc::clone(&self.name),
            };
            self.door = Some(Door::open(&threads.begin()?, path, owner)?);
        }
        Ok(())
    }

    /// Says what executes here, as requests name it; a request to stop it stops a turn that takes
    /// too long.
    pub fn executes(&self, name: String) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }

    /// Lets clients of a server come; the run then waits for them.
    pub fn host(&mut self) -> Host {
        self.guests.is_open = true;
        Host::new(&self.reporter)
    }

    /// Makes an input of the wish of a client.
    pub(super) fn admit_request(&mut self, request: ClientRequest) -> Option<Input> {
        let input = self.guests.admit(request)?;
        // A client answers no tool, so masking refuses nothing.
        self.secrets.mask_input(input).ok()
    }

    /// Tells a client something; one that has gone without a word leaves.
    pub(super) fn tell_client(&mut self, peer: ActorId, told: PeerNotice) {
        if !self.guests.tell(peer, told) {
            self.report(Report::ClientRequest(ClientRequest::Leave { peer }));
        }
    }

    /// Takes the oldest thing that another process asks for.
    pub fn take_asked(&mut self) -> Option<Request> {
        self.asked.pop_front()
    }

    /// Replaces secrets in a value that a person gives.
    pub fn mask_value(&self, value: &IOValue) -> IOValue {
        self.secrets.mask(value)
    }

    /// Replaces secrets in a text that a person types.
    pub fn mask_text(&self, text: &str) -> String {
        self.secrets.mask_text(text)
    }

    /// Drops the question to the person at the input, because somebody else has answered.
    pub fn withdraw_question(&mut self, request: RequestId) {
        self.perform(vec![Effect {
            request,
            key: String::new(),
            asking: None,
            kind: EffectKind::Withdraw,
        }]);
    }

    /// Waits for something to happen, as long as an effect in progress can answer.
    pub fn next_happening(&mut self) -> Happening {
        while self.asked.is_empty() {
            match self.next_due() {
                Some(Due::Timer(input)) => return Happening::Input(input),
                Some(Due::Report(Report::Wake)) => return Happening::Woken,
                Some(Due::Report(report)) => {
                    if let Some(input) = self.admit(report) {
                        return Happening::Input(input);
                    }
                }
                None if self.is_expecting() => self.wait(),
                None => return Happening::Nothing,
            }
        }
        Happening::Asked
    }

    /// Waits for the next input, also when no effect in progress can answer; returns `None` when
    /// somebody wakes it, or another process asks for something.
    pub fn next_input_or_ring(&mut self) -> Option<Input> {
        while self.asked.is_empty() {
            match self.next_due() {
                Some(Due::Timer(input)) => return Some(input),
                Some(Due::Report(Report::Wake)) => return None,
                Some(Due::Report(report)) => {
                    if let Some(input) = self.admit(report) {
                        return Some(input);
                    }
                }
                None => self.wait(),
            }
        }
        None
    }
}
