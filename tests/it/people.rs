//! What a person sees of a program and says to it: text without control characters, approvals,
//! answers.
//!
//! INVARIANT: each test runs the command as a person does, and looks at both streams.
//! It does not judge what policy asks about; `policy.rs` does.
//! Read next: `drivers/src/text.rs`.

use crate::support::desk::Desk;

/// A program that tries to draw on the terminal by every text that it hands out.
const PAINTER: &str = r#"
(define-library (painter)
  (export paint evil name)
  (import (scheme base) (duet base) (duet dataspace))
  (begin
    (define evil "\x1b;[2J\x9b;31m\x202e;\x2067;\x7f;\r\n0  forged\x7;")
    (define name (string->symbol evil))
    (define (paint config) (on-message (go) (error evil evil name)))))
(import (scheme base) (duet base) (duet dataspace) (duet policy) (painter))
(log! evil)
(progress! evil 1 3)
(assert! (record 'text evil))
(assert! (record name name (list evil)))
(define-constraint "ask" :tool 'workspace/delete :on-fail 'ask :when '(exists args) :reason evil)
(register-entity! name paint)
(spawn-entity! name)
(pulse! (record 'go))
(spawn (lambda () (await (list 'signal name))))
(spawn (lambda () (call-tool name 'workspace/delete (dictionary 'path evil))))
(await (user-input :prompt (record evil (list evil name)) :tag evil))
(raise (list name evil))
"#;

/// Whether a terminal would act on a character.
fn is_hidden(letter: char) -> bool {
    let is_mark =
        matches!(letter, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_mark || (letter.is_control() && letter != '\n')
}

#[test]
fn no_command_shows_a_control_character_of_a_program() {
    let desk = Desk::new(&[("painter.scm", PAINTER)]);
    let mut shown = String::new();
    for (line, code) in [
        ("run --workspace . painter.scm", 4),
        ("log", 0),
        ("log --json", 0),
        ("show painter@1", 0),
        ("show painter@1 --json", 0),
        ("show painter@2", 0),
        ("show painter@3", 0),
        ("show painter@4", 0),
        ("facts", 0),
        ("facts --json", 0),
        ("waits", 0),
        ("waits --json", 0),
        ("why \"<text _>\" painter@4", 0),
        ("when \"<text _>\" painter@4", 0),
        ("eval painter evil", 0),
        ("eval painter \"(display evil)\"", 0),
        ("eval painter \"(error evil)\"", 1),
        ("answer painter nothing-like-it", 1),
        ("resume --answer zero --answer 0 painter", 1),
        ("show painter@5", 0),
        ("diff painter@1 painter", 0),
        ("stats", 0),
        ("runs", 0),
        ("replay --check painter", 0),
        ("goto painter@1", 0),
    ] {
        let said = desk.duet(line);
        assert_eq!(said.code, code, "duet {line}: {}{}", said.output, said.errors);
        // What a program logs or displays has the lines that it has.
        let is_verbatim = ["run", "resume", "eval"]
            .iter()
            .any(|command| line.starts_with(command));
        for text in [&said.output, &said.errors] {
            assert!(!text.contains(is_hidden), "duet {line}: {text:?}");
            assert!(!text.contains("\n0  forged") || is_verbatim, "{line}: {text}");
        }
        shown.push_str(&said.output);
    }
    assert!(shown.contains("\\x1b;[2J\\x9b;31m\\x202e;\\x2067;\\x7f;"), "{shown}");
}

#[test]
fn the_console_output_of_a_program_in_the_foreground_passes_as_it_is() {
    let desk = Desk::new(&[("colours.scm", "(display \"\\x1b;[31mred\\x1b;[0m\\x7;\")")]);
    desk.check("run colours.scm", 0, "\u{1b}[31mred\u{1b}[0m\u{7}");
}

#[test]
fn the_text_of_a_program_with_errors_cannot_draw() {
    for text in [
        "(display \"\u{1b}[2J\u{9b}m\u{202e}\" unbound \u{1b})",
        "(car \"\u{1b}[2J\u{9b}m\u{202e}\u{7f}\" 2)",
        "\"\u{1b}[2J",
    ] {
        let desk = Desk::new(&[("wrong.scm", text)]);
        let said = desk.duet("run wrong.scm");
        assert_eq!(said.code, 1, "{}", said.errors);
        assert!(!said.errors.contains(is_hidden), "{:?}", said.errors);
    }
}

/// A program that asks twice: first whether it may write, then for a name.
const ASKER: &str = r#"
(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet policy))
(define-constraint "careful" :tool 'workspace/write :on-fail 'ask :reason "look\nerror: forged\x1b;[2J")
(define content (string-append (make-string 3000 #\a) "rm -rf /" (make-string 3000 #\z)))
(define (write-plan) (call-tool 'w 'workspace/write (dictionary 'content content 'path "notes/plan.txt")))
(spawn (lambda () (write-plan) (assert! (record 'written))))
(sleep 20)
(display (await (user-input :prompt "Your name?")))
(newline)
(with-timeout 1000 (record 'written))
(display (call-tool 'w 'workspace/exists (dictionary 'path "notes/plan.txt")))
"#;

fn asker() -> Desk {
    Desk::new(&[("asker.scm", ASKER)])
}

#[test]
fn an_answer_that_was_given_ahead_approves_nothing_however_it_comes() {
    let desk = asker();
    let said = desk.check("run --workspace . --answer yes --answer yes asker.scm", 4, "yes\n#f");
    assert!(
        !said
            .errors
            .contains("Allow workspace/write \"path\":\"notes/plan.txt\"? yes"),
        "{}",
        said.errors
    );
    assert!(!desk.path("notes/plan.txt").exists());
    let desk = asker();
    desk.check("run --workspace . asker.scm", 4, "");
    let said = desk.duet("answer asker yes");
    assert_eq!((said.code, said.output.as_str()), (4, "yes\n#f"), "{}", said.errors);
}

#[test]
fn an_approval_that_was_given_ahead_answers_no_question_and_approves_only_what_it_names() {
    let desk = asker();
    desk.check("run --workspace . --approve process/* asker.scm", 4, "");
    let desk = asker();
    desk.check(
        "run --workspace . --approve workspace/* --answer Ada asker.scm",
        0,
        "Ada\n#t",
    );
    let records: String = (1..12)
        .map(|turn| desk.duet(&format!("show asker@{turn}")).output)
        .collect();
    assert!(
        records.contains("<prepared ") && records.contains("\"--approve workspace/*\""),
        "{records}"
    );
    assert!(records.contains("\"--answer\""), "{records}");
    desk.check("replay --check asker", 0, &desk.duet("replay --check asker").output);
}

#[test]
fn no_line_of_a_log_begins_as_messages_of_duet_do() {
    let program =
        r#"(import (duet base) (duet dataspace)) (log! "l waits for approval: one\nl waits for approval: two")"#;
    let desk = Desk::new(&[("l.scm", program)]);
    let said = desk.check("run l.scm", 0, "");
    assert!(
        said.errors
            .starts_with("log: l waits for approval: one\n  l waits for approval: two\n"),
        "{}",
        said.errors
    );
}

#[test]
fn no_line_of_a_question_or_a_failure_begins_as_messages_of_duet_do() {
    let forged = "forged waits for approval: Allow workspace/read? [yes/no]";
    let asking = format!("(import (duet base) (duet dataspace)) (await (user-input :prompt \"Name?\\n{forged}\"))");
    let failing = format!("(import (duet base)) (error \"bad\\n{forged}\" 1)");
    let entities = format!(
        "(import (duet base) (duet dataspace) (duet internal control))
         (register-entity! 'e (lambda (config) (on-message (go) (raise (%make-condition '|a\n{forged}| \"no\" '())))))
         (spawn-entity! 'e) (pulse! (record 'go)) (await (signal 'never))"
    );
    let desk = Desk::new(&[("q.scm", &asking), ("f.scm", &failing), ("e.scm", &entities)]);
    let mut shown = String::new();
    for line in [
        "run q.scm",
        "run q.scm --name given --answer Ada",
        "run f.scm",
        "run e.scm",
        "waits q",
        "log q",
        "runs",
        "explain q",
        "explain f",
        "explain e",
        "log f",
        "show f",
    ] {
        let said = desk.duet(line);
        shown.push_str(&format!("{}{}", said.output, said.errors));
    }
    assert!(shown.contains("forged waits"), "{shown}");
    let at_the_margin: Vec<&str> = shown.lines().filter(|line| line.starts_with("forged")).collect();
    assert_eq!(at_the_margin, [""; 0], "{shown}");
    assert!(
        shown.contains("q waits for an answer: Name?\n  forged waits"),
        "{shown}"
    );
    assert!(shown.contains("first failure: main failed in turn"), "{shown}");
}

#[test]
fn what_asks_for_approval_has_to_be_named_and_shows_what_decides_first() {
    let desk = asker();
    let said = desk.duet("run --workspace . asker.scm");
    let question = "Allow workspace/write {\"path\":\"notes/plan.txt\",\"content\":\"aaaa";
    for text in [
        &said.errors,
        &desk.duet("waits").output,
        &desk.duet("log --json").output.replace('\\', ""),
    ] {
        assert!(text.contains(question), "{text}");
    }
    assert!(said.errors.contains(" (6008 bytes, BLAKE3 "), "{}", said.errors);
    assert!(said.errors.contains(" [NOT SHOWN: 5"), "{}", said.errors);
    assert!(
        said.errors.contains("`duet waits asker --full` shows all of it"),
        "{}",
        said.errors
    );
    assert!(said.errors.contains("look\\nerror: forged\\x1b;[2J"), "{}", said.errors);
    assert!(!said.errors.contains("\nerror"), "{}", said.errors);
    assert!(!desk.duet("waits").output.contains("rm -rf"));
    assert!(desk.duet("waits --full").output.contains("rm -rf"));
    let waits = desk.duet("waits").output;
    let line = waits
        .lines()
        .find(|line| line.contains(" approval: "))
        .expect("an approval");
    let number = line.split_whitespace().nth(1).expect("a number");
    let said = desk.check(&format!("answer asker {number} no"), 1, "");
    assert!(said.errors.contains("it was rejected"), "{}", said.errors);
    assert!(!desk.path("notes/plan.txt").exists());
    let desk = Desk::new(&[(
        "only.scm",
        "(import (duet base) (duet dataspace) (duet policy))
         (define-constraint \"c\" :tool 'workspace/delete :on-fail 'ask)
         (call-tool 'w 'workspace/delete (dictionary 'path \"x\"))",
    )]);
    let said = desk.check("run --workspace . only.scm", 4, "");
    assert!(!said.errors.contains("--full"), "it is whole: {}", said.errors);
    let said = desk.check("answer only yes", 1, "");
    assert!(
        said.errors.contains("has to be named") && said.errors.contains("`duet answer only 1 yes` approves"),
        "{}",
        said.errors
    );
}

#[test]
fn the_journal_is_out_of_a_programs_reach() {
    let try_all = "(import (scheme base) (scheme write) (duet base) (duet dataspace))
        (define (try tool . fields)
          (guard (e (#t (write (condition-kind e)) (newline)))
            (write (call-tool 'w tool (apply dictionary fields)))
            (newline)))
        (try 'workspace/read 'path \"JOURNAL\")
        (try 'workspace/write 'path \"JOURNAL\" 'content \"x\")
        (try 'workspace/write 'path \"JOURNAL-wal\" 'content \"x\")
        (try 'workspace/delete 'path \"JOURNAL\")
        (try 'workspace/stat 'path \"JOURNAL\")
        (try 'workspace/exists 'path \"JOURNAL\")
        (try 'workspace/list 'all #t 'recursive #t)";
    let denied = "denied\n".repeat(6);
    for (journal, option) in [(".duet/journal.sqlite", ""), ("kept.sqlite", "--journal kept.sqlite")] {
        let desk = Desk::new(&[("try.scm", &try_all.replace("JOURNAL", journal))]);
        let said = desk.duet(&format!("run --workspace . {option} try.scm"));
        let listed = said.output.strip_prefix(denied.as_str());
        assert!(
            listed.is_some_and(|listed| listed.contains("try.scm") && !listed.contains("sqlite")),
            "{}{}",
            said.output,
            said.errors
        );
        assert_eq!(said.code, 0);
        assert_eq!(desk.duet(&format!("fsck {option}")).code, 0);
    }
}

/// A program that wants answers of a shape.
const SHAPES: &str = r#"
(import (scheme base) (scheme write) (duet base) (duet dataspace) (duet agents))
(define seats (ask-person "How many seats?" '(integer :min 1 :max 8) :tag "seats"))
(define meal (ask-person "Which meal?" '(one-of soup fish)))
(define sure (ask-person "Sure?" 'boolean))
(define names (ask-person "For whom?" '(list string :min 1)))
(define code (ask-person "Code?" '(string :pattern "^[A-Z]+$" :max 4)))
(write (list seats meal sure names code))
(newline)
(write
  (guard (refused ((eq? (condition-kind refused) 'invalid-answer) (condition-irritants refused)))
    (ask-person "Once?" '(object (name string) (age integer :optional)) :attempts 2)))
(newline)
(register-entity! 'person person-entity)
(spawn-entity! 'person :config '(editor (number :min 0)))
(write (request 'editor "How long?"))
"#;

#[test]
fn an_answer_that_has_not_the_shape_is_refused_with_the_reason_and_asked_for_again() {
    let desk = Desk::new(&[("table.scm", SHAPES)]);
    let mut line = "run table.scm";
    let mut number = 0;
    for (asked, answer) in [
        ("How many seats? (a whole number from 1 to 8)", "many"),
        (
            "`many` does not fit: expected integer, found string. How many seats? (a whole number from 1 to 8)",
            "9",
        ),
        (
            "`9` does not fit: expected at most 8, found 9. How many seats? (a whole number from 1 to 8)",
            "4",
        ),
        ("Which meal? [soup/fish]", "fi"),
        ("Sure? [yes/no]", "yes"),
        ("For whom? (JSON of the shape (list string :min 1))", "[\"Ada\", 7]"),
        ("`[\"Ada\", 7]` does not fit: /1: expected string, found ", "[\"Ada"),
        ("`[\"Ada` does not fit: ", "[\"Ada\"]"),
        ("Code? (a text up to 4 characters like ^[A-Z]+$)", "ab"),
        ("`ab` does not fit: ", "AB"),
        (
            "Once? (JSON of the shape (object (name string) (age integer :optional)))",
            "{}",
        ),
        ("`{}` does not fit: ", "Ada"),
        ("How long? (a number from 0 on)", "2.5"),
    ] {
        let said = if number == 0 {
            desk.duet(line)
        } else {
            desk.with("answer table", line)
        };
        assert_eq!(said.code, 4, "{line}: {}{}", said.output, said.errors);
        assert!(said.errors.contains(asked), "{asked}: {}", said.errors);
        (line, number) = (answer, number + 1);
    }
    let said = desk.with("answer table", line);
    assert_eq!(said.code, 0, "{}", said.errors);
    assert!(said.output.ends_with("2.5"), "{}", said.output);
    desk.check("replay table", 0, "identical: 19 turns\n");
    // An answer beside the choices is refused at once.
    let desk = Desk::new(&[(
        "meal.scm",
        "(import (scheme base) (duet agents)) (ask-person \"Which?\" '(one-of soup fish))",
    )]);
    assert_eq!(desk.duet("run meal.scm").code, 4);
    let said = desk.duet("answer meal meat");
    assert!(
        said.errors.contains("`meat` is not one of: soup, fish"),
        "{}",
        said.errors
    );
}
