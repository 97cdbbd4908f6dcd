//! How much does Duet add to a call of a model and to a call of an MCP server?
//!
//! A bare client in Rust and `duet run`, whose journal is durable, call the same loopback server,
//! one call after the other. The server notes when each request arrives; the time from one request
//! to the next is all that a client does between them. The rounds of the two alternate. Then a run
//! has 1,000 calls in flight.
//!
//!     cargo bench -p duet-drivers --bench agents [-- CALLS ROUNDS]
//!
//! INVARIANT: both sides send the same request over new connections, or over the same pipe.
//! It does not measure providers. Read next: `agents/server.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench prints times, and a failed step of it is its failure"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rmcp::ServiceExt as _;
use rmcp::model::{CallToolRequestParams, JsonObject};

#[path = "agents/server.rs"]
mod server;

use server::Web;

/// The program of both rounds: calls of one tool, one after the other.
fn program(tool: &str, payload: &str, calls: usize) -> String {
    format!(
        "(import (duet base) (duet dataspace))
(define payload {payload})
(let loop ((n {calls})) (if (> n 0) (begin (call-tool 'bench \"{tool}\" payload) (loop (- n 1)))))
(display \"done\")"
    )
}

const MESSAGES: &str = "(dictionary 'model \"small\" 'messages (list (dictionary 'role \"user\" 'content \"hello\")))";

fn duet() -> PathBuf {
    let named = std::env::var_os("DUET").map(PathBuf::from);
    let found = named.unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../target/release/duet").into());
    fs::canonicalize(found).expect("`cargo build --release` makes the command, or DUET names it")
}

/// A folder with a program, in which `duet run` is timed.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new(program: &str) -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        fs::write(desk.path("p.scm"), program).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(duet());
        command
            .args(words)
            .current_dir(self.0.path())
            .env("XDG_CONFIG_HOME", self.path("config"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        command
    }

    fn run(&self, words: &[&str]) {
        let done = self.command(words).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stdout), "done", "{done:?}");
    }
}

/// The median of the times between arrivals, in microseconds, without the first ones.
fn median_gap(arrivals: &[u64]) -> f64 {
    let gaps = arrivals.windows(2).map(|pair| pair[1] - pair[0]).skip(10);
    median(gaps.map(|nanoseconds| nanoseconds as f64 / 1_000.0).collect())
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn models(web: &Web, calls: usize, rounds: usize) {
    let desk = Desk::new(&program("model/chat", MESSAGES, calls));
    let provider = format!("local=openai-chat:{}", web.url());
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        web.forget();
        server::ask_bare(web, calls);
        bare.push(median_gap(&web.arrivals()));
        web.forget();
        desk.run(&["run", "p.scm", "--provider", &provider, "--model", "small"]);
        ours.push(median_gap(&web.arrivals()));
    }
    report("model", &bare, &ours);
}

/// The server for both: this program once more, on its standard streams.
fn own_server(state: &Path) -> Vec<String> {
    let program = std::env::current_exe().unwrap().display().to_string();
    vec![program, "serve-mcp".to_owned(), state.display().to_string()]
}

async fn call_bare(words: &[String], calls: usize) {
    let mut child = tokio::process::Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let service = ().serve(streams).await.unwrap();
    let arguments: JsonObject = [("text".to_owned(), "hello".into())].into_iter().collect();
    for _ in 0..calls {
        let params = CallToolRequestParams::new("echo").with_arguments(arguments.clone());
        service.peer().call_tool(params).await.unwrap();
    }
    let _ = service.cancel().await;
    let _ = child.wait().await;
}

fn servers(calls: usize, rounds: usize) {
    let desk = Desk::new(&program("t/echo", "(dictionary 'text \"hello\")", calls));
    let state = desk.path("arrivals");
    let words = own_server(&state);
    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    fs::create_dir_all(desk.path("config/duet")).unwrap();
    let configuration = format!("[servers.t]\ncommand = [{}]\n", quoted.join(", "));
    fs::write(desk.path("config/duet/config.toml"), configuration).unwrap();
    let runtime = server::runtime();
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        runtime.block_on(call_bare(&words, calls));
        bare.push(median_gap(&server::noted(&state)));
        desk.run(&["run", "p.scm", "--allow-server", "t"]);
        ours.push(median_gap(&server::noted(&state)));
    }
    report("MCP", &bare, &ours);
}

fn report(what: &str, bare: &[f64], ours: &[f64]) {
    let least = |all: &[f64]| all.iter().copied().fold(f64::INFINITY, f64::min);
    let [least_bare, least_ours] = [bare, ours].map(least);
    let [bare, ours] = [bare, ours].map(|all| median(all.to_vec()));
    println!(
        "{what} call: {bare:.0} µs bare, {ours:.0} µs with Duet, {:.0} µs more; in the best rounds {:.0} µs more",
        ours - bare,
        least_ours - least_bare
    );
}

fn in_flight(web: &Web, calls: usize) {
    let program = format!(
        "(import (duet base) (duet dataspace) (duet agents))
(define payload {MESSAGES})
(define answers (par-map (lambda (n) (call-tool 'bench \"model/chat\" payload)) (iota {calls})))
(display (if (= {calls} (length answers)) \"done\" answers))"
    );
    let desk = Desk::new(&program);
    let provider = format!("local=openai-chat:{}", web.url());
    web.hold(calls);
    let begun = Instant::now();
    let mut child = desk
        .command(&["run", "p.scm", "--provider", &provider, "--model", "small"])
        .spawn()
        .unwrap();
    let mut peak = String::new();
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        if let Some(line) = status.lines().find(|line| line.starts_with("VmHWM")) {
            line.clone_into(&mut peak);
        }
        sleep(Duration::from_millis(5));
    }
    let said = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "done", "{said:?}");
    let kilobytes = peak.split_whitespace().nth(1).unwrap_or_default();
    println!(
        "{calls} calls in flight at the same time: all answered in {:.2} s, at most {kilobytes} kB resident",
        begun.elapsed().as_secs_f64()
    );
}

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let first = words.next();
    if first.as_deref() == Some("serve-mcp") {
        return server::serve_mcp(Path::new(&words.next().unwrap()));
    }
    let number = |word: Option<String>, default| word.and_then(|word| word.parse().ok()).unwrap_or(default);
    let (calls, rounds) = (number(first, 500), number(words.next(), 7));
    let web = Web::start();
    models(&web, calls, rounds);
    servers(calls, rounds);
    in_flight(&web, 1000);
}
