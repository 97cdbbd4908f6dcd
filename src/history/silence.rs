//! Owners on other hosts, and the silence that shows that one has died.
//!
//! INVARIANT: no clock of another host is compared with this one's.
//! Read next: `../owner/doors.rs`.

use std::time::Duration;

use duet_journal::owner::{TRUST_MS, beat_ms, now_ms};
use duet_journal::{Owner, RunId, Store};

use crate::text::error::CommandError;
use crate::text::saying::{Saying, Way, say};

/// How long a process watches an owner on another host before it takes a run over, in milliseconds:
/// the owner says more often that it lives.
fn watch_ms(owner: &Owner) -> u64 {
    let beat_ms = beat_ms(owner.lease_ms);
    beat_ms + beat_ms / 3
}

/// Requires that the owner of a run on another host is silent. Its clock may differ from this
/// one's, so only silence while this process watches shows that it has died. Returns a message
/// about an owner that is taken for dead.
///
/// # Errors
/// If it says that it lives, or the journal cannot be read.
pub(crate) fn require_silence(store: &dyn Store, run: &RunId) -> Result<Option<String>, CommandError> {
    let seen = |store: &dyn Store| -> Result<Option<Owner>, CommandError> {
        Ok(store.claimed(run)?.and_then(|claim| claim.owner.parse().ok()))
    };
    let now = store.now_ms()?;
    let Some(owner) = seen(store)?.filter(|owner| !owner.is_here() && !owner.is_alive(now)) else {
        return Ok(None);
    };
    let who = format!("process {} (`duet {}`) on another host", owner.process, owner.command);
    let (begun, watch_ms) = (now_ms(), watch_ms(&owner));
    while now_ms().saturating_sub(begun) < watch_ms {
        // Somebody else has claimed the run meanwhile, or it was given up.
        let Some(now) = seen(store)?.filter(|now| now.is_same(&owner)) else {
            return Ok(None);
        };
        if now.seen_ms != owner.seen_ms {
            let problem = format!("{who} executes {run}, and lives; its clock and this one's differ");
            return Err(CommandError::problem(problem)
                .advise("give the command there")
                .advise(take_over(run)));
        }
        pause();
    }
    Ok(Some(format!(
        "{who} said nothing for {:.1} s; the run goes on here",
        watch_ms as f64 / 1000.0
    )))
}

/// The way to a run whose owner does not react.
pub(crate) fn take_over(name: impl ToString) -> Saying {
    say![Way::at("resume", name).with("--take-over"), " takes the run from it",]
}

/// Waits until an owner that lives and has been forgotten has to ask before each effect.
pub(crate) fn outlast_trust() {
    let begun = now_ms();
    while now_ms().abs_diff(begun) < TRUST_MS {
        pause();
    }
}

/// Lets a moment pass.
pub(crate) fn pause() {
    #[expect(
        clippy::disallowed_methods,
        reason = "it waits for another process and enters no record"
    )]
    std::thread::sleep(Duration::from_millis(10));
}

#[cfg(test)]
mod tests {
    use super::*;
    use duet_journal::store::memory::MemoryStore;

    #[test]
    fn an_owner_elsewhere_whose_clock_is_behind_keeps_its_run() {
        let run = RunId::new("r").expect("a name");
        let elsewhere = |seen_ms| Owner {
            host: "elsewhere".to_owned(),
            seen_ms,
            lease_ms: 100,
            ..Owner::this("run p.scm")
        };
        let mut store = MemoryStore::default();
        let epoch = store.claim(&run, &elsewhere(1).to_string()).expect("it is free");
        let told = require_silence(&store, &run).expect("it is silent").expect("a message");
        assert!(told.contains("on another host said nothing"), "{told}");
        store
            .note_owner(&run, epoch, &elsewhere(now_ms()).to_string())
            .expect("it is claimed");
        assert_eq!(require_silence(&store, &run).expect("its claim is fresh"), None);
        store.note_owner(&run, epoch, "").expect("it is claimed");
        assert_eq!(require_silence(&store, &run).expect("nobody has it"), None);
    }
}
