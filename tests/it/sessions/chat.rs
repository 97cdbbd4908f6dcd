//! `examples/chat` between two prompts, the program and a command. With a client in Python it is
//! tested in `../serve/python.rs`.
//!
//! INVARIANT: the room is the example as it is.
//! Read next: `../../examples/chat/room.scm`.

use crate::support::desk::Desk;
use crate::support::peer::Served;

/// A copy of the example.
pub(crate) fn room() -> Desk {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/chat");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the example is there");
    let names = ["room.scm", "manifest.scm", "chat/talk.sld"];
    let texts = names.map(|name| (format!("chat/{name}"), text(name)));
    let files: Vec<(&str, &str)> = texts
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    Desk::new(&files)
}

#[test]
fn two_people_at_prompts_talk_with_each_other_and_with_the_program() {
    let desk = room();
    let mut served = Served::spawn(desk.spawn("serve chat"));
    served.line("the room is open");
    let typed = |session: &str, texts: &str| {
        let said = desk.feed(&format!("repl chat --session {session}"), texts);
        (said.output, said.errors)
    };
    let (_, errors) = typed("ada", "(join \"Ada\")\n(say \"Hello!\")\n");
    assert_eq!(errors, "");
    assert_eq!(desk.duet("message chat \"<says \\\"desk\\\" \\\"/count\\\">\"").code, 0);
    // Who comes later sees what was said before.
    let (output, errors) = typed("grace", "(join \"Grace\")\n'here\n(say \"Good morning.\")\n");
    let before = "1 Ada: Hello!\n2 desk: /count\n3 room: messages so far: 2\n";
    assert!(output.contains(before) && output.contains("here\n"), "{output}{errors}");
    // Who comes back sees what was said meanwhile.
    let (output, errors) = typed("ada", "'back\n");
    assert!(output.contains("4 Grace: Good morning.\n"), "{output}{errors}");
    // Nobody says anything in another's name by asserting it, or reads what is not theirs.
    for (text, reason) in [
        ("(say \"nobody\")\n", "say who you are first"),
        ("(assert! 'forged)\n", "assert! is not defined"),
    ] {
        let (_, errors) = typed("mallory", text);
        assert!(errors.contains(reason), "{errors}");
    }
    drop(served);
    desk.replays("chat");
}
