//! What the index of changes says, against what the records say.

use std::fs;
use std::path::Path;

use duet_journal::Record;
use proptest::prelude::*;

use super::*;
use crate::codec::Codec;
use crate::script::Scripts;
use crate::script::world::{World, branch, run_id};
use crate::snapshot::SnapshotPolicy;

/// Facts come and go, also with facets and actors, under several labels and none.
const SCRIPT: &str = "main:
    actor other console
    facet f
    in f inside
    assert a <p main 1>
    yield
    assert b <p main 2>
    assert s [1 2]
    retract a
    yield
    stop f
    assert a <p main 1>
    retract s
    yield
    retract a
    retract b
    await <lit never>
  inside:
    assert c <q <p inside> {x: 1}>
    await <lit never>
  other:
    assert d <p other 1>
    assert e plain
    yield
    fail broken";

fn pattern(text: &str) -> Pattern {
    Pattern::decode(&text.parse().expect("a value")).expect("a pattern")
}

fn patterns() -> Vec<Vec<Pattern>> {
    [
        "<_>",
        "<bind <_>>",
        "<lit <p main 1>>",
        "<lit plain>",
        "<lit nothing>",
        "<group <rec p> {}>",
        "<group <rec p> {1: <lit 1>}>",
        "<group <rec p> {0: <bind <_>> 1: <bind <lit 2>>}>",
        "<group <rec q> {0: <group <rec p> {0: <lit inside>}>}>",
        "<group <arr> {0: <lit 1>}>",
        "<group <rec p> {9: <lit 1>}>",
    ]
    .map(|text| vec![pattern(text)])
    .into_iter()
    .chain([vec![
        pattern("<lit plain>"),
        pattern("<group <rec p> {0: <lit other>}>"),
    ]])
    .collect()
}

fn lived() -> World<Scripts> {
    let mut world = World::script(
        SCRIPT,
        &["*"],
        SnapshotPolicy {
            turns: 3,
            ..SnapshotPolicy::NEVER
        },
    );
    world.drive();
    world
}

/// All changes up to a turn, as the records tell them.
fn told(source: &Source<'_>, at: Sequence) -> Vec<Change> {
    let mut told = Vec::new();
    let mut shadow = Shadow::begin(&source.record(Sequence::FIRST).expect("it is there")).expect("it is a run");
    let tell = |record: &Record, turn: &crate::record::TurnRecord, changes: &crate::history::shadow::Changes| {
        let came = changes.appeared.iter().map(|(fact, _)| (true, fact));
        let went = changes.disappeared.iter().map(|fact| (false, fact));
        told.extend(came.chain(went).map(|(came, fact)| Change {
            sequence: record.header().sequence,
            actor: turn.actor,
            came,
            fact: fact.clone(),
        }));
        Ok(())
    };
    shadow.advance(source, at, tell).expect("the records fit");
    told
}

fn expected(told: &[Change], patterns: &[Pattern], sought: Sought) -> Vec<Change> {
    let matches = |change: &&Change| {
        let value = change.fact.value();
        (change.came || sought == Sought::All) && patterns.iter().any(|pattern| pattern.matches(&value).is_some())
    };
    let found: Vec<Change> = told.iter().filter(matches).cloned().collect();
    let turn = match sought {
        Sought::First => found.first(),
        Sought::Last => found.last(),
        Sought::All => return found,
    };
    let turn = turn.map(|change| change.sequence);
    found
        .into_iter()
        .filter(|change| Some(change.sequence) == turn)
        .collect()
}

const ALL_SOUGHT: [Sought; 3] = [Sought::First, Sought::Last, Sought::All];

#[test]
fn the_index_finds_what_the_records_tell() {
    let world = lived();
    let (run, main) = (run_id(), branch("main"));
    let source = Source {
        store: &world.store,
        run: &run,
        branch: &main,
    };
    let head = world.run.head().expect("turns were taken").sequence.number();
    assert!(
        told(&source, Sequence::new(head).expect("small")).len() > 12,
        "much has changed"
    );
    let mut grown = Index::in_memory().expect("an index");
    for turn in 0..=head {
        let at = Sequence::new(turn).expect("small");
        let told = told(&source, at);
        let mut fresh = Index::in_memory().expect("an index");
        for index in [&mut grown, &mut fresh] {
            let coverage = cover(index, &source, at).expect("the records fit");
            for patterns in patterns() {
                for sought in ALL_SOUGHT {
                    let found = find(index, &coverage, &patterns, sought).expect("the index is sound");
                    let expected = expected(&told, &patterns, sought);
                    assert_eq!(found, expected, "{patterns:?}, {sought:?}, up to turn {turn}");
                }
            }
            assert_eq!(check(index, &source).expect("the records fit"), None);
        }
    }
}

#[test]
fn no_changed_byte_of_an_index_tells_a_lie_and_the_check_finds_what_is_hidden() {
    let world = lived();
    let (run, main) = (run_id(), branch("main"));
    let source = Source {
        store: &world.store,
        run: &run,
        branch: &main,
    };
    let head = world.run.head().expect("turns were taken").sequence;
    let told = told(&source, head);
    let folder = tempfile::tempdir().expect("a folder");
    let journal = folder.path().join("journal");
    let mut index = Index::open(&journal).expect("an index");
    cover(&mut index, &source, head).expect("the records fit");
    drop(index);
    let file = folder.path().join("journal.index");
    let sound = fs::read(&file).expect("it is there");
    // A stride that is no divisor of a page's length meets every kind of byte; DUET_EVERY_BYTE takes them all.
    #[expect(
        clippy::disallowed_methods,
        reason = "the long form is asked for by whoever runs the test"
    )]
    let stride = if std::env::var_os("DUET_EVERY_BYTE").is_some() {
        1
    } else {
        41
    };
    let mut noticed = 0;
    for at in (0..sound.len()).step_by(stride) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x15;
        fs::write(&file, &damaged).expect("it can be written");
        noticed += usize::from(is_noticed(&journal, &source, &told, at));
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(folder.path().join(format!("journal.index{suffix}")));
        }
    }
    assert!(noticed > 10, "something was damaged that matters");
}

/// Looks at a damaged index: what it finds must be true, and if it misses anything without an error the check must say so.
fn is_noticed(journal: &Path, source: &Source<'_>, told: &[Change], at: usize) -> bool {
    let Ok(Some(index)) = Index::open_existing(journal) else {
        return true;
    };
    let head = source.position(None).expect("a branch");
    let Ok(coverage) = index.coverage(source.store, (source.run, source.branch), head) else {
        return true;
    };
    let is_covered = |change: &&Change| change.sequence <= coverage.sequence();
    let told: Vec<Change> = told.iter().filter(is_covered).cloned().collect();
    let mut is_noticed = coverage.sequence() < head;
    let mut is_hidden = false;
    for patterns in patterns() {
        match find(&index, &coverage, &patterns, Sought::All) {
            Err(_) => is_noticed = true,
            Ok(found) => {
                let expected = expected(&told, &patterns, Sought::All);
                let is_true = found.iter().all(|change| expected.contains(change));
                assert!(is_true, "byte {at}: {patterns:?} finds {found:?}");
                is_hidden |= found.len() < expected.len();
            }
        }
    }
    if is_hidden {
        let is_sound = index.check_structure().is_ok() && matches!(check(&index, source), Ok(None));
        assert!(!is_sound, "byte {at}: something is hidden, and the check finds nothing");
    }
    is_noticed || is_hidden
}

fn atom() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a".to_owned()),
        Just("\"a\"".to_owned()),
        (0..3_i8).prop_map(|number| number.to_string()),
        Just("0.0".to_owned()),
        Just("-0.0".to_owned()),
        Just("170141183460469231731687303715884105728".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = String> {
    atom().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            (
                prop_oneof![Just("p"), Just("q")],
                prop::collection::vec(inner.clone(), 0..11)
            )
                .prop_map(|(label, fields)| format!("<{label} {}>", fields.join(" "))),
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(" "))),
            inner.prop_map(|entry| format!("{{k: {entry}}}")),
        ]
    })
}

fn any_pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("<_>".to_owned()),
        value().prop_map(|value| format!("<lit {value}>"))
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| format!("<bind {inner}>")),
            (
                prop_oneof![Just("<rec p>"), Just("<arr>")],
                prop::collection::btree_map(0..10_u8, inner.clone(), 0..3)
            )
                .prop_map(|(kind, entries)| {
                    let entries: Vec<String> = entries.iter().map(|(step, inner)| format!("{step}: {inner}")).collect();
                    format!("<group {kind} {{{}}}>", entries.join(" "))
                }),
            inner.prop_map(|inner| format!("<group <dict> {{k: {inner}}}>")),
        ]
    })
}

proptest! {
    #[test]
    fn what_a_pattern_matches_is_filed_under_all_its_terms(value in value(), text in any_pattern()) {
        let fact = Fact::new(value.parse().expect("a value")).expect("small");
        let pattern = pattern(&text);
        if pattern.matches(&fact.value()).is_some() {
            let filed = terms_of(fact.view());
            prop_assert!(terms_for(&pattern).iter().all(|term| filed.contains(term)), "{value} and {text}");
        }
        let exactly = Pattern::Literal(fact.clone());
        prop_assert_eq!(terms_for(&exactly), terms_of(fact.view()));
    }
}
