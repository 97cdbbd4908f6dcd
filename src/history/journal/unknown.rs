//! An address whose run the journal does not have.
//!
//! INVARIANT: what is proposed exists: a run, or the way to write a turn.
//! It resolves no address. Read next: `history/journal.rs`.

use duet_journal::{RunId, Store, StoreError};

use crate::text::error::CommandError;
use crate::text::similar::nearest;

/// Says that there is no run of a name, and what may be meant.
pub(super) fn unknown_run(store: &dyn Store, run: RunId) -> Result<CommandError, StoreError> {
    let runs = store.runs()?;
    let name = run.to_string();
    let near = nearest(&name, runs.iter().map(RunId::as_str));
    let meant = if name.bytes().all(|byte| byte.is_ascii_digit()) {
        Some(format!("turn {name} is written `@{name}`, or with a run `RUN@{name}`"))
    } else {
        near.map(|near| format!("did you mean `{near}`?"))
    };
    let error = StoreError::NoSuchRun { run }.into();
    Ok(match meant {
        Some(meant) => CommandError::advise(error, meant),
        None => error,
    })
}

#[cfg(test)]
mod tests {
    use duet_journal::store::memory::MemoryStore;

    use super::*;

    #[test]
    fn a_number_is_taken_for_a_turn() {
        let store = MemoryStore::default();
        let run = RunId::new("12").expect("a name");
        let error = unknown_run(&store, run).expect("it reads");
        let CommandError::Problem(problem) = error else {
            panic!("{error:?}")
        };
        let advice = problem.advice.last().expect("advice");
        let words = advice.spelled(crate::text::saying::Speaker::Command);
        assert_eq!(words.as_str(), "turn 12 is written `@12`, or with a run `RUN@12`");
    }
}
