//! Servers on the net: sessions, streams, tokens, and authorization servers.
//!
//! INVARIANT: all of it is on this machine.
//! The faults of servers are in `../mcp.rs`. Read next: `tasks.rs`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};

use crate::mcp::IMPORTS;
use crate::support::desk::Desk;

/// A server over HTTP, which ends with the test.
struct Web(Child, String);

impl Web {
    fn start(script: &str, arguments: &[&str]) -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python");
        let mut child = Command::new("python3")
            .arg(format!("{folder}/{script}"))
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        Self(child, format!("http://127.0.0.1:{}", line.trim()))
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Makes a desk with a program and a configuration of its server `t`.
fn desk(program: &str, configuration: &str) -> Desk {
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}{program}"))]);
    fs::create_dir_all(desk.path("config/duet")).unwrap();
    fs::write(
        desk.path("config/duet/config.toml"),
        format!("[servers.t]\n{configuration}"),
    )
    .unwrap();
    desk
}

/// Runs the program with some variables; returns all that is said.
fn run(desk: &Desk, variables: &[(&str, &str)]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_duet"))
        .args(["run", "p.scm", "--allow-server", "t"])
        .current_dir(desk.path(""))
        .env("XDG_CONFIG_HOME", desk.path("config"))
        .env("XDG_STATE_HOME", desk.path("account"))
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap()
}

#[test]
fn a_server_on_the_net_has_sessions_streams_and_a_token() {
    let web = Web::start("mcp_web.py", &[]);
    let program = "(show (said (call \"echo\" 'text \"hé\")))
(try (lambda () (call \"fail\")))
(try (lambda () (call \"nothing\")))";
    let desk = desk(program, &format!("url = \"{}/mcp\"\ntoken = \"WEB_TOKEN\"\n", web.1));
    let said = run(&desk, &[("WEB_TOKEN", "open-sesame")]);
    assert!(
        said.starts_with("you said hé\nfailed\nthe tool `fail` of the MCP server `t` failed"),
        "{said}"
    );
    let said = run(&desk, &[("WEB_TOKEN", "wrong")]);
    assert!(
        said.contains("the MCP server `t` wants a token, or another one"),
        "{said}"
    );
    drop(web);
}

#[test]
fn a_refusal_answers_its_request_whatever_id_it_names() {
    let web = Web::start("mcp_web.py", &[]);
    let program = "(for-each
  (lambda (status)
    (for-each (lambda (id) (try (lambda () (call \"refuse\" 'status status 'id id))))
      (list 'null \"missing\" \"server-error\" 4711)))
  '(400 406 500 200))";
    let limit = "timeout_ms = 20000\n";
    let desk = desk(
        program,
        &format!("url = \"{}/mcp\"\ntoken = \"WEB_TOKEN\"\n{limit}", web.1),
    );
    let said = run(&desk, &[("WEB_TOKEN", "open-sesame")]);
    let expected = "failed\nthe MCP server `t` refuses: No valid session ID (code -32000)\n";
    assert_eq!(said, expected.repeat(16));
}

#[test]
fn a_server_on_the_net_has_tasks_of_the_older_revision() {
    let desk = desk(
        "(import (duet mcp))\n(show (mcp-text (mcp-call 'p \"t/long\" (dictionary))))",
        "",
    );
    let web = Web::start(
        "mcp_web.py",
        &["older-tasks", &desk.path("state").display().to_string()],
    );
    let configuration = format!("[servers.t]\nurl = \"{}/mcp\"\ntoken = \"WEB_TOKEN\"\n", web.1);
    fs::write(desk.path("config/duet/config.toml"), configuration).unwrap();
    let said = run(&desk, &[("WEB_TOKEN", "open-sesame")]);
    assert!(said.starts_with("done at last\n"), "{said}");
    let noted = fs::read_to_string(desk.path("state")).unwrap();
    assert!(noted.contains("tasks/result task-1"), "{noted}");
}

/// Starts a server that wants tokens, with the authorization server that gives them.
#[test]
fn a_token_stands_in_the_header_that_the_configuration_names() {
    let web = Web::start("mcp_web.py", &[]);
    let more = "token_header = \"X-API-Key\"\nheaders = { X-Desk = \"north\" }\n";
    let configuration = format!("url = \"{}/mcp\"\ntoken = \"WEB_TOKEN\"\n{more}", web.1);
    let desk = desk("(show (said (call \"echo\" 'text \"a\")))", &configuration);
    assert_eq!(run(&desk, &[("WEB_TOKEN", "open-sesame")]), "you said a\n");
    let wrong = configuration.replace("X-Desk", "Content-Length");
    fs::write(desk.path("config/duet/config.toml"), format!("[servers.t]\n{wrong}")).unwrap();
    let said = run(&desk, &[("WEB_TOKEN", "open-sesame")]);
    assert!(
        said.contains("the header `Content-Length` belongs to the protocol"),
        "{said}"
    );
}

fn guarded(program: &str, oauth: &str) -> (Desk, Web) {
    let desk = desk(program, "");
    let state = desk.path("state").display().to_string();
    let web = Web::start("mcp_oauth.py", &[&state]);
    let oauth = oauth.replace("URL", &web.1);
    let configuration = format!("[servers.t]\nurl = \"{}/mcp\"\n{oauth}\n", web.1);
    fs::write(desk.path("config/duet/config.toml"), configuration).unwrap();
    (desk, web)
}

const FIVE_CALLS: &str = "(for-each (lambda (n) (show (said (call \"echo\" 'text (number->string n))))) '(1 2 3 4 5))";

#[test]
fn credentials_are_exchanged_for_tokens_which_are_renewed_when_the_server_refuses_them() {
    let oauth = "oauth = { token_url = \"URL/token\", client_id = \"desk\", \
                 client_secret = \"DESK_SECRET\", scope = \"read\" }";
    let (desk, web) = guarded(FIVE_CALLS, oauth);
    let said = run(&desk, &[("DESK_SECRET", "p:ss wörd")]);
    let expected = "you said 1\nyou said 2\nyou said 3\nyou said 4\nyou said 5\n";
    assert!(said.starts_with(expected), "{said}");
    let asked = fs::read_to_string(desk.path("state")).unwrap();
    let one = format!("client_credentials read {}/mcp\n", web.1);
    assert_eq!(asked, one.repeat(3));
    // The run has the answers only.
    assert!(desk.duet("replay p --check").output.starts_with("identical"));
    let said = run(&desk, &[("DESK_SECRET", "a wrong one")]);

    assert!(
        said.contains("gives no token: invalid_client; look at DESK_SECRET"),
        "{said}"
    );
    let said = run(&desk, &[]);
    assert!(
        said.contains("needs a token, but the variable DESK_SECRET is not set"),
        "{said}"
    );
}

#[test]
fn a_refresh_token_is_replaced_as_the_server_says() {
    let oauth = "oauth = { token_url = \"URL/token\", client_id = \"desk\", refresh_token = \"DESK_TOKEN\" }";
    let (desk, _web) = guarded(FIVE_CALLS, oauth);
    let said = run(&desk, &[("DESK_TOKEN", "refresh-0")]);
    assert!(said.contains("you said 5\n"), "{said}");
    // The configured token is spent, and the next process goes on with the one that replaced it.
    let said = run(&desk, &[("DESK_TOKEN", "refresh-0")]);
    assert!(said.contains("you said 5\n"), "{said}");
    let kept = desk.path("account/duet/oauth/t.json");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&kept).unwrap();
    assert!(text.contains("refresh-6") && !text.contains("refresh-0"), "{text}");
    // A token that the person configures goes before the kept one.
    let said = run(&desk, &[("DESK_TOKEN", "refresh-0-again")]);
    assert!(
        said.contains("invalid_grant: the token was used; look at DESK_TOKEN"),
        "{said}"
    );
    let said = run(&desk, &[("DESK_TOKEN", "refresh-0")]);
    assert!(said.contains("you said 5\n"), "{said}");
    fs::remove_file(&kept).unwrap();
    let said = run(&desk, &[("DESK_TOKEN", "refresh-0")]);
    assert!(said.contains("invalid_grant: the token was used"), "{said}");
}

#[test]
fn a_refresh_token_that_cannot_be_kept_is_told() {
    let oauth = "oauth = { token_url = \"URL/token\", client_id = \"desk\", refresh_token = \"DESK_TOKEN\" }";
    let program = "(try (lambda () (said (call \"echo\" 'text \"a\"))))";
    let (desk, _web) = guarded(&format!("{program}\n{program}"), oauth);
    // The folder cannot be made, because a file has its name.
    fs::create_dir_all(desk.path("account/duet")).unwrap();
    fs::write(desk.path("account/duet/oauth"), "").unwrap();
    let said = run(&desk, &[("DESK_TOKEN", "refresh-0")]);
    assert!(said.contains("the new one cannot be kept in"), "{said}");
    assert!(said.contains("you said a\n"), "{said}");
}

#[test]
fn an_access_token_that_its_server_repeats_is_masked() {
    let oauth = "oauth = { token_url = \"URL/token\", client_id = \"desk\", refresh_token = \"DESK_TOKEN\" }";
    let (desk, _web) = guarded("(show (said (call \"fail\")))", oauth);
    let said = run(&desk, &[("DESK_TOKEN", "refresh-0")]);
    assert!(said.starts_with("you sent Bearer {{secret:access token}}\n"), "{said}");
    let files = fs::read_dir(desk.path(".duet")).unwrap();
    let journal: Vec<u8> = files
        .filter_map(|file| fs::read(file.unwrap().path()).ok())
        .flatten()
        .collect();
    let has = |text: &str| journal.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(has("secret:access token") && !has("access-token-1") && !has("refresh-0"));
}

#[test]
fn a_server_that_wants_a_token_says_what_for() {
    let (desk, _web) = guarded("(try (lambda () (call \"echo\" 'text \"a\")))", "");
    let said = run(&desk, &[]);
    let expected = "denied\nthe MCP server `t` wants a token, or another one; `token` or `oauth` in its configuration \
                    gives it one (`duet servers --help`); it says: too old; its authorization server is named by \
                    http://127.0.0.1/.well-known/oauth-protected-resource; the scope is read\n";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn wrong_credentials_in_a_configuration_are_named() {
    let credentials = "client_id = \"a\", client_secret = \"A_SECRET\"";
    for (entries, problem) in [
        ("oauth = {}".to_owned(), "`oauth` needs `token_url` and `client_id`"),
        (
            format!("oauth = {{ token_url = \"http://example.org/token\", {credentials} }}"),
            "`oauth.token_url` begins with https://",
        ),
        (
            format!("oauth = {{ token_url = \"http://127.0.0.1.example.org/\", {credentials} }}"),
            "`oauth.token_url` begins with https://",
        ),
        (
            "oauth = { token_url = \"https://e.org\", client_id = \"a\" }".to_owned(),
            "`oauth` needs `client_secret`, `refresh_token` or both",
        ),
        (
            "oauth = { token_url = \"https://e.org\", client_id = \"a\", client_secret = \"PLAIN\" }".to_owned(),
            "is a secret by its name, such as SEARCH_TOKEN, and not `PLAIN`",
        ),
        (
            format!("oauth = {{ token_url = \"https://e.org\", {credentials}, password = \"x\" }}"),
            "`oauth.password` is none of token_url, client_id, client_secret, refresh_token, scope",
        ),
        (
            format!("token = \"T_TOKEN\"\noauth = {{ token_url = \"https://e.org\", {credentials} }}"),
            "a server has either `token` or `oauth`",
        ),
        ("token = \"PLAIN\"".to_owned(), "and not `PLAIN`"),
    ] {
        let desk = desk("", &format!("url = \"http://127.0.0.1:9/\"\n{entries}\n"));
        let said = run(&desk, &[("A_SECRET", "s"), ("T_TOKEN", "t")]);
        assert!(said.contains(problem), "{entries}: {said}");
    }
}
