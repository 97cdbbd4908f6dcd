//! Records there and back, and one journal as people read it.

use preserves::IOValue;

use super::*;
use crate::script::world::World;
use crate::snapshot::SnapshotPolicy;

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

#[test]
fn records_decode_to_what_was_encoded() {
    for turn in example() {
        let value = turn.encode();
        assert_eq!(TurnRecord::decode(&value).as_ref(), Ok(&turn));
        let packed = turn.pack().expect("it is small");
        assert_eq!(TurnRecord::decode(&packed.to_value()), Ok(turn));
    }
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
    refuse("<turn>", &["`turn` has 8 fields, 0 were found"]);
    refuse(
        "<turn 0 <start> [<boot>] [] [<fly>] [] 0 <committed>>",
        &["field `actions` of `turn` is wrong", "expected an action, found <fly>"],
    );
    refuse(
        "<turn 0 <start> [<boot 1>] [] [] [] 0 <committed>>",
        &["field `events` of `turn` is wrong", "`boot` has 0 fields, 1 were found"],
    );
    refuse(
        "<turn 0 <start> [] [] [<assert 0 -1 x>] [] 0 <committed>>",
        &[
            "field `actions` of `turn` is wrong",
            "field `handle` of `assert` is wrong",
            "expected an integer below 2^64, found -1",
        ],
    );
    refuse(
        "<turn 0 <start> [] [] [<retract 0 <perhaps>>] [] 0 <committed>>",
        &[
            "field `actions` of `turn` is wrong",
            "field `ignored` of `retract` is wrong",
            "expected #f or a sequence of one, found <perhaps>",
        ],
    );
}

#[test]
fn what_was_recorded_before_tools_were_described_can_be_read() {
    let genesis = |tools| Genesis {
        version: VERSION,
        program: IOValue::new(true),
        manifest: Manifest::default(),
        limits: Limits::default(),
        pinned: Vec::new(),
        tools,
    };
    let card = ToolCard {
        name: "workspace/read".to_owned(),
        capabilities: vec!["fs.read".to_owned()],
        schema: "{}".to_owned(),
        needs_approval: false,
    };
    for (tools, arity) in [(Vec::new(), 5), (vec![card], 6)] {
        let genesis = genesis(tools);
        let encoded = genesis.encode();
        assert_eq!(encoded.value().len(), arity);
        assert_eq!(Genesis::decode(&encoded), Ok(genesis));
    }
    let state = crate::state::RunState::default().encode();
    let fields: Vec<IOValue> = state.iter().map(IOValue::from).take(8).collect();
    let older = crate::codec::record("run-state", fields);
    let read = crate::state::RunState::decode(&older).expect("a state without counted calls");
    assert_eq!(read.encode(), state);
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
    let wrong = record("frame", vec!["f".to_owned().encode()]);
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
