//! Programs and language models: `--provider`, configurations, replay, secrets.
//!
//! INVARIANT: no test speaks to anything but a provider of its own.
//! The tests of `drivers` cover the protocols.
//! Read next: `support/provider.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failed step of a test is its failure; a provider has threads"
)]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::desk::Desk;
use crate::support::provider::Provider;

/// A provider that answers each request with the number of its messages.
fn counting() -> Provider {
    Provider::start(|request| {
        let messages = request["messages"].as_array().unwrap().len();
        json!({"content": format!("{} heard {messages}", request["model"].as_str().unwrap())})
    })
}

const ASK: &str = "(import (duet base) (duet dataspace) (duet agents))
(define helper (make-agent 'helper))
(display (ask helper \"Hello\"))
(newline)";

#[test]
fn a_program_calls_a_model_and_a_replay_does_not() {
    let provider = counting();
    let desk = Desk::new(&[("p.scm", ASK)]);
    let line = format!("run p.scm {} --model small", provider.option());
    desk.check(&line, 0, "small heard 1\n");
    desk.check("replay p", 0, &desk.duet("replay p").output);
    assert_eq!(desk.duet("replay p --check").code, 0);
    assert_eq!(provider.requests().len(), 1);
}

#[test]
fn a_resumed_run_keeps_its_provider() {
    let provider = counting();
    let program =
        format!("{ASK}(display (await (user-input :prompt \"Go on?\")))\n(display (ask helper \"Again\"))\n(newline)");
    let desk = Desk::new(&[("p.scm", &program)]);
    let line = format!("run p.scm {} --model small", provider.option());
    let waits = desk.duet(&line);
    assert!(waits.output.starts_with("small heard 1\n"), "{waits:?}");
    let resumed = desk.duet("resume p --answer yes");
    assert_eq!(
        (resumed.code, &*resumed.output),
        (0, "yessmall heard 1\n"),
        "{resumed:?}"
    );
    assert_eq!(provider.requests().len(), 2);
}

#[test]
fn what_to_do_without_a_provider_is_said() {
    let desk = Desk::new(&[
        ("p.scm", ASK),
        ("f/manifest.scm", "((program \"p.scm\") (tools model/chat))"),
        ("f/p.scm", ASK),
    ]);
    let said = desk.check("run f", 1, "").errors;
    assert!(
        said.contains("`--provider NAME` chooses one, `duet providers` lists them"),
        "{said}"
    );
    let said = desk.check("run p.scm", 1, "").errors;
    assert!(said.contains("--provider"), "{said}");
    let said = desk.check("run p.scm --provider nowhere", 1, "").errors;
    assert!(
        said.contains("there is no provider of models `nowhere`") && said.contains("ollama"),
        "{said}"
    );
    let said = desk.check("run p.scm --provider near=smoke:http://x", 2, "").errors;
    assert!(
        said.contains("`near=smoke:http://x` is not NAME=PROTOCOL:URL"),
        "{said}"
    );
}

#[test]
fn the_way_back_from_a_failed_call_leads_to_before_the_turn_that_made_it() {
    let two = ASK.replace(
        "(ask helper \"Hello\")",
        "(par-map (lambda (word) (ask helper word)) '(\"a\" \"b\"))",
    );
    let reply = "<returns {content: \"hi\"}>";
    let desk = Desk::new(&[
        ("f/manifest.scm", "((program \"p.scm\") (tools model/chat))"),
        ("f/p.scm", &two),
        ("d.pr", &format!("{{\"model/chat\": [{reply} {reply}]}}")),
    ]);
    let said = desk.check("run f", 1, "").errors;
    let way = "f@1 and later have the failure of model/chat; `duet goto f@0`, \
               then `duet resume f --provider NAME`, calls it again\n";
    assert!(said.contains(way), "{said}");
    desk.check("goto f@1", 0, "");
    let said = desk.check("resume f --double d.pr", 1, "").errors;
    assert!(said.contains(way), "{said}");
    desk.check("goto f@0", 0, "");
    desk.check("resume f --double d.pr", 0, "(hi hi)\n");
    let replies = "2 replies, 0 + 0 tokens, price not known\n";
    desk.check(
        "cost f",
        0,
        &format!("helper, model default: {replies}in all: {replies}"),
    );
}

#[test]
fn an_amended_run_goes_on_with_the_approvals_of_the_command() {
    let program = "(import (duet base) (duet dataspace) (duet agents) (duet policy))
        (define-constraint \"approved\" :tool 'workspace/write :on-fail 'ask :reason \"look\")
        (display (ask (make-agent 'helper :tools '(\"workspace/write\")) \"Note it\"))";
    let desk = Desk::new(&[
        ("p.scm", program),
        ("first.pr", "{\"model/chat\": [<returns {content: \"No.\"}>]}"),
        ("then.pr", "{\"model/chat\": [<returns {content: \"Noted.\"}>]}"),
    ]);
    desk.check("run p.scm --workspace . --double first.pr", 0, "No.");
    let call = "{content: \\\"\\\", tool_calls: [{id: \\\"1\\\", name: \\\"workspace/write\\\", \
                arguments: {path: \\\"n.txt\\\", content: \\\"tea\\\"}}], stop: \\\"tools\\\"}";
    let amend = format!("amend p@3 \"{call}\" --double then.pr");
    let waits = desk.check(&amend, 4, "").errors;
    assert!(waits.contains("waits for approval"), "{waits}");
    desk.check(&format!("{amend} --approve workspace/write"), 0, "Noted.");
    assert_eq!(fs::read_to_string(desk.path("n.txt")).unwrap(), "tea");
    let other = desk.duet(&format!("{amend} --approve process/run"));
    assert_eq!(other.code, 4, "{other:?}");
    let fork = desk.duet("fork p@2 side --approve workspace/write");
    assert!(fork.errors.contains("approvals belong to `--sample`"), "{fork:?}");
}

#[test]
fn a_configuration_names_the_provider_its_key_and_its_prices() {
    let provider = counting();
    let configuration = format!(
        "provider = \"local\"\n[providers.local]\nprotocol = \"openai-chat\"\nurl = \"{}\"\n\
         key = \"LOCAL_API_KEY\"\nmodel = \"small\"\nprices.small = {{ input = 1, output = 10 }}\n",
        provider.url()
    );
    let program = "(import (duet base) (duet dataspace))
        (define result (call-tool 'asker \"model/chat\"
          (dictionary 'messages (list (dictionary 'role \"user\" 'content \"Hello\")))))
        (write (dictionary-ref (dictionary-ref result 'usage) 'usd))
        (newline)";
    let desk = Desk::new(&[
        ("config/duet/config.toml", &configuration),
        ("f/manifest.scm", "((program \"p.scm\") (tools model/chat))"),
        ("f/p.scm", program),
    ]);
    let duet = |words: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_duet"))
            .args(words)
            .current_dir(desk.path(""))
            .env("XDG_CONFIG_HOME", desk.path("config"))
            .env("LOCAL_API_KEY", "sk-very-secret-text")
            .output()
            .unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap())
    };
    assert_eq!(duet(&["run", "f"]), (Some(0), "0.002\n".to_owned()));
    let (code, listed) = duet(&["providers"]);
    assert_eq!(code, Some(0));
    assert!(listed.contains("openai-chat at http://127.0.0.1:"), "{listed}");
    assert!(
        listed.contains("key: in LOCAL_API_KEY") && !listed.contains("sk-very"),
        "{listed}"
    );
    for file in fs::read_dir(desk.path(".duet")).unwrap() {
        let path = file.unwrap().path();
        let bytes = if path.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        assert!(
            !bytes.windows(7).any(|window| window == b"sk-very"),
            "{}",
            path.display()
        );
    }
}

#[test]
fn the_log_tells_what_a_model_heard_said_and_cost() {
    let provider = counting();
    let desk = Desk::new(&[("p.scm", ASK)]);
    let line = format!("run p.scm {} --model small", provider.option());
    desk.check(&line, 0, "small heard 1\n");
    let log = desk.duet("log p").output;
    assert!(log.contains("helper asks default: \"Hello\"\n"), "{log}");
    assert!(
        log.contains("model small 1,000 → 100 tokens says \"small heard 1\" ⇒ write"),
        "{log}"
    );
    let asked = desk.duet("show p@1").output;
    assert!(
        asked.contains("  action    helper asks default: 1 message, as request 0\n  user      Hello\n"),
        "{asked}"
    );
    let heard = desk.duet("show p@2").output;
    let expected = "  answer    model small (1000 + 100 tokens), stop: end\n  says      small heard 1\n";
    assert!(heard.contains(expected), "{heard}");
    let cost = "helper, model small: 1 reply, 1000 + 100 tokens, price not known\n\
                in all: 1 reply, 1000 + 100 tokens, price not known\n";
    desk.check("cost p", 0, cost);
    desk.check("cost p@1", 0, "in all: no reply of a language model\n");
}

/// The price of the program counts where neither the provider nor the configuration has one.
#[test]
fn the_price_of_the_program_is_the_cost_of_its_answers() {
    let program = "(import (duet base) (duet dataspace) (duet agents))
        (define-model m (model \"small\") (price 0.4 1.6))
        (define-agent helper (model m))
        (ask helper \"one\")
        (ask helper \"two\")\n";
    let reply = |usage: &str| format!("<returns {{content: \"x\", stop: \"end\", model: \"small\", usage: {usage}}}>");
    let own = reply("{input_tokens: 1000, output_tokens: 17}");
    let told = reply("{input_tokens: 1000, output_tokens: 17, usd: 0.5}");
    let doubles = format!("{{\"model/chat\": [{own} {told}]}}");
    let desk = Desk::new(&[("p.scm", program), ("d.pr", &doubles)]);
    desk.check("run p.scm --double d.pr", 0, "");
    let cost = "helper, model small: 2 replies, 2000 + 34 tokens, $0.500427\n\
                in all: 2 replies, 2000 + 34 tokens, $0.500427\n";
    desk.check("cost p", 0, cost);
}

/// Runs a command with an editor that a command of `sed` stands for.
fn edit(desk: &Desk, words: &[&str], change: &str) -> (i32, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_duet"))
        .args(words)
        .current_dir(desk.path(""))
        .env("EDITOR", format!("sed -i {change}"))
        .env_remove("VISUAL")
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout) + &text(done.stderr))
}

#[test]
fn what_a_model_said_is_edited_and_the_branch_goes_on() {
    let provider = counting();
    let desk = Desk::new(&[("p.scm", ASK)]);
    let line = format!("run p.scm {} --model small", provider.option());
    desk.check(&line, 0, "small heard 1\n");
    let (code, said) = edit(&desk, &["amend", "p@2", "--editor", "--branch", "b"], "s/heard/forgot/");
    assert_eq!(code, 0, "{said}");
    assert!(said.starts_with("small forgot 1\n"), "{said}");
    let (code, said) = edit(&desk, &["amend", "p/main@2", "--editor"], "s/nothing/else/");
    assert!(code == 0 && said.contains("no branch begins"), "{said}");
    assert_eq!(desk.duet("branches p").output.matches("main").count(), 1);
    assert_eq!(provider.requests().len(), 1);
    for (input, told) in [
        ("I do not know", "is not a value in Preserves text"),
        ("{verdict: yes}", "is no reply of a model"),
    ] {
        let said = desk.duet(&format!("amend p/main@2 \"{input}\""));
        assert!(said.code == 2 && said.errors.contains(told), "{said:?}");
        assert!(said.errors.contains("a model replies with a dictionary"), "{said:?}");
    }
}

#[test]
fn a_result_that_an_editor_spoilt_is_kept() {
    let program = "(import (duet base) (duet dataspace))
(write (pair? (call-tool 'p \"workspace/list\" (dictionary))))";
    let desk = Desk::new(&[("p.scm", program)]);
    assert_eq!(desk.duet("run p.scm").code, 0);
    let (code, said) = edit(&desk, &["amend", "p@2", "--editor"], "s/kind/sort/");
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("workspace/list cannot return this") && said.contains("the text is kept in"),
        "{said}"
    );
}

#[test]
fn one_model_is_asked_several_times_from_one_past() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let provider = Provider::start(move |_| {
        let number = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        json!({"content": format!("answer {number}")})
    });
    let desk = Desk::new(&[("p.scm", ASK)]);
    let line = format!("run p.scm {} --model small", provider.option());
    desk.check(&line, 0, "answer 0\n");
    let sampled = desk.check("fork --sample 3 p@2", 0, "answer 1\nanswer 2\nanswer 3\n");
    assert!(
        sampled.errors.contains("`duet diff p/sample-1 p/sample-2`"),
        "{sampled:?}"
    );
    assert_eq!(provider.requests().len(), 4);
    // The turn that asks is as good as the one that answers; names do not clash.
    desk.check("fork --sample 1 p/main@1", 0, "answer 4\n");
    let branches = desk.duet("branches p").output;
    assert!(branches.contains("sample-4"), "{branches}");
    let diff = desk.duet("diff p/sample-1 p/sample-2").output;
    assert!(diff.contains("answer 1") && diff.contains("answer 2"), "{diff}");
    let kept = desk.duet("log p/main").output;
    assert!(kept.contains("answer 0") && !kept.contains("answer 1"), "{kept}");
}

#[test]
fn doubles_go_on_with_an_answered_or_amended_run() {
    let program = "(import (duet base) (duet dataspace))
(define (price) (call-tool 'p \"shop/price\" (dictionary)))
(display (price))
(display (await (user-input :prompt \"Go on?\")))
(display (price))
(newline)";
    let desk = Desk::new(&[
        ("p.scm", program),
        ("d.pr", "{\"shop/price\": [<returns 1>]}"),
        ("e.pr", "{\"shop/price\": [<returns 7>]}"),
    ]);
    desk.check("run p.scm --double d.pr", 4, "1");
    desk.check("answer p yes --double e.pr", 0, "yes7\n");
    let log = desk.duet("log p").output;
    let turn = log
        .lines()
        .find(|line| line.contains("answer ") && line.contains("price"))
        .unwrap_or(&log);
    let turn = turn.split_whitespace().nth(1).unwrap();
    let amended = desk.duet(&format!("amend p@{turn} no --double e.pr"));
    assert_eq!((amended.code, &*amended.output), (0, "no7\n"), "{amended:?} {log}");
}

/// The number of runs of the coder that are killed; `DUET_KILLS` asks for another one.
const KILLS: u64 = 8;

/// The replies of a model that is wrong once, in their order.
fn coder_replies() -> Vec<Value> {
    let wants = |id: &str, name: &str, arguments: &Value| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"content": "", "tool_calls": [{"id": id, "type": "function", "function": function}]})
    };
    let writes = |id: &str, rule: &str| {
        let text = format!("if {rule}; then\n  echo leap\nelse\n  echo common\nfi\n");
        wants(id, "workspace_write", &json!({"path": "leap.sh", "content": text}))
    };
    let done = json!({"content": "{\"summary\": \"done\"}"});
    vec![
        wants("a", "workspace_read", &json!({"path": "leap.sh"})),
        writes("b", "[ $(($1 % 4)) -eq 0 ] && [ $(($1 % 100)) -ne 0 ]"),
        done.clone(),
        writes(
            "c",
            "[ $(($1 % 4)) -eq 0 ] && [ $(($1 % 100)) -ne 0 ] || [ $(($1 % 400)) -eq 0 ]",
        ),
        wants("d", "test", &json!({})),
        done,
    ]
}

/// How many replies a request repeats.
fn position(request: &Value) -> usize {
    let messages = request["messages"].as_array().unwrap();
    messages.iter().filter(|message| message["role"] == "assistant").count()
}

/// Starts a command whose process can be killed.
fn start(desk: &Desk, words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
    command.args(words).current_dir(desk.path("")).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn no_answer_that_is_durable_is_paid_again() {
    let kills = std::env::var("DUET_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/coder");
    let text = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let mut chance = 0x2545_f491_4f6c_dd1d_u64;
    let mut killed = 0;
    while killed < kills {
        let replies = coder_replies();
        let provider = Provider::start(move |request| {
            std::thread::sleep(Duration::from_millis(10));
            replies[position(request)].clone()
        });
        let desk = Desk::new(&[
            ("coder/coder.scm", &text("coder.scm")),
            ("coder/manifest.scm", &text("manifest.scm")),
            ("tree/leap.sh", &text("repository/leap.sh")),
            ("tree/test.sh", &text("repository/test.sh")),
        ]);
        let option = provider.option();
        let mut shared: Vec<&str> = option.split(' ').collect();
        shared.extend(["--model", "m", "--answer", "Repair it.", "--answer", "Repair it."]);
        let mut words = [&["run", "coder", "--name", "c"][..], &shared, &["--", "tree"]].concat();
        let mut durable = 0;
        loop {
            let before = provider.requests().len();
            let mut process = start(&desk, &words);
            chance = chance
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            std::thread::sleep(Duration::from_millis(20 + (chance >> 33) % 400));
            let has_ended = process.try_wait().unwrap().is_some();
            process.kill().unwrap();
            process.wait().unwrap();
            let repeated = provider.requests()[before..]
                .iter()
                .any(|request| position(request) < durable);
            assert!(!repeated, "a reply whose record is durable was asked for again");
            let costs: Value = serde_json::from_str(&desk.duet("cost c --json").output).unwrap_or_default();
            durable = costs
                .as_array()
                .into_iter()
                .flatten()
                .map(|row| row["replies"].as_u64().unwrap())
                .sum::<u64>() as usize;
            if has_ended {
                break;
            }
            killed += 1;
            if desk.duet("log c").code == 0 {
                words = [&["resume", "c"][..], &shared].concat();
            }
        }
        assert_eq!(durable, 6, "{}", desk.duet("log c").output);
        assert_eq!(desk.duet("replay c --check").code, 0);
        let tree = fs::read_to_string(desk.path("tree/leap.sh")).unwrap();
        assert!(tree.contains("% 400"), "{tree}");
    }
}

#[test]
fn a_reply_is_known_by_the_call_that_it_answers() {
    let program = ASK.replace(
        "(ask helper \"Hello\")",
        "(begin (call-tool 'p \"workspace/read\" (dictionary 'path \"p.scm\")) (ask helper \"Hello\"))",
    );
    let doubles = "{\"workspace/read\": [<returns {content: \"a file\", stop: \"end\", usage: {}}>],
                    \"model/chat\": [<returns {content: \"Hi\"}>]}";
    let desk = Desk::new(&[("p.scm", &program), ("d.pr", doubles)]);
    desk.check("run p.scm --double d.pr", 0, "Hi\n");
    let log = desk.duet("log p").output;
    assert!(log.contains("model 0 → 0 tokens says \"Hi\""), "{log}");
    assert!(!log.contains("says \"a file\""), "{log}");
    // A line that is listed alone knows the call, too.
    let log = desk.duet("log p --pattern \"{content: \\\"Hi\\\"}\"").output;
    assert!(log.contains("says \"Hi\""), "{log}");
    let turn = log.split_whitespace().nth(1).unwrap();
    let shown = desk.duet(&format!("show p@{turn}")).output;
    assert!(shown.contains("says      Hi\n"), "{shown}");
}

#[test]
fn the_failure_of_an_agent_is_brief_and_names_its_conversation() {
    let program = "(import (duet base) (duet dataspace) (duet agents))
(define-tool (look) \"Looks.\" \"nothing there\")
(define-agent finder (tools look) (budget :turns 2))
(ask finder \"Where is it?\")";
    let call = |id: &str| {
        format!("<returns {{content: \"\", tool_calls: [{{id: \"{id}\", name: \"look\", arguments: {{}}}}]}}>")
    };
    let doubles = format!("{{\"model/chat\": [{} {}]}}", call("a"), call("b"));
    let desk = Desk::new(&[("p.scm", program), ("d.pr", &doubles)]);
    let said = desk.check("run p.scm --double d.pr", 1, "").errors;
    assert!(
        said.contains("there is no reply (after 5 messages): turns 2\n"),
        "{said}"
    );
    assert!(!said.contains("#<"), "{said}");
    let (before, _) = said.split_once(" asked the model last;").unwrap();
    let address = before.rsplit('\n').next().unwrap();
    let shown = desk.duet(&format!("show {address}")).output;
    assert!(
        shown.contains("Where is it?") && shown.contains("nothing there"),
        "{shown}"
    );
}
