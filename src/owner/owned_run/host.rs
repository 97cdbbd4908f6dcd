//! Clients of a server in a run that this process owns.
//!
//! INVARIANT: the clients in a run's state are those of this process: whoever opens a run makes the
//! clients of an earlier process leave first, because their connections are gone.
//! It does not know connections; the server does. Read next:
//! `surface/command/serve.rs`.

use duet_drivers::serve::host::Host;
use duet_runtime::driver::Input;
use duet_runtime::model::identity::ActorId;
use duet_runtime::run::Run;

use super::OwnedRun;
use super::branches::Announce;

impl OwnedRun {
    /// Lets clients reach the branches that this process comes to execute.
    pub(crate) fn announce_branches(&mut self, announce: Announce) {
        self.ownership.branches().announce_to(announce);
    }

    /// Lets clients come; the run then waits for them when it has nothing else to do.
    pub(crate) fn host(&mut self) -> Host {
        self.world.host()
    }
}

/// Makes the clients leave whose connections ended with an earlier process.
pub(super) fn dismiss_peers(run: &mut Run) {
    let actors = run.state().actors.iter();
    let peers: Vec<ActorId> = actors.filter(|(_, actor)| actor.is_peer()).map(|(id, _)| *id).collect();
    for peer in peers {
        run.deliver(Input::Leave { peer });
    }
}
