//! Workers: runs that sleep need no process, and go on at their time or when somebody says
//! something, whoever takes them up.
//!
//! INVARIANT: every process is a real one; a test waits for what a worker says.
//! The stores' part is in `journal/tests/it/conformance/standby.rs`. Read next: `postgres.rs`.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::postgres::server;
use crate::support::desk::Desk;
use crate::support::running::Running;

/// It sleeps, asks, sleeps again and ends.
const SLEEPER: &str = r#"
(import (scheme base) (scheme write) (duet base) (duet dataspace))
(sleep 2500)
(define name (await (user-input :prompt "Name?" :tag "name")))
(define other (await (user-input :prompt "Other name?" :tag "other")))
(sleep 2500)
(assert! (record 'met name other))
"#;

pub(crate) struct Worker {
    pub(crate) running: Running,
    pub(crate) said: Vec<String>,
}

impl Worker {
    pub(crate) fn start(desk: &Desk, line: &str) -> Self {
        Self {
            running: Running::start(desk, line),
            said: Vec::new(),
        }
    }

    /// Reads until it says something.
    #[track_caller]
    pub(crate) fn until(&mut self, wanted: &str) {
        while let Some(line) = self.running.message() {
            let is_it = line.contains(wanted);
            self.said.push(line);
            if is_it {
                return;
            }
        }
        panic!("it never said {wanted}: {:?}", self.said);
    }

    pub(crate) fn code(mut self) -> Option<i32> {
        self.running.end().0
    }
}

#[test]
fn a_run_that_sleeps_goes_on_at_its_time_and_when_it_is_answered() {
    let desk = Desk::new(&[("p.scm", SLEEPER)]);
    let queued = desk.duet("run p.scm --queue");
    assert!(
        queued.code == 0 && queued.errors.contains("p waits for a worker"),
        "{queued:?}"
    );
    let status = desk.duet("work --status");
    assert_eq!(status.output, "no worker\nwaiting for a worker: p\n");
    let mut worker = Worker::start(&desk, "work");
    worker.until("p sleeps");
    worker.until("p waits for an input");
    let answered = desk.duet("answer p name Ada");
    assert!(
        answered.code == 0 && answered.errors.contains("answered"),
        "{answered:?}"
    );
    worker.until("p waits for an input");
    let again = desk.duet("answer p name Eve");
    assert!(again.errors.contains("p has no open question `name`"), "{again:?}");
    worker.until("p waits for an input");
    let left = desk.duet("answer p other Grace --no-wait");
    assert!(left.code == 0 && left.errors.contains("in the inbox of p"), "{left:?}");
    worker.until("p sleeps");
    worker.until("p ended with code 0");
    let late = desk.duet("answer p Eve");
    assert!(late.code == 1 && late.errors.contains("p asks nothing"), "{late:?}");
    assert!(desk.duet("facts p").output.contains("<met \"Ada\" \"Grace\">"));
    assert_eq!(desk.duet("replay p --check").code, 0);
    let nobody = desk.duet("answer none Eve");
    assert!(nobody.code != 0 && nobody.errors.contains("no run none"), "{nobody:?}");
    worker.running.signal("-TERM");
    assert_eq!(worker.code(), Some(143));
    assert_eq!(desk.duet("work --status").output, "no worker\n");
}

#[test]
fn a_run_goes_to_a_worker_that_declares_its_workspace() {
    let reading = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
(sleep 1500)
(assert! (record 'read (call-tool 'p \"workspace/read\" (dictionary 'path \"name\"))))";
    let desk = Desk::new(&[("p.scm", reading), ("here/name", "here"), ("there/name", "there")]);
    let queued = desk.duet("run p.scm --queue --workspace here --workspace-name shop");
    assert_eq!(queued.code, 0, "{queued:?}");
    let mut worker = Worker::start(&desk, "work --workspace other=here");
    worker.until("left p to others: its workspace is shop, which this worker does not have");
    worker.running.signal("-TERM");
    worker.code();
    let mut worker = Worker::start(&desk, "work --workspace shop=there");
    worker.until("p ended with code 0");
    let status = desk.duet("work --status");
    assert!(status.output.contains("declares shop"), "{status:?}");
    let facts = desk.duet("facts p").output;
    assert!(facts.contains("<read {content: \"there\""), "{facts}");
    worker.running.signal("-TERM");
    worker.code();
    for (line, told) in [
        ("work --workspace shop", "is not NAME=DIR"),
        (
            "work --workspace shop=nowhere",
            "cannot use `nowhere` as the workspace shop",
        ),
        ("work --workspace shop=p.scm", "is no directory"),
        ("work --workspace a/b=here", "is no name of a workspace"),
        ("work --workspace a=here --workspace a=there", "is declared twice"),
        ("run p.scm --workspace-name a/b", "is no name of a workspace"),
    ] {
        let said = desk.duet(line);
        assert!(said.code != 0 && said.errors.contains(told), "{line}: {said:?}");
    }
}

/// Entries of `[workspaces]` that are wrong, and what is said of each.
const WRONG_WORKSPACES: [(&str, &str); 4] = [
    ("shop = 1", "workspaces.shop: it is no string with a directory"),
    ("shop = \"there\"", "workspaces.shop: `there` does not begin with `/`"),
    (
        "shop = \"/nowhere/at/all\"",
        "workspaces.shop: `/nowhere/at/all` cannot be used",
    ),
    ("\"a b\" = \"/\"", "`a b` is no name of a workspace"),
];

#[test]
fn a_run_with_a_named_workspace_is_taken_by_hand_where_the_configuration_names_a_directory() {
    let reading = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
(define (read) (dictionary-ref (call-tool 'p \"workspace/read\" (dictionary 'path \"name\")) 'content))
(await (user-input :prompt \"Go on?\" :tag \"go\"))
(assert! (record 'read (read)))
(await (user-input :prompt \"Again?\" :tag \"again\"))
(assert! (record 'read-again (read)))
(sleep 1500)
(assert! (record 'read-last (read)))";
    let desk = Desk::new(&[
        ("p.scm", reading),
        ("here/name", "here"),
        ("there/name", "there"),
        ("far/name", "far"),
    ]);
    let queued = desk.duet("run p.scm --queue --workspace here --workspace-name shop");
    assert_eq!(queued.code, 0, "{queued:?}");
    // Where it began, as long as the configuration says nothing else.
    let asked = desk.duet("resume p");
    assert!(asked.code == 4 && asked.errors.contains("Go on?"), "{asked:?}");
    fs::remove_dir_all(desk.path("here")).unwrap();
    let lacking = desk.duet("answer p yes");
    let config = desk.path("config/duet/config.toml").display().to_string();
    for told in [
        "its workspace is shop",
        "`[workspaces]`",
        "shop = \"DIRECTORY\"",
        &config,
    ] {
        assert!(
            lacking.code == 1 && lacking.errors.contains(told),
            "{told}: {lacking:?}"
        );
    }
    let configure = |entries: &str| {
        fs::create_dir_all(desk.path("config/duet")).unwrap();
        fs::write(&config, format!("[workspaces]\n{entries}\n")).unwrap();
    };
    for (entries, told) in WRONG_WORKSPACES {
        configure(entries);
        for line in ["resume p", "work --idle-exit 0"] {
            let wrong = desk.duet(line);
            assert!(wrong.code == 1 && wrong.errors.contains(told), "{line}: {wrong:?}");
        }
    }
    configure(&format!("shop = \"{}\"", desk.path("there").display()));
    assert_eq!(desk.duet("answer p yes").code, 4);
    assert!(desk.duet("facts p").output.contains("<read \"there\">"));
    assert_eq!(desk.duet("answer p yes --inbox --no-wait").code, 0);
    // A worker takes it by the same file, and an option goes before that.
    let mut worker = Worker::start(&desk, "work");
    worker.until("p sleeps");
    worker.running.signal("-TERM");
    worker.code();
    let mut worker = Worker::start(&desk, "work --workspace shop=far");
    worker.until("p ended with code 0");
    let facts = desk.duet("facts p").output;
    assert!(
        facts.contains("<read-again \"there\">") && facts.contains("<read-last \"far\">"),
        "{facts}"
    );
    fs::write(desk.path("duet.toml"), "[workspaces]\nshop = \"/\"\n").unwrap();
    let foreign = desk.duet("providers");
    assert!(
        foreign.errors.contains("`workspaces` belongs into your own file"),
        "{foreign:?}"
    );
}

#[test]
fn a_worker_says_over_http_whether_it_works() {
    let desk = Desk::new(&[("p.scm", "(sleep 600000)")]);
    desk.duet("run p.scm --queue");
    let mut worker = Worker::start(&desk, "work --health 0");
    worker.until("/healthz says whether this worker works");
    let told = worker.said.last().expect("it has said so").clone();
    let address = told
        .trim_start_matches("http://")
        .split('/')
        .next()
        .expect("an address");
    worker.until("p sleeps");
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(address).expect("it listens");
        let request = format!("{request} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it hears");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    };
    let well = ask("GET /healthz");
    assert!(
        well.starts_with("HTTP/1.1 200") && well.contains("\"status\":\"working\""),
        "{well}"
    );
    assert!(ask("GET /p").starts_with("HTTP/1.1 404"));
    assert!(ask("POST /healthz").starts_with("HTTP/1.1 405"));
    let taken = desk.duet(&format!("work --health {address}"));
    assert!(taken.code == 1 && taken.errors.contains("cannot be used"), "{taken:?}");
    let wrong = desk.duet("work --health nowhere");
    assert!(
        wrong.code == 2 && wrong.errors.contains("an address with a port"),
        "{wrong:?}"
    );
    worker.running.signal("-TERM");
    assert_eq!(worker.code(), Some(143));
}

#[test]
fn a_run_that_was_stopped_is_left_and_one_that_was_killed_is_not() {
    let desk = Desk::new(&[("p.scm", "(display 1) (newline) (sleep 2500)")]);
    for (name, signal) in [("stopped", "-TERM"), ("killed", "-KILL")] {
        let mut running = Running::start(&desk, &format!("run p.scm --name {name}"));
        running.line();
        // Its timer is on record when the next command sees its turn.
        while !desk.duet(&format!("log {name}")).output.contains("timer has begun") {}
        running.signal(signal);
        running.end();
    }
    let mut worker = Worker::start(&desk, "work --idle-exit 3");
    worker.until("killed ended with code 0");
    let said = worker.said.join("\n");
    assert_eq!(worker.code(), Some(0));
    assert!(!said.contains("stopped"), "{said}");
    assert!(desk.duet("runs").output.contains("left"));
    // A person goes on with it.
    assert_eq!(desk.duet("resume stopped").code, 0);
}

/// It counts in its heap, evaluates a text if it is named b, and asserts what it was given.
const COUNTER: &str = r#"
(import (scheme base) (scheme write) (scheme eval) (duet base) (duet dataspace))
(define count 0)
(define (next!) (set! count (+ count 1)) count)
(define name (await (user-input :prompt "Name?" :tag "name")))
(next!)
(if (string=? name "b") (eval '(let ((count 40)) count) (environment '(scheme base))))
(define other (await (user-input :prompt "Other name?" :tag "other")))
(assert! (record 'counted name other (next!)))
"#;

#[test]
fn runs_that_take_over_a_compiled_program_begin_with_none_of_what_others_did() {
    let desk = Desk::new(&[("p.scm", COUNTER)]);
    let names = ["a", "b", "c", "d"];
    for name in names {
        assert_eq!(desk.duet(&format!("run p.scm --name {name} --queue")).code, 0);
    }
    // One after the other, each with the program that the one before has left.
    let rounds: [&dyn Fn(&str) -> String; 3] = [
        &|_| String::new(),
        &|name| format!("answer {name} name {name} --inbox --no-wait"),
        &|name| format!("answer {name} other {name}2 --inbox --no-wait"),
    ];
    for round in rounds {
        for line in names.map(round).iter().filter(|line| !line.is_empty()) {
            let left = desk.duet(line);
            assert!(left.errors.contains("in the inbox"), "{left:?}");
        }
        assert_eq!(desk.duet("work --concurrency 1 --idle-exit 0").code, 0);
    }
    for name in names {
        let facts = desk.duet(&format!("facts {name}"));
        let wanted = format!("<counted \"{name}\" \"{name}2\" 2>");
        assert!(facts.output.contains(&wanted), "{facts:?}");
        assert_eq!(desk.duet(&format!("replay {name} --check")).code, 0);
    }
}

#[test]
fn a_run_that_sleeps_is_stopped_without_a_process() {
    let desk = Desk::new(&[("p.scm", "(sleep 600000)")]);
    desk.duet("run p.scm --queue");
    let mut worker = Worker::start(&desk, "work");
    worker.until("p sleeps");
    let stopped = desk.duet("stop p");
    assert!(
        stopped.output.contains("p stopped at turn") || stopped.errors.contains("p stopped at turn"),
        "{stopped:?}"
    );
    desk.duet("run p.scm --name second --queue");
    worker.until("second sleeps");
    assert!(!desk.duet("work --status --json").output.contains("\"ready\":[\"p"));
}

#[test]
fn a_run_for_workers_refuses_options_that_would_end_with_the_command() {
    let desk = Desk::new(&[("p.scm", "(display 1)"), ("doubles.scm", "")]);
    for option in [
        "--double doubles.scm",
        "--answer yes",
        "--approve file/write",
        "--headless",
    ] {
        let refused = desk.duet(&format!("run p.scm --queue {option}"));
        let name = option.split(' ').next().unwrap();
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(
            refused.errors.contains(&format!(
                "`{name}` counts in the process that executes the run, which is a worker"
            )),
            "{refused:?}"
        );
        assert_eq!(
            refused.errors.contains("`duet work`"),
            name != "--double",
            "{refused:?}"
        );
    }
    assert_eq!(desk.duet("runs").output.trim(), "", "no run began");
}

#[test]
fn a_worker_leaves_to_others_what_it_cannot_execute() {
    let desk = Desk::new(&[("p.scm", "(display 1)"), ("place/q.scm", "(display 2)")]);
    assert_eq!(desk.duet("run p.scm --queue --secret A_KEY_THAT_IS_MISSING").code, 0);
    assert_eq!(desk.duet("run place/q.scm --queue").code, 0);
    fs::remove_dir_all(desk.path("place")).unwrap();
    assert_eq!(desk.duet("run p.scm --name other --queue").code, 0);
    let mut worker = Worker::start(&desk, "work --run p --run q");
    worker.until("left ");
    worker.until("left ");
    let said = worker.said.join("\n");
    assert!(
        said.contains("left p to others: it needs the secret A_KEY_THAT_IS_MISSING"),
        "{said}"
    );
    assert!(said.contains("left q to others: its workspace"), "{said}");
    let status = desk.duet("work --status");
    assert!(status.output.contains("leaves p to others"), "{status:?}");
    let waiting = status
        .output
        .lines()
        .find_map(|line| line.strip_prefix("waiting for a worker: "));
    let mut waiting: Vec<&str> = waiting.unwrap_or_default().split(", ").collect();
    waiting.sort_unstable();
    assert_eq!(waiting, ["other", "p", "q"], "{status:?}");
    let mut able = Worker::start(&desk, "work --run other --idle-exit 0");
    able.until("other ended with code 0");
}

const MANIFEST: &str = "((program \"main.scm\") (workspace (argument 1))
  (tools clock/* console dataspace/* person process/run workspace/*))";

/// Adds a line to a file, sleeps, asks, and adds another; its code is the number of calls of which
/// nobody knows whether they happened.
const NOTING: &str = r#"
(import (scheme base) (scheme process-context) (duet base) (duet dataspace))
(define unknown 0)
(define (note! word)
  (guard (it ((and (condition? it) (eq? (condition-kind it) 'interrupted)) (set! unknown (+ unknown 1))))
    (call-tool 'step "process/run"
      (dictionary 'arguments (list "sh" "-c" (string-append "echo " word " >> notes"))))))
(define name (cadr (cdr (command-line))))
(note! (string-append name "-before"))
(sleep 1500)
(await (user-input :prompt "Go on?" :tag "go"))
(sleep 100)
(note! (string-append name "-after"))
(exit unknown)
"#;

/// The long form, with this number of kills, is in `docs/src/testing.md`.
#[expect(clippy::disallowed_methods, reason = "a test has no command line of its own")]
fn kills() -> u64 {
    let wanted = std::env::var("DUET_WORK_KILLS").ok();
    wanted.and_then(|number| number.parse().ok()).unwrap_or(2)
}

const RUNS: usize = 40;

#[test]
fn runs_of_workers_that_are_killed_go_on_with_others() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let host = || {
        let files = [
            ("p/manifest.scm", MANIFEST),
            ("p/main.scm", NOTING),
            ("files/notes", ""),
        ];
        let desk = Desk::new(&files);
        let state = desk.path("state").display().to_string();
        desk.knowing("DUET_JOURNAL", server.text(&format!("schema={schema}")))
            .knowing("XDG_STATE_HOME", state)
    };
    let (one, other) = (host(), host());
    for run in 0..RUNS {
        let queued = one.duet(&format!("run p --name r{run} --queue -- files r{run}"));
        assert_eq!(queued.code, 0, "{queued:?}");
    }
    let mut steady = Worker::start(&one, "work --concurrency 8");
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..kills() {
        let mut killed = Worker::start(&other, "work --concurrency 8");
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        killed.running.message();
        // Somewhere in the middle of what it does next.
        #[expect(clippy::disallowed_methods, reason = "a drawn time passes before the kill")]
        std::thread::sleep(std::time::Duration::from_millis(seed >> 54));
        killed.running.signal("-KILL");
    }
    let mut last = Worker::start(&other, "work --concurrency 8");
    for run in 0..RUNS {
        let address = format!("r{run}");
        while !one.duet(&format!("waits {address}")).output.contains("Go on?") {}
        let answered = one.duet(&format!("answer {address} yes"));
        assert_eq!(answered.code, 0, "{answered:?}");
    }
    let is_over = |line: &str| line.ends_with("finished") || line.contains("failed with code");
    while !one.duet("runs").output.lines().skip(1).all(is_over) {}
    let notes = fs::read_to_string(one.path("files/notes")).unwrap();
    let mut written: BTreeMap<&str, usize> = BTreeMap::new();
    notes.lines().for_each(|line| *written.entry(line).or_default() += 1);
    assert!(
        written.values().all(|count| *count == 1),
        "no call happens twice: {written:?}"
    );
    for run in 0..RUNS {
        let shown = one.duet(&format!("resume r{run}"));
        let there = ["before", "after"].map(|when| written.contains_key(format!("r{run}-{when}").as_str()));
        let missing = there.iter().filter(|is_there| !**is_there).count();
        let unknown = usize::try_from(shown.code).unwrap_or_else(|_| panic!("r{run}: {shown:?}"));
        assert!(
            unknown <= 2 && missing <= unknown,
            "r{run}: {missing} of {unknown} {shown:?}"
        );
        assert_eq!(one.duet(&format!("replay r{run} --check")).code, 0);
    }
    for worker in [&mut steady, &mut last] {
        worker.running.signal("-TERM");
    }
}

/// It never sleeps for long, so its owner never lets go of it by itself.
const BUSY: &str = r#"
(import (scheme base) (duet base) (duet dataspace))
(assert! (record 'begun 1))
(await (user-input :prompt "Name?" :tag "name"))
(let loop ((n 0)) (sleep 20) (loop (+ n 1)))
"#;

#[test]
fn a_worker_elsewhere_lets_go_of_a_run_that_somebody_is_to_act_on() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let host = || {
        let desk = Desk::new(&[("p.scm", BUSY)]);
        let state = desk.path("state").display().to_string();
        desk.knowing("DUET_JOURNAL", server.text(&format!("schema={schema}")))
            .knowing("XDG_STATE_HOME", state)
    };
    let (there, here) = (host(), host());
    let begin = |name: &str| {
        assert_eq!(there.duet(&format!("run p.scm --name {name} --queue")).code, 0);
        // The runs before it go on for ever, and a worker that is to end gives them time.
        let mut worker = Worker::start(&there, &format!("work --run {name}"));
        worker.until(&format!("{name} waits for an input"));
        assert_eq!(here.duet(&format!("answer {name} Ada")).code, 0);
        let is_executed = |line: &str| line.starts_with(&format!("{name} ")) && line.contains("duet work");
        while !here.duet("runs").output.lines().any(is_executed) {}
        worker
    };
    let mut worker = begin("a");
    let forked = here.duet("fork a@1 other");
    assert_eq!(forked.code, 0, "{forked:?}");
    assert!(
        here.duet("work --status").output.contains("executes a"),
        "a fork stops nobody"
    );
    let gone = here.duet("goto a@1");
    assert!(
        gone.code == 0 && gone.errors.contains("a was stopped first"),
        "{gone:?}"
    );
    worker.until("a has stopped");
    worker.running.signal("-TERM");
    worker.code();
    let mut worker = begin("b");
    let mut amending = Running::start(&here, "amend b@2 Eve --branch eve");
    worker.until("b has stopped");
    while !here.duet("log b/eve").output.contains("answer \"Eve\"") {}
    amending.signal("-KILL");
    amending.end();
    worker.running.signal("-TERM");
    worker.code();
    let mut worker = begin("c");
    assert_eq!(here.duet("fork c@1 other").code, 0);
    // Whoever merges goes on with the run.
    let mut merging = Running::start(&here, "merge c/other --into main");
    worker.until("c has stopped");
    while !here.duet("runs").output.contains("duet merge") {}
    merging.signal("-KILL");
    let (_, told) = merging.end();
    assert!(told.contains("a worker has let go of c"), "{told}");
    worker.running.signal("-TERM");
    worker.code();
    let mut worker = begin("d");
    let mut serving = Running::start(&here, "serve d");
    serving.until_message("a worker has let go of d");
    worker.until("d has stopped");
    while !here.duet("runs").output.contains("duet serve") {}
    worker.running.signal("-TERM");
    worker.code();
    serving.signal("-TERM");
    serving.end();
    for address in ["a", "a/other", "b", "b/eve", "c", "c/other", "d"] {
        assert_eq!(here.duet(&format!("replay {address} --check")).code, 0, "{address}");
    }
}

/// It sleeps for long twice.
const WOKEN: &str = r"
(import (scheme base) (duet base) (duet dataspace))
(sleep 2500)
(assert! (record 'woken 1))
(sleep 86400000)
";

#[test]
fn a_run_that_is_woken_and_sleeps_again_is_committed_and_let_go_at_once() {
    let Some(server) = server::shared() else { return };
    let schema = server::schema();
    let desk = Desk::new(&[("p.scm", WOKEN)]);
    let state = desk.path("state").display().to_string();
    let desk = desk
        .knowing("DUET_JOURNAL", server.text(&format!("schema={schema}")))
        .knowing("XDG_STATE_HOME", state);
    assert_eq!(desk.duet("run p.scm --queue").code, 0);
    let mut worker = Worker::start(&desk, "work");
    worker.until("p sleeps");
    worker.until("p sleeps");
    worker.running.signal("-TERM");
    // The turn that was woken, and the one that says when the next timer runs out.
    let last = server.sql(&format!(
        "SELECT count(*), r.owner FROM {schema}.runs AS r JOIN {schema}.records AS c
             ON c.run = r.name AND c.xmin::text = r.xmin::text
         WHERE r.name = 'p' GROUP BY r.owner"
    ));
    assert_eq!(last, "2|");
    assert!(desk.duet("facts p").output.contains("<woken 1>"));
    assert_eq!(desk.duet("replay p --check").code, 0);
}
