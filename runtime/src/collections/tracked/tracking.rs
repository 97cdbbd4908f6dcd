//! The operations of every tracked collection: commit, abort and savepoints.
//!
//! INVARIANT: a tracked struct lists each of its fields, and omitting one is a compile error.
//! It does not hold any data.
//! Read next: `map.rs`.

/// Something that can undo its own changes.
pub trait Tracking {
    /// Keeps the changes since the last commit.
    fn commit_turn(&mut self);

    /// Undoes the changes since the last commit.
    fn abort_turn(&mut self);

    /// Frees the room for the next turn's notes; call it between turns, when the next turn may be
    /// far away.
    fn compact(&mut self);

    /// Says whether no room is allocated, so that [`compact`](Self::compact) would do nothing.
    fn is_compacted(&self) -> bool;

    /// Makes a savepoint of the present state, between turns; its number is greater than those
    /// before.
    fn make_savepoint(&mut self, number: u64);

    /// Restores the savepoint with this number and drops it and the later ones; says whether it
    /// existed. If it did not, the state afterwards is unspecified.
    fn restore_savepoint(&mut self, number: u64) -> bool;

    /// Drops the savepoints with numbers below `oldest`.
    fn drop_savepoints(&mut self, oldest: u64);
}

/// Implements [`Tracking`] for a struct.
///
/// It names every field: first those that track changes, then, after `but not`, those that no turn
/// changes or that need no undo. Omitting a field is a compile error.
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

/// Makes a newtype of a tracked map [`Tracking`].
macro_rules! tracked_newtype {
    ($type:ident [$item:ident: $($bound:tt)+]) => {
        impl<$item: $($bound)+> $crate::collections::tracked::tracking::Tracking for $type<$item> {
            fn commit_turn(&mut self) {
                self.0.commit_turn();
            }

            fn abort_turn(&mut self) {
                self.0.abort_turn();
            }

            fn compact(&mut self) {
                self.0.compact();
            }

            fn is_compacted(&self) -> bool {
                self.0.is_compacted()
            }

            fn make_savepoint(&mut self, number: u64) {
                self.0.make_savepoint(number);
            }

            fn restore_savepoint(&mut self, number: u64) -> bool {
                self.0.restore_savepoint(number)
            }

            fn drop_savepoints(&mut self, oldest: u64) {
                self.0.drop_savepoints(oldest);
            }
        }
    };
}
pub(crate) use tracked_newtype;
