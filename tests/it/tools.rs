//! Tools as the `duet` command offers them: secrets, doubles, servers, and timers that go on.
//!
//! INVARIANT: the tests search the bytes of a journal for content that it must not hold.
//! The tests of `drivers` cover the tools themselves.
//! Read next: `bad_input.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test fails by panicking; its servers are threads; one that is skipped says so"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A directory to run programs in, with variables in the environment.
struct Desk {
    folder: TempDir,
    variables: Vec<(&'static str, &'static str)>,
}

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self {
            folder,
            variables: Vec::new(),
        }
    }

    /// Runs a command that must end with a code and print exactly this; returns its other output.
    #[track_caller]
    fn check(&self, line: &str, code: i32, expected: &str) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        command
            .current_dir(self.folder.path())
            .args(line.split(' '))
            .stdin(Stdio::null());
        let done = command.envs(self.variables.iter().copied()).output().unwrap();
        let (output, errors) = (
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr),
        );
        assert_eq!(
            (done.status.code(), &*output),
            (Some(code), expected),
            "duet {line}: {errors}"
        );
        errors.into_owned()
    }

    /// Says whether any file of the journal has these bytes.
    fn journal_holds(&self, text: &str) -> bool {
        let files = fs::read_dir(self.folder.path().join(".duet")).unwrap();
        let files = files.map(|file| file.unwrap().path()).filter(|path| path.is_file());
        let mut bytes = files.map(|path| fs::read(path).unwrap());
        bytes.any(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
    }
}

const SECRET: &str = "hush-hush-1234";

#[test]
fn no_secret_reaches_a_journal() {
    let program = r#"
        (define key (get-environment-variable "API_KEY"))
        (define pin (get-environment-variable "PIN"))
        (write (list key pin))
        (newline)
        (define (run . words) (call-tool 'p 'process/run (dictionary 'arguments words)))
        (write (dictionary-ref (run "sh" "-c" "test ${#1} = 14 && echo got $1 and $2" "sh" key pin) 'stdout))
        (newline)
        (write (dictionary-ref (call-tool 'r 'workspace/read (dictionary 'path "ws.env")) 'content))
        (newline)
        (write (guard (failure (#t (condition-kind failure)))
          (call-tool 'w 'workspace/write (dictionary 'path "ws.env" 'content "other"))))
        (newline)
        (write (await (user-input :prompt "say it")))
        (newline)"#;
    let manifest = "((program \"main.scm\") (tools environment/* process/run workspace/*) (secrets PIN))";
    let mut desk = Desk::new(&[
        ("all/main.scm", program),
        ("all/manifest.scm", manifest),
        ("ws.env", "API_KEY=hush-hush-1234\n"),
    ]);
    desk.variables = vec![("API_KEY", SECRET), ("PIN", "8675309")];
    let expected = "(\"{{secret:API_KEY}}\" \"{{secret:PIN}}\")
\"got {{secret:API_KEY}} and {{secret:PIN}}\\n\"
\"API_KEY={{secret:API_KEY}}\\n\"
denied
\"it is {{secret:API_KEY}}\"
";
    let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
    command
        .current_dir(desk.folder.path())
        .args(["run", "all", "--answer", "it is hush-hush-1234"]);
    let done = command
        .envs(desk.variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&done.stdout),
        expected,
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert!(
        desk.journal_holds("{{secret:API_KEY}}") && desk.journal_holds("got "),
        "what is looked for would be found"
    );
    assert!(!desk.journal_holds(SECRET) && !desk.journal_holds("8675309"));
    assert_eq!(
        fs::read_to_string(desk.folder.path().join("ws.env")).unwrap(),
        "API_KEY=hush-hush-1234\n"
    );
    // A replay needs no secret.
    desk.variables.clear();
    desk.check("replay all --check", 0, &replayed(&desk));
}

/// A program may write a stand-in itself, too.
#[test]
fn an_export_does_not_take_a_stand_in_for_a_secret() {
    let program = r#"
        (define key (get-environment-variable "API_KEY"))
        (assert! (record 'uses "{{secret:API_KEY}}" key))"#;
    let manifest = "((program \"main.scm\") (tools environment/*))";
    let mut desk = Desk::new(&[("all/main.scm", program), ("all/manifest.scm", manifest)]);
    desk.variables = vec![("API_KEY", SECRET)];
    desk.check("run all", 0, "");
    let said = desk.check("export all all.duet", 0, "");
    assert!(!said.contains("masked"), "{said}");
    desk.check("import all.duet --journal other", 0, "");
    let fact = "handle 0   main     <uses \"{{secret:API_KEY}}\" \"{{secret:API_KEY}}\">\n";
    desk.check("facts all --journal other", 0, fact);
}

/// A secret whose parts are found too.
const PARTED: &str = "Qwertzui-Yxcvbnmk";

#[test]
fn no_secret_reaches_a_journal_in_pieces() {
    let program = r#"
        (define words (command-line))
        (write words) (newline)
        (define (try thunk) (guard (failure (#t (condition-kind failure))) (thunk)))
        (define (read offset length)
          (try (lambda () (dictionary-ref (call-tool 'r 'workspace/read
            (dictionary 'path "ws.env" 'offset offset 'length length)) 'content))))
        (write (list (read 0 16) (read 16 100) (read 10 4) (read 0 8) (read 25 6) (read 0 100)))
        (newline)
        (define (run limit)
          (try (lambda () (dictionary-ref (call-tool 'p 'process/run
            (dictionary 'arguments '("cat" "ws.env") 'output_limit_bytes limit)) 'stdout))))
        (write (map run '(16 20 31 100)))
        (newline)
        (define (search pattern path)
          (length (dictionary-ref (call-tool 's 'workspace/search (dictionary 'pattern pattern 'path path)) 'matches)))
        (write (map search '("Qw[e]rtzui" "Q[a-z]+-Y[a-z]+" "API_KEY=." "xxx")
                           '("ws.env" "ws.env" "ws.env" "long.txt")))
        (newline)
        (write (list (read-string 9) (read-string 7) (read-line) (read-line)))
        (newline)"#;
    let manifest = "((program \"main.scm\") (tools environment/* process/run workspace/*))";
    let mut desk = Desk::new(&[
        ("all/main.scm", program),
        ("all/manifest.scm", manifest),
        ("ws.env", "API_KEY=Qwertzui-Yxcvbnmk\nmore\n"),
        ("long.txt", &format!("{}Qwertzui-Yxcvbnmk", "x".repeat(991))),
    ]);
    desk.variables = vec![("API_KEY", PARTED)];
    let mut child = Command::new(env!("CARGO_BIN_EXE_duet"))
        .current_dir(desk.folder.path())
        .args(["run", "all", "--", ".", "word=Qwertzui-Yxcvbnmk"])
        .envs(desk.variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for chunk in ["it is Qwertzui", "-Yxcvb", "nmk!\nQwertzui\n"] {
        input.write_all(chunk.as_bytes()).unwrap();
        input.flush().unwrap();
        // Each piece is taken alone.
        while child.try_wait().unwrap().is_none() && rustix::io::ioctl_fionread(&input).unwrap() > 0 {
            std::thread::yield_now();
        }
    }
    drop(input);
    let done = child.wait_with_output().unwrap();
    let expected = r#"("all/main.scm" "." "word={{secret:API_KEY}}")
(denied denied denied "API_KEY=" "\nmore\n" "API_KEY={{secret:API_KEY}}\nmore\n")
("API_KEY={{secret" "API_KEY={{secret:API" "API_KEY={{secret:API_KEY}}\nmore" "API_KEY={{secret:API_KEY}}\nmore\n")
(0 0 1 1)
("it is {{s" "ecret:A" "PI_KEY}}!" "Qwertzui")
"#;
    let errors = String::from_utf8_lossy(&done.stderr);
    assert_eq!(String::from_utf8_lossy(&done.stdout), expected, "{errors}");
    // Texts that a person types at a prompt.
    let mut session = Command::new(env!("CARGO_BIN_EXE_duet"))
        .current_dir(desk.folder.path())
        .args(["repl", "--name", "typed"])
        .envs(desk.variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let typed = "(define key \"Qwertzui-Yxcvbnmk\")\n(string-length key)\n";
    session.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    assert_eq!(
        String::from_utf8_lossy(&session.wait_with_output().unwrap().stdout),
        "18\n"
    );
    assert!(!desk.journal_holds("Yxcvbnmk"));
    for part in ["Qwertzui-", "zui-Yx"] {
        assert!(!desk.journal_holds(part), "{part}");
    }
}

/// The output of a replay of the newest run.
fn replayed(desk: &Desk) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
    let done = command
        .current_dir(desk.folder.path())
        .args(["replay", "all"])
        .output()
        .unwrap();
    assert!(done.status.success());
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn doubles_answer_in_the_place_of_tools() {
    let program = r#"
        (define (ask) (call-tool 'asker 'http/get (dictionary 'url "http://example.org/")))
        (define (try) (guard (failure (#t (condition-kind failure))) (dictionary-ref (ask) 'body)))
        (write (list (try) (try) (call-tool 'x 'made/up 1)))
        (newline)"#;
    let script = r#"{
        "http/get": [<fails unavailable "down"> <after 5 <returns {status: 200 body: "hello"}>> <fails failed "no">]
        "made/up": [<returns [1 2]>] }"#;
    let desk = Desk::new(&[("p.scm", program), ("double.pr", script), ("wrong.pr", "{a: [1]}")]);
    desk.check("run --double double.pr p.scm", 0, "(\"hello\" failed (1 2))\n");
    desk.check("replay p --check", 0, &{
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        let done = command
            .current_dir(desk.folder.path())
            .args(["replay", "p"])
            .output()
            .unwrap();
        String::from_utf8(done.stdout).unwrap()
    });
    let said = desk.check("run --double wrong.pr p.scm", 2, "");
    let expected = "`wrong.pr` is no script of doubles: reply 1 of a must be <returns value>, \
                    <fails kind message>, <after milliseconds reply>, <for text reply>, \
                    <asked payload reply>, <like payload reply>, <by actor definition reply> or <silent>, not 1";
    assert!(said.contains(expected), "{said}");
    let said = desk.check("run --double none.pr p.scm", 1, "");
    assert!(said.contains("cannot read `none.pr`"), "{said}");
}

#[test]
fn a_server_is_spoken_to_if_it_is_on_the_list() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = Vec::new();
        while !asked.windows(4).any(|window| window == b"\r\n\r\n") {
            let mut chunk = [0; 1024];
            let length = stream.read(&mut chunk).unwrap();
            asked.extend_from_slice(&chunk[..length]);
        }
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            .unwrap();
        String::from_utf8(asked).unwrap()
    });
    let program = format!(
        r#"(define key (get-environment-variable "API_KEY"))
           (define (ask url)
             (guard (failure (#t (condition-kind failure)))
               (dictionary-ref (call-tool 'a 'http/get (dictionary 'url url 'headers (dictionary 'authorization key)))
                               'body)))
           (write (list (ask "http://127.0.0.1:{port}/") (ask "http://127.0.0.1:1/")))
           (newline)"#
    );
    let mut desk = Desk::new(&[("p.scm", &program)]);
    desk.variables = vec![("API_KEY", SECRET)];
    let line = format!("run --secret API_KEY --allow-host 127.0.0.1:{port} p.scm");
    desk.check(&line, 0, "(\"hello\" denied)\n");
    assert!(served.join().unwrap().contains(&format!("authorization: {SECRET}")));
    assert!(!desk.journal_holds(SECRET));
}

#[test]
fn a_long_timer_goes_on_where_it_was() {
    let program = "(spawn (lambda () (read-line) (display \"read\"))) (sleep 3600000)";
    let desk = Desk::new(&[("p.scm", program)]);
    let said = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        let done = command
            .current_dir(desk.folder.path())
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    let told = || said(&["log", "p", "--verbose"]).matches("due request").count();
    let begun = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        command
            .current_dir(desk.folder.path())
            .args(arguments)
            .stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut child = begun(&["run", "p.scm"]);
    let is_told = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        told() == 1
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        is_told,
        "the timer tells when it will have run out: {}",
        said(&["log", "p", "--verbose"])
    );
    let waits = said(&["waits", "p"]);
    assert!(waits.contains("a timer: ") && waits.contains("Z)"), "{waits}");
    // A timer that starts afresh would tell again, before the run takes a line.
    let mut child = begun(&["resume", "p"]);
    child.stdin.take().unwrap().write_all(b"a line\n").unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 4]).unwrap();
    assert_eq!(child.try_wait().unwrap(), None, "it waits for what is left");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(told(), 1, "{}", said(&["log", "p", "--verbose"]));
}

/// A page behind TLS, with the certificate in `cert.pem`.
const TLS_SERVER: &str = "import http.server, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('cert.pem', 'key.pem')
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', '5')
        self.end_headers()
        self.wfile.write(b'hello')
    def log_message(self, *_): pass
server = http.server.HTTPServer(('127.0.0.1', 0), Page)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()";

/// Writes a new certificate of localhost, which signs itself, and its key.
fn makes_certificate(folder: &Path) -> bool {
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "30",
            "-subj",
            "/CN=localhost",
        ])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .args([
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ])
        .current_dir(folder)
        .output();
    made.is_ok_and(|made| made.status.success())
}

#[test]
fn a_certificate_that_the_person_names_is_trusted() {
    let desk = Desk::new(&[]);
    if !makes_certificate(desk.folder.path()) {
        eprintln!("THERE IS NO openssl: a server with TLS was not tried");
        return;
    }
    let server = Command::new("python3")
        .args(["-c", TLS_SERVER])
        .current_dir(desk.folder.path())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut server) = server else {
        eprintln!("THERE IS NO python3: a server with TLS was not tried");
        return;
    };
    let mut port = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut port)
        .unwrap();
    let port = port.trim();
    let program = format!(
        "(import (duet base) (duet dataspace))
         (guard (failure (#t (display (condition-message failure))))
           (display (dictionary-ref (call-tool 'a 'http/get (dictionary 'url \"https://localhost:{port}/\")) 'body)))"
    );
    fs::write(desk.folder.path().join("p.scm"), program).unwrap();
    let said = |certificates: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duet"));
        command.args(["run", "p.scm", "--memory", "--allow-host", &format!("localhost:{port}")]);
        command.current_dir(desk.folder.path());
        if let Some(file) = certificates {
            command.env("SSL_CERT_FILE", file);
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let answers = [None, Some("none.pem"), Some("key.pem"), Some("cert.pem")].map(said);
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(answers[0].contains("UnknownIssuer"), "{answers:?}");
    assert!(
        answers[1].contains("the certificates in `none.pem` cannot be used"),
        "{answers:?}"
    );
    assert!(answers[2].contains("there are none"), "{answers:?}");
    assert_eq!(answers[3], "hello");
}
