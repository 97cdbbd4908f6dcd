//! Ten questions that somebody has about a run of some 1,800 turns. The answers stand here in
//! words; each is found by one command, on one screen.
//!
//! INVARIANT: no answer has more than [`LINES_MAX`] lines; a terminal fits them to its width.
//! Read next: `support/desk.rs`, `docs/src/what-happened.md`.
#![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

use crate::support::desk::Desk;

/// The lines of a screen.
const LINES_MAX: usize = 40;

/// A shop's night. Thirty orders are checked by jobs side by side, of which that of order 29 fails.
/// An agent decides about it. A clerk counts 900 messages. A file is written twice. At the end a
/// person is asked.
const NIGHT: &str = r#"(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents))

(define-tool (look (item string)) "Returns how many of an item are in stock."
  (string-length item))
(define-agent judge (instructions "Say keep or refund.") (tools look) (model "m"))

(define (clerk config)
  (define counted 0)
  (define progress (assert! (record 'progress 0)))
  (on-message (counted $order)
    (set! counted (+ counted 1))
    (when (= 0 (modulo counted 100))
      (set! progress (update! progress (record 'progress counted))))))
(register-entity! 'clerk clerk)
(spawn-entity! 'clerk)

(define (shell text)
  (call-tool 'sh 'process/run (dictionary 'arguments (list "sh" "-c" text))))
(define (check order)
  (let ((result (shell (if (= order 29) "echo no price >&2; exit 3" "echo ok"))))
    (assert! (record 'checked order (dictionary-ref result 'exit)))
    (dictionary-ref result 'exit)))
(define (write-file text)
  (call-tool 'files 'workspace/write (dictionary 'path "night.txt" 'content text)))

(define exits (par-map check (iota 30 1) :limit 4))
(write-file "open\n")
(define verdict (ask judge "Order 29 has no price. Keep or refund?"))
(do ((order 1 (+ order 1))) ((> order 900)) (message! (record 'counted order)) (yield))
(write-file (string-append "odd " (number->string (apply + exits)) "\n"))
(display verdict) (newline)
(define answer (await (user-input :prompt "Send the refund?")))
(display (if (equal? answer "yes") "sent" "kept")) (newline)
"#;

const DOUBLE: &str = r#"{"model/chat": [
  <returns {content: "", stop: "tools", tool_calls: [{id: "a", name: "look", arguments: {item: "lamp"}}],
            usage: {input_tokens: 1204, output_tokens: 88, usd: 0.001}}>
  <returns {content: "refund", stop: "end", usage: {input_tokens: 1300, output_tokens: 9, usd: 0.002}}>]}"#;

/// Requires that a command answers with these texts, in this order, on one screen.
#[track_caller]
fn check(desk: &Desk, command: &str, answers: &[&str]) {
    let said = desk.duet(command);
    assert_eq!(said.code, 0, "{command}: {said:?}");
    let shown = format!("{}{}", said.output, said.errors);
    let lines = shown.lines().count();
    assert!(lines <= LINES_MAX, "{command}: {lines} lines\n{shown}");
    let mut rest = shown.as_str();
    for answer in answers {
        let at = rest
            .find(answer)
            .unwrap_or_else(|| panic!("{command} lacks {answer:?} in its place: {shown}"));
        rest = &rest[at + answer.len()..];
    }
}

/// The number of the turn in the first line of a log.
fn turn(desk: &Desk, command: &str) -> u64 {
    let log = desk.duet(command).output;
    let number = log.split_whitespace().find_map(|word| word.parse().ok());
    number.unwrap_or_else(|| panic!("{command}: {log}"))
}

#[test]
fn each_of_ten_questions_is_answered_by_one_command_on_one_screen() {
    let desk = Desk::new(&[("night.scm", NIGHT), ("night.pr", DOUBLE)]);
    let run = "run night.scm --double night.pr --grant process/run --grant workspace/write --workspace .";
    assert_eq!(desk.duet(run).code, 4);

    // Which call failed first, and why? The check of order 29: it has no price.
    check(
        &desk,
        "log night --failed",
        &["main/par-map 29 ", "echo no price", "→ exit 3"],
    );
    // What did the model see when it was asked the second time? The tool's answer, 4.
    let second = turn(&desk, "log night --grep \"wants look\"") + 1;
    check(
        &desk,
        &format!("transcript night@{second} judge"),
        &[
            "Say keep or refund.",
            "Order 29 has no price",
            "wants look {item: \"lamp\"}",
            "4",
        ],
    );
    // How long did each command take?
    check(
        &desk,
        "log night --tool process/run --times --limit 35",
        &["par-map", "→ exit 0 (", " ms)"],
    );
    // When did the clerk's count change? Every 200 turns.
    check(
        &desk,
        "when \"<progress _>\" night --all",
        &[
            "night@2 clerk 1",
            "+ <progress 0>",
            "clerk 1",
            "+ <progress 100>",
            "+ <progress 900>",
        ],
    );
    // What did it cost?
    check(
        &desk,
        "cost night",
        &["judge, model m: 2 replies, 2504 + 97 tokens, $0.003"],
    );
    // Which turns touched the file? The three of each call.
    check(
        &desk,
        "log night --grep night.txt",
        &[
            "→ {changed: #t",
            "about to change night.txt",
            "call workspace/write night.txt",
            "→ {changed: #t",
            "about to change night.txt",
            "call workspace/write night.txt",
        ],
    );
    // Who waits for whom? The main program for a person.
    check(&desk, "waits night", &["main", "question \"Send the refund?\""]);
    // Only the clerk, please.
    check(
        &desk,
        "log night --actor clerk --limit 5",
        &["clerk 1  heard 900 ⇒ assert <progress 900>", "clerk 1  heard 899"],
    );
    answer(&desk);
}

/// Answers the person's question, and asks about the answer.
#[track_caller]
fn answer(desk: &Desk) {
    // What would the other answer do?
    desk.check("answer night no", 0, "kept\n");
    let last = turn(desk, "log night --limit 1");
    check(desk, &format!("amend night@{last} yes --branch sent"), &["sent\n"]);
    // What differs between the branches? The answer, and what it led to.
    check(
        desk,
        "diff night/main night/sent",
        &[
            "ask \"Send the refund?\"",
            "- \"no\"",
            "+ \"yes\"",
            "output",
            "- kept",
            "+ sent",
        ],
    );
}
