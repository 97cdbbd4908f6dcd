//! The interface between the runtime and an actor's program.
//!
//! Owns the traits [`Runner`] and [`Programs`].
//! INVARIANT: an instance is deterministic. The same tasks with the same answers from the turn lead
//! to the same calls on the turn and the same ends, and [`Programs::abort_turn`] restores the
//! instance of [`Programs::begin_turn`].
//! It does not know Scheme; `../scheme/programs.rs` does.
//! Read next: `activation.rs`.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use duet_journal::BlobHash;
use preserves::IOValue;

use crate::model::failure::Failure;
use crate::model::identity::Callable;
use crate::model::limits::Limits;
use crate::model::manifest::Manifest;
use crate::state::patches::Patches;
use crate::turn::activation::Activation;
use crate::turn::image::{FreezeError, Image, Stored, StoredUnit, StoredUnits, ThawError};
use crate::turn::task::{End, Task};

/// One actor's instance with its programs, for the length of a turn.
pub trait Runner {
    /// Runs a fiber until it parks or ends, within [`Activation::fuel`].
    fn run(&mut self, task: Task, turn: &mut Activation) -> End;

    /// Releases a procedure or continuation that the runtime does not need any more.
    fn release(&mut self, callable: Callable);

    /// Gives the instance the code of the newest of these texts; returns what it changes.
    ///
    /// # Errors
    /// [`Failure`] if the text cannot take the place of the one before.
    fn patch(&mut self, patches: &Patches, manifest: &Manifest) -> Result<Patching, Failure>;
}

/// What a changed text changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patching {
    /// The procedures that do something else now, also because they contain others.
    pub changed: Vec<String>,
    /// The definitions that are new.
    pub added: Vec<String>,
    /// The definitions and expressions to be evaluated, in groups.
    pub steps: usize,
}

/// Makes and runs instances for the actors of a run, which share it.
pub trait Programs: 'static {
    /// The state that an actor's program keeps between turns.
    type Instance: Send + 'static;

    /// Forgets what instances have brought, because the run begins anew or is restored.
    fn begin_anew(&mut self) {}

    /// Goes on with the code of the newest of these texts, or of the first text if there is none.
    ///
    /// # Errors
    /// [`Failure`] if it cannot be compiled.
    fn follow(&mut self, _patches: &Patches) -> Result<(), Failure> {
        Ok(())
    }

    /// Gives an instance the code of the newest text, in a turn; its values stay.
    ///
    /// # Errors
    /// [`Failure`] if there is no room.
    fn renew(&mut self, _instance: &mut Self::Instance) -> Result<(), Failure> {
        Ok(())
    }

    /// Compares the newest of these texts with the one before, and goes on with it.
    ///
    /// # Errors
    /// [`Failure`] if it cannot take that one's place, or needs what the manifest does not grant.
    fn patch(&mut self, _patches: &Patches, _manifest: &Manifest) -> Result<Patching, Failure> {
        Err(Failure::new("no-program", "these programs have no texts"))
    }

    /// Names the libraries that an instance has evaluated and that the newest text does not import.
    fn evaluated_libraries(&mut self, _instance: &mut Self::Instance) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// Makes the instance that runs `program` when it receives [`Task::Boot`].
    ///
    /// # Errors
    /// [`Failure`] if there is no such program or it cannot be compiled.
    fn load(&mut self, program: &IOValue, limits: &Limits) -> Result<Self::Instance, Failure>;

    /// Notes the current state of an instance.
    fn begin_turn(&mut self, instance: &mut Self::Instance);

    /// Keeps an instance's changes since [`begin_turn`](Self::begin_turn).
    fn commit_turn(&mut self, instance: &mut Self::Instance);

    /// Undoes an instance's changes since [`begin_turn`](Self::begin_turn).
    fn abort_turn(&mut self, instance: &mut Self::Instance);

    /// Makes a savepoint of an instance between two turns, with a number greater than those before.
    /// Savepoints with numbers below `oldest` are not needed any more; the instance may drop others
    /// too.
    fn make_savepoint(&mut self, instance: &mut Self::Instance, number: u64, oldest: u64);

    /// Restores an instance to its earliest savepoint that is not below `number`. An instance
    /// without such a savepoint stays as it is, because it has not run since. Returns false if that
    /// savepoint was dropped. Earlier images no longer count as stored, because they may belong to
    /// an abandoned branch.
    fn restore_savepoint(&mut self, instance: &mut Self::Instance, number: u64) -> bool;

    /// Drops an instance's savepoints with numbers below `oldest`; an instance whose savepoints
    /// cost nothing may keep them.
    fn drop_savepoints(&mut self, _instance: &mut Self::Instance, _oldest: u64) {}

    /// Returns the size of an instance in bytes, garbage included.
    fn bytes(&self, _instance: &Self::Instance) -> u64 {
        0
    }

    /// Returns the bytes that the process holds for an instance besides its size: room for growth,
    /// and copies for the time of a collection or a turn.
    fn bytes_spare(&self, _instance: &Self::Instance) -> u64 {
        0
    }

    /// Returns the bytes that the process holds for the run, everything included; 0 if nobody
    /// measures them.
    fn process_bytes(&self) -> u64 {
        0
    }

    /// Returns the fuel that machine code has used since the last call of this function; the
    /// interpreter needs eight times as long for a unit. A turn must not depend on it.
    fn take_quick_fuel(&mut self) -> u64 {
        0
    }

    /// Removes the garbage of an instance, between two turns; collecting changes nothing that it
    /// does.
    fn collect(&mut self, _instance: &mut Self::Instance) {}

    /// Shrinks an instance that may not run for a while, between two turns; compacting changes
    /// nothing that it does.
    fn compact(&mut self, _instance: &mut Self::Instance) {}

    /// Returns a source text by its name, to show a place in it.
    fn text(&self, _name: &str) -> Option<Arc<str>> {
        None
    }

    /// Runs a fiber; see [`Runner::run`].
    fn run(&mut self, instance: &mut Self::Instance, task: Task, turn: &mut Activation) -> End;

    /// Releases a callable; see [`Runner::release`].
    fn release(&mut self, instance: &mut Self::Instance, callable: Callable);

    /// Returns the memory in bytes that this process gives to all instances of a run together,
    /// whatever the run's first record allows.
    fn run_bytes_max(&self) -> u64 {
        u64::MAX
    }

    /// Returns a hash of all that an instance keeps, whatever it was made from; instances with the
    /// same hash continue alike.
    ///
    /// # Errors
    /// [`FreezeError`] if the instance refers to something without a name.
    fn digest(&self, instance: &Self::Instance) -> Result<BlobHash, FreezeError>;

    /// Makes the image of an instance between two turns.
    ///
    /// # Errors
    /// [`FreezeError`]; the instance is unchanged.
    fn freeze(&mut self, instance: &mut Self::Instance) -> Result<Image, FreezeError>;

    /// Returns what compiles the programs' texts: units that different versions make of one text
    /// may differ.
    fn version(&self) -> String {
        String::new()
    }

    /// Returns the loaded units that images may refer to, without those that are `known`.
    ///
    /// # Errors
    /// [`FreezeError`] if one cannot be stored.
    fn store_units(&self, _known: &StoredUnits) -> Result<Vec<StoredUnit>, FreezeError> {
        Ok(Vec::new())
    }

    /// Returns whether all of these units are loaded, so that no image that refers to them alone
    /// lacks code.
    fn has_units(&self, _stored: &StoredUnits) -> bool {
        true
    }

    /// Loads stored units that are not loaded yet; one that cannot be loaded is left out.
    fn load_units(&mut self, _stored: &StoredUnits, _fetch: &dyn Fn(&BlobHash) -> Option<Vec<u8>>) {}

    /// Makes an instance from its image.
    ///
    /// # Errors
    /// [`ThawError`] if the image is damaged or its code is missing.
    fn thaw(&mut self, program: &IOValue, limits: &Limits, image: Stored<'_>) -> Result<Self::Instance, ThawError>;
}

/// Gives a macro the methods of [`Programs`] that are handed on, one row each: how a method takes
/// the programs and the instance, its other parameters, and its result.
macro_rules! programs_methods {
    ($hand_on:ident) => {
        $hand_on! {
            (mut) begin_anew() -> ();
            (mut) follow(patches: &Patches) -> Result<(), Failure>;
            (mut, mut instance) renew() -> Result<(), Failure>;
            (mut) patch(patches: &Patches, manifest: &Manifest) -> Result<Patching, Failure>;
            (mut, mut instance) evaluated_libraries() -> BTreeSet<String>;
            (mut, mut instance) begin_turn() -> ();
            (mut, mut instance) commit_turn() -> ();
            (mut, mut instance) abort_turn() -> ();
            (mut, mut instance) make_savepoint(number: u64, oldest: u64) -> ();
            (mut, mut instance) restore_savepoint(number: u64) -> bool;
            (mut, mut instance) drop_savepoints(oldest: u64) -> ();
            (ref, instance) bytes() -> u64;
            (ref, instance) bytes_spare() -> u64;
            (ref) process_bytes() -> u64;
            (mut) take_quick_fuel() -> u64;
            (mut, mut instance) collect() -> ();
            (mut, mut instance) compact() -> ();
            (ref) text(name: &str) -> Option<Arc<str>>;
            (mut, mut instance) run(task: Task, turn: &mut Activation) -> End;
            (mut, mut instance) release(callable: Callable) -> ();
            (ref) run_bytes_max() -> u64;
            (ref, instance) digest() -> Result<BlobHash, FreezeError>;
            (mut, mut instance) freeze() -> Result<Image, FreezeError>;
            (ref) version() -> String;
            (ref) store_units(known: &StoredUnits) -> Result<Vec<StoredUnit>, FreezeError>;
            (ref) has_units(stored: &StoredUnits) -> bool;
            (mut) load_units(stored: &StoredUnits, fetch: &dyn Fn(&BlobHash) -> Option<Vec<u8>>) -> ();
        }
    };
}
pub(super) use programs_methods;

macro_rules! share {
    ($(($($how:tt)+) $name:ident($($arg:ident: $type:ty),*) -> $out:ty;)+) => {
        /// Programs that several runs use one after the other; loading them again for each run
        /// would change nothing.
        impl<P: Programs> Programs for Rc<RefCell<P>> {
            type Instance = P::Instance;

            $(share!(@($($how)+) $name($($arg: $type),*) -> $out);)+

            fn load(&mut self, program: &IOValue, limits: &Limits) -> Result<Self::Instance, Failure> {
                self.borrow_mut().load(program, limits)
            }

            fn thaw(
                &mut self,
                program: &IOValue,
                limits: &Limits,
                image: Stored<'_>,
            ) -> Result<Self::Instance, ThawError> {
                self.borrow_mut().thaw(program, limits, image)
            }
        }
    };
    (@(mut) $name:ident($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name(&mut self, $($arg: $type),*) -> $out {
            self.borrow_mut().$name($($arg),*)
        }
    };
    (@(mut, mut instance) $name:ident($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name(&mut self, instance: &mut Self::Instance, $($arg: $type),*) -> $out {
            self.borrow_mut().$name(instance, $($arg),*)
        }
    };
    (@(ref) $name:ident($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name(&self, $($arg: $type),*) -> $out {
            self.borrow().$name($($arg),*)
        }
    };
    (@(ref, instance) $name:ident($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name(&self, instance: &Self::Instance, $($arg: $type),*) -> $out {
            self.borrow().$name(instance, $($arg),*)
        }
    };
}
programs_methods!(share);

/// The runner of an actor without an instance, which has no procedures.
pub(crate) struct NoInstance;

impl Runner for NoInstance {
    fn run(&mut self, _task: Task, _turn: &mut Activation) -> End {
        End::Finished { is_true: false }
    }

    fn release(&mut self, _callable: Callable) {}

    fn patch(&mut self, _patches: &Patches, _manifest: &Manifest) -> Result<Patching, Failure> {
        Err(Failure::new("no-program", "the actor has no program"))
    }
}
