//! Servers whose answers are not quite of the protocol: all are understood, or fail at once.
//!
//! INVARIANT: no call waits for its time limit.
//! The faults of servers that end or hang are in `../mcp.rs`. Read next: `net.rs`.

use std::fs;

use crate::mcp::IMPORTS;
use crate::support::desk::Desk;

/// Makes a desk with a program and the server.
fn desk(program: &str) -> Desk {
    desk_with("", program)
}

/// The same with an argument of the server.
fn desk_with(argument: &str, program: &str) -> Desk {
    let desk = Desk::new(&[("p.scm", &format!("{IMPORTS}{program}"))]);
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python/mcp_odd.py");
    fs::create_dir_all(desk.path("config/duet")).unwrap();
    fs::write(
        desk.path("config/duet/config.toml"),
        format!("[servers.t]\ncommand = [\"python3\", \"{server}\", \"{argument}\"]\n"),
    )
    .unwrap();
    desk
}

#[test]
fn answers_in_odd_forms_are_understood_or_fail_at_once() {
    let program = "(for-each
  (lambda (kind) (try (lambda () (said (call \"say\" 'kind kind)))))
  '(\"half\" \"both\" \"bare\" \"batch\" \"latin\" \"error\" \"nan\" \"nothing\"))";
    let desk = desk(program);
    let done = desk.duet("run p.scm --allow-server t");
    let expected = "a \u{fffd} b\nboth\nbare\nbatch\ncaf\u{fffd}\n\
                    failed\nthe MCP server `t` refuses: out of cheese (code -32603)\n\
                    bad-result\nthe answer of the MCP server `t` is not of the protocol: it is no JSON: ";
    assert!(done.output.starts_with(expected), "{done:?}");
    let end = "bad-result\nthe answer of the MCP server `t` is not of the protocol: it has neither a result nor an \
               error\n";
    assert!(done.output.ends_with(end), "{done:?}");
    assert_eq!(desk.duet("replay p --check").code, 0);
}

#[test]
fn answers_that_contradict_themselves_or_are_not_whole_are_no_results() {
    let program = "(for-each
  (lambda (kind) (try (lambda () (said (call \"say\" 'kind kind)))))
  '(\"twice\" \"perhaps\" \"part\"))";
    let done = desk(program).duet("run p.scm --allow-server t");
    let lines: Vec<&str> = done.output.lines().collect();
    let [kind, twice, other, perhaps, last, part] = lines[..] else {
        panic!("{done:?}")
    };
    assert_eq!((kind, other, last), ("bad-result", "bad-result", "bad-result"));
    assert!(twice.contains("it names a member twice"), "{twice}");
    assert!(perhaps.contains("the `isError` \"true\""), "{perhaps}");
    assert!(part.contains("a result of the type \"partial\""), "{part}");
}

#[test]
fn a_list_that_breaks_off_counts_as_far_as_it_came_and_what_is_not_checked_is_told() {
    let desk = desk_with("torn", "(try (lambda () (said (call \"say\" 'kind 7))))");
    let done = desk.duet("run p.scm --allow-server t");
    assert!(done.output.contains("7 is not of type"), "{done:?}");
    let told = "MCP server `t`: its list of tools breaks off: the MCP server `t` refuses: page two is broken (code \
                -32603); the arguments of tools that are missing in it are not checked";
    assert!(done.errors.contains(told), "{done:?}");
    assert!(!done.errors.contains("fail until it starts"), "{done:?}");

    let desk = desk_with("no-list", "(try (lambda () (said (call \"say\" 'kind \"both\"))))");
    let done = desk.duet("run p.scm --allow-server t");
    assert_eq!(done.output, "both\n", "{done:?}");
    let told = "answers with no list of its tools; the arguments of calls of `t/…` are not checked";
    assert!(done.errors.contains(told), "{done:?}");
}

#[test]
fn a_form_says_what_fits_and_asks_again_for_what_does_not() {
    let desk = desk("(import (duet mcp))\n(display (mcp-text (mcp-call 'p \"t/form\" (dictionary))))");
    let answers = [
        "12",
        "3",
        "ada",
        "ada@x.example",
        " ",
        "nothing",
        " ",
        "black",
        " ",
        "milk, salt",
        "milk, sugar",
        "glass",
        "sil",
    ];
    let answers: String = answers.iter().map(|answer| format!(" --answer \"{answer}\"")).collect();
    let said = desk.duet(&format!("run p.scm --allow-server t{answers}"));
    let filled = r#"{"cup": "small", "iced": false, "kind": "b", "mail": "ada@x.example", "note": "thanks", "size": 3,
 "spoon": "silver", "with": ["milk", "sugar"]}"#;
    let filled = filled.replace('\n', "");
    assert_eq!(said.output, filled, "{said:?}");
    let asked = "Tea. size (in cups; from 1; to 9)? 12
12 is more than 9. Tea. size (in cups; from 1; to 9)? 3
Tea. mail? ada
ada is not an address of e-mail. Tea. mail? ada@x.example
Tea. cup (one of these: large, small, nothing; empty: small)?\u{20}\u{20}
Tea. hot? [yes/no/nothing] nothing
Tea. iced (one of these: yes, no, nothing; empty: no)?\u{20}\u{20}
Tea. kind? [green/black/nothing] black
Tea. note (empty: thanks)?\u{20}\u{20}
Tea. with (some of these, with commas between them: milk, sugar)? milk, salt
milk, salt has salt, which is no choice. Tea. with (some of these, with commas between them: milk, sugar)? milk, sugar
Tea. spoon (one of these: tin, silver, nothing; empty: tin)? glass
glass is none of the choices. Tea. spoon (one of these: tin, silver, nothing; empty: tin)? sil
";
    assert_eq!(said.errors, asked);
}

#[test]
fn an_answer_that_does_not_keep_to_the_limits_of_a_form_is_asked_for_again() {
    let desk = desk("(import (duet mcp))\n(display (mcp-text (mcp-call 'p \"t/exacting\" (dictionary))))");
    let answers = [
        "1/2",
        "1e400",
        "+nan.0",
        "0.5",
        "tomorrow",
        "2026-02-30",
        "2026-02-28",
        "2026-02-28",
        "2026-02-28T10:00:00.25+01:00",
        "example.org",
        "https://example.org/a",
        "a",
        "a, b, c, a",
        "a, b",
        "Green, dark",
        "Green, Green, light, Black",
        "Black, Green, light",
    ];
    let answers: String = answers.iter().map(|answer| format!(" --answer \"{answer}\"")).collect();
    let said = desk.duet(&format!("run p.scm --allow-server t{answers}"));
    let filled = r#"{"at": "2026-02-28T10:00:00.25+01:00", "day": "2026-02-28", "part": 0.5, "site":
 "https://example.org/a", "teas": ["b", "gl"], "words": ["a", "b"]}"#;
    assert_eq!(said.output, filled.replace('\n', ""), "{said:?}");
    for complaint in [
        "1/2 is not a decimal number, such as 0.5. Tea. part (from 0.0)? ",
        "1e400 is not a number. ",
        "+nan.0 is not a number. ",
        "tomorrow is not a date, such as 2026-12-24. Tea. day? ",
        "2026-02-30 is not a date, such as 2026-12-24. ",
        "2026-02-28 is not a time, such as 2026-12-24T18:00:00Z. Tea. at? ",
        "example.org is not an address, such as https://example.org/. ",
        "a has fewer parts than 2. Tea. words (some of these, with commas between them: a, b, c; at least 2; \
         at most 3)? ",
        "a, b, c, a has more parts than 3. ",
        "Green, dark has dark, which is no choice. ",
        "Green, Green, light, Black has more parts than 2. Tea. teas (some of these, with commas between them: \
         Green; Green, light; Black; at most 2)? ",
    ] {
        assert!(said.errors.contains(complaint), "{complaint}: {}", said.errors);
    }
}

#[test]
fn an_agent_reads_embedded_texts_and_learns_of_what_it_cannot_see() {
    let program = "(import (duet agents))
(show (ask (make-agent 'helper :tools '(\"t/say\")) \"Look\"))";
    let desk = desk(program);
    let replies = "{\"model/chat\": [
        <returns {content: \"\", stop: \"tools\",
                  tool_calls: [{id: \"1\", name: \"t/say\", arguments: {kind: \"picture\"}}]}>
        <returns {content: \"I see.\"}>]}";
    fs::write(desk.path("d.pr"), replies).unwrap();
    desk.check("run p.scm --allow-server t --double d.pr", 0, "I see.\n");
    let shown: String = (1..8).map(|turn| desk.duet(&format!("show p@{turn}")).output).collect();
    assert!(shown.contains("(image image/png, not shown)"), "{shown}");
}

#[test]
fn an_answer_waits_until_a_process_that_ends_has_ended() {
    let desk = desk_with("linger", "(import (duet mcp))\n(mcp-call 'p \"t/form\" (dictionary))");
    desk.check("run p.scm --detach --allow-server t", 0, "p\n");
    while !desk.duet("waits p").output.contains("Tea. size") {}
    let said = desk.duet("answer p 3");
    assert!(!said.errors.contains("cannot be reached"), "{said:?}");
}

#[test]
fn a_server_that_answers_what_it_does_not_know_with_nothing_is_reached() {
    let program = "(try (lambda () (said (call \"say\" 'kind \"both\"))))";
    let desk = desk_with("empty", program);
    desk.check("run p.scm --allow-server t", 0, "both\n");
}

#[test]
fn a_cursor_that_comes_again_ends_the_list() {
    let desk = desk_with("circle", "(try (lambda () (said (call \"say\" 'kind \"both\"))))");
    let done = desk.duet("run p.scm --allow-server t");
    assert_eq!(done.output, "both\n", "{done:?}");
    let listed = desk.duet("servers t");
    let told = format!("{}{}", listed.output, listed.errors);
    assert!(told.contains("the same page of its list again"), "{listed:?}");
}

#[test]
fn a_tool_that_is_left_out_cannot_be_called() {
    let program = "(try (lambda () (call \"say/a word\" 'kind \"both\")))
(try (lambda () (said (call \"say\" 'kind \"both\"))))";
    let done = desk_with("blank", program).duet("run p.scm --allow-server t");
    let told = "it lists a tool with the name \"say/a word\", which cannot be called and is left out";
    assert!(done.errors.contains(told), "{done:?}");
    assert!(done.output.contains("\"say/a word\" cannot be called"), "{done:?}");
    assert!(done.output.ends_with("\nboth\n"), "{done:?}");
}

#[test]
fn a_server_of_another_revision_is_told_with_those_that_are_spoken() {
    let done = desk_with("later", "(try (lambda () (call \"say\" 'kind \"both\")))").duet("run p.scm --allow-server t");
    let told = "it speaks the revisions 2031-01-01, Duet those of 2026-07-28 and 2025-11-25\n";
    assert!(done.output.ends_with(told), "{done:?}");
}

#[test]
fn no_name_of_a_server_begins_a_line() {
    let listed = desk_with("lines", "").duet("servers t").output;
    for words in ["forged by a name", "forged by a description"] {
        assert!(listed.contains(words), "{listed}");
    }
    assert!(!listed.lines().any(|line| line.starts_with("error")), "{listed}");
}
