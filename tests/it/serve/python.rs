//! The client of another implementation: `syndicate-py`.
//! INVARIANT: the client is used as its authors mean it.
//! Read next: `../serve.rs`.

use std::path::Path;
use std::process::Command;

use crate::serve::ROOM;
use crate::support::desk::Desk;
use crate::support::foreign;
use crate::support::peer::{Peer, Served, grant};

#[test]
fn a_client_in_python_publishes_observes_and_syncs() {
    let desk = Desk::new(&[("room.scm", ROOM)]);
    let test = "a_client_in_python_publishes_observes_and_syncs";
    let Some(python) = foreign::program(test, "python/bin/python") else {
        return;
    };
    let line = "serve room.scm --listen tcp:127.0.0.1:0 --listen ws:127.0.0.1:0 --listen room.sock";
    let mut served = Served::start(&desk, line);
    let mut port = |begin| {
        let said = served.said(begin);
        let port = said.split("127.0.0.1:").nth(1).and_then(|rest| rest.split(';').next());
        port.expect("a port").to_owned()
    };
    let tcp = format!("<tcp \"127.0.0.1\" {}>", port("clients come to tcp:"));
    let web = format!("<ws \"ws://127.0.0.1:{}/\">", port("clients come to ws:"));
    let unix = format!("<unix \"{}\">", desk.path("room.sock").display());
    let reference = grant(&desk, "room");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/syndicate_client.py");
    let mut watcher = Peer::at_path(&desk.path("room.sock"));
    watcher.resolve(&reference);
    watcher.send("[[1 <A <Observe <bind <group <rec present> {}>> #:[0 2]> 2>]]");
    watcher.sync();
    for address in [tcp, unix, web] {
        let done = Command::new(&python)
            .arg(&script)
            .args([&address, &reference])
            .output()
            .expect("python");
        let output = String::from_utf8_lossy(&done.stdout);
        let errors = String::from_utf8_lossy(&done.stderr);
        assert_eq!(
            output, "connected\njoined Python\nheard Python hello\nsynced\n",
            "{errors}"
        );
        assert!(watcher.next().expect("an event").contains("present \"Python\""));
        assert!(watcher.next().expect("an event").contains("<R "));
    }
    desk.replays("room");
    drop(served);
    chat(&python);
}

/// Two people in Python, the program and a command talk in the room of `examples/chat`.
fn chat(python: &Path) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/chat");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the example is there");
    let (room, manifest, talk) = (text("room.scm"), text("manifest.scm"), text("chat/talk.sld"));
    let desk = Desk::new(&[
        ("chat/room.scm", &room),
        ("chat/manifest.scm", &manifest),
        ("chat/chat/talk.sld", &talk),
    ]);
    let mut served = Served::spawn(desk.spawn("serve chat"));
    served.line("the room is open");
    let reference = grant(&desk, "chat");
    let address = format!("<unix \"{}\">", desk.path(".duet/journal.sqlite.sock").display());
    let person = |words: &[&str]| {
        let mut command = Command::new(python);
        command
            .arg(folder.join("person.py"))
            .args([&address, &reference])
            .args(words);
        let done = command.output().expect("python");
        (
            String::from_utf8_lossy(&done.stdout).into_owned(),
            String::from_utf8_lossy(&done.stderr).into_owned(),
        )
    };
    let prompt = "repl chat --session hopper";
    assert_eq!(desk.feed(prompt, "(join \"Hopper\")\n").errors, "");
    let (ada, errors) = person(&["Ada", "Hello!"]);
    assert_eq!(ada, "1 Ada: Hello!\n", "{errors}");
    let line = "message chat \"<says \\\"desk\\\" \\\"/count\\\">\"";
    assert_eq!(desk.duet(line).code, 0);
    // Who comes later sees what was said before.
    let (grace, errors) = person(&["Grace", "Good morning."]);
    let expected = [
        "1 Ada: Hello!",
        "2 desk: /count",
        "3 room: messages so far: 2",
        "4 Grace: Good morning.",
    ];
    let mut lines: Vec<&str> = grace.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, expected, "{errors}");
    // A person at a prompt hears the same.
    let heard = desk.feed(prompt, "(say \"Who was that?\")\n'here\n").output;
    assert!(expected.iter().all(|line| heard.contains(line)), "{heard}");
    desk.replays("chat");
}
