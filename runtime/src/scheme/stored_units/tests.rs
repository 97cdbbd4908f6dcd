//! Runs that go on where the same texts have other code.
//!
//! Two versions of the compiler stand beside each other as two libraries that were compiled ahead
//! of the same text: the code of the later one says something else, so whatever runs it shows.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use duet_journal::store::memory::MemoryStore;
use duet_kernel::expander::{Ahead, Libraries, LibraryName, SourceError};
use proptest::prelude::*;

use super::*;
use crate::driver::Input;
use crate::run::Run;
use crate::run::error::RunError;
use crate::run::inflight::Recovery;
use crate::run::replay::Snapshots;
use crate::run::snapshot::SnapshotPolicy;
use crate::run::source::{BranchClaim, Source as RunSource};
use crate::scheme::Source;
use crate::tests::script::world::{LIMITS, World, branch, read_answers, run_id};

const NAME: &str = "(asking)";

const OFTEN: SnapshotPolicy = SnapshotPolicy {
    turns: 1,
    ..SnapshotPolicy::NEVER
};

/// The text of the library; `said` stands where the versions of its code differ.
fn library(said: &str) -> SourceText {
    SourceText {
        name: "asking.sld".to_owned(),
        text: format!(
            "(define-library (asking) (export ask wrong) (import (duet kernel))
               (begin
                 (define (ask n)
                   (let ((answer (%await (record 'user-input ':prompt n) #f)))
                     (list '{said} n answer)))
                 (define (wrong) (car '{said}))))"
        )
        .into(),
    }
}

/// Finds the library with one text.
struct Asking(&'static str);

impl Libraries for Asking {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        Ok((name.to_name().as_str() == NAME).then(|| library(self.0)))
    }

    fn include(&mut self, _: &str, path: &str) -> Result<SourceText, SourceError> {
        Err(SourceError(format!("there is no {path}")))
    }

    fn names(&self) -> Vec<LibraryName> {
        Vec::new()
    }
}

fn compiled(text: &str, said: &'static str) -> (SchemePrograms, crate::scheme::Program) {
    let source = Source {
        name: "test.scm",
        text,
        arguments: Vec::new(),
        default_imports: ["(duet kernel)", NAME]
            .map(|name| LibraryName::parse(&name.into()))
            .to_vec(),
        evaluable: Vec::new(),
        is_counted: false,
        stop: None,
    };
    let compiled = SchemePrograms::compile(&source, &mut Asking(said));
    let (programs, program, _) = compiled.unwrap_or_else(|(error, _)| panic!("{text}: {error:?}"));
    (programs, program)
}

/// The code that a later version makes of the library's text.
fn ahead(text: &str) -> Ahead {
    let (programs, _) = compiled(text, "later");
    let name = NAME.into();
    let unit = programs.compiled_library(&name);
    let files = [("asking.sld".to_owned(), library("first"))];
    let kept = programs.expander().keep(&name, &files, unit.as_ref());
    kept.expect("the library can be stored")
}

/// A run of a program under the first version, and what switches to the later one.
fn world(text: &'static str, policy: SnapshotPolicy) -> (World<SchemePrograms>, Rc<Cell<bool>>) {
    let (_, program) = compiled(text, "first");
    let blobs: BTreeMap<_, _> = program
        .pinned
        .iter()
        .map(|blob| (blob.hash(), blob.as_bytes().to_vec()))
        .collect();
    let (value, is_later, later) = (program.value.clone(), Rc::new(Cell::new(false)), ahead(text));
    let switch = Rc::clone(&is_later);
    let again = move |_: &MemoryStore| {
        let is_later = is_later.get();
        let find = |_: &LibraryName| is_later.then(|| later.clone());
        let programs = SchemePrograms::pinned(&value, &mut |hash| blobs.get(hash).cloned(), &find);
        let mut programs = programs.expect("the texts are pinned");
        programs.set_version(if is_later { "later" } else { "first" });
        programs
    };
    (World::limited(LIMITS, (program, &["*"]), policy, again), switch)
}

/// Opens the run as another process would.
fn reopen(world: &mut World<SchemePrograms>, policy: SnapshotPolicy) {
    let programs = world.programs();
    let (run, main) = (run_id(), branch("main"));
    let claim = BranchClaim::new(&run, &main, "test");
    world.run = Run::open(&mut world.store, claim, programs, policy, &Recovery::default()).expect("it opens");
}

fn answer(world: &mut World<SchemePrograms>, value: &str) {
    let open = world.run.open_questions().pop();
    let request = open.expect("a question is open").request;
    let value = read_answers(&[Ok(value)])
        .pop_front()
        .and_then(Result::ok)
        .expect("a value");
    world.run.deliver(Input::Answer { request, value });
    world.drive();
}

/// What a replay of the run says under the present version.
fn replayed(world: &World<SchemePrograms>, snapshots: Snapshots) -> Result<Run, RunError> {
    let (run, branch) = (run_id(), branch("main"));
    let source = RunSource {
        store: &world.store,
        run: &run,
        branch: &branch,
    };
    source.restore(None, world.programs(), snapshots)
}

fn proved(world: &World<SchemePrograms>) -> Result<u64, RunError> {
    let (run, branch) = (run_id(), branch("main"));
    let source = RunSource {
        store: &world.store,
        run: &run,
        branch: &branch,
    };
    source.prove(world.programs(), world.programs())
}

const LOOP: &str = "(define (loop n) (log! (ask n)) (loop (+ n 1))) (loop 0)";

#[test]
fn a_run_goes_on_with_the_code_of_its_snapshot() {
    let (mut world, is_later) = world(LOOP, OFTEN);
    world.drive();
    answer(&mut world, "a");
    is_later.set(true);
    reopen(&mut world, OFTEN);
    let versions = world.run.code_from().map(<[String]>::to_vec);
    assert_eq!(versions, Some(vec!["first".to_owned()]));
    answer(&mut world, "b");
    // The snapshot that the later version took names the code of the first one, too.
    reopen(&mut world, OFTEN);
    answer(&mut world, "c");
    let shown: Vec<&str> = world
        .drivers
        .seen
        .iter()
        .map(String::as_str)
        .filter(|line| line.starts_with('('))
        .collect();
    assert_eq!(shown, ["(first 0 a)", "(first 1 b)", "(first 2 c)"]);
    assert!(replayed(&world, Snapshots::Use).is_ok());
}

#[test]
fn a_difference_from_another_version_names_it() {
    let (mut world, is_later) = world(LOOP, OFTEN);
    world.drive();
    answer(&mut world, "a");
    assert!(proved(&world).is_ok_and(|count| count > 0));
    is_later.set(true);
    for outcome in [replayed(&world, Snapshots::Ignore).map(drop), proved(&world).map(drop)] {
        match outcome {
            Err(RunError::Divergence(divergence)) => assert_eq!(divergence.versions, ["first"]),
            Err(RunError::OtherCode { versions, .. }) => assert_eq!(versions, ["first"]),
            other => panic!("{other:?}"),
        }
    }
    is_later.set(false);
    assert!(proved(&world).is_ok());
}

#[test]
fn without_a_snapshot_a_run_is_replayed_from_its_texts() {
    let (mut world, is_later) = world(LOOP, SnapshotPolicy::NEVER);
    world.drive();
    is_later.set(true);
    reopen(&mut world, SnapshotPolicy::NEVER);
    assert_eq!(world.run.code_from(), None);
    answer(&mut world, "a");
    assert!(world.drivers.seen.iter().any(|line| line == "(later 0 a)"));
}

#[test]
fn an_error_in_stored_code_names_its_place() {
    let (mut world, is_later) = world("(ask 0) (wrong)", OFTEN);
    world.drive();
    is_later.set(true);
    reopen(&mut world, OFTEN);
    answer(&mut world, "a");
    let failed = world.turns("main").pop().expect("a turn");
    let crate::record::Outcome::Failed { failure } = failed.outcome else {
        panic!("{:?}", failed.outcome);
    };
    let origin = failure.origin.expect("a place");
    let text = library("first").text;
    let place = &text[origin.start as usize..origin.end as usize];
    assert_eq!((origin.source.as_str(), place), ("asking.sld", "(car 'first)"));
}

#[test]
fn every_unit_is_loaded_as_it_was_stored() {
    let (programs, _) = compiled(LOOP, "first");
    let stored = programs
        .units_besides(&StoredUnits::new())
        .expect("units can be stored");
    assert_eq!(stored.len(), programs.code.units().len() - 1);
    let mut known = KnownTexts::of(programs.present.expander.sources());
    for unit in stored {
        let again = known.unit(unit.blob.as_bytes(), &|_| None).expect("it was stored");
        assert_eq!(BlobHash(again.hash()), unit.unit);
    }
}

#[test]
fn a_unit_whose_text_is_gone_has_no_places() {
    let (programs, _) = compiled(LOOP, "first");
    for unit in programs
        .units_besides(&StoredUnits::new())
        .expect("units can be stored")
    {
        let value = duet_journal::packed::read_value(unit.blob.as_bytes()).expect("a value");
        let mut record = UnitRecord::decode(&value).expect("a unit");
        record
            .texts
            .iter_mut()
            .for_each(|text| "gone".clone_into(&mut text.name));
        let bytes = PackedValue::write(|out| record.write(out))
            .expect("it is small")
            .into_bytes();
        let mut known = KnownTexts::of(programs.present.expander.sources());
        let again = known.unit(&bytes, &|_| None).expect("a unit");
        assert_eq!(BlobHash(again.hash()), unit.unit);
        let has_text = |place: &Span| !known.texts[place.source.0 as usize].text.is_empty();
        assert!(!again.places().any(has_text));
    }
}

proptest! {
    #[test]
    fn a_damaged_unit_is_refused_or_well_formed(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (mut programs, _) = compiled(LOOP, "first");
        for unit in programs.units_besides(&StoredUnits::new()).expect("units can be stored") {
            let mut bytes = unit.blob.as_bytes().to_vec();
            *at.get_mut(&mut bytes) = byte;
            let mut known = KnownTexts::of(programs.present.expander.sources());
            if let Some(unit) = known.unit(&bytes, &|_| None) {
                drop(programs.code.load(&unit));
            }
        }
    }
}
