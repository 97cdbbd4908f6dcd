//! Journals whose records or snapshots say something else, under names that are right again: opened
//! and gone on with, or refused.
//!
//! A run is recorded once. Each input exchanges parts of its bodies, chains the records anew, and
//! then the run is restored, checked and opened.

use std::cell::RefCell;
use std::rc::Rc;

use duet_journal::store::memory::MemoryStore;
use duet_journal::{Append, Blob, BlobHash, BranchName, Header, PackedValue, Record, RunId, Sequence, Store};
use duet_kernel::datum::Name;
use duet_kernel::expander::LibraryName;
use duet_modules::resolver::Resolver;
use duet_modules::source::embedded::Embedded;
use duet_runtime::driver::{Drivers, Effect, Input};
use duet_runtime::model::identity::RequestId;
use duet_runtime::model::limits::Limits;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::record::Genesis;
use duet_runtime::run::Run;
use duet_runtime::run::inflight::Recovery;
use duet_runtime::run::replay::Snapshots;
use duet_runtime::run::snapshot::SnapshotPolicy;
use duet_runtime::run::source::{BranchClaim, Source};
use duet_runtime::scheme::{self, SchemePrograms};
use preserves::{CompoundClass, IOValue, ValueClass, ValueImpl};

use super::choice::Choices;

/// A program that leaves something of most kinds in its journal.
const PROGRAM: &str = "
(import (duet base) (duet dataspace) (only (duet internal eval) %interact))
(define seen '())
(define facet
  (spawn-facet! (lambda ()
    (on-assert (pattern (record 'job (capture n))) (lambda (n) (set! seen (cons n seen)) (assert! (record 'done n))))
    (on-message (pattern (record 'stop (capture why))) (lambda (why) (log! \"stopping\") (stop-facet! facet))))))
(define worker
  (spawn 'worker (lambda ()
    (on-assert (pattern (record 'done (capture n))) (lambda (n) (send! (record 'stop n)))))))
(define handle (assert! (record 'job 1)))
(progress! \"work\" 1 2)
(define answer (guard (e (#t 'failed)) (call-tool 'program 'workspace/list (dictionary 'recursive #t))))
(retract! handle)
(yield)
%interact
";

/// The texts typed at it.
const TEXTS: [&str; 4] = [
    "(define (f x) (* x 2))",
    "(define-syntax m (syntax-rules () ((_ e) (f e)))) (assert! (record 'job (m 4)))",
    "(car 5)",
    "(await (record 'never (capture x)))",
];

/// The turns that a changed run may still take.
const STEPS_MAX: usize = 50;

/// Programs that many runs use one after the other; compiling them for each would show nothing
/// more.
type Shared = Rc<RefCell<SchemePrograms>>;

/// A world that gives recorded inputs.
struct RecordedInputs(Vec<Input>);

impl Drivers for RecordedInputs {
    fn perform(&mut self, _: Vec<Effect>) {}

    fn next_input(&mut self) -> Option<Input> {
        self.0.pop()
    }

    fn poll_input(&mut self) -> Option<Input> {
        None
    }
}

/// A run as it was recorded.
pub struct Recording {
    programs: Shared,
    /// Its records, the first one first.
    pub records: Vec<Record>,
    blobs: Vec<Blob>,
}

thread_local! {
    static RECORDING: Recording = record();
}

fn name() -> (RunId, BranchName) {
    let run = RunId::new("run").expect("a name");
    (run, BranchName::new("main").expect("a name"))
}

fn policy() -> SnapshotPolicy {
    SnapshotPolicy {
        turns: 4,
        ..SnapshotPolicy::NEVER
    }
}

/// Runs the program and keeps what it recorded.
pub fn record() -> Recording {
    let defaults = ["base", "dataspace"].map(|part| LibraryName {
        parts: vec![Name::from("duet"), Name::from(part)],
    });
    let source = scheme::Source {
        name: "program.scm",
        text: PROGRAM,
        arguments: Vec::new(),
        default_imports: defaults.to_vec(),
        evaluable: Vec::new(),
        is_counted: false,
        stop: None,
    };
    let mut libraries = Resolver::new(vec![Box::new(Embedded::new("stdlib", duet_stdlib::FILES))]);
    let compiled = SchemePrograms::compile(&source, &mut libraries);
    let (programs, program, _) = compiled.unwrap_or_else(|(error, _)| panic!("{error:?}"));
    let programs = Rc::new(RefCell::new(programs));
    let genesis = Genesis {
        program: program.value.clone(),
        manifest: Manifest::of(&["*"]),
        limits: Limits {
            slice_fuel: 20_000,
            turn_fuel: 20_000,
            predicate_fuel: 1_000,
            heap_bytes_max: 4 << 20,
            run_bytes_max: 1 << 30,
        },
        pinned: program.pinned.iter().map(Blob::hash).collect(),
        tools: Vec::new(),
        policy: Vec::new(),
    };
    let (run, branch) = name();
    let start = duet_runtime::run::Start {
        run: run.clone(),
        branch: branch.clone(),
        owner: String::new(),
        genesis,
        pinned: program.pinned,
    };
    let mut store = MemoryStore::default();
    let mut live = Run::start(start, programs.clone(), policy(), &mut store).expect("the store does not fail");
    let mut said: Vec<_> = TEXTS.iter().rev().map(|text| evaluate(text)).collect();
    said.push(Input::ToolResult {
        request: RequestId(0),
        outcome: Ok(IOValue::new(vec![IOValue::new(1)])),
    });
    live.drive(&mut store, &mut RecordedInputs(said))
        .expect("the store does not fail");
    let end = store
        .head(&run, &branch)
        .expect("the store does not fail")
        .expect("a branch")
        .sequence;
    let range = Sequence::FIRST..end.next().expect("a short run");
    let records = store.read(&run, &branch, range).expect("the store does not fail");
    let names = records.iter().flat_map(|record| record.blobs());
    let blobs = names.map(|name| Blob::new(store.blob(&name).expect("a blob")).expect("a small blob"));
    let blobs = blobs.collect();
    Recording {
        programs,
        records,
        blobs,
    }
}

fn evaluate(text: &str) -> Input {
    Input::Evaluate {
        text: text.to_owned(),
        sources: Vec::new(),
    }
}

/// Changes the recorded run as the bytes say, and opens it.
pub fn run(bytes: &[u8]) {
    RECORDING.with(|recording| {
        let mut choices = Choices::new(bytes);
        let store = changed(&mut choices, recording);
        if let Some(store) = store {
            open(recording, store);
        }
    });
}

/// A store with the run in it, some of whose bodies or snapshots are other values.
fn changed(choices: &mut Choices<'_>, recording: &Recording) -> Option<MemoryStore> {
    let mut bodies: Vec<IOValue> = recording.records.iter().map(Record::body).collect();
    let mut roots: Vec<Option<(BlobHash, IOValue)>> =
        recording.records.iter().map(|record| root(record, recording)).collect();
    while !choices.is_empty() {
        let position = choices.below(bodies.len());
        match (choices.below(3), &mut roots[position]) {
            (0, Some((_, root))) => *root = exchange(choices, root, 0),
            _ => bodies[position] = exchange(choices, &bodies[position], 0),
        }
    }
    let (run, branch) = name();
    let mut store = MemoryStore::default();
    let epoch = store.claim(&run, "").ok()?;
    let mut blobs = recording.blobs.clone();
    let mut records: Vec<Record> = Vec::new();
    for ((record, body), root) in recording.records.iter().zip(&bodies).zip(&roots) {
        let mut header: Header = record.header().clone();
        header.parent = records.last().map(|record| record.hash());
        if let Some((_, root)) = root {
            let blob = Blob::new(PackedValue::from_value(root).ok()?.into_bytes()).ok()?;
            header.snapshot = Some(blob.hash());
            blobs.push(blob);
        }
        records.push(Record::new(header, PackedValue::from_value(body).ok()?).ok()?);
    }
    let append = Append {
        run: &run,
        branch: &branch,
        epoch,
        expected_head: None,
        records: &records,
        blobs: &blobs,
        times: None,
        need: duet_journal::Need::Nothing,
        taken: &[],
    };
    store.append(append).expect("the records follow each other");
    Some(store)
}

/// The snapshot of a record.
fn root(record: &Record, recording: &Recording) -> Option<(BlobHash, IOValue)> {
    let name = record.header().snapshot?;
    let blob = recording.blobs.iter().find(|blob| blob.hash() == name)?;
    let value = duet_journal::packed::read_value(blob.as_bytes()).ok()?;
    Some((name, value))
}

/// A value in which one part is another one.
fn exchange(choices: &mut Choices<'_>, value: &IOValue, depth: usize) -> IOValue {
    let ValueClass::Compound(class) = value.value_class() else {
        return instead(choices, value);
    };
    let is_mapping = matches!(class, CompoundClass::Dictionary | CompoundClass::Set);
    let length = value.iter().count();
    if is_mapping || length == 0 || depth > 12 || choices.below(16) == 0 {
        return instead(choices, value);
    }
    let chosen = choices.below(length);
    let how = choices.below(8);
    let mut parts: Vec<IOValue> = value.iter().map(Into::into).collect();
    match (how, class.clone()) {
        (0, CompoundClass::Sequence) => drop(parts.remove(chosen)),
        (1, CompoundClass::Sequence) => parts.insert(chosen, parts[chosen].clone()),
        (2, _) => parts.swap(chosen, 0),
        _ => parts[chosen] = exchange(choices, &parts[chosen], depth + 1),
    }
    if class == CompoundClass::Record {
        IOValue::record(value.label().into(), parts)
    } else {
        IOValue::new(parts)
    }
}

/// Something else than a value.
fn instead(choices: &mut Choices<'_>, value: &IOValue) -> IOValue {
    if let Some(bytes) = value.as_bytestring() {
        let mut bytes = bytes.into_owned();
        if !bytes.is_empty() {
            let place = choices.below(1 << 16) % bytes.len();
            bytes[place] = choices.byte();
        }
        return IOValue::bytes(bytes);
    }
    match choices.below(9) {
        0 => IOValue::new(false),
        1 => IOValue::new(u64::from(choices.byte())),
        2 => IOValue::new(-1),
        3 => IOValue::new(u64::MAX),
        4 => IOValue::symbol("other"),
        5 => IOValue::new(String::from_utf8_lossy(choices.bytes()).into_owned()),
        6 => IOValue::new(Vec::<IOValue>::new()),
        7 => IOValue::record(IOValue::symbol("start"), Vec::new()),
        _ => IOValue::new(vec![value.clone(), value.clone()]),
    }
}

/// Restores the run at its head and in its middle, checks it, and lets it go on.
fn open(recording: &Recording, mut store: MemoryStore) {
    let (run, branch) = name();
    let source = Source {
        store: &store,
        run: &run,
        branch: &branch,
    };
    let programs = || recording.programs.clone();
    let middle = Sequence::new(recording.records.len() as u64 / 2).ok();
    let checked = source.check(programs());
    drop(source.restore(middle, programs(), Snapshots::Use));
    let opened = Run::open(
        &mut store,
        BranchClaim::new(&run, &branch, ""),
        programs(),
        policy(),
        &Recovery::default(),
    );
    let Ok(mut opened) = opened else { return };
    opened.deliver(evaluate("(list f seen (f 21))"));
    for _ in 0..STEPS_MAX {
        match opened.step() {
            Ok(duet_runtime::run::Step::Turn) => {}
            Ok(_) | Err(_) => break,
        }
    }
    let flushed = opened.flush(&mut store);
    if checked.is_ok() && flushed.is_ok() {
        drop(opened);
        let source = Source {
            store: &store,
            run: &run,
            branch: &branch,
        };
        drop(source.restore(None, programs(), Snapshots::Use));
    }
}
