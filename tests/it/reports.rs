//! The reports of verbs: the words and the JSON of `log`, `transcript`, `runs`, `facts` and `rm`.
//!
//! INVARIANT: a report tells causes and results, not only effects; its JSON has members all the way
//! down.
//! Read next: `travel.rs`.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

use serde_json::{Value, json};

use crate::support::desk::Desk;

fn parsed(desk: &Desk, line: &str) -> Value {
    let said = desk.duet(&format!("{line} --json"));
    serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{line}: {error}: {said:?}"))
}

/// A folder whose program runs commands that end with the codes 0, 1 and 2, and then fails.
fn commands() -> Desk {
    let manifest = "((program \"jobs.scm\") (workspace (argument 1)) (tools process/run))";
    let program = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
(define (job n)
  (let* ((words (list \"sh\" \"-c\" (string-append \"exit \" (number->string n))))
         (ended (call-tool 'job 'process/run (dictionary 'arguments words))))
    (assert! (record 'job n (dictionary-ref ended 'exit)))))
(for-each job '(0 1 2))
(let loop ((n 0)) (if (< n 12) (begin (sleep 1) (loop (+ n 1)))))
(display (await (user-input :prompt \"Who?\")))
(newline)
(car '())";
    let desk = Desk::new(&[("jobs/manifest.scm", manifest), ("jobs/jobs.scm", program)]);
    let said = desk.duet("run jobs --name jobs --answer Ada -- .");
    assert_eq!(said.code, 1, "{said:?}");
    desk
}

#[test]
fn the_log_tells_what_was_received_and_how_calls_ended() {
    let desk = commands();
    let log = desk.duet("log jobs").output;
    for expected in [
        "process/run sh -c \"exit 1\" → exit 1 ⇒ assert <job 1 1>; call process/run sh -c \"exit 2\"\n",
        "answer \"Ada\" ⇒ write \"Ada\\n\"; failed: wrong-type",
        "main     timer 1 ms ⇒ timer 1 ms  × 11\n",
        "main     begins ⇒ call process/run sh -c \"exit 0\"\n",
        "◆    0  run of jobs/jobs.scm\n",
    ] {
        let first = expected.split("; failed").next().unwrap();
        assert!(log.contains(first), "{expected}: {log}");
    }
    assert!(!log.contains("wait ") && !log.contains("go on"), "{log}");
    let whole = desk.duet("log jobs -v").output;
    assert!(whole.contains("go on; ") && !whole.contains('×'), "{whole}");
    let styled = desk.duet("log jobs --color always").output;
    assert!(styled.contains("\u{1b}[31m"), "{styled}");
    assert!(!log.contains('\u{1b}'));
}

#[test]
fn the_log_names_strands_and_says_how_long_a_request_took() {
    let manifest = "((program \"jobs.scm\") (workspace (argument 1)) (tools process/run))";
    let program = "(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents))
(define (job n)
  (sleep n)
  (call-tool 'job 'process/run (dictionary 'arguments (list \"sleep\" \"0.3\"))))
(par-map job '(1 2))
(spawn (lambda () (await (user-input :prompt \"Who?\"))) (current-facet) 'asker)
(await (record 'never))";
    let desk = Desk::new(&[("jobs/manifest.scm", manifest), ("jobs/jobs.scm", program)]);
    desk.duet("run jobs --name jobs --headless -- .");
    let log = desk.duet("log jobs --times").output;
    let answered = log
        .lines()
        .find(|line| line.contains("main/par-map 2 process/run sleep 0.3 → exit 0 ("));
    let took = answered
        .and_then(|line| line.rsplit_once('('))
        .map(|(_, took)| took.trim_end_matches(" s)"));
    assert!(took.is_some_and(|took| took.parse::<f64>().unwrap() >= 0.3), "{log}");
    assert!(
        log.contains("main/par-map 1 timer 1 ms ⇒ call process/run sleep 0.3\n"),
        "{log}"
    );
    let waits = desk.duet("waits jobs").output;
    assert!(waits.contains("main/asker fiber"), "{waits}");
    assert!(desk.duet("frames jobs").output.contains("of main/asker\n"));
    let one = desk.duet("log jobs --actor \"par-map 2\"").output;
    assert!(!one.contains("par-map 1") && one.lines().count() == 2, "{one}");
    let turns = parsed(&desk, "log jobs --actor \"par-map 2\" --tool process/run");
    assert_eq!(turns.as_array().map(Vec::len), Some(2), "{turns}");
}

#[test]
fn the_log_of_a_strand_has_its_first_call_and_that_of_an_agent_its_questions() {
    let program = "(import (scheme base) (duet base) (duet dataspace) (duet agents))
(define (look n) (call-tool 'reader 'workspace/list (dictionary 'path \".\")))
(par-map look '(1 2) :limit 1)
(define clerk (make-agent 'clerk))
(define other (make-agent 'other))
(par-map (lambda (agent) (ask agent \"Hello\")) (list clerk other) :limit 1)";
    let reply =
        "<returns {content: \"Hi\", stop: \"end\", tool_calls: [], usage: {input_tokens: 1, output_tokens: 1}}>";
    let double = format!("{{ \"model/chat\": [{reply} {reply}] }}");
    let desk = Desk::new(&[("p.scm", program), ("d.pr", &double)]);
    assert_eq!(desk.duet("run p.scm --double d.pr").code, 0);
    let turns = |actor: &str| -> Vec<u64> {
        let rows = parsed(&desk, &format!("log p --actor {actor}"));
        rows.as_array()
            .unwrap()
            .iter()
            .map(|row| row["turn"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(turns("clerk"), [5, 4]);
    assert_eq!(turns("other"), [6, 5]);
    assert_eq!(turns("\"par-map 2\""), [6, 5, 3, 2]);
}

#[test]
fn the_log_is_filtered_by_results_tools_and_texts() {
    let desk = commands();
    let turns = |filter: &str| -> Vec<u64> {
        let rows = parsed(&desk, &format!("log jobs {filter}"));
        rows.as_array()
            .unwrap()
            .iter()
            .map(|row| row["turn"].as_u64().unwrap())
            .collect()
    };
    let failed = turns("--failed");
    assert_eq!(failed[failed.len() - 2..], [4, 3]);
    assert_eq!(turns("--tool process/run"), [4, 3, 2, 1]);
    assert_eq!(turns("--tool process/* --failed"), [4, 3]);
    assert_eq!(turns("--grep \"exit 2\""), [4, 3]);
    assert_eq!(turns("--grep \"exit 2\" --limit 1"), [4]);
    assert_eq!(turns("--kind boot"), [1]);
}

#[test]
fn a_log_of_an_actor_or_a_tool_that_is_none_names_those_that_are() {
    let desk = commands();
    for (filter, said) in [
        ("--actor mian", "did you mean `main`?"),
        ("--actor nobody", "no actor of jobs has this name"),
        ("--actor nobody --since 2", "there are job, main"),
        ("--tool process/rnu", "did you mean `process/run`?"),
        ("--tool other/*", "no tool of jobs has this name"),
    ] {
        for json in ["", " --json"] {
            let errors = desk.check(&format!("log jobs {filter}{json}"), 2, "").errors;
            assert!(errors.contains(said), "{filter}: {errors}");
        }
    }
    // A name of other turns is one, too.
    for filter in ["--tool process/run --since 9", "--actor job --kind spawn-actor"] {
        let errors = desk.check(&format!("log jobs@10 {filter}"), 0, "").errors;
        assert!(errors.contains("no turn of jobs matches"), "{filter}: {errors}");
    }
    desk.check("log jobs@0 --tool process/run", 0, "");
    desk.check("log jobs@0 --actor job", 0, "");
    // So is a tool that was granted and never called.
    let desk = Desk::new(&[("quiet.scm", "1")]);
    assert_eq!(desk.duet("run quiet.scm").code, 0);
    desk.check("log quiet --tool workspace/read", 0, "");
    desk.check("log quiet --tool clock/*", 0, "");
}

#[test]
fn the_log_between_two_turns_is_that_part_of_the_log() {
    let program = "(import (scheme base) (duet base) (duet dataspace))
(define (adder number) (on-message (add $n) (message! (record 'sum (+ number n)))))
(register-entity! 'adder adder)
(spawn-entity! 'adder :config 1)
(let loop ((n 0))
  (when (< n 300)
    (message! (record 'add n))
    (yield)
    (loop (+ n 1))))";
    let desk = Desk::new(&[("p.scm", program)]);
    assert_eq!(desk.duet("run p.scm").code, 0);
    let words = |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
    let lines = |filter: &str| -> Vec<Vec<String>> {
        let log = desk.duet(&format!("log p --wide -v {filter}"));
        log.output.lines().map(words).collect()
    };
    let whole = lines("");
    assert!(whole.len() > 500, "{}", whole.len());
    // The actor has its role on every page.
    let of_adder = whole.iter().filter(|line| line.iter().any(|word| word == "adder"));
    assert!(of_adder.count() > 250, "{whole:?}");
    let number = |line: &[String]| -> u64 { line[1].parse().unwrap() };
    for (since, until) in [(0, 3), (40, 480), (300, 300)] {
        let part = whole.iter().filter(|line| (since..=until).contains(&number(line)));
        let listed = lines(&format!("--since {since} --until {until}"));
        assert!(part.eq(&listed), "{since} to {until}: {listed:?}");
    }
    let limited = lines("--since 40 --until 480 --limit 300");
    assert_eq!(
        (limited.len(), number(&limited[0]), number(&limited[299])),
        (300, 480, 181)
    );
}

#[test]
fn the_calls_of_each_tool_and_their_failures_are_counted() {
    let desk = commands();
    let stats = desk.duet("stats jobs").output;
    assert!(stats.contains("tool       process/run  3 calls, 2 failed\n"), "{stats}");
    let tools = json!({ "process/run": { "calls": 3, "failed": 2 } });
    assert_eq!(parsed(&desk, "stats jobs")["tools"], tools);
    // Another branch shares the calls, and some of their answers.
    assert_eq!(desk.duet("fork jobs@2 early").code, 0);
    assert_eq!(parsed(&desk, "stats jobs")["tools"], tools);
}

#[test]
fn json_has_members_all_the_way_down() {
    let desk = commands();
    let turn = parsed(&desk, "show jobs@3");
    let answered = &turn["events"][0];
    assert_eq!(answered["kind"], "answered");
    assert_eq!(
        (&answered["ok"]["exit"], &answered["ok"]["stdout"]),
        (&json!(1), &json!(""))
    );
    let actions = turn["actions"].as_array().unwrap();
    let asserted = actions.iter().find(|action| action["kind"] == "assert").unwrap();
    assert_eq!(asserted["value"], json!({ "record": "job", "fields": [1, 1] }));
    let called = actions.iter().find(|action| action["kind"] == "invoke-tool").unwrap();
    assert_eq!(called["payload"]["arguments"], json!(["sh", "-c", "exit 2"]));
    let log = parsed(&desk, "log jobs");
    let texts = log
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|turn| turn["actions"].as_array().cloned());
    let written = texts.flatten().find(|action| action["kind"] == "write").unwrap();
    assert_eq!(written["text"], "Ada\n");
    assert_eq!(log[0]["role"], "main");
}

#[test]
fn an_answer_is_told_however_long_ago_its_question_was() {
    let program = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
(spawn (lambda () (display (await (user-input :prompt \"Who?\")))))
(let loop ((n 0)) (if (< n 150) (begin (sleep 1) (loop (+ n 1)))))
(await (signal 'end))";
    let desk = Desk::new(&[("p.scm", program)]);
    assert_eq!(desk.duet("run p.scm").code, 4);
    desk.duet("answer p Ada");
    let log = desk.duet("log p --limit 1").output;
    assert!(log.contains("answer \"Ada\" ⇒ write \"Ada\""), "{log}");
    let followed = desk.duet("log p --limit 3 --follow").output;
    let numbers: Vec<u64> = followed
        .lines()
        .map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
        .collect();
    assert_eq!((numbers.len(), numbers.is_sorted()), (3, true), "{followed}");
    // A page ends after 256 turns at the latest; the next ones follow it.
    let whole = desk.duet("log p -v").output;
    assert_eq!(whole.lines().count() as u64, numbers[2] + 1, "{whole}");
}

#[test]
fn actors_have_the_names_of_their_roles() {
    let program = "(import (scheme base) (duet base) (duet dataspace))
(define (adder number) (on-message (add $n) (assert! (record 'sum (+ number n)))))
(register-entity! 'adder adder)
(spawn-entity! 'adder :config 1)
(sleep 20)
(message! (record 'add 2))
(await (signal 'end))";
    let desk = Desk::new(&[("p.scm", program)]);
    let said = desk.duet("run p.scm");
    assert_eq!(said.code, 4, "{said:?}");
    let log = desk.duet("log p").output;
    assert!(log.contains("adder 1  heard 2 ⇒ assert <sum 3>\n"), "{log}");
    let by = desk.duet("log p --actor adder").output;
    assert!(
        by.lines().all(|line| line.contains("adder 1")) && !by.is_empty(),
        "{by}"
    );
    assert_eq!(desk.duet("log p --actor 1").output, by);
    assert!(desk.duet("facts p").output.contains("adder 1  <sum 3>\n"));
}

#[test]
fn facts_leave_observers_out_and_say_when_the_run_ended() {
    let program = "(import (duet base) (duet dataspace) (scheme process-context))
(on-message (never) 1)
(assert! (record 'found 1))
(sleep 1)
(exit 0)";
    let desk = Desk::new(&[("p.scm", program)]);
    assert_eq!(desk.duet("run p.scm").code, 0);
    let ended = desk.check("facts p", 0, "");
    assert!(
        ended
            .errors
            .contains("the run ended in turn 2; `duet facts p@1` lists what it asserted"),
        "{}",
        ended.errors
    );
    let facts = desk.duet("facts p@1").output;
    assert!(facts.contains("<found 1>") && !facts.contains("Observe"), "{facts}");
    assert!(desk.duet("facts p@1 --all").output.contains("Observe"));
    assert!(desk.duet("facts p@1 Observe").output.contains("Observe"));
}

/// A program whose agent asks a model twice, and a double that answers.
const AGENT: [(&str, &str); 2] = [
    (
        "chat.scm",
        "(import (duet base) (duet agents) (scheme write))
(define-tool (look (n integer)) \"Looks.\" (vector-ref (vector 10 20 30) n))
(define-agent boss (instructions \"Be brief.\") (tools look) (model \"m\"))
(display (ask boss \"How many?\"))
(newline)",
    ),
    (
        "chat.pr",
        "{\"model/chat\": [
  <returns {content: \"\", stop: \"tools\", tool_calls: [{id: \"a\", name: \"look\", arguments: {n: 1}}],
            usage: {input_tokens: 1204, output_tokens: 88, usd: 0.001}}>
  <returns {content: \"Twenty.\\nYes.\", stop: \"end\", usage: {input_tokens: 1300, output_tokens: 9}}>]}",
    ),
];

#[test]
fn a_transcript_reads_as_the_conversation() {
    let desk = Desk::new(&AGENT);
    desk.check("run chat.scm --double chat.pr", 0, "Twenty.\nYes.\n");
    let expected = "boss, model m: 2504 → 97 tokens, $0.001
  @1     system     Be brief.
  @1     user       How many?
  @2     assistant  wants look {n: 1}
  @3     tool       20
  @4     assistant  Twenty.
                    Yes.
";
    desk.check("transcript chat", 0, expected);
    desk.check("transcript chat boss", 0, expected);
    let nobody = desk.check("transcript chat other", 2, "").errors;
    assert!(
        nobody.contains("no agent `other` has asked a language model up to chat@4") && nobody.contains("only boss"),
        "{nobody}"
    );
    let near = desk.check("transcript chat bos", 2, "").errors;
    assert!(near.contains("did you mean `boss`?"), "{near}");
    let conversations = parsed(&desk, "transcript chat");
    assert_eq!(
        conversations[0]["messages"][2]["calls"][0]["arguments"],
        json!({ "n": 1 })
    );
    let runs = "run   program   turns    cost  state\nchat  chat.scm      4  $0.001  finished\n";
    desk.check("runs", 0, runs);
    desk.check("runs", 0, runs);
    let log = desk.duet("log chat").output;
    assert!(log.contains("model 1,204 → 88 tokens, $0.001 wants look\n"), "{log}");
}

#[test]
fn a_run_is_deleted_when_a_person_agrees() {
    let desk = Desk::new(&[
        ("p.scm", "(display 1)\n(newline)\n"),
        ("q.scm", "(display 2)\n(newline)\n"),
    ]);
    desk.check("run p.scm", 0, "1\n");
    desk.check("run q.scm", 0, "2\n");
    desk.check("fork p@1 other", 0, "");
    desk.check("mark p@1 first", 0, "");
    let refused = desk.check("rm p", 2, "");
    assert!(
        refused.errors.contains("a person has to agree") && refused.errors.contains("2 branches"),
        "{}",
        refused.errors
    );
    desk.check("log p --limit 1 --json", 0, &desk.duet("log p --limit 1 --json").output);
    desk.check("rm nothing --yes", 1, "");
    desk.check("rm p/other --yes", 2, "");
    let deleted = desk.check("rm p --yes", 0, "");
    assert!(
        deleted.errors.starts_with("p is deleted: 2 records"),
        "{}",
        deleted.errors
    );
    assert_eq!(desk.duet("log p").code, 1);
    desk.check("runs", 0, "run  program  turns  state\nq    q.scm        1  finished\n");
    desk.check("fsck", 0, &desk.duet("fsck").output);
    assert_eq!(desk.duet("fsck").code, 0);
    desk.check("replay --check q", 0, "identical: 1 turn\n");
    // A new run of the name has nothing of the old one.
    desk.check("run p.scm", 0, "1\n");
    desk.check("mark p", 0, "");
    desk.check("replay --check p", 0, "identical: 1 turn\n");
}

#[test]
fn a_run_that_a_process_executes_is_not_deleted() {
    let desk = Desk::new(&[("p.scm", "(display \"ready\")\n(newline)\n(read-line)\n")]);
    let mut child = desk.spawn("run p.scm");
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    assert_eq!(line, "ready\n");
    let refused = desk.duet("rm p --yes");
    assert!(
        refused.code == 1 && refused.errors.contains("`duet stop p`"),
        "{refused:?}"
    );
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(desk.duet("rm p --yes").code, 0);
}

#[test]
fn the_list_of_runs_says_why_one_failed_after_others_have_ended() {
    let program = "(import (scheme base) (duet base) (duet dataspace))
(define (worker name) (on-message (task n) (assert! (record 'done name n))))
(register-entity! 'worker worker)
(spawn-entity! 'worker :config \"ann\")
(spawn-entity! 'worker :config \"bob\")
(sleep 1)
(car '())";
    let desk = Desk::new(&[("p.scm", program)]);
    assert_eq!(desk.duet("run p.scm").code, 1);
    let log = desk.duet("log p --limit 1").output;
    assert!(log.contains("worker"), "the newest turn is a worker's: {log}");
    let runs = desk.duet("runs").output;
    assert!(runs.contains("failed with code 1: wrong-type: "), "{runs}");
}

#[test]
fn times_are_in_the_json_of_every_report_and_in_words_where_somebody_wants_them() {
    let desk = commands();
    let runs = parsed(&desk, "runs");
    let (began, took) = (
        runs[0]["began_ms"].as_u64().unwrap(),
        runs[0]["duration_ms"].as_u64().unwrap(),
    );
    let turns = parsed(&desk, "log jobs");
    let stamps = |turn: &Value| turn["stamp_ms"].as_u64().unwrap();
    let turns = turns.as_array().unwrap();
    assert_eq!(began, stamps(turns.last().unwrap()));
    assert_eq!(took, stamps(&turns[0]) - began);
    let stats = parsed(&desk, "stats jobs");
    assert_eq!(
        (&stats["began_ms"], &stats["duration_ms"]),
        (&json!(began), &json!(took))
    );
    // Without a terminal the words are the same however busy the machine was.
    assert!(!desk.duet("runs").output.contains("began"));
    let told = desk.duet("runs --times").output;
    assert!(told.lines().next().unwrap().contains("began  "), "{told}");
    assert!(desk.duet("stats jobs --times").output.contains("  began      "));
    // Each call has its duration, however short.
    let answers = turns
        .iter()
        .flat_map(|turn| turn["events"].as_array().into_iter().flatten());
    let calls: Vec<&Value> = answers.filter(|event| event["ok"]["exit"].is_number()).collect();
    assert!(
        calls.len() == 3 && calls.iter().all(|call| call["duration_ms"].is_u64()),
        "{calls:?}"
    );
    let log = desk.duet("log jobs --times --tool process/run").output;
    let ends = log.lines().filter(|line| line.contains("→ exit"));
    assert!(
        ends.clone().count() == 3 && ends.clone().all(|line| line.contains(" ms)") || line.contains(" s)")),
        "{log}"
    );
}

#[test]
fn a_failure_has_lines_and_columns_and_leads_to_its_variables() {
    let program = "(import (scheme base))
(define (pick items n)
  (+ 1 (vector-ref items n)))
(pick (vector 1 2) 7)";
    let desk = Desk::new(&[("p.scm", program)]);
    assert_eq!(desk.duet("run p.scm").code, 1);
    let shown = parsed(&desk, "show p@1");
    let failure = &shown["failure"];
    assert_eq!(
        (&failure["line"], &failure["column"]),
        (&json!(3), &json!(8)),
        "{failure}"
    );
    let frames = failure["backtrace"].as_array().unwrap();
    let frame = frames.iter().find(|frame| frame["procedure"] == "pick").unwrap();
    assert_eq!(frame["line"], 3, "{frame}");
    assert_eq!(parsed(&desk, "log p --failed")[0]["failure"]["line"], 3);
    let told = desk.duet("show p@1");
    assert!(told.output.contains("in        pick at p.scm:3\n"), "{told:?}");
    assert!(
        told.errors.contains("`duet frames p@1` shows the variables there"),
        "{told:?}"
    );
}

#[test]
fn a_value_that_nobody_can_read_is_cut_and_the_rest_is_counted() {
    let program = "(import (scheme base) (duet base) (duet dataspace))
(assert! (record 'big (make-string 30000 #\\x)))
(await (signal 'go))";
    let desk = Desk::new(&[("p.scm", program)]);
    assert_eq!(desk.duet("run p.scm").code, 4);
    for line in ["facts p", "show p"] {
        let told = desk.duet(line).output;
        let longest = told.lines().map(|line| line.chars().count()).max();
        assert!(
            told.contains("… and 200") && longest < Some(10_200),
            "{line}: {longest:?}"
        );
    }
    let whole = parsed(&desk, "facts p big");
    assert_eq!(whole[0]["value"]["fields"][0].as_str().map(str::len), Some(30_000));
}

#[test]
fn the_log_of_a_tool_of_an_agent_has_the_answers_that_ask_for_it() {
    let program = "(import (scheme base) (duet base) (duet dataspace) (duet agents))
(define-tool (look (n integer)) \"Looks.\" (* n 2))
(define-agent clerk (tools look))
(ask clerk \"Hello\")";
    let usage = "usage: {input_tokens: 1, output_tokens: 1}";
    let wants = "{id: \"1\", name: \"look\", arguments: {n: 4}}";
    let double = format!(
        "{{ \"model/chat\": [<returns {{content: \"\", stop: \"tools\", tool_calls: [{wants}], {usage}}}> \
         <returns {{content: \"8\", stop: \"end\", tool_calls: [], {usage}}}>] }}"
    );
    let desk = Desk::new(&[("p.scm", program), ("d.pr", &double)]);
    let said = desk.duet("run p.scm --double d.pr");
    assert_eq!(said.code, 0, "{said:?}");
    let turns = parsed(&desk, "log p --tool look");
    assert_eq!(turns.as_array().map(Vec::len), Some(1), "{turns}");
    let said = desk.duet("log p --tool lok");
    assert!(said.code != 0 && said.errors.contains("look"), "{said:?}");
}
