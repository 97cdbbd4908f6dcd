//! Every host procedure, with a use of it by an actor without rights.
//!
//! INVARIANT: a row says which capability the use lacks, or why it harms nobody.
//! It runs nothing; `../rights.rs` does. Read next: `../rights.rs`.

/// The outcome of an attempt of an actor without rights: the capability that it lacks, or else why
/// nobody is harmed.
pub(super) enum Outcome {
    Lacks(&'static str),
    Harmless(&'static str),
}

pub(super) use Outcome::{Harmless, Lacks};

const NEEDS_OWN: &str = "it takes a reference to something of the actor's own, and the actor has none";
const INSIDE: &str = "it changes only the actor itself";
const PLAIN: &str = "it computes";

/// Every host procedure, with a use of it; `cap` is a capability for a facet of `someone`, in whose
/// facet `room` others are listening.
pub(super) const PRIMITIVES: &[(&str, &str, Outcome)] = &[
    ("assert!", "(assert! (record 'job 1))", Lacks("dataspace/assert")),
    ("retract!", "(retract! 1)", Harmless(NEEDS_OWN)),
    ("update!", "(update! 1 2)", Harmless(NEEDS_OWN)),
    ("message!", "(message! (record 'job 1))", Lacks("dataspace/message")),
    (
        "send!",
        "(send! someone room (record 'job 1))",
        Lacks("dataspace/message"),
    ),
    (
        "watch",
        "(watch (pattern (secret $it)) list)",
        Lacks("dataspace/observe"),
    ),
    ("unwatch", "(unwatch 1)", Harmless(NEEDS_OWN)),
    ("%await", "(%await (record 'secret) #f)", Lacks("dataspace/observe")),
    ("yield", "(yield)", Harmless(INSIDE)),
    ("spawn", "(spawn list)", Harmless(INSIDE)),
    ("spawn-facet!", "(spawn-facet!)", Harmless(INSIDE)),
    ("stop-facet!", "(stop-facet! (spawn-facet!))", Harmless(INSIDE)),
    ("on-stop", "(on-stop list)", Harmless(INSIDE)),
    ("current-facet", "(current-facet)", Harmless(PLAIN)),
    ("current-actor", "(current-actor)", Harmless(PLAIN)),
    ("%exit", "#f", Harmless("it ends only the actor itself")),
    (
        "tool-capability",
        "(tool-capability 'workspace/read)",
        Lacks("workspace/read"),
    ),
    (
        "dataspace-capability",
        "(dataspace-capability)",
        Lacks("dataspace/assert"),
    ),
    (
        "facet-capability",
        "(facet-capability someone room)",
        Lacks("dataspace/message"),
    ),
    (
        "attenuate",
        "(attenuate cap)",
        Harmless("it gives what another capability gives, or less"),
    ),
    (
        "revoke!",
        "(revoke! cap)",
        Harmless("only the maker of a capability revokes it"),
    ),
    ("capability?", "(capability? cap)", Harmless(PLAIN)),
    ("sturdyref", "(sturdyref 'name (bytevector 1))", Harmless(PLAIN)),
    (
        "attenuate-sturdyref",
        "(attenuate-sturdyref (sturdyref 'name (bytevector 1)))",
        Harmless(PLAIN),
    ),
    (
        "resolve-sturdyref",
        "(resolve-sturdyref (sturdyref 'name (bytevector 1)) (bytevector 1) cap)",
        Harmless("it gives what another capability gives, or less"),
    ),
    (
        "sturdyref-name",
        "(sturdyref-name (sturdyref 'name (bytevector 1)))",
        Harmless(PLAIN),
    ),
    ("register-entity!", "(register-entity! 'other poor)", Harmless(INSIDE)),
    ("spawn-entity!", "(spawn-entity! 'poor ':grants '())", Lacks("spawn")),
    ("%attach-entity", "(%attach-entity 'poor)", Lacks("spawn")),
    ("detach-entity!", "(detach-entity! 'poor)", Harmless(NEEDS_OWN)),
    ("on-exit", "(on-exit list)", Harmless(INSIDE)),
    ("sync!", "(sync! someone)", Harmless("the other actor learns nothing")),
    (
        "invoke-tool!",
        "(invoke-tool! 'r 'workspace/list (dictionary 'path \".\"))",
        Lacks("workspace/list"),
    ),
    ("generate-request-id!", "(generate-request-id! 'r 'p)", Harmless(PLAIN)),
    ("%current-fiber", "(%current-fiber)", Harmless(PLAIN)),
    (
        "%check-await",
        "(%check-await (record 'secret))",
        Lacks("dataspace/observe"),
    ),
    (
        "%report-failure",
        "(%report-failure \"x\" 1)",
        Harmless("a failure that nobody takes is shown, too"),
    ),
    ("%keep-told!", "(%keep-told!)", Harmless("it only divides turns")),
    ("%text->value", "(%text->value \"<a 1>\")", Harmless(PLAIN)),
    ("%fiber-waits?", "#f", Harmless(INSIDE)),
    ("%sleep", "#f", Harmless(INSIDE)),
    ("%wake", "#f", Harmless(INSIDE)),
    ("%spawn-guarded", "#f", Harmless(INSIDE)),
    ("%cancel", "#f", Harmless(INSIDE)),
    ("%spawn-undivided", "(%spawn-undivided list)", Harmless(INSIDE)),
    (
        "%spawn-facet-for!",
        "(%spawn-facet-for! (current-facet) (%current-fiber))",
        Harmless(INSIDE),
    ),
    ("current-time", "(current-time)", Lacks("clock/millisecond")),
    ("random", "(random 6)", Lacks("chance/integer")),
    ("log!", "(log! \"secret\")", Lacks("console")),
    ("progress!", "(progress! \"secret\" 1 2)", Lacks("console")),
    ("%console-write", "(%console-write 1 (bytevector 65))", Lacks("console")),
    ("%console-read", "(%console-read 1)", Lacks("console")),
    (
        "%answer!",
        "(%answer! \"name\" 1)",
        Harmless("an actor answers only its own questions"),
    ),
    ("command-line", "(command-line)", Harmless(PLAIN)),
    ("current-second", "(current-second)", Lacks("clock/second")),
    ("current-jiffy", "(current-jiffy)", Lacks("clock/jiffy")),
    ("jiffies-per-second", "(jiffies-per-second)", Harmless(PLAIN)),
    ("%file-read", "(%file-read \"p.scm\" 0)", Lacks("workspace/read")),
    ("%file-write", "(%file-write \"p.scm\" \"x\")", Lacks("workspace/write")),
    ("%file-exists?", "(%file-exists? \"p.scm\")", Lacks("workspace/exists")),
    ("%file-delete", "(%file-delete \"p.scm\")", Lacks("workspace/delete")),
    (
        "get-environment-variable",
        "(get-environment-variable \"HOME\")",
        Lacks("environment/HOME"),
    ),
    (
        "%environment-variables",
        "(%environment-variables)",
        Lacks("environment/*"),
    ),
    (
        "%explain",
        "(%explain (list (list 'call 'workspace/list (dictionary))))",
        Harmless("a refusal says the same"),
    ),
    (
        "%propose",
        "(%propose (list (list 'call 'workspace/list (dictionary 'path \".\"))))",
        Lacks("workspace/list"),
    ),
    ("pending-approvals", "(pending-approvals)", Lacks("dataspace/observe")),
    ("approve!", "(approve! \"any\")", Lacks("policy/approve")),
    ("reject!", "(reject! \"any\" \"no\")", Lacks("policy/approve")),
    ("session-name", "(session-name)", Harmless(PLAIN)),
    (
        "%policy-time",
        "(%policy-time)",
        Harmless("every turn is judged by the entry that it reads"),
    ),
    ("describe", "(describe 'car)", Harmless("it reads documentation")),
    (
        "%compile",
        "(%compile '(car '(1)) \"\")",
        Harmless("the code has the actor's rights"),
    ),
    (
        "%compile-text",
        "(%compile-text \"(car '(1))\" \"\")",
        Harmless("the code has the actor's rights"),
    ),
    ("%forms", "(%forms \"(car '(1))\" \"p\")", Harmless(PLAIN)),
    ("%data?", "(%data? 'car)", Harmless(PLAIN)),
    ("%actor?", "(%actor? 1)", Harmless(PLAIN)),
    ("%facet?", "(%facet? 1)", Harmless(PLAIN)),
    ("%handle?", "(%handle? 1)", Harmless(PLAIN)),
    (
        "%sandbox",
        "(%sandbox 1 '((scheme base)))",
        Harmless("modules ask for the actor's rights"),
    ),
    (
        "%environment",
        "(%environment '((scheme base)))",
        Harmless("modules ask for the actor's rights"),
    ),
];
