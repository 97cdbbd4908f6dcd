//! Table tests of the bag and its notices, and the property that the index agrees with matching one
//! by one.

use std::collections::BTreeMap;

use duet_journal::packed::View;
use proptest::prelude::*;

use super::*;

fn fact(text: &str) -> Fact {
    Fact::new(text.parse().expect("well formed")).expect("within limits")
}

fn observe(observer: u64, pattern: &str) -> Fact {
    let pattern = Pattern::decode(&pattern.parse().expect("well formed")).expect("a pattern");
    let to = ObserverRef {
        actor: ActorId(observer % 2),
        observer: ObserverId(observer),
    };
    let pattern = PackedPattern::of(&pattern).expect("within limits");
    observe_fact(to, &pattern).expect("within limits")
}

enum Do {
    Assert(Fact),
    Retract(Fact),
    Message(Fact),
}
use Do::{Assert, Message, Retract};

fn show(notices: &[Notice]) -> String {
    let lines = notices.iter().map(|notice| {
        let captures = notice.captures.encode();
        let what = match notice.kind {
            NoticeKind::Added(handle) => format!("+{}", handle.0),
            NoticeKind::Removed(handle) => format!("-{}", handle.0),
            NoticeKind::Message => "!".to_owned(),
        };
        format!("{}{what}{captures:?}", notice.to.observer.0)
    });
    lines.collect::<Vec<_>>().join(" ")
}

/// Performs the steps; the notices of the last one must read `expected`.
#[track_caller]
fn check(steps: Vec<Do>, expected: &str) {
    let (mut dataspace, mut counters) = (Dataspace::default(), Counters::default());
    let mut notices = Notices::new();
    for step in &steps {
        notices = match step {
            Assert(fact) => dataspace.assert(fact, &mut counters),
            Retract(fact) => dataspace.retract(fact),
            Message(fact) => dataspace.message(fact).collect(),
        };
    }
    assert_eq!(show(&notices), expected);
}

const FIRST_FIELD: &str = "<group <rec p> {0: <bind <_>>}>";

#[test]
fn the_bag_counts() {
    let p = || fact("<p 1>");
    check(vec![Assert(observe(0, FIRST_FIELD)), Assert(p())], "0+0[1]");
    check(vec![Assert(observe(0, FIRST_FIELD)), Assert(p()), Assert(p())], "");
    check(
        vec![Assert(observe(0, FIRST_FIELD)), Assert(p()), Assert(p()), Retract(p())],
        "",
    );
    check(
        vec![
            Assert(observe(0, FIRST_FIELD)),
            Assert(p()),
            Assert(p()),
            Retract(p()),
            Retract(p()),
        ],
        "0-0[1]",
    );
    check(vec![Assert(observe(0, FIRST_FIELD)), Retract(p())], "");
}

#[test]
fn one_event_per_capture_tuple() {
    let watch = || Assert(observe(0, FIRST_FIELD));
    check(vec![watch(), Assert(fact("<p 1 a>")), Assert(fact("<p 1 b>"))], "");
    check(
        vec![
            watch(),
            Assert(fact("<p 1 a>")),
            Assert(fact("<p 1 b>")),
            Retract(fact("<p 1 a>")),
        ],
        "",
    );
    let both = vec![Assert(fact("<p 1 a>")), Assert(fact("<p 1 b>"))];
    check(
        [watch()]
            .into_iter()
            .chain(both)
            .chain([Retract(fact("<p 1 a>")), Retract(fact("<p 1 b>"))])
            .collect(),
        "0-0[1]",
    );
}

#[test]
fn existing_matches_come_in_the_order_of_values() {
    let facts = ["<p b>", "<p 10>", "<p 9>", "<p \"x\">", "<p -1>"].map(|text| Assert(fact(text)));
    check(
        facts.into_iter().chain([Assert(observe(3, FIRST_FIELD))]).collect(),
        "3+0[-1] 3+1[9] 3+2[10] 3+3[\"x\"] 3+4[b]",
    );
}

#[test]
fn the_end_of_an_observer_removes_its_matches() {
    let steps = vec![
        Assert(fact("<p 2>")),
        Assert(fact("<p 1>")),
        Assert(observe(0, FIRST_FIELD)),
        Retract(observe(0, FIRST_FIELD)),
    ];
    check(steps, "0-0[1] 0-1[2]");
}

#[test]
fn observers_of_the_same_share_handles_and_are_told_in_order() {
    let steps = vec![
        Assert(observe(4, FIRST_FIELD)),
        Assert(observe(2, FIRST_FIELD)),
        Assert(fact("<p 1>")),
    ];
    check(steps, "2+0[1] 4+0[1]");
}

#[test]
fn messages_reach_matching_observers_and_leave_nothing() {
    check(vec![Assert(observe(0, FIRST_FIELD)), Message(fact("<p 1>"))], "0![1]");
    check(vec![Assert(observe(0, FIRST_FIELD)), Message(fact("<q 1>"))], "");
    check(vec![Message(fact("<p 1>")), Assert(observe(0, FIRST_FIELD))], "");
}

#[test]
fn observing_is_itself_a_fact() {
    let watch_watchers = "<group <rec Observe> {0: <bind <_>>}>";
    check(
        vec![Assert(observe(0, watch_watchers)), Assert(observe(1, "<lit 1>"))],
        "0+1[<lit 1>]",
    );
    check(
        vec![
            Assert(observe(0, watch_watchers)),
            Assert(observe(1, "<lit 1>")),
            Retract(observe(1, "<lit 1>")),
        ],
        "0-1[<lit 1>]",
    );
    check(vec![Assert(fact("<Observe <_> #:nobody>")), Assert(fact("1"))], "");
}

#[test]
fn observers_are_seen_that_were_there_before_anybody_asked() {
    let watch_watchers = "<group <rec Observe> {0: <bind <group <rec lit> {}>>}>";
    check(
        vec![Assert(observe(1, "<lit 1>")), Assert(observe(0, watch_watchers))],
        "0+0[<lit 1>]",
    );
    check(
        vec![
            Assert(observe(1, "<lit 1>")),
            Assert(observe(0, watch_watchers)),
            Retract(observe(1, "<lit 1>")),
        ],
        "0-0[<lit 1>]",
    );
}

#[test]
fn what_nobody_asks_for_is_a_fact_all_the_same() {
    let (mut dataspace, mut counters) = (Dataspace::default(), Counters::default());
    let (first, second) = (observe(1, "<lit 1>"), observe(2, "<lit 1>"));
    dataspace.assert(&first, &mut counters);
    dataspace.assert(&second, &mut counters);
    assert_eq!((dataspace.count(&first), dataspace.len()), (1, 2));
    dataspace.retract(&second);
    assert_eq!((dataspace.count(&second), dataspace.len()), (0, 1));
    dataspace.commit_turn();
    let facts = dataspace.facts();
    assert_eq!(facts, [(first.value(), 1)]);
    // A pattern for observers arrives in a turn that aborts.
    dataspace.assert(&observe(3, "<_>"), &mut counters);
    assert_eq!(dataspace.len(), 2);
    dataspace.abort_turn();
    assert_eq!(dataspace.facts(), facts);
    assert_eq!(
        Dataspace::restore([&first].into_iter(), &dataspace.known_matches()).map(|restored| restored.facts()),
        Ok(facts)
    );
    assert!(dataspace.retract(&first).is_empty());
    assert!(dataspace.is_empty());
}

#[test]
fn a_fact_with_many_parts_is_still_found() {
    let long = format!("<p {}>", (0..500).map(|i| i.to_string()).collect::<Vec<_>>().join(" "));
    let pattern = "<group <rec p> {400: <bind <lit 400>>}>";
    check(vec![Assert(observe(0, pattern)), Assert(fact(&long))], "0+0[400]");
    check(vec![Assert(fact(&long)), Assert(observe(0, pattern))], "0+0[400]");
}

#[test]
fn facts_are_found_posted_or_waiting() {
    const FACTS: u64 = 5000;
    let (mut dataspace, mut counters) = (Dataspace::default(), Counters::default());
    let nth = |number: u64| fact(&format!("<p {number}>"));
    let watch = observe(0, FIRST_FIELD);
    let seen = |notices: &[Notice]| {
        notices
            .iter()
            .map(|notice| notice.captures.encode())
            .collect::<Vec<_>>()
    };
    let left = |step: usize| {
        (1..FACTS)
            .step_by(step)
            .map(|number| vec![number].encode())
            .collect::<Vec<_>>()
    };
    for number in 0..FACTS {
        dataspace.assert(&nth(number), &mut counters);
        dataspace.commit_turn();
    }
    for number in (0..FACTS).step_by(2) {
        dataspace.retract(&nth(number));
    }
    assert_eq!(seen(&dataspace.assert(&watch, &mut counters)), left(2));
    dataspace.abort_turn();
    let notices = dataspace.assert(&watch, &mut counters);
    assert_eq!(notices.len() as u64, FACTS);
    dataspace.retract(&watch);
    for number in (0..FACTS).filter(|number| number % 5 != 1) {
        dataspace.retract(&nth(number));
    }
    assert_eq!(seen(&dataspace.assert(&watch, &mut counters)), left(5));
}

fn atom() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("0"),
        Just("1"),
        Just("a"),
        Just("\"a\""),
        Just("1.0"),
        Just("#t"),
        Just("340282366920938463463374607431768211456")
    ]
    .prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = String> {
    atom().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(" "))),
            (
                prop_oneof![Just("p"), Just("q"), Just("<p>")],
                prop::collection::vec(inner.clone(), 0..3)
            )
                .prop_map(|(label, fields)| format!("<{label} {}>", fields.join(" "))),
            prop::collection::btree_map(prop_oneof![Just("a"), Just("0")], inner, 0..3)
                .prop_map(|entries| entries.iter().map(|(k, v)| format!("{k}: {v} ")).collect::<String>())
                .prop_map(|entries| format!("{{{entries}}}")),
        ]
    })
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("<_>".to_owned()),
        Just("<bind <_>>".to_owned()),
        value().prop_map(|value| format!("<lit {value}>")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let indexed = prop_oneof![
            Just("<arr>"),
            Just("<arr 1>"),
            Just("<rec p>"),
            Just("<rec q 2>"),
            Just("<rec <p>>")
        ];
        prop_oneof![
            inner.clone().prop_map(|inner| format!("<bind {inner}>")),
            (indexed, prop::collection::btree_map(0..3u8, inner.clone(), 0..3)).prop_map(|(kind, entries)| {
                let entries: String = entries.iter().map(|(k, v)| format!("{k}: {v} ")).collect();
                format!("<group {kind} {{{entries}}}>")
            }),
            (
                prop_oneof![Just("<dict>"), Just("<dict 1>")],
                prop::collection::btree_map(prop_oneof![Just("a"), Just("0")], inner, 0..3)
            )
                .prop_map(|(kind, entries)| {
                    let entries: String = entries.iter().map(|(k, v)| format!("{k}: {v} ")).collect();
                    format!("<group {kind} {{{entries}}}>")
                }),
        ]
    })
}

/// Keeps every fact and observer in a list and matches each with each.
#[derive(Clone, Default)]
struct Naive {
    facts: Vec<Fact>,
    observers: BTreeMap<u64, Pattern>,
}

impl Naive {
    fn matches(&self, observer: u64) -> Vec<Vec<IOValue>> {
        let Some(pattern) = self.observers.get(&observer) else {
            return Vec::new();
        };
        let mut found: Vec<Vec<IOValue>> = self
            .facts
            .iter()
            .filter_map(|fact| pattern.matches(&fact.value()))
            .collect();
        found.sort_by(|left, right| crate::model::value::compare_all(left, right));
        found.dedup_by(|left, right| crate::model::value::compare_all(left, right).is_eq());
        found
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Add(String),
    Remove(prop::sample::Index),
    Observe(u64, String),
    Unobserve(u64),
    Message(String),
    Reload,
    /// A turn that aborts.
    Abort(Vec<Operation>),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        8 => change(),
        1 => Just(Operation::Reload),
        1 => prop::collection::vec(change(), 1..8).prop_map(Operation::Abort),
    ]
}

fn change() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => value().prop_map(Operation::Add),
        3 => any::<prop::sample::Index>().prop_map(Operation::Remove),
        3 => (0..12u64, pattern()).prop_map(|(observer, pattern)| Operation::Observe(observer, pattern)),
        1 => (0..12u64).prop_map(Operation::Unobserve),
        1 => value().prop_map(Operation::Message),
    ]
}

/// The present matches of each observer, derived from its notices: handle to captures.
type Beliefs = BTreeMap<u64, BTreeMap<Handle, Vec<IOValue>>>;

fn believe(beliefs: &mut Beliefs, notices: &[Notice]) {
    for notice in notices {
        let belief = beliefs.entry(notice.to.observer.0).or_default();
        match notice.kind {
            NoticeKind::Added(handle) => {
                assert!(
                    belief
                        .insert(handle, notice.captures.iter().map(View::to_value).collect::<Vec<_>>())
                        .is_none(),
                    "no match is added twice"
                );
            }
            NoticeKind::Removed(handle) => {
                assert_eq!(
                    belief.remove(&handle),
                    Some(notice.captures.iter().map(View::to_value).collect::<Vec<_>>()),
                    "what goes had come"
                );
            }
            NoticeKind::Message => {}
        }
    }
}

#[derive(Default)]
struct Pair {
    dataspace: Dataspace,
    counters: Counters,
    naive: Naive,
    beliefs: Beliefs,
}

impl Pair {
    fn perform(&mut self, operation: &Operation) {
        let notices = match operation {
            Operation::Add(text) => {
                self.naive.facts.push(fact(text));
                self.dataspace.assert(&fact(text), &mut self.counters)
            }
            Operation::Remove(index) if !self.naive.facts.is_empty() => {
                let fact = self.naive.facts.remove(index.index(self.naive.facts.len()));
                self.forget_observer(&fact);
                self.dataspace.retract(&fact)
            }
            Operation::Observe(observer, pattern) if !self.naive.observers.contains_key(observer) => {
                let fact = observe(*observer, pattern);
                self.naive
                    .observers
                    .extend(parse_observe(&fact).map(|(_, pattern)| (*observer, pattern)));
                self.naive.facts.push(fact.clone());
                self.dataspace.assert(&fact, &mut self.counters)
            }
            Operation::Unobserve(observer) if self.naive.observers.contains_key(observer) => {
                let position = self
                    .naive
                    .facts
                    .iter()
                    .position(|fact| observer_of(fact) == Some(*observer));
                let fact = self.naive.facts.remove(position.expect("an observer is a fact"));
                self.forget_observer(&fact);
                self.dataspace.retract(&fact)
            }
            Operation::Message(text) => {
                self.check_message(&fact(text));
                Notices::new()
            }
            Operation::Reload => {
                let matches = self.dataspace.known_matches().encode();
                let matches = Vec::decode(&matches).expect("they were encoded");
                self.dataspace = Dataspace::restore(self.naive.facts.iter(), &matches).expect("nothing is missing");
                Notices::new()
            }
            Operation::Abort(operations) => {
                self.abort(operations);
                Notices::new()
            }
            Operation::Remove(_) | Operation::Observe(..) | Operation::Unobserve(_) => Notices::new(),
        };
        believe(&mut self.beliefs, &notices);
    }

    fn abort(&mut self, operations: &[Operation]) {
        self.dataspace.commit_turn();
        let (counters, naive, beliefs) = (self.counters.clone(), self.naive.clone(), self.beliefs.clone());
        for operation in operations {
            self.perform(operation);
        }
        self.dataspace.abort_turn();
        (self.counters, self.naive, self.beliefs) = (counters, naive, beliefs);
    }

    fn forget_observer(&mut self, fact: &Fact) {
        if let Some(observer) = observer_of(fact) {
            self.naive.observers.remove(&observer);
        }
    }

    fn check_message(&self, message: &Fact) {
        let received: Vec<(u64, Vec<IOValue>)> = self
            .dataspace
            .message(message)
            .map(|notice| {
                (
                    notice.to.observer.0,
                    notice.captures.iter().map(View::to_value).collect::<Vec<_>>(),
                )
            })
            .collect();
        let observers = self.naive.observers.iter();
        let expected: Vec<_> = observers
            .filter_map(|(o, pattern)| Some((*o, pattern.matches(&message.value())?)))
            .collect();
        assert_eq!(received, expected);
    }

    fn check_counts(&self) {
        for fact in &self.naive.facts {
            let count = self.naive.facts.iter().filter(|other| *other == fact).count();
            assert_eq!(self.dataspace.count(fact), count as u64, "{fact:?}");
        }
        let all: u64 = self.dataspace.facts().iter().map(|(_, count)| count).sum();
        assert_eq!(all, self.naive.facts.len() as u64, "nothing else is present");
    }

    fn check(&self) {
        for observer in 0..6 {
            let mut believed: Vec<Vec<IOValue>> = self
                .beliefs
                .get(&observer)
                .into_iter()
                .flat_map(|belief| belief.values().cloned())
                .collect();
            believed.sort_by(|left, right| crate::model::value::compare_all(left, right));
            assert_eq!(believed, self.naive.matches(observer), "observer {observer}");
        }
    }
}

fn observer_of(fact: &Fact) -> Option<u64> {
    parse_observe(fact).map(|(to, _)| to.observer.0)
}

proptest! {
    #[test]
    fn the_index_agrees_with_matching_one_by_one(operations in prop::collection::vec(operation(), 1..60)) {
        let mut pair = Pair::default();
        for operation in &operations {
            pair.perform(operation);
            pair.check();
            pair.check_counts();
        }
    }
}
