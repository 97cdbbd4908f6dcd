//! Changed texts of libraries that only evaluated texts need.

use std::collections::BTreeMap;

use duet_journal::{Blob, Sequence};
use duet_kernel::expander::{Libraries, LibraryName, SourceError, SourceText};

use crate::action::Action;
use crate::action::exit::MAIN;
use crate::driver::Input;
use crate::model::changed_text::ChangedText;
use crate::run::Run;
use crate::run::error::RunError;
use crate::run::heads::move_head;
use crate::run::inflight::Recovery;
use crate::run::snapshot::SnapshotPolicy;
use crate::run::source::BranchClaim;
use crate::scheme::tests::{EVALUATION_LIBRARY, every, session_of};
use crate::scheme::{Program, SchemePrograms, Source};
use crate::tests::script::world::{World, branch, run_id};

const STYLE: &str = "
    (define-library (style) (export styled) (import (duet kernel))
      (begin (define (styled word count) (list word count))))";

const TALLY: &str = "
    (define-library (tally) (export tick shown) (import (duet kernel) (style))
      (begin
        (define count 0)
        (define (word) (styled 'old count))
        (define (shown) (list 'shown count))
        (define (tick) (set! count (+ count 1)) word)))";

/// Imports the library and keeps a procedure of it.
const BEGIN: &str = "(import (tally)) (define held (tick)) (held)";

/// The texts of a program and of its libraries.
#[derive(Clone)]
struct Texts {
    program: String,
    libraries: BTreeMap<&'static str, String>,
}

impl Texts {
    fn first() -> Self {
        let libraries = [
            ("(duet internal eval)", EVALUATION_LIBRARY),
            ("(style)", STYLE),
            ("(tally)", TALLY),
        ];
        Self {
            program: "%interact".to_owned(),
            libraries: libraries.map(|(name, text)| (name, text.to_owned())).into(),
        }
    }

    /// The texts with an edit of a library, whose place must stand in it.
    fn edited(&self, library: &str, from: &str, to: &str) -> Self {
        let mut edited = self.clone();
        let text = edited.libraries.get_mut(library).expect("there is such a library");
        assert!(text.contains(from), "{from}");
        *text = text.replace(from, to);
        edited
    }

    fn compiled(&self) -> Program {
        let parse = |name: &str| LibraryName::parse(&name.into());
        let source = Source {
            name: "session",
            text: &self.program,
            arguments: Vec::new(),
            default_imports: ["(duet kernel)", "(duet internal eval)"].map(parse).to_vec(),
            evaluable: self.libraries.keys().map(|name| parse(name)).collect(),
            is_counted: false,
            stop: None,
        };
        let compiled = SchemePrograms::compile(&source, &mut self.clone());
        let (_, program, _) = compiled.unwrap_or_else(|(error, _)| panic!("{error:?}"));
        program
    }
}

impl Libraries for Texts {
    fn library(&mut self, name: &LibraryName) -> Result<Option<SourceText>, SourceError> {
        let text = self.libraries.get(name.to_string().as_str());
        Ok(text.map(|text| SourceText {
            name: name.to_string(),
            text: text.as_str().into(),
        }))
    }

    fn include(&mut self, _: &str, path: &str) -> Result<SourceText, SourceError> {
        Err(SourceError(format!("there is no {path}")))
    }

    fn names(&self) -> Vec<LibraryName> {
        Vec::new()
    }
}

/// A session whose program takes on changed texts.
struct Session {
    world: World<SchemePrograms>,
    policy: SnapshotPolicy,
    begun: Vec<Blob>,
}

impl Session {
    /// Starts a session that takes a snapshot after every `turns` turns.
    fn start(turns: u64) -> Self {
        let mut session = Self::before_its_first_turn(turns);
        session.world.drive();
        session
    }

    fn before_its_first_turn(turns: u64) -> Self {
        let program = Texts::first().compiled();
        let begun = program.pinned.clone();
        let world = session_of(program, turns);
        let policy = every(turns);
        Self { world, policy, begun }
    }

    /// Evaluates a text, and checks the lines that it shows and that the run replays.
    #[track_caller]
    fn shows(&mut self, text: &str, expected: &[&str]) {
        let seen = self.world.drivers.seen.len();
        self.world.run.deliver(Input::Evaluate {
            text: text.to_owned(),
            sources: Vec::new(),
        });
        self.world.drive();
        assert_eq!(self.world.drivers.seen[seen..], *expected, "{text}");
        self.world.check_replay();
    }

    /// The changed text, as a person gives it.
    fn text_of(&self, texts: &Texts) -> ChangedText {
        let program = texts.compiled();
        let new = program.pinned.iter().filter(|blob| !self.begun.contains(blob));
        let texts = new.map(|blob| String::from_utf8_lossy(blob.as_bytes()).into_owned());
        ChangedText {
            texts: texts.collect(),
            program: program.value,
            run: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Gives the changed text.
    fn give(&mut self, texts: &Texts) -> Result<(), RunError> {
        let text = self.text_of(texts);
        self.world.run.deliver_first(Input::Patch { text });
        self.world.run.step().map(drop)
    }

    /// Takes on a changed text, and checks the changed and the new definitions in its record.
    #[track_caller]
    fn takes(&mut self, texts: &Texts, changed: &[&str], added: &[&str]) {
        self.give(texts).expect("the text can take the place of the one before");
        self.world.drive();
        self.world.check_replay();
        let patch = |action: &Action| {
            let Action::Patch(patch) = action else { return None };
            Some((patch.changed.clone(), patch.added.clone()))
        };
        let turns = self.world.turns("main");
        let said = turns.iter().rev().find_map(|turn| turn.actions.iter().find_map(patch));
        assert_eq!(said, Some((owned(changed), owned(added))));
    }

    /// Goes back to a turn, in the same process.
    fn back_at(self, to: Sequence) -> Self {
        let World {
            mut store,
            run,
            drivers,
            again,
        } = self.world;
        let (name, main) = (run_id(), branch("main"));
        move_head(&mut store, BranchClaim::new(&name, &main, "test"), to, None).expect("the turn exists");
        let run = run.reopen(&mut store, &main, "test", &Recovery::default());
        let world = World {
            run: run.expect("it opens"),
            store,
            drivers,
            again,
        };
        Self { world, ..self }
    }

    /// Goes on in another process.
    fn reopen(&mut self) {
        let programs = self.world.programs();
        let (run, main) = (run_id(), branch("main"));
        let claim = BranchClaim::new(&run, &main, "test");
        let recovery = Recovery::default();
        self.world.run = Run::open(&mut self.world.store, claim, programs, self.policy, &recovery).expect("it opens");
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Does something with sessions that take snapshots after each turn, sometimes, and never.
fn with_sessions(act: impl Fn(Session)) {
    for turns in [1, 3, 1000] {
        act(Session::start(turns));
    }
}

#[test]
fn a_library_that_only_evaluated_texts_need_changes_and_keeps_its_state() {
    let new = Texts::first()
        .edited("(tally)", "'old", "'new")
        .edited("(tally)", "tick shown", "tick shown step")
        .edited("(tally)", "(define count 0)", "(define count 0) (define step 10)");
    with_sessions(|mut session| {
        session.shows(BEGIN, &["(old 1)"]);
        session.takes(&new, &["word of (tally)"], &["step of (tally)"]);
        session.shows("(held)", &["(new 1)"]);
        session.shows("(tick)", &["#<procedure word>"]);
        session.shows("(shown)", &["(shown 2)"]);
        session.shows("step", &["10"]);
        session.reopen();
        session.takes(&new.edited("(tally)", "'new", "'last"), &["word of (tally)"], &[]);
        session.shows("(held)", &["(last 2)"]);
        session.reopen();
        session.shows("(held)", &["(last 2)"]);
    });
}

#[test]
fn a_library_that_another_needs_changes() {
    let new = Texts::first().edited("(style)", "(list word count)", "(list count word)");
    with_sessions(|mut session| {
        session.shows(BEGIN, &["(old 1)"]);
        session.reopen();
        session.takes(&new, &["styled of (style)"], &[]);
        session.shows("(held)", &["(1 old)"]);
    });
}

#[test]
fn a_library_that_nobody_has_evaluated_is_not_compared() {
    let new = Texts::first().edited("(tally)", "'old", "'new");
    let broken = new.edited("(tally)", "(define count 0)", "(define count (let))");
    with_sessions(|mut session| {
        session.shows("(import (style)) (styled 1 2)", &["(1 2)"]);
        session.takes(&new, &[], &[]);
        let before = session.world.run.head().expect("a turn").sequence;
        session.shows(BEGIN, &["(new 1)"]);
        // This process knows the library still when the run is back at the turn before.
        let mut session = session.back_at(before);
        session.takes(&broken, &[], &[]);
    });
}

#[test]
fn a_text_whose_library_has_errors_is_refused_if_an_actor_has_evaluated_the_library() {
    let broken = Texts::first().edited("(tally)", "(define count 0)", "(define count (let))");
    with_sessions(|mut session| {
        session.takes(&broken, &[], &[]);
        session.takes(&Texts::first(), &[], &[]);
        session.shows(BEGIN, &["(old 1)"]);
        let turns = session.world.turns("main").len();
        let refused = session.give(&broken);
        assert!(matches!(&refused, Err(RunError::Patch(failure)) if failure.kind == "syntax-error"));
        assert_eq!(session.world.turns("main").len(), turns);
        session.shows("(held)", &["(old 1)"]);
    });
}

#[test]
fn a_library_that_a_new_text_imports_first_keeps_its_state() {
    let mut new = Texts::first().edited("(tally)", "'old", "'new");
    new.program = "(import (duet kernel) (duet internal eval) (tally)) %interact tick".to_owned();
    with_sessions(|mut session| {
        session.shows(BEGIN, &["(old 1)"]);
        session.reopen();
        session.takes(&new, &["word of (tally)"], &[]);
        session.shows("(held)", &["(new 1)"]);
        // A text that does not import it any more: its procedures are the actor's still.
        session.takes(
            &Texts::first().edited("(tally)", "'old", "'last"),
            &["word of (tally)"],
            &[],
        );
        session.shows("(held)", &["(last 1)"]);
    });
}

#[test]
fn a_text_that_is_refused_before_the_first_turn_leaves_no_instance() {
    let mut session = Session::before_its_first_turn(1);
    let text = ChangedText {
        run: vec!["nothing".to_owned()],
        ..session.text_of(&Texts::first().edited("(tally)", "'old", "'new"))
    };
    session.world.run.deliver_first(Input::Patch { text });
    assert!(matches!(session.world.run.step(), Err(RunError::Patch(_))));
    assert!(session.world.run.instance::<SchemePrograms>(MAIN).is_none());
    session.world.drive();
    session.shows(BEGIN, &["(old 1)"]);
}
