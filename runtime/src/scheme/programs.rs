//! The Scheme programs of one run: the machine, the code and the sources that its actors share.
//!
//! INVARIANT: everything that an actor's program knows is in its instance's heap and in the texts
//! that it received; the machine is empty whenever no fiber runs.
//! It does not run fibers; `execution.rs` does.
//! Read next: `execution.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use duet_journal::{Blob, BlobHash};
use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::core::Unit;
use duet_kernel::datum::{Name, SourceId};
use duet_kernel::diagnostic::Diagnostic;
use duet_kernel::expander::{Ahead, Expander, Libraries, LibraryName};
use duet_kernel::heap::{HeapFull, RootId};
use duet_kernel::image;
use duet_kernel::machine::{Instance, Machine, NativeMode, OpenCalls};
use duet_kernel::transformer::TransformerMachine;
use duet_kernel::unit::CompiledUnit;
use preserves::IOValue;

use crate::model::codec::Codec;
use crate::model::failure::Failure;
use crate::model::identity::{ActorId, Callable};
use crate::model::limits::Limits;
use crate::model::manifest::Manifest;
use crate::scheme::entity::{Entity, PROGRAM};
use crate::scheme::evaluation::Evaluations;
use crate::scheme::profile::{Procedure, Profile};
use crate::scheme::shared_definitions::SharedDefinitions;
use crate::scheme::version::{LoadedDefinitions, LoadedUnit, Version, Versions};
use crate::state::patches::Patches;
use crate::turn::activation::Activation;
use crate::turn::image::{FreezeError, Image, Stored, StoredUnit, StoredUnits, ThawError};
use crate::turn::program::{Patching, Programs};
use crate::turn::task::{End, Task};

use super::actor::SchemeActor;
use super::frames::FailedFrames;
use super::process_limits::ProcessLimits;
use super::source::{ProgramError, Source};
use super::traced_turn::TracedTurn;
use super::{convert, host, image_root};
use std::collections::VecDeque;

/// The evaluation of an expression from outside the run.
#[derive(Debug, Default)]
pub(super) struct Observation {
    /// The units that remain to be evaluated, the expression's own last.
    pub(super) units: VecDeque<usize>,
    /// The written form of the value.
    pub(super) shown: Option<String>,
}

/// The Scheme programs of one run: the main program with all libraries that it needs.
pub struct SchemePrograms {
    pub(super) machine: Machine,
    pub(super) code: CodeSpace,
    /// The number of the first host procedure among the primitives.
    pub(super) host_start: usize,
    pub(super) program: IOValue,
    /// What compiles the texts, for people.
    pub(super) version: String,
    /// Whether units of another compiler are loaded.
    pub(super) has_stored_units: bool,
    /// The value of `command-line`.
    pub(super) command_line: Vec<String>,
    /// Whether the current turn writes to the console.
    pub(super) has_written: bool,
    /// The units of evaluated texts, by number.
    pub(super) text_units: BTreeMap<usize, Arc<Unit>>,
    /// The counts of fuel, while a profile is being taken.
    pub(super) profile: Option<Profile>,
    /// The followed calls of computations that wait, by their actor and what continues them.
    pub(super) waiting_calls: BTreeMap<(ActorId, Callable), OpenCalls>,
    /// Where the main program called `exit`, if it did.
    pub(super) exit: Option<Failure>,
    /// The observation in progress; `None` in a run that continues.
    pub(super) observation: Option<Observation>,
    /// The version from which new computations begin.
    pub(super) present: Version,
    pub(super) versions: Versions,
    /// The frames of failures, while somebody watches.
    pub(super) failed: FailedFrames,
    /// The turns that are traced.
    pub(super) traced: Vec<TracedTurn>,
    /// The limits that this process sets the run.
    pub(super) process: ProcessLimits,
    /// Finds a library that was compiled ahead.
    pub(super) find_ahead: Option<fn(&LibraryName) -> Option<Ahead>>,
}

impl SchemePrograms {
    /// Replaces the description of these programs with another program's, so that a replay of that
    /// program's run shows the first difference.
    pub fn stand_in_for(&mut self, program: IOValue) {
        self.program = program;
    }

    /// Counts everything that the process allocates from now on against the run's memory; `gauge`
    /// returns the bytes that the process holds.
    pub fn weigh(&mut self, gauge: fn() -> u64) {
        self.process.weigh(gauge);
    }

    /// Names what compiles the texts, as snapshots are to say.
    pub fn set_version(&mut self, version: &str) {
        version.clone_into(&mut self.version);
    }

    /// Chooses which parts of the program run as machine code. The program does the same with every
    /// choice, so no record has it.
    pub fn set_native(&mut self, mode: NativeMode) {
        self.machine.set_native(mode);
    }

    /// Chooses whether the machine stresses its heaps; the program does the same then, very slowly.
    pub fn set_stress(&mut self, is_stressed: bool) {
        self.machine.set_stress(is_stressed);
    }

    /// Gives the run no more than this memory in bytes, whatever its first record allows, because
    /// somebody else may have written that record.
    pub fn cap_memory(&mut self, run_bytes_max: u64) {
        self.process.cap_memory(run_bytes_max);
    }

    /// Returns the programs as they were compiled, for another run of the same program; `None` if
    /// the run has evaluated texts or taken on changed ones, whose code stays loaded.
    pub fn for_another_run(mut self) -> Option<Self> {
        let is_as_compiled = self.text_units.is_empty()
            && self.versions.is_first_only()
            && self.observation.is_none()
            && !self.has_stored_units;
        self.profile = None;
        self.failed = FailedFrames::default();
        self.traced.clear();
        self.process = ProcessLimits::default();
        is_as_compiled.then_some(self)
    }

    /// Returns the description of the program, as the first records of its runs have it.
    pub fn description(&self) -> &IOValue {
        &self.program
    }

    /// Stops the current turn, and later ones, while the flag is set; the turn fails, and its
    /// record says so. A replay takes no notice of the flag.
    pub fn stop_on(&mut self, flag: Arc<AtomicBool>) {
        self.process.stop_on(flag);
    }

    /// Returns the code, for listings.
    pub fn code(&self) -> &CodeSpace {
        &self.code
    }

    /// Returns the expander, which knows the source texts that spans refer to.
    pub fn expander(&self) -> &Expander {
        &self.present.expander
    }

    /// Returns the compiled unit of a library of the program, if it has one.
    pub fn compiled_library(&self, name: &Name) -> Option<CompiledUnit> {
        let loaded = self.present.library_units.get(name)?;
        compile(&loaded.unit, &self.code).ok()
    }

    #[expect(clippy::result_large_err, reason = "made once, before a run")]
    pub(super) fn expand(
        source: &Source<'_>,
        libraries: &mut dyn Libraries,
    ) -> Result<(Self, Vec<Diagnostic>), (ProgramError, Expander)> {
        let code = CodeSpace::new(&host::primitives()).with_class_names(convert::Class::NAMES);
        let host_start = code.primitives().len() - host::procedures().count();
        let mut expander = Expander::new(code.signatures(), source.default_imports.clone())
            .with_transformers(Box::new(TransformerMachine::new(&host::primitives())));
        if source.is_counted {
            expander.begin_counted();
        }
        expander.stop_on(source.stop.clone());
        let expansion = match expander.expand_program(source.name, source.text, libraries) {
            Ok(expansion) => expansion,
            Err(errors) => return Err((ProgramError::Expand(errors), expander)),
        };
        let program = IOValue::new(false);
        let mut programs = Self {
            machine: Machine::new(),
            code,
            host_start,
            program,
            version: String::new(),
            has_stored_units: false,
            command_line: source.arguments.clone(),
            has_written: false,
            failed: FailedFrames::default(),
            text_units: BTreeMap::new(),
            profile: None,
            exit: None,
            waiting_calls: BTreeMap::new(),
            observation: None,
            present: Version::of(expander),
            versions: Versions::default(),
            traced: Vec::new(),
            process: ProcessLimits::default(),
            find_ahead: None,
        };
        for unit in &expansion.units {
            match programs.load_unit(unit) {
                Ok(number) => {
                    programs.present.units.push(number);
                    let units = &mut programs.present.library_units;
                    units.insert(unit.name.clone(), LoadedUnit::of(unit, number));
                }
                Err(error) => return Err((error, programs.present.expander)),
            }
        }
        programs.present.compared_units = programs.present.library_units.clone();
        match programs.share(&expansion.units) {
            Ok(()) => Ok((programs, expansion.warnings)),
            Err(error) => Err((error, programs.present.expander)),
        }
    }

    /// Loads the definitions of the main program, the last unit, that its entities evaluate.
    fn share(&mut self, units: &[Arc<Unit>]) -> Result<(), ProgramError> {
        let program = units.last().filter(|unit| unit.name.as_str() == PROGRAM);
        let definitions = program.and_then(|program| SharedDefinitions::of(program, units, &self.code));
        if let Some(definitions) = definitions {
            let number = self.load_unit(&definitions.unit)?;
            self.present.shared = Some(LoadedDefinitions { definitions, number });
        }
        Ok(())
    }

    /// Returns the unit that an entity evaluates for the definitions of a library or of the main
    /// program.
    pub(super) fn defining_unit(&self, library: &Name) -> Option<LoadedUnit> {
        if library.as_str() == PROGRAM {
            return self.present.shared.as_ref().map(LoadedDefinitions::unit);
        }
        self.present.library_units.get(library).cloned()
    }

    /// Returns the entity that a program describes; `None` for the main program.
    fn entity(&self, program: &IOValue) -> Result<Option<Entity>, Failure> {
        if *program == self.program {
            return Ok(None);
        }
        let no_program = |message: String| Failure::new("no-program", message);
        let Ok(entity) = Entity::decode(program) else {
            let message = "the run's first record names another program";
            return Err(no_program(message.to_owned()));
        };
        let name = entity.name();
        if self.defining_unit(&name.library).is_none() || self.code.find_global(&name).is_none() {
            return Err(no_program(format!(
                "the program has no procedure {} of {}",
                name.name.as_str(),
                name.library.as_str()
            )));
        }
        Ok(Some(entity))
    }

    pub(super) fn load_unit(&mut self, unit: &duet_kernel::core::Unit) -> Result<usize, ProgramError> {
        Ok(self.code.load(&compile(unit, &self.code)?)?)
    }
}

/// The memory limit was reached where no program could receive a condition.
#[derive(Debug)]
pub(super) struct Fault;

impl From<HeapFull> for Fault {
    fn from(_: HeapFull) -> Self {
        Self
    }
}

impl Programs for SchemePrograms {
    type Instance = SchemeActor;

    fn text(&self, name: &str) -> Option<Arc<str>> {
        let expander = self.expander();
        let texts = (0..).map_while(|number| expander.source(SourceId(number)));
        // Of texts that were typed and could not be used, the newest has the name.
        let named = texts.filter(|text| text.name == name).last();
        named.map(|text| Arc::clone(&text.text))
    }

    fn begin_anew(&mut self) {
        self.text_compiler(None).forget_all();
    }

    fn follow(&mut self, patches: &Patches) -> Result<(), Failure> {
        self.go_to(patches)
    }

    fn renew(&mut self, actor: &mut SchemeActor) -> Result<(), Failure> {
        self.renew_instance(actor)
    }

    fn patch(&mut self, patches: &Patches, manifest: &Manifest) -> Result<Patching, Failure> {
        self.go_to(patches)?;
        self.require_granted(manifest)?;
        Ok(self.present.change.patching())
    }

    fn evaluated_libraries(&mut self, actor: &mut SchemeActor) -> BTreeSet<String> {
        self.libraries_besides_the_text(actor)
    }

    fn load(&mut self, program: &IOValue, limits: &Limits) -> Result<SchemeActor, Failure> {
        Ok(SchemeActor {
            instance: Box::new(Instance::new(self.process.heap(limits))),
            entity: self.entity(program)?.map(Box::new),
            evaluations: None,
        })
    }

    fn begin_turn(&mut self, actor: &mut SchemeActor) {
        self.has_written = false;
        actor.instance.heap.begin_turn();
        if let Some(evaluations) = &mut actor.evaluations {
            evaluations.begin_turn();
        }
    }

    fn commit_turn(&mut self, actor: &mut SchemeActor) {
        actor.instance.heap.commit_turn();
        // A word keeps its place while it is traced.
        if actor.instance.heap.is_collection_due() && self.machine.tracing().is_none() {
            actor.instance.heap.collect(&mut [], &self.code);
        }
    }

    fn abort_turn(&mut self, actor: &mut SchemeActor) {
        self.machine.clear(&mut actor.instance);
        self.abort_traced();
        actor.instance.heap.abort_turn();
        if let Some(evaluations) = &mut actor.evaluations {
            let undone = evaluations.abort_turn();
            evaluations.leave(&undone, &mut self.text_compiler(None));
        }
    }

    fn make_savepoint(&mut self, actor: &mut SchemeActor, number: u64, oldest: u64) {
        actor.instance.heap.make_savepoint(number, oldest);
        if let Some(evaluations) = &mut actor.evaluations {
            evaluations.make_savepoint(number, oldest);
        }
    }

    fn restore_savepoint(&mut self, actor: &mut SchemeActor, number: u64) -> bool {
        let is_back = actor.instance.heap.restore_savepoint(number);
        if is_back {
            actor.instance.heap.forget_snapshot();
            if let Some(evaluations) = &mut actor.evaluations {
                let undone = evaluations.restore_savepoint(number);
                evaluations.leave(&undone, &mut self.text_compiler(None));
            }
        }
        is_back
    }

    fn drop_savepoints(&mut self, actor: &mut SchemeActor, oldest: u64) {
        actor.instance.heap.drop_savepoints(oldest);
        if let Some(evaluations) = &mut actor.evaluations {
            evaluations.drop_savepoints(oldest);
        }
    }

    fn bytes(&self, actor: &SchemeActor) -> u64 {
        let heap = &actor.instance.heap;
        // A compacted heap holds little besides what it shares with others.
        if heap.is_compacted() {
            0
        } else {
            8 * heap.statistics().words_used as u64
        }
    }

    fn bytes_spare(&self, actor: &SchemeActor) -> u64 {
        actor.instance.heap.bytes_spare() as u64
    }

    fn process_bytes(&self) -> u64 {
        self.process.process_bytes()
    }

    fn take_quick_fuel(&mut self) -> u64 {
        self.machine.take_native_fuel()
    }

    fn collect(&mut self, actor: &mut SchemeActor) {
        let heap = &mut actor.instance.heap;
        // A trace would lose the origins of the words.
        if !heap.is_compacted() && self.machine.tracing().is_none() {
            heap.collect_major(&mut [], &self.code);
        }
    }

    fn compact(&mut self, actor: &mut SchemeActor) {
        if self.machine.tracing().is_none() {
            actor.instance.heap.compact(&self.code);
        }
    }

    fn run(&mut self, actor: &mut SchemeActor, task: Task, turn: &mut Activation) -> End {
        let stop = turn.is_memory_counted().then(|| self.process.stop_flag());
        self.present.expander.stop_on(stop);
        actor.instance.heap.set_lenient(true);
        if let Some(evaluations) = &mut actor.evaluations {
            evaluations.follow(self.present.change.id, &self.present.brought);
        }
        let end = self.begin(actor, task, turn).and_then(|end| match end {
            Some(end) => Ok(end),
            None => self.execute(actor, turn),
        });
        if let Ok(End::Parked { continuation, .. }) = &end {
            self.keep_calls(turn.turn.actor, *continuation);
        }
        self.note_failed_strands(&actor.instance.heap, turn.fiber());
        let end = end.and_then(|end| self.settle(actor, turn, end));
        let end = end.unwrap_or_else(|Fault| {
            self.machine.clear(&mut actor.instance);
            End::Failed(Failure::new(Failure::OUT_OF_MEMORY, "the memory limit is reached"))
        });
        if matches!(end, End::Failed(_)) {
            self.machine.clear(&mut actor.instance);
        }
        end
    }

    fn release(&mut self, actor: &mut SchemeActor, callable: Callable) {
        actor.instance.heap.release_root(RootId(callable.0));
    }

    fn run_bytes_max(&self) -> u64 {
        self.process.run_bytes_max()
    }

    /// The cost grows with everything that the program reaches.
    fn digest(&self, actor: &SchemeActor) -> Result<BlobHash, FreezeError> {
        let instance = image::digest(&actor.instance, &self.code).map_err(|error| FreezeError {
            reason: error.to_string(),
        })?;
        let none = Evaluations::default();
        let texts = actor.known_evaluations().unwrap_or(&none).digest();
        Ok(BlobHash::of(&[instance.0, texts.0].concat()))
    }

    fn freeze(&mut self, actor: &mut SchemeActor) -> Result<Image, FreezeError> {
        let heap = &mut actor.instance.heap;
        let is_compacted = heap.is_compacted();
        heap.collect_minor(&mut [], &self.code);
        let failed = |reason: String| FreezeError { reason };
        let snapshot = image::snapshot(heap, &self.code).map_err(|error| failed(error.to_string()))?;
        if is_compacted {
            heap.compact(&self.code);
        }
        let root = image_root::heap(BlobHash(snapshot.root.name.0));
        let frozen = match &mut actor.evaluations {
            Some(evaluations) => evaluations.freeze(root),
            None => Some((root, Vec::new())),
        };
        let (root, mut chunks) =
            frozen.ok_or_else(|| failed("the texts that were evaluated are too large".to_owned()))?;
        for chunk in snapshot.chunks.into_iter().chain([snapshot.root]) {
            chunks.push(Blob::new(chunk.bytes).map_err(|error| failed(error.to_string()))?);
        }
        Ok(Image {
            chunk_names: actor
                .known_evaluations()
                .map_or_else(Vec::new, |evaluations| evaluations.chunk_names().to_vec()),
            root,
            chunks,
            excused_bytes: snapshot.excused_bytes,
        })
    }

    fn version(&self) -> String {
        self.version.clone()
    }

    fn store_units(&self, known: &StoredUnits) -> Result<Vec<StoredUnit>, FreezeError> {
        self.units_besides(known)
    }

    fn has_units(&self, stored: &StoredUnits) -> bool {
        stored.keys().all(|unit| self.code.find_unit(&unit.0).is_some())
    }

    fn load_units(&mut self, stored: &StoredUnits, fetch: &dyn Fn(&BlobHash) -> Option<Vec<u8>>) {
        self.load_stored_units(stored, fetch);
    }

    fn thaw(&mut self, program: &IOValue, limits: &Limits, image: Stored<'_>) -> Result<SchemeActor, ThawError> {
        let failed = |reason: String| ThawError::damaged(reason);
        let entity = self.entity(program).map_err(|failure| failed(failure.to_string()))?;
        let (root, texts) =
            image_root::parts(image.root).ok_or_else(|| failed("the root is none of a actor".to_owned()))?;
        let evaluations = if texts.is_empty() {
            None
        } else {
            Some(Box::new(Evaluations::thaw(
                texts,
                self.process.heap(limits).words_max(),
                image.fetch,
                &mut self.text_compiler(entity.as_ref().map(|entity| entity.name().library).as_ref()),
            )?))
        };
        let mut fetch = |name: image::ChunkName| (image.fetch)(&BlobHash(name.0));
        let root = (image.fetch)(&root);
        let root = image::Chunk::new(root.ok_or_else(|| failed("the heap's root is missing".to_owned()))?);
        let instance = image::restore_instance(&root, self.process.heap(limits), &mut fetch, &self.code);
        let instance = instance.map_err(|error| ThawError {
            reason: error.to_string(),
            is_code_missing: error.is_code_missing(),
        })?;
        Ok(SchemeActor {
            instance: Box::new(instance),
            entity: entity.map(Box::new),
            evaluations,
        })
    }
}

impl SchemePrograms {
    /// Returns the place where the main program called `exit` in this process, if it did.
    pub fn exit_place(&self) -> Option<&Failure> {
        self.exit.as_ref()
    }

    /// Starts counting fuel by procedure, for all actors.
    pub fn begin_profile(&mut self) {
        self.profile = Some(Profile::default());
    }

    /// Stops counting; returns the procedures with the fuel that they used, most first.
    pub fn end_profile(&mut self) -> Vec<(Procedure, u64)> {
        let Profile(counts) = self.profile.take().unwrap_or_default();
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by(|(one, used), (other, more)| more.cmp(used).then_with(|| one.cmp(other)));
        counts
    }
}
