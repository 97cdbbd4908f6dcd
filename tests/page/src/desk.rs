//! A directory with runs, and the page that is served for it.
//!
//! INVARIANT: no process outlives the desk. It knows no browser. Read next: `browser.rs`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::browser::Failed;

const ORDER: &str = r#"(import (scheme base) (scheme write) (duet base) (duet dataspace))
(define (count-of text)
  (let ((number (string->number text)))
    (if number number (error "this is no number" text))))
(assert! (record 'customer "Ada"))
(display "<img src=x onerror=alert(1)>\x1b;[31m\n")
(define wanted (await (user-input :prompt "How many ropes?")))
(define ropes (count-of wanted))
(assert! (record 'order "Ada" ropes))
(display ropes)
(display " ropes for Ada\n")
"#;

const TICK: &str = r#"(import (scheme base) (scheme write) (duet base) (duet dataspace))
(let loop ((n 1))
  (when (< n 1000)
    (display (string-append "tick " (number->string n) "\n"))
    (sleep 150)
    (loop (+ n 1))))
"#;

const ASK: &str = r#"(import (scheme base) (scheme write) (duet base) (duet dataspace))
(define name (await (user-input :prompt "Who is there?")))
(display (string-append "welcome " name "\n"))
"#;

const VALUES: &str = r#"(import (scheme base) (duet base) (duet dataspace))
(assert! (record 'int 9007199254740993 -9223372036854775809))
(assert! (record 'float 1.0 -0.0))
(assert! (record 'text "a" 'a))
(assert! (record 'dict (dictionary 'a 1 "a" 2)))
(await (signal 'go))
"#;

/// Waits in every way.
const WAITS: &str = r#"(import (scheme base) (duet base) (duet dataspace) (duet agents))
(define (large? value) (> (car (record-fields value)) 10))
(spawn (lambda () (await (predicate large? :pattern (pattern (size _))))))
(spawn (lambda () (await (user-input :prompt (record 'ask "Size?" '(small large))))))
(spawn (lambda () (select ((signal 'go) 1) ((signal 'come) 2))))
(par-map (lambda (color) (await (signal color))) '(red blue))
"#;

const PAY: &str = r#"(import (scheme base) (duet base) (duet dataspace) (duet policy))
(define-constraint "ask" :tool 'pay/send :on-fail 'ask)
(call-tool 'clerk 'pay/send (dictionary 'amount 9007199254740993 'rate 1.0 'to 'bank 'name "Ada"))
"#;

/// Strands at the same time, whose values lead to a fact, a line and a call.
const JOBS: &str = r#"(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents))
(define (price item) (* item 12))
(define prices (par-map (lambda (n) (sleep n) (price n)) '(1 2 3)))
(define second (cadr prices))
(assert! (record 'priced second))
(display second)
(newline)
(call-tool 'clerk 'pay/send (dictionary 'amount (* 2 second)))
(await (signal 'go))
"#;

/// More questions at the same time than the timeline has tracks.
const CROWD: &str = r#"(import (scheme base) (duet base) (duet dataspace) (duet agents))
(par-map (lambda (n) (await (user-input :prompt "Size?"))) (iota 40))
"#;

const PAID: &str = r#"{"pay/send": [<returns "sent">]}"#;

/// The time in which something on a desk has to happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// A process that ends with its owner.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn end(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// A desk with its page.
pub(crate) struct Desk {
    folder: TempDir,
    host: String,
    token: String,
    _served: Option<Running>,
}

impl Desk {
    /// Makes the runs, and serves the page.
    pub(crate) fn new() -> Result<Self, Failed> {
        let mut desk = Self {
            folder: TempDir::new()?,
            host: String::new(),
            token: String::new(),
            _served: None,
        };
        for (name, text) in [
            ("order.scm", ORDER),
            ("tick.scm", TICK),
            ("ask.scm", ASK),
            ("values.scm", VALUES),
            ("waits.scm", WAITS),
            ("pay.scm", PAY),
            ("paid.pr", PAID),
            ("jobs.scm", JOBS),
            ("crowd.scm", CROWD),
        ] {
            fs::write(desk.folder.path().join(name), text)?;
        }
        for line in [
            "run order.scm --answer none",
            "run ask.scm",
            "run values.scm",
            "run waits.scm",
            "signal waits red 1",
            "mark waits@1 before",
            "run pay.scm --double paid.pr",
            "run jobs.scm --double paid.pr",
            "run crowd.scm",
        ] {
            desk.duet(line)?;
        }
        desk.serve()?;
        Ok(desk)
    }

    /// A desk with a run of the examples, which fails, and a branch beside it.
    pub(crate) fn of_examples() -> Result<Self, Failed> {
        let mut desk = Self {
            folder: TempDir::new()?,
            host: String::new(),
            token: String::new(),
            _served: None,
        };
        let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let copied = Command::new("cp")
            .arg("-r")
            .arg(examples)
            .arg(desk.folder.path())
            .status()?;
        if !copied.success() {
            return Err(Failed("the examples cannot be copied".to_owned()));
        }
        desk.duet("run examples/research --double examples/research/model.pr")?;
        desk.duet("amend research@12 {content:\"{}\"} --branch empty --double examples/research/model.pr")?;
        desk.serve()?;
        Ok(desk)
    }

    fn serve(&mut self) -> Result<(), Failed> {
        let mut served = self.start("ui --act")?;
        let mut address = String::new();
        let output = served.0.stdout.take().ok_or_else(|| Failed("no output".to_owned()))?;
        BufReader::new(output).read_line(&mut address)?;
        let parts = address.trim().trim_start_matches("http://").split_once("/?token=");
        let (host, token) = parts.ok_or_else(|| Failed(format!("no address: {address}")))?;
        (self.host, self.token) = (host.to_owned(), token.to_owned());
        self._served = Some(served);
        Ok(())
    }

    fn command(&self, line: &str) -> Result<Command, Failed> {
        let program = std::env::var_os("DUET").ok_or_else(|| Failed("the variable DUET is not set".to_owned()))?;
        let mut command = Command::new(program);
        command.args(line.split_whitespace()).current_dir(self.folder.path());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        Ok(command)
    }

    pub(crate) fn start(&self, line: &str) -> Result<Running, Failed> {
        Ok(Running(self.command(line)?.spawn()?))
    }

    /// The output of a command, however it ends.
    pub(crate) fn duet(&self, line: &str) -> Result<String, Failed> {
        let done = self.command(line)?.output()?;
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }

    /// The turn that received the first answer of a person.
    pub(crate) fn input_turn(&self, run: &str) -> Result<u64, Failed> {
        let log = self.duet(&format!("log {run} --json --kind answered"))?;
        let turns: serde_json::Value = serde_json::from_str(&log)?;
        let turn = turns
            .as_array()
            .and_then(|turns| turns.last())
            .and_then(|turn| turn["turn"].as_u64());
        turn.ok_or_else(|| Failed(format!("no answer: {log}")))
    }

    /// The newest turn that called a tool.
    pub(crate) fn call_turn(&self, run: &str) -> Result<u64, Failed> {
        let log = self.duet(&format!("log {run} --json --kind invoke-tool --limit 1"))?;
        let turns: serde_json::Value = serde_json::from_str(&log)?;
        let turn = turns[0]["turn"].as_u64();
        turn.ok_or_else(|| Failed(format!("no call: {log}")))
    }

    /// Waits until a run is in the journal.
    pub(crate) fn waits_for_run(&self, run: &str) -> Result<(), Failed> {
        let begun = Instant::now();
        while !self.duet(&format!("log {run}"))?.contains("run of") {
            if begun.elapsed() > PATIENCE {
                return Err(Failed(format!("the run {run} does not begin")));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// The address of a place, which may have parameters.
    pub(crate) fn address(&self, place: &str) -> String {
        let sign = if place.contains('?') { '&' } else { '?' };
        format!("http://{}/{place}{sign}token={}", self.host, self.token)
    }

    pub(crate) fn without_token(&self, place: &str) -> String {
        format!("http://{}/{place}", self.host)
    }
}
