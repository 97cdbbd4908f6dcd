//! Arguments of which JSON cannot tell two members apart.
//!
//! INVARIANT: nobody is asked about a call whose arguments the tool would not receive as shown.
//! Read next: `../../../runtime/src/gate/payload.rs`.

use std::fs;

use super::{Desk, IMPORTS};

#[test]
fn nobody_is_asked_about_a_call_with_two_members_of_one_name() {
    let desk = Desk::new(&format!(
        "{IMPORTS}(define-constraint \"ask\" :tool 'pay/send :on-fail 'ask)
        (define (try payload) (show (told (lambda () (call-tool 'w 'pay/send payload)))))
        (try (dictionary 'a 1 \"a\" 2))
        (try (dictionary 'to (list (dictionary \"a\" 1 'a 2))))
        (try (dictionary 'a 1 \"b\" 2))"
    ));
    fs::write(desk.0.path().join("d.pr"), "{\"pay/send\": [<returns \"sent\">]}").unwrap();
    let refused = "(policy-denied block malformed_value #f)\n";
    desk.check(
        &["run", "p.scm", "--double", "d.pr", "--approve", "pay/send"],
        0,
        &format!("{refused}{refused}\"sent\"\n"),
    );
    let log = desk.duet(&["log", "p", "--refused", "--json"]).output;
    assert!(log.contains("has two keys with the name `a`"), "{log}");
}
