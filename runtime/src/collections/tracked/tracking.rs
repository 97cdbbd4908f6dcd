//! What every tracked collection can do: commit, abort, and return to a savepoint.
//!
//! INVARIANT: a struct is tracked field by field, and a field that is forgotten does not compile.
//! It does not hold anything.
//! Read next: `map.rs`.

/// Something that keeps notes of its own changes.
pub trait Tracking {
    /// Keeps the changes since the last commit.
    fn commit_turn(&mut self);

    /// Takes the changes since the last commit back.
    fn abort_turn(&mut self);

    /// Gives back the room that is kept for the next turn's notes, between turns, when that turn may be far away.
    fn compact(&mut self);

    /// Says whether no room is kept, so that [`rest`](Self::rest) would do nothing.
    fn is_compacted(&self) -> bool;

    /// Savepoints the present state, between turns, under a number greater than those before.
    fn make_savepoint(&mut self, number: u64);

    /// Goes back to the mark with this number, which is gone then like those after it; says whether it was still there. If not, nothing can be said of
    /// what is left.
    fn restore_savepoint(&mut self, number: u64) -> bool;

    /// Gives up the marks with numbers below `oldest`.
    fn drop_savepoints(&mut self, oldest: u64);
}

/// Makes a struct [`Tracking`]: every field is named, those that keep notes and, after `but not`, those that a turn leaves alone or need not
/// give back; a field that is forgotten does not compile.
macro_rules! tracked_fields {
    ($type:ident { $($field:ident),* $(,)? } $(but not { $($other:ident),* $(,)? })?) => {
        impl $crate::collections::tracked::tracking::Tracking for $type {
            fn commit_turn(&mut self) {
                let Self { $($field,)* $($($other: _,)*)? } = self;
                $($field.commit_turn();)*
            }

            fn abort_turn(&mut self) {
                let Self { $($field,)* $($($other: _,)*)? } = self;
                $($field.abort_turn();)*
            }

            fn compact(&mut self) {
                let Self { $($field,)* $($($other: _,)*)? } = self;
                $($field.compact();)*
            }

            fn is_compacted(&self) -> bool {
                true $(&& self.$field.is_compacted())*
            }

            fn make_savepoint(&mut self, number: u64) {
                $(self.$field.make_savepoint(number);)*
            }

            fn restore_savepoint(&mut self, number: u64) -> bool {
                true $(&& self.$field.restore_savepoint(number))*
            }

            fn drop_savepoints(&mut self, oldest: u64) {
                $(self.$field.drop_savepoints(oldest);)*
            }
        }
    };
}
pub(crate) use tracked_fields;
