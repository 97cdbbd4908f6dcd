//! Any text as a program: it is expanded, compiled, verified and loaded, or refused with messages
//! that point into it.

use super::session;

/// Compiles the bytes as a text.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    session::with(|session| match session.compile(&text) {
        Ok(units) => assert!(!units.is_empty(), "a text is a unit"),
        Err(messages) => {
            assert!(!messages.is_empty(), "what is refused has a reason");
            let is_said = |message: &String| !message.trim().is_empty();
            assert!(messages.iter().all(is_said), "a message says something: {messages:?}");
        }
    });
}
