//! Records there and back, and one journal as people read it.

use duet_journal::{PackedValue, Sequence};
use preserves::IOValue;
use proptest::bool::weighted;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::gate::Reason;
use crate::model::failure::{Frame, FramePlace};
use crate::run::snapshot::SnapshotPolicy;
use crate::tests::script::world::World;

const EXAMPLE: &str = "main:
    watch w seen <group <rec p> {0: <bind <_>>}>
    assert a <p 1>
    facet f
    in f inside
    ask \"name?\"
    retract a
    retract 99
    stop f
    actor helper console
    yield
    yield
    write done
    exit 0
  inside:
    on-stop hook
    await <lit never>
  hook:
    log stopping
  helper:
    assert b <p helper>
    yield
    fail oops
  seen:
    show seen";

fn example() -> Vec<TurnRecord> {
    let mut world = World::script(EXAMPLE, &["*"], SnapshotPolicy::default());
    world.drivers.answers = [Ok("Ada".to_owned().encode())].into();
    world.drive();
    world.turns("main")
}

#[test]
fn a_journal_reads_like_a_story() {
    let story: String = (1..)
        .zip(example())
        .map(|(turn, record)| format!("{turn}: {record}"))
        .collect();
    insta::assert_snapshot!(story);
}

/// Turns whose events, actions and outcomes are some of the example's.
fn turns() -> impl Strategy<Value = TurnRecord> {
    let (mut events, mut actions, mut outcomes) = (Vec::new(), Vec::new(), Vec::new());
    for turn in example() {
        events.extend(turn.events);
        actions.extend(turn.actions);
        outcomes.push(turn.outcome);
    }
    let sequence = (0..1_u64 << 53).prop_map(|number| Sequence::new(number).expect("it is below 2^53"));
    let cause = prop_oneof![
        Just(Cause::Start {}),
        Just(Cause::Input {}),
        sequence.prop_map(|sequence| Cause::Turn { sequence }),
    ];
    let deny = Verdict::Deny {
        reason: Reason::NotOwned {},
    };
    let verdict = prop_oneof![4 => Just(Verdict::Allow {}), 1 => Just(deny.clone())];
    let attempts = vec(vec(select(actions.clone()), 1..3), 0..2);
    let refused = deny.clone();
    (
        any::<u64>(),
        cause,
        vec((select(events), weighted(0.2)), 0..3),
        vec((select(actions), verdict), 0..3),
        attempts,
        any::<u64>(),
        select(outcomes),
    )
        .prop_map(move |(actor, cause, told, done, attempts, fuel, outcome)| {
            let attempt = |actions| Attempt {
                event: Some(0),
                actions,
                verdict: refused.clone(),
            };
            let (events, is_dropped): (Vec<Event>, Vec<bool>) = told.into_iter().unzip();
            let (actions, verdicts) = done.into_iter().unzip();
            let dropped = (0..).zip(is_dropped).filter(|(_, is_dropped)| *is_dropped);
            TurnRecord {
                actor: ActorId(actor),
                cause,
                events,
                dropped: dropped.map(|(position, _)| position).collect(),
                actions,
                verdicts,
                attempts: attempts.into_iter().map(attempt).collect(),
                fuel,
                outcome,
            }
        })
}

fn length_bytes(value: &IOValue) -> usize {
    let packed = PackedValue::from_value(value).expect("it is small");
    packed.as_bytes().len()
}

/// A body each part of which is as long or as short as the bits of `choice` say; the first bit says
/// whether the body is full or bare.
fn mixed(turn: &TurnRecord, choice: usize) -> IOValue {
    let pick = |bit: usize, short: IOValue, long: IOValue| if choice >> bit & 1 == 1 { short } else { long };
    let cause = match turn.cause {
        Cause::Turn { sequence } => pick(1, sequence.encode(), turn.cause.encode()),
        Cause::Start {} | Cause::Input {} => turn.cause.encode(),
    };
    let verdicts = match turn.verdicts.iter().all(|verdict| *verdict == Verdict::Allow {}) {
        true => pick(2, Vec::<Verdict>::new().encode(), turn.verdicts.encode()),
        false => turn.verdicts.encode(),
    };
    let outcome = match turn.outcome {
        Outcome::Committed {} => pick(3, true.encode(), turn.outcome.encode()),
        Outcome::Failed { .. } => turn.outcome.encode(),
    };
    let (actor, fuel) = (turn.actor.encode(), turn.fuel.encode());
    let [events, actions] = [turn.events.encode(), turn.actions.encode()];
    if choice & 1 == 1 {
        return IOValue::new(vec![actor, cause, events, actions, fuel]);
    }
    let dropped = turn.dropped.encode();
    crate::model::codec::record(
        "turn",
        vec![
            actor,
            cause,
            events,
            dropped,
            actions,
            verdicts,
            turn.attempts.encode(),
            fuel,
            outcome,
        ],
    )
}

proptest! {
    #[test]
    fn records_decode_to_what_was_encoded(turn in turns()) {
        let packed = turn.pack().expect("it is small");
        prop_assert_eq!(TurnRecord::decode(&packed.to_value()), Ok(turn.clone()));
        let bytes = packed.as_bytes();
        prop_assert_eq!(form::has_internal_cause(bytes), turn.cause != (Cause::Input {}));
        prop_assert_eq!(form::has_committed(bytes), turn.outcome == (Outcome::Committed {}));
        let payload = [turn.events.encode(), turn.actions.encode()].map(|part| length_bytes(&part));
        prop_assert_eq!(payload_bytes(packed.view()), payload.iter().sum::<usize>());
    }

    #[test]
    fn a_turn_is_read_in_its_shortest_form_alone(turn in turns(), choice in 0..16_usize) {
        let value = mixed(&turn, choice);
        let read = TurnRecord::decode(&value).ok();
        prop_assert!(read.as_ref().is_none_or(|read| read.encode() == value), "{value:?}");
        prop_assert_eq!(read == Some(turn.clone()), turn.encode() == value);
    }
}

#[test]
fn bodies_are_pinned() {
    let mut turn = TurnRecord::new(
        ActorId(0),
        Cause::Turn {
            sequence: Sequence::FIRST,
        },
        vec![Event::Boot {}],
    );
    turn.actions = vec![crate::action::Action::from(crate::action::Revoke {
        capability: crate::model::identity::CapabilityId(1),
    })];
    (turn.verdicts, turn.fuel) = (vec![Verdict::Allow {}], 7);
    let pinned = |text: &str| text.parse::<IOValue>().expect("well formed");
    assert_eq!(turn.encode(), pinned("[0 0 [<boot>] [<revoke 1>] 7]"));
    turn.dropped = vec![0];
    assert_eq!(turn.encode(), pinned("<turn 0 0 [<boot>] [0] [<revoke 1>] [] [] 7 #t>"));
}

#[track_caller]
fn refuse(text: &str, expected: &[&str]) {
    let value: IOValue = text.parse().expect("well formed");
    let error = Body::decode(&value).expect_err("it is no body");
    let mut chain = vec![error.to_string()];
    let mut source = std::error::Error::source(&error);
    while let Some(error) = source {
        chain.push(error.to_string());
        source = error.source();
    }
    assert_eq!(chain, expected);
}

#[test]
fn what_is_no_record_is_refused() {
    refuse("1", &["expected the body of a record, found 1"]);
    refuse("<turn>", &["`turn` has 9 fields, 0 were found"]);
    refuse("[0 0 [] []]", &["`turn` has 5 fields, 4 were found"]);
    refuse(
        "<turn 0 <start> [<boot>] [] [<fly>] [] [] 0 #t>",
        &["field `actions` of `turn` is wrong", "expected an action, found <fly>"],
    );
    refuse(
        "<turn 0 <start> [<boot 1>] [] [] [] [] 0 #t>",
        &["field `events` of `turn` is wrong", "`boot` has 0 fields, 1 was found"],
    );
    refuse(
        "<turn 0 <start> [] [] [<assert 0 -1 x>] [] [] 0 #t>",
        &[
            "field `actions` of `turn` is wrong",
            "field `handle` of `assert` is wrong",
            "expected an integer below 2^64, found -1",
        ],
    );
    refuse(
        "<turn 0 <start> [] [] [<retract 0 <perhaps>>] [] [] 0 #t>",
        &[
            "field `actions` of `turn` is wrong",
            "field `ignored` of `retract` is wrong",
            "expected #f or a sequence of one, found <perhaps>",
        ],
    );
    refuse(
        "<turn 0 <start> [] [0] [] [] [] 0 #f>",
        &["field `outcome` of `turn` is wrong", "expected an outcome, found #f"],
    );
    refuse(
        "<turn 0 0 [] [0] [<revoke 1>] [<allow>] [] 0 #t>",
        &["it does not hold that there are no verdicts if all was allowed"],
    );
    refuse(
        "<turn 0 0 [] [] [] [] [<attempt #f [<revoke 1>] <allow>>] 0 #t>",
        &["it does not hold that the gate did not allow an attempt"],
    );
    refuse(
        "<turn 0 0 [] [] [<revoke 1>] [] [] 0 #t>",
        &["it does not hold that a turn is written in its shortest form"],
    );
    refuse(
        "[0 <turn 0> [] [] 0]",
        &[
            "field `cause` of `turn` is wrong",
            "expected the position of a turn, found <turn 0>",
        ],
    );
    refuse(
        "<turn 0 0 [] [] [] [<deny <not_owned>>] [] 0 #t>",
        &["it does not hold that each action has one verdict"],
    );
}

#[test]
fn a_run_begins_with_the_version_of_its_bodies() {
    let genesis = Genesis {
        program: IOValue::new(true),
        manifest: Manifest::default(),
        limits: Limits::default(),
        pinned: Vec::new(),
        tools: Vec::new(),
        policy: Vec::new(),
    };
    let encoded = genesis.encode();
    assert_eq!(encoded.value().index(0), preserves::Value::new(VERSION));
    assert_eq!(Genesis::decode(&encoded), Ok(genesis));
    for (body, expected) in [
        (
            "<run 3 #t>",
            Some("the run has version 3, this program reads version 1"),
        ),
        ("<run>", None),
        ("<run -1 #t>", None),
        ("#t", None),
    ] {
        let body: IOValue = body.parse().expect("well formed");
        let header = duet_journal::Header {
            run: duet_journal::RunId::new("r").expect("a name"),
            branch: duet_journal::BranchName::new("main").expect("a name"),
            sequence: Sequence::FIRST,
            parent: None,
            snapshot: None,
            blobs: Vec::new(),
        };
        let body = PackedValue::from_value(&body).expect("it is small");
        let record = duet_journal::Record::new(header, body).expect("a record");
        let refused = crate::run::source::genesis(&record).expect_err("it begins no run of this version");
        let expected = expected.unwrap_or("the first record does not begin a run");
        assert_eq!(refused.to_string(), expected);
    }
}

#[test]
fn what_is_no_state_is_refused() {
    for strange in ["5", "\"text\"", "<run-state>", "<run>", "[]"] {
        let strange: IOValue = strange.parse().expect("well formed");
        assert!(
            crate::state::RunState::decode(&strange).is_err() && Genesis::decode(&strange).is_err(),
            "{strange:?}"
        );
    }
}

#[test]
fn a_frame_is_what_it_is_encoded_as() {
    let text = FramePlace::Text {
        source: "a.scm".to_owned(),
        start: 7,
    };
    for (at, expected) in [
        (FramePlace::Unknown, "\"f\""),
        (text, "<frame \"f\" \"a.scm\" 7>"),
        (FramePlace::Gone, "<gone \"f\">"),
    ] {
        let frame = Frame {
            procedure: "f".to_owned(),
            at,
        };
        assert_eq!(format!("{:?}", frame.encode()), expected);
        assert_eq!(Frame::decode(&frame.encode()).unwrap(), frame);
    }
    let wrong = crate::model::codec::record("frame", vec!["f".to_owned().encode()]);
    assert!(Frame::decode(&wrong).is_err());
}

#[test]
fn what_a_message_names_is_not_told_twice() {
    for (kind, message, expected) in [
        ("undefined-variable", "a is not defined", "a is not defined"),
        (
            "capability-denied",
            "it needs `a`, which is not granted",
            "it needs `a`, which is not granted",
        ),
        (
            "wrong-type",
            "argument 1 of car must be a pair",
            "argument 1 of car must be a pair: a",
        ),
        ("error", "not this one:", "not this one: a"),
    ] {
        let mut failure = Failure::new(kind, message);
        failure.irritants = [IOValue::symbol("a")].into();
        assert_eq!(failure.to_string(), format!("{kind}: {expected}"));
    }
    for (message, expected) in [("`a.txt` is a directory", ""), ("not a number", ": \"a.txt\"")] {
        let mut failure = Failure::new("error", message);
        failure.irritants = [IOValue::new("a.txt".to_owned())].into();
        assert_eq!(failure.to_string(), format!("error: {message}{expected}"));
    }
}
