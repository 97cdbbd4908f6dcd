//! Moving the heads of branches, forking, and the names of branches that keep what a move leaves.
//!
//! INVARIANT: nothing is deleted; a move returns the head that it replaces.
//! It does not run any turn.
//! Read next: `source.rs`.

use duet_journal::{BranchName, HeadMove, Sequence, Store, Tip};

use crate::run::error::RunError;
use crate::run::source::{BranchClaim, HeldBranch, Source};

/// Moves a branch's head to the turn at `to`, or makes a new branch there.
///
/// Returns the previous head, so that the way forward is not lost.
///
/// # Errors
/// [`RunError::NoTurn`], [`RunError::Store`]; a new branch's name must not be taken.
pub fn move_head(
    store: &mut dyn Store,
    claim: BranchClaim<'_>,
    to: Sequence,
    new_branch: Option<&BranchName>,
) -> Result<Option<Tip>, RunError> {
    let BranchClaim { run, branch, owner } = claim;
    let epoch = store.claim(run, owner)?;
    let target = Source { store, run, branch }.name(to)?;
    let moved = new_branch.unwrap_or(branch);
    let before = store.head(run, moved)?.map(|head| head.tip());
    // A fork must make its branch, so it expects that there is none.
    let expected_head = if new_branch.is_some() {
        None
    } else {
        before.map(|tip| tip.hash)
    };
    store.set_head(&HeadMove {
        run,
        branch: moved,
        epoch,
        expected_head,
        to: target,
    })?;
    Ok(before)
}

/// Makes new branches at the turn at `to` in one commit, all or none.
///
/// # Errors
/// [`RunError::NoTurn`], [`RunError::Store`] if a name is taken.
pub fn fork(store: &mut dyn Store, claim: BranchClaim<'_>, to: Sequence, names: &[BranchName]) -> Result<(), RunError> {
    let held = claim.take(store)?;
    fork_held(store, held, to, names)
}

/// Makes new branches as [`fork`] does, for the owner of the run, under the epoch that it holds.
///
/// # Errors
/// As [`fork`].
pub fn fork_held(
    store: &mut dyn Store,
    held: HeldBranch<'_>,
    to: Sequence,
    names: &[BranchName],
) -> Result<(), RunError> {
    let HeldBranch { run, branch, epoch } = held;
    let to = Source { store, run, branch }.name(to)?;
    let new = |branch| HeadMove {
        run,
        branch,
        epoch,
        expected_head: None,
        to,
    };
    let moves: Vec<HeadMove<'_>> = names.iter().map(new).collect();
    Ok(store.set_heads(&moves)?)
}

/// Names a branch that keeps the turns of the branch `of` up to `last`: first without a number,
/// then with one, for where names are taken.
pub fn kept_names(of: &BranchName, last: Sequence) -> impl Iterator<Item = String> {
    let first = format!("{of}.{last}");
    let numbered = (2_u64..).map({
        let first = first.clone();
        move |number| format!("{first}.{number}")
    });
    std::iter::once(first).chain(numbered)
}

/// Returns the turn up to which a branch keeps turns that the branch `of` had, if its name is one
/// of the [`kept_names`].
pub fn kept_up_to(name: &str, of: &BranchName) -> Option<Sequence> {
    let rest = name.strip_prefix(of.as_str())?.strip_prefix('.')?;
    let (last, number) = rest.split_once('.').unwrap_or((rest, "2"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let last = last.parse().ok().filter(|_| is_number(last) && is_number(number))?;
    Sequence::new(last).ok()
}
