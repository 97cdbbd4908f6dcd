//! Programs and instances whose types their run does not know.
//!
//! Owns [`AnyPrograms`], in which a run keeps programs of any type. So the line of the turn is
//! compiled once, in this crate, and not again in each crate that makes runs.
//! INVARIANT: each instance of a run was made by the programs of that run.
//! It adds nothing to [`Programs`], which says what each method does.
//! Read next: `program.rs`.

use std::any::Any;
use std::collections::BTreeSet;
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
use crate::turn::program::{Patching, Programs, Runner};
use crate::turn::task::{End, Task};

/// The programs of a run.
pub(crate) type AnyPrograms = Box<dyn ErasedPrograms>;

/// An instance of an actor of a run.
pub(crate) struct AnyInstance(Box<dyn Any + Send>);

impl AnyInstance {
    /// Returns the instance.
    ///
    /// # Panics
    /// If programs of another type made it.
    pub(crate) fn of<T: 'static>(&self) -> &T {
        self.0.downcast_ref().expect("the programs of a run make its instances")
    }

    /// Returns the instance mutably.
    ///
    /// # Panics
    /// As [`of`](Self::of).
    pub(crate) fn of_mut<T: 'static>(&mut self) -> &mut T {
        self.0.downcast_mut().expect("the programs of a run make its instances")
    }
}

/// [`Programs`] without their type.
pub(crate) trait ErasedPrograms: Any {
    fn follow(&mut self, patches: &Patches) -> Result<(), Failure>;
    fn renew(&mut self, instance: &mut AnyInstance) -> Result<(), Failure>;
    fn patch(&mut self, patches: &Patches, manifest: &Manifest) -> Result<Patching, Failure>;
    fn load(&mut self, program: &IOValue, limits: &Limits) -> Result<AnyInstance, Failure>;
    fn evaluated_libraries(&mut self, instance: &mut AnyInstance) -> BTreeSet<String>;
    fn begin_turn(&mut self, instance: &mut AnyInstance);
    fn commit_turn(&mut self, instance: &mut AnyInstance);
    fn abort_turn(&mut self, instance: &mut AnyInstance);
    fn make_savepoint(&mut self, instance: &mut AnyInstance, number: u64, oldest: u64);
    fn restore_savepoint(&mut self, instance: &mut AnyInstance, number: u64) -> bool;
    fn drop_savepoints(&mut self, instance: &mut AnyInstance, oldest: u64);
    fn bytes(&self, instance: &AnyInstance) -> u64;
    fn bytes_spare(&self, instance: &AnyInstance) -> u64;
    fn process_bytes(&self) -> u64;
    fn take_quick_fuel(&mut self) -> u64;
    fn collect(&mut self, instance: &mut AnyInstance);
    fn compact(&mut self, instance: &mut AnyInstance);
    fn text(&self, name: &str) -> Option<Arc<str>>;
    fn run(&mut self, instance: &mut AnyInstance, task: Task, turn: &mut Activation) -> End;
    fn release(&mut self, instance: &mut AnyInstance, callable: Callable);
    fn run_bytes_max(&self) -> u64;
    fn digest(&self, instance: &AnyInstance) -> Result<BlobHash, FreezeError>;
    fn freeze(&mut self, instance: &mut AnyInstance) -> Result<Image, FreezeError>;
    fn version(&self) -> String;
    fn store_units(&self, known: &StoredUnits) -> Result<Vec<StoredUnit>, FreezeError>;
    fn has_units(&self, stored: &StoredUnits) -> bool;
    fn load_units(&mut self, stored: &StoredUnits, fetch: &dyn Fn(&BlobHash) -> Option<Vec<u8>>);
    fn thaw(&mut self, program: &IOValue, limits: &Limits, image: Stored<'_>) -> Result<AnyInstance, ThawError>;
}

impl<P: Programs> ErasedPrograms for P {
    fn follow(&mut self, patches: &Patches) -> Result<(), Failure> {
        Programs::follow(self, patches)
    }

    fn renew(&mut self, instance: &mut AnyInstance) -> Result<(), Failure> {
        Programs::renew(self, instance.of_mut())
    }

    fn patch(&mut self, patches: &Patches, manifest: &Manifest) -> Result<Patching, Failure> {
        Programs::patch(self, patches, manifest)
    }

    fn load(&mut self, program: &IOValue, limits: &Limits) -> Result<AnyInstance, Failure> {
        Ok(AnyInstance(Box::new(Programs::load(self, program, limits)?)))
    }

    fn evaluated_libraries(&mut self, instance: &mut AnyInstance) -> BTreeSet<String> {
        Programs::evaluated_libraries(self, instance.of_mut())
    }

    fn begin_turn(&mut self, instance: &mut AnyInstance) {
        Programs::begin_turn(self, instance.of_mut());
    }

    fn commit_turn(&mut self, instance: &mut AnyInstance) {
        Programs::commit_turn(self, instance.of_mut());
    }

    fn abort_turn(&mut self, instance: &mut AnyInstance) {
        Programs::abort_turn(self, instance.of_mut());
    }

    fn make_savepoint(&mut self, instance: &mut AnyInstance, number: u64, oldest: u64) {
        Programs::make_savepoint(self, instance.of_mut(), number, oldest);
    }

    fn restore_savepoint(&mut self, instance: &mut AnyInstance, number: u64) -> bool {
        Programs::restore_savepoint(self, instance.of_mut(), number)
    }

    fn drop_savepoints(&mut self, instance: &mut AnyInstance, oldest: u64) {
        Programs::drop_savepoints(self, instance.of_mut(), oldest);
    }

    fn bytes(&self, instance: &AnyInstance) -> u64 {
        Programs::bytes(self, instance.of())
    }

    fn bytes_spare(&self, instance: &AnyInstance) -> u64 {
        Programs::bytes_spare(self, instance.of())
    }

    fn process_bytes(&self) -> u64 {
        Programs::process_bytes(self)
    }

    fn take_quick_fuel(&mut self) -> u64 {
        Programs::take_quick_fuel(self)
    }

    fn collect(&mut self, instance: &mut AnyInstance) {
        Programs::collect(self, instance.of_mut());
    }

    fn compact(&mut self, instance: &mut AnyInstance) {
        Programs::compact(self, instance.of_mut());
    }

    fn text(&self, name: &str) -> Option<Arc<str>> {
        Programs::text(self, name)
    }

    fn run(&mut self, instance: &mut AnyInstance, task: Task, turn: &mut Activation) -> End {
        Programs::run(self, instance.of_mut(), task, turn)
    }

    fn release(&mut self, instance: &mut AnyInstance, callable: Callable) {
        Programs::release(self, instance.of_mut(), callable);
    }

    fn run_bytes_max(&self) -> u64 {
        Programs::run_bytes_max(self)
    }

    fn digest(&self, instance: &AnyInstance) -> Result<BlobHash, FreezeError> {
        Programs::digest(self, instance.of())
    }

    fn freeze(&mut self, instance: &mut AnyInstance) -> Result<Image, FreezeError> {
        Programs::freeze(self, instance.of_mut())
    }

    fn version(&self) -> String {
        Programs::version(self)
    }

    fn store_units(&self, known: &StoredUnits) -> Result<Vec<StoredUnit>, FreezeError> {
        Programs::store_units(self, known)
    }

    fn has_units(&self, stored: &StoredUnits) -> bool {
        Programs::has_units(self, stored)
    }

    fn load_units(&mut self, stored: &StoredUnits, fetch: &dyn Fn(&BlobHash) -> Option<Vec<u8>>) {
        Programs::load_units(self, stored, fetch);
    }

    fn thaw(&mut self, program: &IOValue, limits: &Limits, image: Stored<'_>) -> Result<AnyInstance, ThawError> {
        Ok(AnyInstance(Box::new(Programs::thaw(self, program, limits, image)?)))
    }
}

/// An instance with the programs that run it.
pub(crate) struct Bound<'a> {
    /// The programs.
    pub(crate) programs: &'a mut dyn ErasedPrograms,
    /// The instance.
    pub(crate) instance: &'a mut AnyInstance,
}

impl Runner for Bound<'_> {
    fn run(&mut self, task: Task, turn: &mut Activation) -> End {
        self.programs.run(self.instance, task, turn)
    }

    fn release(&mut self, callable: Callable) {
        self.programs.release(self.instance, callable);
    }

    fn patch(&mut self, patches: &Patches, manifest: &Manifest) -> Result<Patching, Failure> {
        let patching = self.programs.patch(patches, manifest)?;
        self.programs.renew(self.instance)?;
        Ok(patching)
    }
}
