//! Scheme programs as whole runs: what becomes visible, and that each replays and resumes alike.

use duet_kernel::expander::{Libraries, LibraryName, SourceError, SourceText};

use super::*;
use crate::script::world::{World, read_answers};
use crate::snapshot::SnapshotPolicy;

/// No libraries besides the kernel's own.
struct NoLibraries;

impl Libraries for NoLibraries {
    fn library(&mut self, _: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        Ok(None)
    }

    fn include(&mut self, _: &str, path: &str) -> Result<SourceText, SourceError> {
        Err(SourceError(format!("there is no {path}")))
    }

    fn names(&self) -> Vec<LibraryName> {
        Vec::new()
    }
}

fn world(text: &str, capabilities: &[&str], policy: SnapshotPolicy) -> World<SchemePrograms> {
    let kernel = LibraryName {
        parts: vec![Name::from("duet"), Name::from("kernel")],
    };
    let source = Source {
        name: "test.scm",
        text,
        arguments: Vec::new(),
        default_imports: vec![kernel],
    };
    let compiled = SchemePrograms::compile(&source, &mut NoLibraries);
    let (_, program, _) = compiled.unwrap_or_else(|(error, _)| panic!("{text}: {error:?}"));
    let blobs: std::collections::BTreeMap<_, _> = program
        .pinned
        .iter()
        .map(|blob| (blob.hash(), blob.as_bytes().to_vec()))
        .collect();
    let value = program.value.clone();
    World::new(program, capabilities, policy, move |_| {
        SchemePrograms::pinned(&value, &mut |hash| blobs.get(hash).cloned()).expect("the texts are pinned")
    })
}

/// Runs a program that is granted everything; what becomes visible must be `expected`, one thing per line.
#[track_caller]
fn check_answered(text: &str, answers: &[Result<&str, &str>], expected: &str) {
    for turns in [1, 3, 1000] {
        let mut world = world(
            text,
            &["*"],
            SnapshotPolicy {
                turns,
                record_bytes: u64::MAX,
            },
        );
        world.drivers.answers = read_answers(answers);
        world.check(expected);
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    check_answered(text, &[], expected);
}

#[test]
fn assertions_are_watched() {
    let program = "
        (watch (pattern (p $x)) (lambda (event) (log! event)))
        (define handle (assert! (record 'p 1 'more)))
        (yield)
        (define newer (update! handle (record 'p '(a \"b\" 2.5))))
        (yield)
        (retract! newer)
        (retract! newer)
        (message! (record 'p #t))";
    let expected = "<added (1) #<opaque>>
        <added ((a \"b\" 2.5)) #<opaque>>
        <removed (1) #<opaque>>
        <removed ((a \"b\" 2.5)) #<opaque>>
        <message (#t)>";
    check(program, expected);
}

#[test]
fn waits_resume_with_what_they_waited_for() {
    let program = "
        (spawn (lambda ()
          (log! (%await (record 'signal 'go) #f))
          (log! (%await (record 'job ':field 1 ':equals 'b) #f))
          (log! (%await (list (record 'signal 'never) (record 'signal 'scoped ':scope 7)) #f))
          (log! (%await (record 'predicate (lambda (value) (if (record? value) (eq? (record-label value) 'last) #f))) #f))))
        (assert! (record 'go 1))
        (yield)
        (assert! (record 'job 1 'a))
        (assert! (record 'job 2 'b))
        (yield)
        (yield)
        (assert! (record 'signal 'scoped 7 'payload))
        (yield)
        (yield)
        (assert! (record 'last))";
    check(program, "<go 1>\n <job 2 b>\n (1 . <signal scoped 7 payload>)\n <last>");
}
