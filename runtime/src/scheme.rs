//! Scheme programs as bodies of actors.
//!
//! Owns the machine, the code space and the sources of a run's programs, and drives one fiber at a time until it parks or ends.
//! INVARIANT: everything an actor's program knows is in its instance's heap and in the texts it was given, so a turn of these is a turn of the body; the machine is empty
//! whenever no fiber runs.
//! It does not know what host procedures do; `scheme/host.rs` does.
//! Read next: `scheme/host.rs`.

mod beginning;
mod body;
mod convert;
pub mod description;
mod descriptor;
mod difference;
mod entity;
mod evaluation;
pub mod host;
mod inspection;
mod image_root;
mod observation;
mod interaction;
mod profile;
mod source;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use duet_journal::{Blob, BlobHash};
use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::core::{GlobalName, Unit};
use duet_kernel::datum::Name;
use duet_kernel::diagnostic::Diagnostic;
use duet_kernel::expander::{Ahead, Expander, Libraries, LibraryName};
use duet_kernel::heap::{self, HeapFull, RootId};
use duet_kernel::image;
use duet_kernel::machine::{Instance, Machine, Outcome};
use duet_kernel::primitive::has_console_output;
use duet_kernel::transformer::TransformerMachine;
use duet_kernel::value::Value;
use preserves::IOValue;

use crate::activation::Activation;
use crate::body::{End, FreezeError, Image, Programs, Stored, Task, ThawError, Until};
use crate::codec::Codec;
use crate::identity::Callable;
use crate::record::{Failure, Limits};
use crate::scheme::beginning::Beginnings;
use crate::scheme::entity::Entity;
use crate::scheme::evaluation::Evaluations;
use crate::scheme::host::{Call, Reply};
use crate::scheme::observation::Observation;
use crate::scheme::profile::Profile;
use crate::scheme::source::Pinned;

pub use body::SchemeBody;
pub use difference::{Difference, Differences, Remembered};
pub use profile::Procedure;
pub use source::{Program, ProgramError, SourceRecord, description};

/// The Scheme programs of one run: the main program with all the libraries it needs.
pub struct SchemePrograms {
    machine: Machine,
    code: CodeSpace,
    /// The number of the first host procedure among the primitives.
    host_start: usize,
    expander: Expander,
    program: IOValue,
    /// What `command-line` returns.
    command_line: Vec<String>,
    /// The units of the main program, in the order of evaluation.
    units: Vec<usize>,
    /// Whether the present turn writes to the console.
    has_written: bool,
    /// What code that comes later may import and include.
    sources: Pinned,
    /// The numbers of units of libraries, by name.
    library_units: BTreeMap<Name, (Arc<Unit>, usize)>,
    /// The units of texts that were evaluated, by number.
    text_units: BTreeMap<usize, Arc<Unit>>,
    /// Where fuel is used, while somebody wants to know.
    profile: Option<Profile>,
    /// What is being looked at; nothing in a run that goes on.
    observation: Option<Observation>,
    beginnings: Beginnings,
}

/// What [`SchemePrograms::compile`] needs to know.
pub struct Source<'a> {
    /// The name that messages call the program by, such as its path.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// What `command-line` returns: the program's name and its arguments. Part of the run's first record.
    pub arguments: Vec<String>,
    /// What a program without `import` sees.
    pub default_imports: Vec<LibraryName>,
    /// What else must be found by code that comes to the program later, if the program evaluates any.
    pub evaluable: Vec<LibraryName>,
}

impl SchemePrograms {
    /// Compiles a program and the libraries it needs, and returns what a run's first record must say and pin so that it can be compiled again.
    ///
    /// # Errors
    /// [`ProgramError`].
    #[expect(
        clippy::result_large_err,
        reason = "made once, before a run; the caller needs the sources to show the errors"
    )]
    pub fn compile(
        source: &Source<'_>,
        libraries: &mut dyn Libraries,
    ) -> Result<(Self, Program, Vec<Diagnostic>), (ProgramError, Expander)> {
        source::compile(source, libraries)
    }

    /// Compiles the program of an existing run from the blobs that its first record pins. Libraries that `ahead` knows, and that were compiled ahead from
    /// the very texts that are pinned, are taken as they were compiled.
    ///
    /// # Errors
    /// [`ProgramError`] if a blob is missing, or the program does not compile any more.
    pub fn pinned(
        program: &IOValue,
        fetch: &mut dyn FnMut(&BlobHash) -> Option<Vec<u8>>,
        ahead: &dyn Fn(&LibraryName) -> Option<Ahead>,
    ) -> Result<Self, ProgramError> {
        source::pinned(program, fetch, ahead)
    }

    /// Makes these programs answer to the description of another one, so that replaying a run shows where they differ from what it recorded.
    pub fn stand_in_for(&mut self, program: IOValue) {
        self.program = program;
    }

    /// Names all that an actor's program keeps, wherever it lies in memory: bodies with the same name go on alike.
    ///
    /// Costs as much as all that the program reaches.
    ///
    /// # Errors
    /// [`FreezeError`] if the program refers to code without a name.
    pub fn digest(&self, body: &SchemeBody) -> Result<BlobHash, FreezeError> {
        let instance = image::digest(&body.instance, &self.code).map_err(|error| FreezeError {
            reason: error.to_string(),
        })?;
        let none = Evaluations::default();
        let texts = body.known_evaluations().unwrap_or(&none).digest();
        Ok(BlobHash::of(&[instance.0, texts.0].concat()))
    }

    /// Returns the code, for listings.
    pub fn code(&self) -> &CodeSpace {
        &self.code
    }

    /// Returns the expander, which knows the source texts that spans refer to.
    pub fn expander(&self) -> &Expander {
        &self.expander
    }

    #[expect(clippy::result_large_err, reason = "made once, before a run")]
    fn expand(
        source: &Source<'_>,
        libraries: &mut dyn Libraries,
    ) -> Result<(Self, Vec<Diagnostic>), (ProgramError, Expander)> {
        let code = CodeSpace::new(&host::primitives()).with_class_names(convert::Class::NAMES);
        let host_start = code.primitives().len() - host::procedures().count();
        let mut expander = Expander::new(code.signatures(), source.default_imports.clone())
            .with_transformers(Box::new(TransformerMachine::new(&host::primitives())));
        let expansion = match expander.expand_program(source.name, source.text, libraries) {
            Ok(expansion) => expansion,
            Err(errors) => return Err((ProgramError::Expand(errors), expander)),
        };
        let program = IOValue::new(false);
        let mut programs = Self {
            machine: Machine::new(),
            code,
            host_start,
            expander,
            program,
            command_line: source.arguments.clone(),
            units: Vec::new(),
            has_written: false,
            sources: Pinned::default(),
            library_units: BTreeMap::new(),
            text_units: BTreeMap::new(),
            profile: None,
            observation: None,
            beginnings: Beginnings::default(),
        };
        for unit in &expansion.units {
            match programs.load_unit(unit) {
                Ok(number) => {
                    programs.units.push(number);
                    programs
                        .library_units
                        .insert(unit.name.clone(), (Arc::clone(unit), number));
                }
                Err(error) => return Err((error, programs.expander)),
            }
        }
        Ok((programs, expansion.warnings))
    }

    /// What a program describes: nothing if it is the main program.
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
        if !self.library_units.contains_key(&name.library) || self.code.find_global(&name).is_none() {
            return Err(no_program(format!(
                "the program has no procedure {} of {}",
                name.name.as_str(),
                name.library.as_str()
            )));
        }
        Ok(Some(entity))
    }

    fn load_unit(&mut self, unit: &duet_kernel::core::Unit) -> Result<usize, ProgramError> {
        Ok(self.code.load(&compile(unit, &self.code)?)?)
    }

    /// Puts a task on the machine.
    fn begin(&mut self, body: &mut SchemeBody, task: Task, turn: &mut Activation) -> Result<Option<End>, Fault> {
        if let Task::Evaluate { text, sources } = &task {
            return self.begin_interaction(body, (text, sources), turn);
        }
        self.beginnings.give_up();
        if task == Task::Boot {
            let has_begun = self.begin_program(body, turn)?;
            return Ok((!has_begun).then_some(End::Finished { is_true: true }));
        }
        let Self { machine, code, .. } = self;
        let instance = &mut body.instance;
        let root = |instance: &Instance, callable: Callable| instance.heap.root_value(RootId(callable.0));
        match task {
            Task::Call { procedure, argument } => {
                let procedure = root(instance, procedure);
                let argument = argument
                    .map(|argument| convert::argument(instance, &argument))
                    .transpose()?;
                machine.start(instance, procedure, argument.as_slice());
            }
            Task::CallOnce { procedure } => {
                let value = root(instance, procedure);
                instance.heap.release_root(RootId(procedure.0));
                machine.start(instance, value, &[]);
            }
            Task::Boot | Task::Evaluate { .. } => {}
            Task::Resume { continuation, with } => {
                let parked = root(instance, continuation);
                instance.heap.release_root(RootId(continuation.0));
                let (continuation, is_choice) = convert::unpack_parked(&instance.heap, parked);
                machine.reinstate(instance, code, continuation);
                match convert::resumption(instance, &with, is_choice)? {
                    Ok(value) => machine.resume(value),
                    Err(condition) => machine.raise(instance, code, condition),
                }
            }
        }
        Ok(None)
    }

    /// What the library of ports calls `name`, if the program has that library.
    fn port_procedure(&self, instance: &Instance, name: &str) -> Option<Value> {
        let name = GlobalName {
            library: Name::from("(duet internal ports)"),
            name: Name::from(name),
        };
        instance.global(&self.code, &name)
    }

    /// Lets a main program that fails after it has written commit first and fail in a turn of its own, so that its output stays; whether it does.
    fn start_failing(&mut self, instance: &mut Instance, turn: &Activation, object: Value) -> bool {
        if !turn.is_main() || !(self.has_written || has_console_output(&instance.heap)) {
            return false;
        }
        let Some(fail) = self.port_procedure(instance, "%fail") else {
            return false;
        };
        // Where there is no room to say where it was raised, it fails without.
        let object = self.traced(&mut instance.heap, object).unwrap_or(object);
        self.machine.start(instance, fail, &[object]);
        true
    }

    /// An object that nobody caught as a condition that tells where it was raised.
    fn traced(&self, heap: &mut heap::Heap, object: Value) -> Result<Value, HeapFull> {
        let condition = convert::uncaught(heap, object)?;
        self.machine.trace(heap, condition)?;
        Ok(condition)
    }

    /// Adds what the console's ports hold to the turn.
    fn release_console(&mut self, body: &mut SchemeBody, turn: &mut Activation) -> Result<(), host::Fault> {
        self.has_written |= host::release_console(&mut body.instance, turn)?;
        Ok(())
    }

    /// Lets the console's ports go at the end of a fiber's run.
    fn settle(&mut self, body: &mut SchemeBody, turn: &mut Activation, end: End) -> Result<End, Fault> {
        if matches!(end, End::Failed(_)) {
            return Ok(end);
        }
        let Err(refused) = self.release_console(body, turn) else {
            return Ok(end);
        };
        let condition = refused.condition(&mut body.instance.heap, "%console-write")?;
        let failure = convert::failure(&body.instance.heap, &self.code, &self.expander, (condition, Vec::new()));
        Ok(End::Failed(failure))
    }

    /// Runs what is on the machine until the fiber parks or ends.
    fn execute(&mut self, body: &mut SchemeBody, turn: &mut Activation) -> Result<End, Fault> {
        loop {
            match self.run_machine(body, turn)? {
                Outcome::Finished(value) => {
                    if self.observation.is_some() {
                        if self.observe_next(body, value)? {
                            continue;
                        }
                        return Ok(End::Finished { is_true: true });
                    }
                    if !turn.is_main() || !self.start_next(body, turn)? {
                        return Ok(End::Finished {
                            is_true: value.is_true(),
                        });
                    }
                }
                Outcome::OutOfFuel => return self.park(body, Until::Fuel, false),
                Outcome::Exhausted => {
                    let bytes_max = body.instance.heap.words_max() as u64 * 8;
                    return Ok(End::Failed(Failure::exhausted(bytes_max)));
                }
                Outcome::Uncaught(object) => {
                    if self.start_failing(&mut body.instance, turn, object) {
                        continue;
                    }
                    let raised = self.machine.raised_frames(&body.instance.heap, &self.code);
                    let failure = convert::failure(&body.instance.heap, &self.code, &self.expander, (object, raised));
                    return Ok(End::Failed(failure));
                }
                Outcome::Request { primitive, count } => {
                    if let Some(end) = self.answer(body, turn, (primitive, count))? {
                        return Ok(end);
                    }
                }
            }
        }
    }

    /// Lets the machine run. Whether memory runs out is judged while it does, because it alone can collect first.
    fn run_machine(&mut self, body: &mut SchemeBody, turn: &mut Activation) -> Result<Outcome, Fault> {
        body.instance.link(&self.code)?;
        body.instance.heap.set_lenient(false);
        body.instance.heap.count_forced_collections(turn.is_memory_counted());
        let Self {
            machine, code, profile, ..
        } = self;
        let outcome = match profile {
            None => machine.run(&mut body.instance, code, turn.fuel()),
            Some(profile) => profile.run(machine, &mut body.instance, code, turn.fuel()),
        };
        body.instance.heap.set_lenient(true);
        Ok(outcome?)
    }

    /// Performs a host procedure; an end if the fiber stops running here.
    fn answer(
        &mut self,
        body: &mut SchemeBody,
        turn: &mut Activation,
        (primitive, count): (u32, usize),
    ) -> Result<Option<End>, Fault> {
        self.beginnings.give_up();
        let position = primitive as usize - self.host_start;
        let Some(procedure) = host::procedures().nth(position) else {
            return Ok(None);
        };
        if turn.is_sought() {
            let frames = self.machine.waiting_frames(&body.instance, &self.code);
            turn.note_place(convert::origin(&frames, &self.expander));
        }
        let reply = self.release_console(body, turn).and_then(|()| {
            let arguments = self.machine.arguments(count);
            let mut call = Call::new(procedure, &mut body.instance, &self.code, turn, arguments);
            call.command_line = &self.command_line;
            (procedure.body)(&mut call)
        });
        match reply {
            Ok(Reply::Value(value)) => self.machine.resume(value),
            Ok(Reply::Park(until)) => return self.park(body, until, false).map(Some),
            Ok(Reply::Choose(until)) => return self.park(body, until, true).map(Some),
            Ok(Reply::Compile { text, environment }) => self.compile_for(body, turn, (&text, &environment))?,
            Ok(Reply::Environment(imports)) => self.make_environment(body, turn, &imports)?,
            Ok(Reply::Describe(name)) => self.describe(body, &name)?,
            Ok(Reply::Exit(code)) => {
                self.machine.clear(&mut body.instance);
                return Ok(Some(End::Exit { code }));
            }
            Err(fault) => {
                let condition = fault.condition(&mut body.instance.heap, procedure.name)?;
                self.machine.raise(&body.instance, &self.code, condition);
            }
        }
        Ok(None)
    }

    /// Puts the running computation into the heap.
    fn park(&mut self, body: &mut SchemeBody, until: Until, is_choice: bool) -> Result<End, Fault> {
        self.beginnings.give_up();
        let continuation = self.machine.capture(&mut body.instance, &self.code)?;
        let heap = &mut body.instance.heap;
        let parked = convert::pack_parked(heap, continuation, is_choice)?;
        let continuation = Callable(heap.root(parked)?.0);
        Ok(End::Parked { continuation, until })
    }
}

/// The memory limit was reached where no program could be told.
#[derive(Debug)]
struct Fault;

impl From<HeapFull> for Fault {
    fn from(_: HeapFull) -> Self {
        Self
    }
}

fn heap_limits(limits: &Limits) -> heap::Limits {
    heap::Limits {
        bytes_max: usize::try_from(limits.heap_bytes_max).unwrap_or(usize::MAX),
    }
}

impl Programs for SchemePrograms {
    type Body = SchemeBody;

    fn load(&mut self, program: &IOValue, limits: &Limits) -> Result<SchemeBody, Failure> {
        Ok(SchemeBody {
            instance: Box::new(Instance::new(heap_limits(limits))),
            entity: self.entity(program)?.map(Box::new),
            evaluations: None,
        })
    }

    fn begin_turn(&mut self, body: &mut SchemeBody) {
        self.has_written = false;
        body.instance.heap.begin_turn();
        if let Some(evaluations) = &mut body.evaluations {
            evaluations.begin_turn();
        }
    }

    fn commit_turn(&mut self, body: &mut SchemeBody) {
        body.instance.heap.commit_turn();
        if body.instance.heap.is_collection_due() {
            body.instance.heap.collect(&mut [], &self.code);
        }
    }

    fn abort_turn(&mut self, body: &mut SchemeBody) {
        self.machine.clear(&mut body.instance);
        body.instance.heap.abort_turn();
        if let Some(evaluations) = &mut body.evaluations {
            evaluations.abort_turn();
        }
    }

    fn mark(&mut self, body: &mut SchemeBody, number: u64, oldest: u64) {
        body.instance.heap.mark(number, oldest);
        if let Some(evaluations) = &mut body.evaluations {
            evaluations.mark(number, oldest);
        }
    }

    fn go_back(&mut self, body: &mut SchemeBody, number: u64) -> bool {
        let is_back = body.instance.heap.go_back(number);
        if is_back {
            body.instance.heap.forget_snapshot();
            if let Some(evaluations) = &mut body.evaluations {
                evaluations.go_back(number);
            }
        }
        is_back
    }

    fn forget_marks(&mut self, body: &mut SchemeBody, oldest: u64) {
        body.instance.heap.forget_marks(oldest);
        if let Some(evaluations) = &mut body.evaluations {
            evaluations.forget_marks(oldest);
        }
    }

    fn look_at(&self, body: &SchemeBody) {
        body.instance.heap.look_at();
    }

    fn look_at_marks(&self, body: &SchemeBody) {
        body.instance.heap.look_at_marks();
    }

    fn rest(&mut self, body: &mut SchemeBody) {
        body.instance.heap.rest(&self.code);
    }

    fn run(&mut self, body: &mut SchemeBody, task: Task, turn: &mut Activation) -> End {
        body.instance.heap.set_lenient(true);
        let end = self.begin(body, task, turn).and_then(|end| match end {
            Some(end) => Ok(end),
            None => self.execute(body, turn),
        });
        let end = end.and_then(|end| self.settle(body, turn, end));
        let end = end.unwrap_or_else(|Fault| {
            self.machine.clear(&mut body.instance);
            End::Failed(Failure::new("out-of-memory", "the memory limit is reached"))
        });
        if matches!(end, End::Failed(_)) {
            self.machine.clear(&mut body.instance);
        }
        end
    }

    fn release(&mut self, body: &mut SchemeBody, callable: Callable) {
        body.instance.heap.release_root(RootId(callable.0));
    }

    fn freeze(&mut self, body: &mut SchemeBody) -> Result<Image, FreezeError> {
        let heap = &mut body.instance.heap;
        let is_resting = heap.is_resting();
        heap.collect_minor(&mut [], &self.code);
        let failed = |reason: String| FreezeError { reason };
        let snapshot = image::snapshot(heap, &self.code).map_err(|error| failed(error.to_string()))?;
        if is_resting {
            heap.rest(&self.code);
        }
        let root = image_root::heap(BlobHash(snapshot.root.name.0));
        let frozen = match &mut body.evaluations {
            Some(evaluations) => evaluations.freeze(root),
            None => Some((root, Vec::new())),
        };
        let (root, mut chunks) =
            frozen.ok_or_else(|| failed("the texts that were evaluated are too large".to_owned()))?;
        for chunk in snapshot.chunks.into_iter().chain([snapshot.root]) {
            chunks.push(Blob::new(chunk.bytes).map_err(|error| failed(error.to_string()))?);
        }
        Ok(Image {
            chunk_names: body
                .known_evaluations()
                .map_or_else(Vec::new, |evaluations| evaluations.chunk_names().to_vec()),
            root,
            chunks,
            excused_bytes: snapshot.excused_bytes,
        })
    }

    fn thaw(&mut self, program: &IOValue, limits: &Limits, image: Stored<'_>) -> Result<SchemeBody, ThawError> {
        let failed = |reason: String| ThawError::damaged(reason);
        let entity = self.entity(program).map_err(|failure| failed(failure.to_string()))?;
        let (root, texts) =
            image_root::parts(image.root).ok_or_else(|| failed("the root is none of a body".to_owned()))?;
        let evaluations = if texts.is_empty() {
            None
        } else {
            Some(Box::new(Evaluations::thaw(texts, image.fetch, &mut self.workshop())?))
        };
        let mut fetch = |name: image::ChunkName| (image.fetch)(&BlobHash(name.0));
        let root = match root {
            image_root::HeapRoot::Inline(bytes) => Some(bytes),
            image_root::HeapRoot::Named(name) => (image.fetch)(&name),
        };
        let root = image::Chunk::new(root.ok_or_else(|| failed("the heap's root is missing".to_owned()))?);
        let instance = image::restore_instance(&root, heap_limits(limits), &mut fetch, &self.code);
        let instance = instance.map_err(|error| ThawError {
            reason: error.to_string(),
            is_code_missing: error.is_code_missing(),
        })?;
        Ok(SchemeBody {
            instance: Box::new(instance),
            entity: entity.map(Box::new),
            evaluations,
        })
    }
}
