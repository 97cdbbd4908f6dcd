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
use crate::turn::program::{Patching, Programs, Runner, programs_methods};
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

macro_rules! erased_trait {
    ($(($($how:tt)+) $name:ident($($arg:ident: $type:ty),*) -> $out:ty;)+) => {
        /// [`Programs`] without their type.
        pub(crate) trait ErasedPrograms: Any {
            $(erased_trait!(@($($how)+) $name($($arg: $type),*) -> $out);)+
            fn load(&mut self, program: &IOValue, limits: &Limits) -> Result<AnyInstance, Failure>;
            fn thaw(&mut self, program: &IOValue, limits: &Limits, image: Stored<'_>) -> Result<AnyInstance, ThawError>;
        }
    };
    (@(mut) $name:ident($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name(&mut self, $($arg: $type),*) -> $out;
    };
    (@(mut, mut instance) $name:ident($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name(&mut self, instance: &mut AnyInstance, $($arg: $type),*) -> $out;
    };
    (@(ref) $name:ident($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name(&self, $($arg: $type),*) -> $out;
    };
    (@(ref, instance) $name:ident($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name(&self, instance: &AnyInstance, $($arg: $type),*) -> $out;
    };
}
programs_methods!(erased_trait);

macro_rules! erase {
    ($(($($how:tt)+) $name:ident($($arg:ident: $type:ty),*) -> $out:ty;)+) => {
        impl<P: Programs> ErasedPrograms for P {
            $(erase!(@($($how)+) $name($($arg: $type),*) -> $out);)+

            fn load(&mut self, program: &IOValue, limits: &Limits) -> Result<AnyInstance, Failure> {
                Ok(AnyInstance(Box::new(Programs::load(self, program, limits)?)))
            }

            fn thaw(
                &mut self,
                program: &IOValue,
                limits: &Limits,
                image: Stored<'_>,
            ) -> Result<AnyInstance, ThawError> {
                Ok(AnyInstance(Box::new(Programs::thaw(self, program, limits, image)?)))
            }
        }
    };
    (@(mut) $name:ident($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name(&mut self, $($arg: $type),*) -> $out {
            Programs::$name(self, $($arg),*)
        }
    };
    (@(mut, mut instance) $name:ident($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name(&mut self, instance: &mut AnyInstance, $($arg: $type),*) -> $out {
            Programs::$name(self, instance.of_mut(), $($arg),*)
        }
    };
    (@(ref) $name:ident($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name(&self, $($arg: $type),*) -> $out {
            Programs::$name(self, $($arg),*)
        }
    };
    (@(ref, instance) $name:ident($($arg:ident: $type:ty),*) -> $out:ty) => {
        fn $name(&self, instance: &AnyInstance, $($arg: $type),*) -> $out {
            Programs::$name(self, instance.of(), $($arg),*)
        }
    };
}
programs_methods!(erase);

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
