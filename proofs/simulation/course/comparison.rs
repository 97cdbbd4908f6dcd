//! Compares a simulated run with what its journal makes of it, from the beginning and from the
//! newest snapshot.
//!
//! INVARIANT: an actor that is frozen stays so, and its image is compared.
//! It takes no turn; `../course.rs` does.

use std::fmt;

use duet_journal::{BlobHash, PackedValue};
use duet_runtime::model::codec::Codec;
use duet_runtime::model::identity::ActorId;
use duet_runtime::run::Run;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::source::Source;
use duet_runtime::turn::program::Programs;

use super::super::programs::Shared;
use super::{Course, Difference, Outcome};

impl Course {
    /// Requires that the run is what its journal makes of it.
    pub(super) fn compare(&mut self) -> Outcome {
        let state = self.run.state();
        let parked = state.actors.values().any(|actor| !actor.fibers.is_empty());
        self.counts.in_flight += u64::from(!state.queue.is_empty() || !state.requests.is_empty() || parked);
        let living = parts(&mut self.run)?;
        for from in [Snapshots::Use, Snapshots::Ignore] {
            self.compare_with(from, &self.cast.replayed, &living)?;
        }
        Ok(())
    }

    /// Compares with a run that a program compiled for this alone makes from the beginning.
    ///
    /// # Errors
    /// [`Difference`].
    pub(crate) fn compare_afresh(&mut self) -> Outcome {
        let fresh = self.cast.again()?;
        let living = parts(&mut self.run)?;
        self.compare_with(Snapshots::Ignore, &fresh, &living)
    }

    fn compare_with(&self, from: Snapshots, programs: &Shared, living: &[(String, BlobHash)]) -> Outcome {
        let source = Source {
            store: &*self.store,
            run: &self.name,
            branch: &self.branch,
        };
        same_as_made(&source, from, programs, living)
    }
}

/// Requires that a run is what a journal makes of it.
pub(super) fn same_as_made(
    source: &Source<'_>,
    from: Snapshots,
    programs: &Shared,
    living: &[(String, BlobHash)],
) -> Outcome {
    let mut made = source
        .restore(None, programs.clone(), from)
        .map_err(|error| Difference::Replay { from, error })?;
    let made = parts(&mut made)?;
    if made == living {
        return Ok(());
    }
    let missing =
        |(name, _): &&(String, BlobHash), there: &[(String, BlobHash)]| there.iter().all(|(other, _)| other != name);
    let only_here = living.iter().find(|part| missing(part, &made));
    let only_there = made.iter().find(|part| missing(part, living));
    let part = match (only_here, only_there) {
        (Some((name, _)), _) => format!("{name}, which only the run has"),
        (None, Some((name, _))) => format!("{name}, which the run lacks"),
        (None, None) => {
            let differs = living.iter().zip(&made).find(|(left, right)| left != right);
            differs.map_or_else(|| "nothing".to_owned(), |(left, _)| left.0.clone())
        }
    };
    Err(Difference::State { from, part })
}

/// Names each part of a run: its position and state, and what each actor's program keeps.
pub(super) fn parts(run: &mut Run) -> Outcome<Vec<(String, BlobHash)>> {
    let unreadable = |error: &dyn fmt::Display| Difference::Unreadable(error.to_string());
    let state = PackedValue::write(|out| run.state().write(out)).map_err(|error| unreadable(&error))?;
    let head = format!("{:?}", run.head());
    let mut parts = vec![
        ("its head".to_owned(), BlobHash::of(head.as_bytes())),
        ("its state".to_owned(), BlobHash::of(state.as_bytes())),
    ];
    let actors: Vec<ActorId> = run.state().actors.keys().copied().collect();
    for actor in actors {
        let digest = run.look(actor, |programs: &mut Shared, instance| {
            programs.borrow().digest(instance)
        });
        if let Some(digest) = digest.map_err(|error| unreadable(&error))? {
            let digest = digest.map_err(|error| unreadable(&error))?;
            parts.push((format!("the program of {actor}"), digest));
        }
    }
    Ok(parts)
}
