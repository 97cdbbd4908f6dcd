//! The gate's verdicts as a table: the proposals of an actor with certain resources and
//! capabilities, and the reasons for denials.

use preserves::IOValue;

use super::*;
use crate::model::codec::Codec;
use crate::run::snapshot::SnapshotPolicy;
use crate::state::RunState;
use crate::tests::script::world::World;

/// Makes a state of two actors, of which actor 0 has facets 0 and 1, handle 0, observer 0 with
/// handle 1, and request 0; actor 1 has facet 2 and handle 3.
fn state() -> RunState {
    let script = "main:
        assert a <p 1>
        watch w nothing <lit never>
        facet f
        tool shell t 1
        actor other
        await-next <lit never>
      other:
        assert b <p 2>
        await-next <lit never>
      nothing:
        log nothing";
    let mut world = World::script(script, &["*"], SnapshotPolicy::default());
    world.drive();
    world.run.state().clone()
}

/// Judges actor 0's proposal under `granted`, and under all rights in the dataspace unless it names
/// one, and prints the verdicts, `ok` or the reason.
#[track_caller]
fn check(granted: &[&str], actions: &[&str], expected: &[&str]) {
    let mut state = state();
    state.begin_turn();
    let manifest = Manifest::of(granted).of_main();
    let read = |text: &&str| Action::decode(&text.parse::<IOValue>().expect("well formed")).expect("an action");
    let actions: Vec<Action> = actions.iter().map(read).collect();
    let principal = Principal {
        actor: ActorId(0),
        manifest: &manifest,
    };
    let verdicts = judge(&Proposal {
        before: state.before(),
        principal,
        actions: &actions,
    });
    let shown: Vec<String> = verdicts
        .iter()
        .map(|verdict| match verdict {
            Verdict::Allow {} => "ok".to_owned(),
            Verdict::Deny { reason } | Verdict::Defer { reason } => format!("{:?}", reason.encode()),
        })
        .collect();
    assert_eq!(shown, expected, "{actions:?}");
}

#[test]
fn only_own_and_living_things_are_used() {
    check(&[], &["<assert 1 900 x>"], &["ok"]);
    check(&[], &["<assert 2 900 x>"], &["<not_owned>"]);
    check(&[], &["<assert 99 900 x>"], &["<not_owned>"]);
    check(&[], &["<retract 0 #f>", "<retract 0 #f>"], &["ok", "<not_owned>"]);
    check(&[], &["<retract 77 [<unknown>]>"], &["ok"]);
    check(&[], &["<unobserve 0>", "<unobserve 0>"], &["ok", "<not_owned>"]);
    check(&[], &["<stop-facet 1 []>", "<assert 1 900 x>"], &["ok", "<not_owned>"]);
    check(&[], &["<resume 0 0>", "<resume 0 0>"], &["ok", "<not_owned>"]);
    check(&[], &["<resume 55 0>"], &["<not_owned>"]);
    check(&[], &["<exit 1 [3] #f>"], &["<not_owned>"]);
}

#[test]
fn what_a_proposal_makes_it_may_use() {
    check(
        &[],
        &["<spawn-facet 900 0 #f>", "<assert 900 900 x>", "<retract 900 #f>"],
        &["ok", "ok", "ok"],
    );
    check(
        &[],
        &["<assert 900 900 x>", "<spawn-facet 900 0 #f>"],
        &["<not_owned>", "ok"],
    );
}

#[test]
fn ids_are_given_once() {
    check(&[], &["<assert 0 0 x>"], &["<not_fresh>"]);
    check(&[], &["<assert 0 900 x>", "<assert 0 900 y>"], &["ok", "<not_fresh>"]);
    check(&[], &["<spawn-facet 2 0 #f>"], &["<not_fresh>"]);
}

#[test]
fn capabilities_are_needed() {
    let call = "<invoke-tool 900 0 #f \"shell\" 1 \"t\" #f>";
    check(&[], &[call], &["<capability_missing \"shell\">"]);
    check(&["shell"], &[call], &["ok"]);
    check(
        &["workspace/*"],
        &["<invoke-tool 900 0 #f \"workspace/read\" 1 \"t\" #f>"],
        &["ok"],
    );
    check(
        &[],
        &["<write 900 output #\"x\">"],
        &["<capability_missing \"console\">"],
    );
    check(&[], &["<read 900 0 1>"], &["<capability_missing \"console\">"]);
    check(
        &[],
        &["<ask-user 900 0 900 \"?\" \"t\">"],
        &["<capability_missing \"person\">"],
    );
    check(
        &["spawn"],
        &["<spawn-actor 900 900 \"worker\" [0] #f x #f #f [\"console\"]>"],
        &["<capability_exceeded>"],
    );
    check(
        &["spawn", "console"],
        &["<spawn-actor 900 900 \"worker\" [0] #f x #f #f [\"console\"]>"],
        &["ok"],
    );
    check(
        &[],
        &["<spawn-actor 900 900 \"worker\" [0] #f x #f #f []>"],
        &["<capability_missing \"spawn\">"],
    );
}

#[test]
fn rights_in_the_dataspace_are_needed() {
    let denied = |right: &str| format!("<capability_missing \"dataspace/{right}\">");
    let (none, observe) = (&["dataspace/none"][..], &["dataspace/observe"][..]);
    check(observe, &["<assert 1 900 x>"], &[&denied("assert")]);
    check(observe, &["<message x>"], &[&denied("message")]);
    check(observe, &["<send 1 2 x #f>"], &[&denied("message")]);
    check(observe, &["<observe 0 900 900 <_>>"], &["ok"]);
    check(none, &["<observe 0 900 900 <_>>"], &[&denied("observe")]);
    let wait = "<wait 900 0 <main> 0 [<matching 900 900 <_>>] #f>";
    check(observe, &[wait], &["ok"]);
    check(none, &[wait], &[&denied("observe")]);
    check(none, &["<attenuate 900 <dataspace> []>"], &[&denied("assert")]);
    check(none, &["<attenuate 900 <facet 1 2> []>"], &[&denied("message")]);
    check(none, &["<attenuate 900 <facet 0 0> []>"], &["ok"]);
    check(none, &["<approve 0 [<assert 1 900 x>]>"], &[&denied("assert")]);
}

#[test]
fn what_is_allowed_cannot_be_put_off() {
    let put_off = "<postpone 900 0 [<assert 0 900 x>]>";
    check(&["dataspace/assert"], &[put_off], &["<unfounded>"]);
}

#[test]
fn a_capability_value_gives_what_it_stands_for_and_no_more() {
    let through = |id: u64, tool: &str| format!("<invoke-tool 900 0 #f \"{tool}\" 1 \"t\" [{id}]>");
    let denied = |id: u64| format!("<capability_missing \"capability {id}\">");
    let full = "<attenuate 900 <tool \"shell\"> []>";
    let (shell, other) = (through(900, "shell"), through(900, "other"));
    check(&["shell"], &[full, &shell], &["ok", "ok"]);
    check(&["shell"], &[full, &other], &["ok", &denied(900)]);
    check(&[], &[full], &["<capability_missing \"shell\">"]);
    check(&[], &[&shell], &[&denied(900)]);
    let chain = ["<attenuate 901 <capability 900> []>", &through(901, "shell")];
    check(&["shell"], &[full, chain[0], chain[1]], &["ok", "ok", "ok"]);
    check(&["shell"], &[chain[0]], &[&denied(900)]);
    check(
        &["shell"],
        &["<attenuate 900 <dataspace> []>", &shell],
        &["ok", &denied(900)],
    );
    let dataspace = "<attenuate 900 <dataspace> []>";
    let asserted = "<pass 900 [<assert 1 901 x>]>";
    check(&[], &[dataspace, asserted], &["ok", "ok"]);
    check(&[], &[asserted], &[&denied(900)]);
    check(&["shell"], &[full, asserted], &["ok", &denied(900)]);
    check(
        &[],
        &[dataspace, "<pass 900 [<assert 99 901 x>]>"],
        &["ok", "<not_owned>"],
    );
    check(
        &[],
        &[dataspace, "<pass 900 [<retract 0 #f>]>"],
        &["ok", "<capability_missing \"capability 900\">"],
    );
    let facet = "<attenuate 900 <facet 1 2> []>";
    check(&[], &[facet, "<pass 900 [<send 1 2 x #f>]>"], &["ok", "ok"]);
    check(&[], &[facet, "<pass 900 [<send 1 3 x #f>]>"], &["ok", &denied(900)]);
    check(&["shell"], &[full, "<revoke 900>"], &["ok", "ok"]);
    check(&[], &["<revoke 5>"], &["<not_owned>"]);
}
