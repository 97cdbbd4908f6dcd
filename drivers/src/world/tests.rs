//! Tests of the world: order, concurrency, questions and their answers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed step of a test is its failure"
)]

use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use duet_runtime::driver::{Stream, UNNOTICED_TOOLS};
use indicatif::ProgressDrawTarget;

use super::*;
use crate::timers::CountedTimers;
use crate::tool::scripted::Scripted;
use crate::tool::workspace::Workspace;

use crate::tool::description::{Description, EffectClass};
use crate::tool::interface::{Call, Context, Stub, Tool};

mod calls;
mod undo;

/// The bytes that were written to a stream.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(&mut *self.0.lock().unwrap(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Tape {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// Waits until the text, which threads write, ends with `end`.
    #[track_caller]
    fn wait_for(&self, end: &str) {
        for _ in 0..500 {
            if self.text().ends_with(end) {
                return;
            }
            #[allow(clippy::disallowed_methods, reason = "another thread writes")]
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{end:?} was never written, but {:?}", self.text());
    }
}

/// A keyboard: each message is what one read returns; an empty one is the end of the stream.
struct Keys(mpsc::Receiver<&'static str>);

impl Read for Keys {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let keys = self.0.recv().unwrap_or("").as_bytes();
        buffer[..keys.len()].copy_from_slice(keys);
        Ok(keys.len())
    }
}

fn keyboard() -> (mpsc::Sender<&'static str>, Box<dyn Read + Send>) {
    let (sender, receiver) = mpsc::channel();
    (sender, Box::new(Keys(receiver)))
}

/// Settings in which nothing reaches the real console.
fn settings(errors: &Tape, person: Person) -> Settings {
    Settings {
        tools: Registry::default(),
        tool_calls_max: 2,
        console: Console::new(
            Box::new(io::sink()),
            Box::new(errors.clone()),
            ProgressDrawTarget::hidden(),
        ),
        input: Box::new(io::empty()),
        person,
        secrets: Secrets::default(),
        prepared: Prepared::default(),
        clock: WorldClock::default(),
        counted: CountedTimers::default(),
        is_scriptable: false,
        is_interruptible: false,
    }
}

fn quiet(tools: Registry) -> World {
    World::new(Settings {
        tools,
        ..settings(&Tape::default(), Person::Away)
    })
    .unwrap()
}

fn effect(number: u64, kind: EffectKind) -> Effect {
    Effect {
        request: RequestId(number),
        key: format!("key-{number}"),
        asking: None,
        kind,
    }
}

fn call(number: u64, name: &str) -> Effect {
    effect(
        number,
        EffectKind::Tool {
            name: name.to_owned(),
            payload: fact("payload"),
        },
    )
}

fn ask(number: u64, prompt: &str) -> Effect {
    effect(
        number,
        EffectKind::Ask {
            prompt: prompt.parse().unwrap(),
            approves: Vec::new(),
        },
    )
}

fn read(number: u64, length_bytes_max: usize) -> Effect {
    effect(number, EffectKind::Read { length_bytes_max })
}

fn text(text: &str) -> IOValue {
    IOValue::new(text.to_owned())
}

fn fact(value: &str) -> Fact {
    Fact::new(text(value)).unwrap()
}

fn result(number: u64, value: &str) -> Option<Input> {
    Some(Input::ToolResult {
        request: RequestId(number),
        outcome: Ok(text(value)),
    })
}

fn chunk(number: u64, bytes: &str) -> Option<Input> {
    Some(Input::Chunk {
        request: RequestId(number),
        bytes: bytes.as_bytes().to_vec(),
    })
}

fn answer(number: u64, value: &str) -> Option<Input> {
    Some(Input::Answer {
        request: RequestId(number),
        value: value.parse().unwrap(),
    })
}

#[track_caller]
fn check_failure(input: Option<Input>, number: u64, kind: &str, message: &str) {
    match input {
        Some(Input::ToolResult {
            request,
            outcome: Err(failure),
        }) => {
            assert_eq!(
                (request, failure.kind.as_str(), failure.message.as_str()),
                (RequestId(number), kind, message)
            );
        }
        other => panic!("expected a failure, found {other:?}"),
    }
}

#[test]
fn a_call_is_answered_and_then_nothing_can_come() {
    let tool = Scripted::new("t").reply(0, Ok(text("done")));
    let mut world = quiet(Registry::default().with(tool.clone()));
    assert_eq!(world.next_input(), None);
    world.perform(vec![call(1, "t")]);
    assert_eq!(world.next_input(), result(1, "done"));
    assert_eq!(world.next_input(), None);
    let calls: Vec<_> = tool
        .calls()
        .into_iter()
        .map(|(payload, context)| (payload, context.key))
        .collect();
    assert_eq!(calls, [(text("payload"), "key-1".to_owned())]);
}

#[test]
fn a_tool_that_is_not_there_is_a_failure() {
    let mut world = quiet(Registry::default().with(Scripted::new("b")).with(Scripted::new("a")));
    world.perform(vec![call(1, "c")]);
    check_failure(
        world.next_input(),
        1,
        "no-such-tool",
        "no tool is called `c`; there are a, b",
    );
}

#[test]
fn a_tool_that_takes_too_long_or_panics_is_a_failure() {
    struct Broken(Scripted);
    struct Shattered(Scripted);
    impl Tool for Shattered {
        fn description(&self) -> &Description {
            self.0.description()
        }
        fn call(&self, _payload: IOValue, _context: Context) -> Call {
            panic!("a bug in a tool")
        }
    }
    impl Tool for Broken {
        fn description(&self) -> &Description {
            self.0.description()
        }
        fn call(&self, _payload: IOValue, _context: Context) -> Call {
            Box::pin(async { panic!("a bug in a tool") })
        }
    }
    let slow = Scripted::new("slow")
        .described(EffectClass::Pure, true, Some(20))
        .reply(60_000, Ok(text("late")));
    let mut world = quiet(
        Registry::default()
            .with(slow)
            .with(Broken(Scripted::new("broken")))
            .with(Shattered(Scripted::new("shattered"))),
    );
    world.perform(vec![call(1, "slow")]);
    check_failure(
        world.next_input(),
        1,
        "timeout",
        "slow gave no answer within 20 ms; it may still take effect",
    );
    world.perform(vec![call(2, "broken")]);
    check_failure(world.next_input(), 2, "failed", "the tool broke down");
    world.perform(vec![call(3, "shattered"), call(4, "broken")]);
    check_failure(world.next_input(), 3, "failed", "the tool broke down");
    check_failure(world.next_input(), 4, "failed", "the tool broke down");
}

#[test]
fn only_so_many_calls_run_at_the_same_time() {
    let tool = Scripted::new("t")
        .reply(50, Ok(text("a")))
        .reply(500, Ok(text("b")))
        .reply(0, Ok(text("c")));
    let mut world = quiet(Registry::default().with(tool));
    world.perform(vec![call(1, "t"), call(2, "t"), call(3, "t")]);
    assert_eq!(
        world.next_input(),
        result(1, "a"),
        "the third waits for a slot, or it would be first"
    );
    assert_eq!(world.next_input(), result(3, "c"));
    assert_eq!(world.next_input(), result(2, "b"));
}

#[test]
fn the_same_effect_again_is_done_once() {
    let tool = Scripted::new("t")
        .reply(30, Ok(text("once")))
        .reply(0, Ok(text("twice")));
    let mut world = quiet(Registry::default().with(tool.clone()));
    world.perform(vec![call(1, "t"), call(1, "t")]);
    assert_eq!(world.next_input(), result(1, "once"));
    assert_eq!(world.next_input(), None);
    assert_eq!(tool.calls().len(), 1);
}

#[test]
fn a_result_never_answers_a_later_call_of_the_same_number() {
    let old = Scripted::new("old").reply(0, Ok(text("old")));
    let new = Scripted::new("new").reply(100, Ok(text("new")));
    let mut world = quiet(Registry::default().with(old).with(new));
    world.perform(vec![call(1, "old")]);
    world.perform(vec![Effect {
        key: "after a rewind".to_owned(),
        ..call(1, "new")
    }]);
    let orphaned = Input::Orphaned {
        key: "key-1".to_owned(),
        outcome: Ok(text("old")),
    };
    assert_eq!(world.next_input(), Some(orphaned), "it is told, as nobody's");
    assert_eq!(world.next_input(), result(1, "new"));
    assert_eq!(world.next_input(), None);
}

#[test]
fn input_comes_in_chunks_and_ends() {
    let (keys, input) = keyboard();
    let mut world = World::new(Settings {
        input,
        ..settings(&Tape::default(), Person::Away)
    })
    .unwrap();
    world.perform(vec![read(1, 3), read(2, 100)]);
    assert_eq!(world.poll_input(), None);
    keys.send("hello\n").unwrap();
    assert_eq!(world.next_input(), chunk(1, "hel"));
    assert_eq!(world.next_input(), chunk(2, "lo\n"));
    world.perform(vec![read(3, 1), read(4, 0)]);
    keys.send("").unwrap();
    assert_eq!(world.next_input(), chunk(3, ""));
    keys.send("x").unwrap();
    assert_eq!(world.next_input(), chunk(4, "x"));
    assert_eq!(world.next_input(), None);
}

#[test]
fn a_question_is_shown_and_answered() {
    let errors = Tape::default();
    let (keys, input) = keyboard();
    let mut world = World::new(Settings {
        input,
        ..settings(&errors, Person::AtInput)
    })
    .unwrap();
    world.perform(vec![ask(1, r#"<ask "Go on?" [#t #f]>"#)]);
    errors.wait_for("Go on? [yes/no] ");
    keys.send("may").unwrap();
    keys.send("be\n").unwrap();
    keys.send("y\n").unwrap();
    assert_eq!(world.next_input(), answer(1, "#t"));
    assert_eq!(
        errors.text(),
        "Go on? [yes/no] `maybe` is not one of: yes, no\nGo on? [yes/no] "
    );
}

#[test]
fn questions_and_reads_share_a_terminal_in_order() {
    let errors = Tape::default();
    let (keys, input) = keyboard();
    let mut world = World::new(Settings {
        input,
        ..settings(&errors, Person::AtInput)
    })
    .unwrap();
    world.perform(vec![read(1, 2), ask(2, r#""A?""#), ask(3, r#""B?""#), read(4, 9)]);
    keys.send("line\n").unwrap();
    assert_eq!(world.next_input(), chunk(1, "li"));
    errors.wait_for("A? ");
    keys.send("one\r\n").unwrap();
    assert_eq!(world.next_input(), answer(2, r#""one""#));
    errors.wait_for("A? B? ");
    keys.send("two\n").unwrap();
    assert_eq!(world.next_input(), answer(3, r#""two""#));
    assert_eq!(
        world.next_input(),
        chunk(4, "ne\n"),
        "what was read for the program before the questions"
    );
}

#[test]
fn a_person_elsewhere_does_not_disturb_the_input() {
    let errors = Tape::default();
    let (keys, terminal) = keyboard();
    let input = Box::new(&b"data"[..]);
    let mut world = World::new(Settings {
        input,
        ..settings(&errors, Person::At(terminal))
    })
    .unwrap();
    world.perform(vec![ask(1, r#""A?""#), read(2, 100)]);
    assert_eq!(world.next_input(), chunk(2, "data"));
    keys.send("yes\n").unwrap();
    assert_eq!(world.next_input(), answer(1, r#""yes""#));
}

#[test]
fn nobody_there_means_no_answer_comes() {
    let tool = Scripted::new("t").reply(0, Ok(text("done")));
    let errors = Tape::default();
    let mut world = World::new(Settings {
        tools: Registry::default().with(tool),
        ..settings(&errors, Person::Away)
    })
    .unwrap();
    world.perform(vec![ask(1, r#""A?""#), call(2, "t")]);
    assert_eq!(world.next_input(), result(2, "done"));
    assert_eq!(world.next_input(), None);
    assert_eq!(errors.text(), "");
}

#[test]
fn answers_given_ahead_are_used_in_order() {
    let errors = Tape::default();
    let prepared = Prepared {
        answers: ["Ada", "perhaps", "no"].map(str::to_owned).into(),
        ..Prepared::default()
    };
    let mut world = World::new(Settings {
        prepared,
        ..settings(&errors, Person::Away)
    })
    .unwrap();
    let yes_or_no = r#"<ask "Go on?" [#t #f]>"#;
    world.perform(vec![
        ask(1, r#""Name?""#),
        ask(2, yes_or_no),
        ask(3, yes_or_no),
        ask(4, yes_or_no),
    ]);
    let prepared = |number: u64, value: &str| {
        Some(Input::Prepared {
            request: RequestId(number),
            value: value.parse().unwrap(),
            by: "--answer".to_owned(),
        })
    };
    assert_eq!(world.next_input(), prepared(1, r#""Ada""#));
    assert_eq!(world.next_input(), prepared(3, "#f"));
    assert_eq!(world.next_input(), None);
    let refused = "Go on? [yes/no] \nthe answer given ahead does not fit: `perhaps` is not one of: yes, no\n";
    assert_eq!(errors.text(), format!("Name? Ada\n{refused}Go on? [yes/no] no\n"));
}

#[test]
fn the_end_of_the_terminal_leaves_the_question_open() {
    let (keys, input) = keyboard();
    let mut world = World::new(Settings {
        input,
        ..settings(&Tape::default(), Person::AtInput)
    })
    .unwrap();
    world.perform(vec![ask(1, r#""A?""#)]);
    keys.send("").unwrap();
    assert_eq!(world.next_input(), None);
    world.perform(vec![ask(1, r#""A?""#)]);
    keys.send("again\n").unwrap();
    assert_eq!(
        world.next_input(),
        answer(1, r#""again""#),
        "it is presented again under its number"
    );
}

#[test]
fn a_withdrawn_question_takes_no_answer() {
    let errors = Tape::default();
    let (keys, input) = keyboard();
    let mut world = World::new(Settings {
        input,
        ..settings(&errors, Person::AtInput)
    })
    .unwrap();
    world.perform(vec![ask(1, r#""A?""#)]);
    errors.wait_for("A? ");
    world.perform(vec![effect(1, EffectKind::Withdraw)]);
    assert_eq!(world.next_input(), None);
    world.perform(vec![ask(2, r#""B?""#)]);
    errors.wait_for("A? (withdrawn)\nB? ");
    keys.send("b\n").unwrap();
    assert_eq!(world.next_input(), answer(2, r#""b""#));
}

#[test]
fn a_reader_that_has_enough_stops_the_run() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let errors = Tape::default();
    let console = Console::new(Box::new(Closed), Box::new(errors.clone()), ProgressDrawTarget::hidden());
    let mut world = World::new(Settings {
        console,
        ..settings(&errors, Person::Away)
    })
    .unwrap();
    let line = |number| {
        effect(
            number,
            EffectKind::Write {
                stream: Stream::Output,
                bytes: b"y\n".to_vec(),
            },
        )
    };
    world.perform(vec![line(1), line(2)]);
    assert!(world.is_output_closed());
    world.perform(vec![line(3)]);
    assert_eq!(world.next_input(), Some(Input::Interrupt));
    assert_eq!(world.next_input(), None, "told once");
    assert_eq!(errors.text(), "");
}

#[test]
fn an_interrupt_is_an_input() {
    let slow = Scripted::new("slow").reply(60_000, Ok(text("late")));
    let tools = Registry::default().with(slow);
    let mut world = World::new(Settings {
        tools,
        is_interruptible: true,
        ..settings(&Tape::default(), Person::Away)
    })
    .unwrap();
    world.perform(vec![call(1, "slow")]);
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT).unwrap();
    assert_eq!(world.next_input(), Some(Input::Interrupt));
}

#[test]
fn tools_whose_calls_nobody_notices_answer_at_once() {
    let root = tempfile::TempDir::new().unwrap();
    let registry = Registry::built_in(Workspace::open(root.path()).unwrap(), []);
    for name in UNNOTICED_TOOLS {
        let tool = registry.find(name).unwrap();
        let payload = if tool.description().payload.is_empty() {
            "{}"
        } else {
            "{below: 6}"
        };
        let stub = tool.stub(&payload.parse().unwrap(), &Context::default());
        assert!(
            matches!(
                stub,
                Stub::Returns {
                    outcome: Ok(_),
                    delay_ms: 0
                }
            ),
            "{name}"
        );
    }
}

#[test]
fn the_built_in_tools_describe_themselves() {
    let root = tempfile::TempDir::new().unwrap();
    let registry = Registry::built_in(Workspace::open(root.path()).unwrap(), []);
    let listed: Vec<String> = registry
        .descriptions()
        .map(|tool| {
            let field = |field: &crate::tool::description::Field| {
                if field.required {
                    field.name.to_string()
                } else {
                    format!("[{}]", field.name)
                }
            };
            let fields: Vec<String> = tool.payload.iter().map(field).collect();
            format!(
                "{} {} {} {}",
                tool.name,
                fields.join(" "),
                tool.effect,
                if tool.idempotent { "idempotent" } else { "once" }
            )
        })
        .collect();
    let expected = [
        "chance/integer below pure idempotent",
        "chance/real  pure idempotent",
        "clock/jiffy  pure idempotent",
        "clock/millisecond  pure idempotent",
        "clock/second  pure idempotent",
        "clock/zone zone time_ms pure idempotent",
        "environment/*  pure idempotent",
        "process/run arguments [directory] [input] [environment] [timeout_ms] [output_limit_bytes] [repeatable] \
         irreversible once",
        "workspace/delete path reversible idempotent",
        "workspace/exists path pure idempotent",
        "workspace/list [path] [recursive] [all] [limit] pure idempotent",
        "workspace/patch patch reversible idempotent",
        "workspace/read path [offset] [length] pure idempotent",
        "workspace/search pattern [path] [literal] [ignore_case] [all] [limit] pure idempotent",
        "workspace/stat path pure idempotent",
        "workspace/watch seen [path] [recursive] pure idempotent",
        "workspace/write path content reversible idempotent",
    ];
    assert_eq!(listed, expected, "each built-in tool has a line in this list");
}
