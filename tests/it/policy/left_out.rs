//! Constraints on an argument that a call leaves out.
//!
//! INVARIANT: a policy judges the default of an argument that the call leaves out.
//! Read next: `../../../runtime/src/policy/place.rs`.

use super::{Desk, IMPORTS};

#[test]
fn a_path_that_is_left_out_is_judged_as_the_root() {
    let desk = Desk::new(&format!(
        "{IMPORTS}(define (try tool payload)
          (show (told (lambda () (call-tool 'r tool payload) 'let-through))))
        (define search (dictionary 'pattern \"x\"))
        (define rule (define-constraint \"list\" :tool 'workspace/list :when '(eq args.path \".\")))
        (define-constraint \"search\" :tool 'workspace/search :when '(in args.path #(\".\" \"secret\")))
        (try 'workspace/list (dictionary 'path \"docs/..\"))
        (try 'workspace/list (dictionary))
        (try 'workspace/search search)
        (define-constraint \"given\" :tool 'workspace/list :when '(missing args.path))
        (remove-constraint! rule)
        (try 'workspace/list (dictionary))
        (try 'workspace/list (dictionary 'path \".\"))"
    ));
    let denied = |key: &str| format!("(policy-denied block constraint_deny \"constraint.{key}\")\n");
    let expected = format!(
        "{}{}{}{}let-through\n",
        denied("list"),
        denied("list"),
        denied("search"),
        denied("given")
    );
    desk.check(&["run", "p.scm", "--workspace", "."], 0, &expected);
}
