//! Prompts that others join: one that reads a pipe, and one whose person goes back.
//!
//! INVARIANT: the run of a prompt goes on for its guests while it waits for its next text.
//! Read next: `../repl_pty.rs`.

use std::io::{BufRead, BufReader, Write};

use crate::support::desk::Desk;

/// Waits until the run of a prompt takes guests, and feeds one.
#[track_caller]
fn guest(desk: &Desk, texts: &str) -> (String, String) {
    let said = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let said = desk.feed("repl room --session ada", texts);
        (said.code != 2).then_some(said)
    });
    let said = said.expect("it takes guests");
    (said.output, said.errors)
}

#[test]
fn a_prompt_that_reads_a_pipe_can_be_joined() {
    let desk = Desk::new(&[]);
    let mut owner = desk.spawn("repl --name room");
    let mut texts = owner.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(owner.stdout.take().expect("a pipe")).lines();
    let mut line = || lines.next().expect("a line").expect("text");
    texts
        .write_all(b"(assert! (record 'price 3))\n'ready\n")
        .expect("it reads");
    line();
    assert_eq!(line(), "ready");
    let (output, errors) = guest(&desk, "(record-field (await (record 'price :field 0 :equals 3)) 0)\n");
    assert_eq!(output, "3\n", "{errors}");
    // The program reads the lines that follow, as before.
    texts
        .write_all(b"(string-append (read-line) \"!\")\nhello\n")
        .expect("it reads");
    assert_eq!(line(), "\"hello!\"");
    let (output, errors) = guest(&desk, "(begin (message! (record 'over)) 'told)\n");
    assert_eq!(output, "told\n", "{errors}");
    drop(texts);
    assert_eq!(owner.wait().expect("it ends").code(), Some(0));
    desk.replays("room");
}

#[test]
fn the_way_back_of_a_prompt_passes_over_the_text_that_lets_guests_in() {
    let desk = Desk::new(&[]);
    let mut owner = desk.spawn("repl --name room");
    let mut texts = owner.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(owner.stdout.take().expect("a pipe")).lines();
    let mut line = || lines.next().expect("a line").expect("text");
    texts
        .write_all(b"(define price 1)\n(define price 2)\n'ready\n")
        .expect("it reads");
    assert_eq!(line(), "ready");
    let (output, errors) = guest(&desk, "(define mine 1)\nmine\n");
    assert_eq!(output, "1\n", "{errors}");
    // Two texts back: 'ready, and the second definition.
    texts.write_all(b",back 2\nprice\n").expect("it reads");
    assert_eq!(line(), "1");
    let (output, errors) = guest(&desk, "'anew\nmine\n");
    assert!(
        output == "anew\n" && errors.contains("mine is not defined"),
        "{output}{errors}"
    );
    drop(texts);
    let said = owner.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&said.stderr);
    assert!(errors.contains("this moves others in the run, too: ada"), "{errors}");
    let script = desk.duet("repl room --script").output;
    assert_eq!(script, "(define price 1)\nprice\n");
    desk.replays("room");
}

#[test]
fn a_branch_goes_on_when_the_owner_of_its_run_goes_back() {
    let desk = Desk::new(&[]);
    let mut owner = desk.spawn("repl --name room");
    let mut texts = owner.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(owner.stdout.take().expect("a pipe")).lines();
    let mut line = || lines.next().expect("a line").expect("text");
    texts.write_all(b"(define price 1)\n'ready\n").expect("it reads");
    assert_eq!(line(), "ready");
    let (output, errors) = guest(&desk, "(define mine 1)\n,fork away\n(define mine 2)\nmine\n");
    assert_eq!(output, "2\n", "{errors}");
    texts.write_all(b",back\n'back\n").expect("it reads");
    assert_eq!(line(), "back");
    // The branch opens itself again, and until then nobody executes it.
    let said = (0..100).find_map(|_| {
        let said = desk.feed("repl room/away --session ada", "mine\n(define mine 3)\nmine\n");
        std::thread::sleep(std::time::Duration::from_millis(50));
        (said.code == 0).then_some(said)
    });
    assert_eq!(said.map(|said| said.output).as_deref(), Some("2\n3\n"));
    drop(texts);
    assert_eq!(owner.wait().expect("it ends").code(), Some(0));
    desk.replays("room/away");
}
