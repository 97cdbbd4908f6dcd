//! Tests of repeated calls, unfit results, secrets, times of expiry, and approvals without a
//! person.

use super::*;
use crate::tool::secret::Secrets;

#[test]
fn a_call_is_made_again_as_its_tool_declares() {
    use crate::tool::description::Retry;
    use crate::tool::failure::Kind;
    let retry = Retry {
        attempts_max: 3,
        delay_ms: 1,
    };
    let tool = |name: &'static str, kind: Kind| {
        let failing = (0..4).fold(Scripted::new(name), |tool, _| tool.reply(0, Err(kind.because("no"))));
        failing.retried(retry)
    };
    let reached = Scripted::new("reached")
        .retried(retry)
        .reply(0, Err(Kind::Unavailable.because("no")))
        .reply(0, Ok(text("yes")));
    let (away, broken) = (tool("away", Kind::Unavailable), tool("broken", Kind::Failed));
    let late = tool("late", Kind::Timeout).described(EffectClass::Irreversible, false, None);
    let tools = [&reached, &away, &broken, &late];
    let registry = tools
        .into_iter()
        .fold(Registry::default(), |registry, tool| registry.with(tool.clone()));
    let mut world = quiet(registry);
    world.perform(vec![call(1, "reached")]);
    assert_eq!(world.next_input(), result(1, "yes"));
    world.perform(vec![call(2, "away")]);
    check_failure(world.next_input(), 2, "unavailable", "no");
    world.perform(vec![call(3, "broken")]);
    check_failure(world.next_input(), 3, "failed", "no");
    world.perform(vec![call(4, "late")]);
    check_failure(world.next_input(), 4, "timeout", "no");
    assert_eq!(tools.map(|tool| tool.calls().len()), [2, 3, 1, 1]);
    let keys: Vec<String> = away.calls().into_iter().map(|(_, context)| context.key).collect();
    assert_eq!(keys, ["key-2"; 3], "under the same key");
}

#[test]
fn a_result_that_does_not_fit_is_a_failure_of_its_call() {
    let huge = Scripted::new("huge").reply(0, Ok(text(&"x".repeat(100 << 20))));
    let deep = (0..1_000).fold(text("deep"), |value, _| IOValue::new(vec![value]));
    let mut world = quiet(
        Registry::default()
            .with(huge)
            .with(Scripted::new("deep").reply(0, Ok(deep))),
    );
    world.perform(vec![call(1, "huge")]);
    let message = "the tool's result has more than 16777216 bytes; ask it for less, or for a part at a time";
    check_failure(world.next_input(), 1, "output-limit", message);
    world.perform(vec![call(2, "deep")]);
    let message = "the tool's result is nested more than 400 levels deep";
    check_failure(world.next_input(), 2, "bad-result", message);
}

#[test]
fn secrets_reach_tools_and_do_not_come_back() {
    let hosts = crate::tool::http::Hosts::default();
    let trusted = Scripted::new("seen").standing_in_for(crate::tool::http::Http::request(hosts).description());
    let trusted = trusted.reply(0, Ok(text("done")));
    let seen = Scripted::new("seen").reply(0, Ok(text("hush-hush and 12345")));
    let mut world = World::new(Settings {
        tools: Registry::default().with(seen.clone()),
        secrets: Secrets::of([("API_KEY", "hush-hush"), ("PIN", "12345")], &["PIN".to_owned()]),
        ..settings(&Tape::default(), Person::Away)
    })
    .unwrap();
    let stand_in = EffectKind::Tool {
        name: "seen".to_owned(),
        payload: fact("key {{secret:API_KEY}}"),
    };
    world.perform(vec![effect(1, stand_in.clone())]);
    assert_eq!(world.next_input(), result(1, "{{secret:API_KEY}} and {{secret:PIN}}"));
    assert_eq!(
        seen.calls()[0].0,
        text("key {{secret:API_KEY}}"),
        "it does not say that it takes secrets"
    );
    world.tools = Registry::default().with(trusted.clone());
    world.perform(vec![effect(2, stand_in)]);
    assert_eq!(world.next_input(), result(2, "done"));
    assert_eq!(trusted.calls()[0].0, text("key hush-hush"));
}

#[test]
fn a_timer_tells_when_it_will_have_run_out() {
    let mut world = quiet(Registry::default());
    world.perform(vec![
        effect(1, EffectKind::Timer { delay_ms: 60_000 }),
        effect(2, EffectKind::Timer { delay_ms: 1 }),
    ]);
    let now_ms = crate::clock::now_ms();
    match world.next_input() {
        Some(Input::Due { request, at_ms }) => {
            assert_eq!(request, RequestId(1));
            assert!(at_ms.abs_diff(now_ms + 60_000) < 10_000, "{at_ms}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(world.next_input(), Some(Input::Elapsed { request: RequestId(2) }));
    // A timer that expired while no process ran.
    let alarm = EffectKind::Alarm {
        at_ms: now_ms,
        delay_ms: 60_000,
    };
    world.perform(vec![effect(3, alarm)]);
    assert_eq!(world.next_input(), Some(Input::Elapsed { request: RequestId(3) }));
}

#[test]
fn a_timer_comes_before_what_came_after_its_deadline_and_after_what_came_in_time() {
    let mut world = quiet(Registry::default());
    world.perform(
        (1..=3)
            .map(|id| effect(id, EffectKind::Timer { delay_ms: 5 }))
            .collect(),
    );
    let answer = |id| Report::Answered {
        key: effect(id, EffectKind::Withdraw).key,
        request: RequestId(id),
        input: result(id, "said").expect("an input"),
    };
    world.open.insert(RequestId(8), effect(8, EffectKind::Withdraw).key);
    world.open.insert(RequestId(9), effect(9, EffectKind::Withdraw).key);
    world.report(answer(8));
    while world
        .timers
        .wait(Moment::now(&WorldClock::default()))
        .is_some_and(|wait| !wait.is_zero())
    {}
    world.report(answer(9));
    assert_eq!(world.next_input(), result(8, "said"));
    for id in 1..=3 {
        assert_eq!(world.next_input(), Some(Input::Elapsed { request: RequestId(id) }));
    }
    assert_eq!(world.next_input(), result(9, "said"));
}

#[test]
fn nothing_is_approved_where_nobody_will_ever_be() {
    let mut world = World::new(settings(&Tape::default(), Person::Never)).unwrap();
    world.perform(vec![
        effect(
            1,
            EffectKind::Ask {
                prompt: r#"<approve "Allow it?" [#t #f]>"#.parse().unwrap(),
                approves: vec!["workspace/write".to_owned()],
            },
        ),
        // A program cannot make a question look like a request for approval.
        ask(2, r#"<approve "Who?" [#t #f]>"#),
    ]);
    assert_eq!(world.next_input(), answer(1, "\"nobody is there to approve it\""));
    assert_eq!(world.next_input(), None, "other questions stay open");
}

#[test]
fn calls_that_wait_for_other_machines_hold_up_none_that_work_here() {
    let hosts = crate::tool::http::Hosts::default();
    let remote = crate::tool::http::Http::request(hosts);
    let hour = 3_600_000;
    let mut peer = Scripted::new("peer").standing_in_for(remote.description());
    for _ in 0..100 {
        peer = peer.reply(hour, Ok(text("late")));
    }
    let peer = peer.reply(0, Ok(text("soon")));
    let here = Scripted::new("here").reply(0, Ok(text("here")));
    let mut world = quiet(Registry::default().with(peer).with(here));
    world.perform((1..=100).map(|number| call(number, "peer")).collect());
    world.perform(vec![call(101, "here")]);
    assert_eq!(world.next_input(), result(101, "here"));
    world.perform(vec![call(102, "peer")]);
    assert_eq!(world.next_input(), result(102, "soon"));
}

#[test]
fn a_call_that_was_withdrawn_just_before_the_end_is_withdrawn() {
    /// Notes whether its calls are given up with the process when they are dropped.
    struct Noting {
        tool: Scripted,
        begun: mpsc::Sender<()>,
        dropped: mpsc::Sender<(String, bool)>,
    }
    struct Dropped(Context, mpsc::Sender<(String, bool)>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            let _ = self.1.send((self.0.key.clone(), self.0.is_leaving()));
        }
    }
    impl Tool for Noting {
        fn description(&self) -> &Description {
            self.tool.description()
        }
        fn call(&self, _payload: IOValue, context: Context) -> Call {
            let noted = Dropped(context, self.dropped.clone());
            let begun = self.begun.clone();
            Box::pin(async move {
                let _noted = noted;
                let _ = begun.send(());
                std::future::pending().await
            })
        }
    }
    // Which of the withdrawal and the end is seen first is chance.
    for _ in 0..20 {
        let (begun, has_begun) = mpsc::channel();
        let (dropped, has_dropped) = mpsc::channel();
        let tool = Scripted::new("noting");
        let mut world = quiet(Registry::default().with(Noting { tool, begun, dropped }));
        world.perform(vec![call(1, "noting"), call(2, "noting")]);
        has_begun.recv().expect("a call begins");
        has_begun.recv().expect("a call begins");
        world.perform(vec![effect(1, EffectKind::Withdraw)]);
        drop(world);
        let mut noted: Vec<_> = has_dropped.iter().take(2).collect();
        noted.sort();
        let mut expected = vec![(call(1, "noting").key, false), (call(2, "noting").key, true)];
        expected.sort();
        assert_eq!(noted, expected);
    }
}
