//! The index of changes, compared with the records.

use duet_journal::Record;
use proptest::prelude::*;

use super::*;
use crate::model::codec::Codec;
use crate::run::snapshot::SnapshotPolicy;
use crate::tests::script::Scripts;
use crate::tests::script::world::{World, branch, run_id};

/// Facts come and go, some with their facets and actors, under several labels and none.
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

/// Lists all changes up to a turn, according to the records.
fn told(source: &Source<'_>, at: Sequence) -> Vec<FactChange> {
    let mut told = Vec::new();
    let mut shadow = Shadow::begin(&source.record(Sequence::FIRST).expect("it is there")).expect("it is a run");
    let tell = |record: &Record, turn: &crate::record::TurnRecord, changes: &crate::history::shadow::Changes| {
        let came = changes.appeared.iter().map(|(fact, _)| (true, fact));
        let went = changes.disappeared.iter().map(|fact| (false, fact));
        told.extend(came.chain(went).map(|(came, fact)| FactChange {
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

fn expected(told: &[FactChange], patterns: &[Pattern], sought: Sought) -> Vec<FactChange> {
    let matches = |change: &&FactChange| {
        let value = change.fact.value();
        (change.came || sought == Sought::All) && patterns.iter().any(|pattern| pattern.matches(&value).is_some())
    };
    let found: Vec<FactChange> = told.iter().filter(matches).cloned().collect();
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
fn an_index_that_says_something_else_is_found_out() {
    let world = lived();
    let (run, main) = (run_id(), branch("main"));
    let source = Source {
        store: &world.store,
        run: &run,
        branch: &main,
    };
    let head = world.run.head().expect("turns were taken").sequence;
    let told = told(&source, head);
    let wrong = |change: &dyn Fn(&mut Vec<FiledEntry>)| {
        let mut shadow = Shadow::begin(&source.record(Sequence::FIRST).expect("it is there")).expect("it is a run");
        let mut portion = portion(&mut shadow, &source, head).expect("the records fit");
        change(&mut portion.entries);
        let mut index = Index::in_memory().expect("an index");
        let mut coverage = index.coverage(&world.store, &run, &main, head).expect("it is empty");
        index.extend(&mut coverage, &[portion]).expect("it is extended");
        check(&index, &source).expect("the records fit")
    };
    assert_eq!(wrong(&|_| {}), None);
    let (first, last) = (told[0].sequence, told[told.len() - 1].sequence);
    assert_eq!(wrong(&|entries| drop(entries.remove(0))), Some(first), "one is missing");
    assert_eq!(wrong(&|entries| drop(entries.pop())), Some(last), "the last is missing");
    assert_eq!(
        wrong(&|entries| entries[0].bytes[0] ^= 1),
        Some(first),
        "it went instead"
    );
    assert_eq!(
        wrong(&|entries| entries[0].terms.truncate(1)),
        Some(first),
        "a term is missing"
    );
    let doubled = |entries: &mut Vec<FiledEntry>| entries.push(entries[entries.len() - 1].clone());
    assert_eq!(wrong(&doubled), Some(last), "one is there twice");
}

#[test]
fn the_turns_of_a_tool_are_those_that_call_it_or_hear_of_it() {
    let script = "main:
    yield
    tool read one 1
    await-tool one
    yield
    tool write two 2
    await-tool two
    tool read three 3
    await-tool three
    yield";
    let mut world = World::script(script, &["*"], SnapshotPolicy::NEVER);
    world.drivers.answers = ["one", "two", "three"]
        .map(|answer| Ok(answer.to_owned().encode()))
        .into();
    world.drive();
    let (run, main) = (run_id(), branch("main"));
    let source = Source {
        store: &world.store,
        run: &run,
        branch: &main,
    };
    let head = world.run.head().expect("turns were taken").sequence;
    let mut expected: BTreeMap<String, BTreeSet<Sequence>> = BTreeMap::new();
    let mut asked = BTreeMap::new();
    let mut shadow = Shadow::begin(&source.record(Sequence::FIRST).expect("it is there")).expect("it is a run");
    let note = |record: &Record, turn: &TurnRecord, _: &Changes| {
        let at = record.header().sequence;
        for event in &turn.events {
            if let crate::state::event::Event::Answered { request, .. } = event {
                let tool: &String = &asked[request];
                expected.entry(tool.clone()).or_default().insert(at);
            }
        }
        for call in turn.actions.iter().filter_map(Action::call) {
            asked.insert(call.request, call.tool.clone());
            expected.entry(call.tool.clone()).or_default().insert(at);
        }
        Ok(())
    };
    shadow.advance(&source, head, note).expect("the records fit");
    assert!(
        expected["read"].len() >= 3 && expected["write"].len() >= 2,
        "{expected:?}"
    );
    let mut index = Index::in_memory().expect("an index");
    let coverage = cover(&mut index, &source, head).expect("the records fit");
    for tool in ["read", "write", "other"] {
        let found = turns_of_tool(&index, &coverage, tool).expect("the index is sound");
        assert_eq!(found, expected.get(tool).cloned().unwrap_or_default(), "{tool}");
    }
    assert_eq!(check(&index, &source).expect("the records fit"), None);
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

#[test]
fn an_index_that_nobody_waits_for_keeps_what_was_read() {
    let script = format!("main:\n    assert a <p one>\n{}    yield", "    yield\n".repeat(2_500));
    let mut world = World::script(&script, &["*"], SnapshotPolicy::NEVER);
    world.drive();
    let (run, main) = (run_id(), branch("main"));
    let source = Source {
        store: &world.store,
        run: &run,
        branch: &main,
    };
    let head = world.run.head().expect("turns were taken").sequence;
    let mut index = Index::in_memory().expect("an index");
    let mut reached = Vec::new();
    let stopped = cover_while(&mut index, &source, head, &mut |turn| {
        reached.push(turn.number());
        ControlFlow::Break(())
    });
    assert_eq!(stopped.expect("the records fit").sequence().number(), MARK_EVERY);
    let whole = cover_while(&mut index, &source, head, &mut |turn| {
        reached.push(turn.number());
        ControlFlow::Continue(())
    });
    assert_eq!(whole.expect("the records fit").sequence(), head);
    assert_eq!(reached, [MARK_EVERY, 2 * MARK_EVERY, head.number()]);
    assert_eq!(check(&index, &source).expect("the records fit"), None);
}
