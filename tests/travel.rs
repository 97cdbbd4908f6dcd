//! Asking the past and changing it, by the real command.
//!
//! Owns what the commands of time travel print and how they end. INVARIANT: no test looks into a journal by another way than a command.
//! What they rest on is tested in the runtime, crashes in `crash.rs`.
//! Read next: `support/desk.rs`.

mod support {
    pub(crate) mod desk;
}

use serde_json::Value;
use support::desk::Desk;

/// A program that calls a tool, asks, writes, greets, and asks again.
const GREETER: &[(&str, &str)] = &[
    (
        "greeter/manifest.scm",
        r#"((program "greeter.scm") (workspace (argument 1)) (tools workspace/read workspace/write))"#,
    ),
    (
        "greeter/greeter.scm",
        r#"(define tag (invoke-tool! 'reader "workspace/read" (dictionary 'path "greeting.txt")))
(define found (await (tool-result :tag tag)))
(assert! (record 'found #t))
(define name (await (user-input :prompt "Your name?")))
(define kept (invoke-tool! 'writer "workspace/write" (dictionary 'path "out.txt" 'content name)))
(await (tool-result :tag kept))
(assert! (record 'greeted name))
(display "Hello, ")
(display name)
(newline)
(await (user-input :prompt "Enough?"))
"#,
    ),
    ("here/greeting.txt", "Hello"),
];

/// The greeter, answered on two branches.
fn parted() -> Desk {
    let desk = Desk::new(GREETER);
    desk.check("run greeter -- here", 4, "");
    desk.check("answer greeter Ada", 4, "Hello, Ada\n");
    desk.check("fork greeter@2 what-if", 0, "");
    desk.check("answer what-if Bob", 4, "Hello, Bob\n");
    desk
}

fn json(desk: &Desk, line: &str) -> Value {
    let said = desk.duet(&format!("{line} --json"));
    assert_eq!((said.code, said.errors.as_str()), (0, ""), "{line}");
    serde_json::from_str(&said.output).expect("JSON")
}

#[test]
fn a_diff_says_where_branches_part_and_what_each_has_alone() {
    let desk = parted();
    insta::assert_snapshot!("diff_of_branches", desk.duet("diff greeter/main what-if").output);
    desk.check(
        "diff greeter@2 greeter/what-if@2",
        0,
        "- greeter@2\n+ greeter/what-if@2\nthey share the turns up to 2\nno turn differs\n",
    );
    let diff = json(&desk, "diff greeter@2 greeter");
    assert_eq!((&diff["shared"], &diff["first"]), (&Value::from(2), &Value::Null));
    assert_eq!(diff["right"]["output"][0], "Hello, Ada");
    assert_eq!(diff["right"]["files"][0], "out.txt, 3 bytes");
    let said = desk.check("diff greeter@9 greeter", 1, "");
    assert!(said.errors.contains("greeter has no turn 9"), "{}", said.errors);
}

#[test]
fn facts_are_found_by_pattern_by_turn_and_by_cause() {
    let desk = parted();
    desk.check("facts greeter greeted", 0, "handle 2   main     <greeted \"Ada\">\n");
    desk.check("facts greeter@2 greeted", 0, "");
    desk.check("when found greeter", 0, "greeter@2 main     + <found #t>\n");
    desk.check("when <greeted what-if", 2, "");
    desk.check(
        "when \"<greeted _>\" what-if",
        0,
        "greeter/what-if@4 main     + <greeted \"Bob\">\n",
    );
    desk.check("when greeted greeter@3", 1, "");
    insta::assert_snapshot!("why_of_a_fact", desk.duet("why greeted greeter").output);
    let why = json(&desk, "why found greeter");
    assert_eq!(
        (&why["chain"][0]["turn"], &why["chain"][1]["cause"]["kind"]),
        (&Value::from(2), &Value::from("start"))
    );
    let shown = json(&desk, "show greeter@4");
    assert_eq!(shown["came"][0], "<greeted \"Ada\">");
    let went = json(&desk, "show greeter@3");
    assert!(
        went["went"][0]
            .as_str()
            .is_some_and(|fact| fact.starts_with("<user-input-request ")),
        "{went}"
    );
}

#[test]
fn the_log_is_filtered() {
    let desk = parted();
    let turns = |filter: &str| -> Vec<u64> {
        let rows = json(&desk, &format!("log greeter/main {filter}"));
        let rows = rows.as_array().expect("an array").iter();
        rows.map(|row| row["turn"].as_u64().expect("a number")).collect()
    };
    assert_eq!(turns("--label greeted"), [4]);
    assert_eq!(turns("--label write"), [4]);
    assert_eq!(turns("--pattern \"<found _>\""), [2]);
    assert_eq!(turns("--pattern \"<lost _>\""), Vec::<u64>::new());
    assert_eq!(turns("--since 2 --until 3"), [3, 2]);
    assert_eq!(turns("--since @-1"), [4, 3]);
    assert_eq!(turns("--actor main --limit 2"), [4, 3]);
    assert_eq!(turns("--actor 7"), Vec::<u64>::new());
    let said = desk.duet("log greeter/main --label greeted");
    assert_eq!(said.output.lines().count(), 1, "{}", said.output);
    desk.check("log --actor somebody", 2, "");
}
