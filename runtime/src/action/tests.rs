//! The table of actions, pinned, and each row's own name.

use super::*;
use crate::model::codec::Codec;

#[test]
fn the_table_is_stable() {
    let table: Vec<String> = KINDS.iter().map(|(name, text)| format!("{name}:{text}")).collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[track_caller]
fn check(text: &str, shown: &str) {
    let value: IOValue = text.parse().expect("well formed");
    let action = Action::decode(&value).expect("it is an action");
    assert_eq!(action.encode(), value, "encoding gives the value back");
    assert_eq!(action.to_string(), shown);
    assert_eq!(
        label_of(&value).as_deref(),
        Some(action.name()),
        "the row and the record have one name"
    );
}

/// The actions about policy, each with its text for people.
const OF_POLICY: &[(&str, &str)] = &[
    (
        "<propose 1 2 3 [<invoke-tool 4 2 role \"shell\" [] \"t\" #f>] <approve \"Allow?\" [#t #f]> \
         #x\"0000000000000000000000000000000000000000000000000000000000000000\">",
        "propose invoke-tool shell [] as request 4, tag \"t\" to the person, request 1",
    ),
    ("<approve 1 [<retract 2 #f>]>", "approve retract handle 2"),
    (
        "<reject 1 [4] \"approval_required\" \"no\">",
        "reject request 1, approval_required: no",
    ),
    ("<decide 2 1 #t>", "decide request 1 of actor 2 with #t"),
    ("<limit 3 0 1 500>", "limit of 500 ms for request 1 as request 3"),
    (
        "<postpone 1 0 [<retract 2 #f>]>",
        "postpone retract handle 2, request 1",
    ),
    ("<admit 1 [<retract 2 #f>]>", "admit retract handle 2"),
    ("<due 3 1700000000000>", "due request 3 at 2023-11-14T22:13:20Z"),
    (
        "<pass 4 [<assert 1 2 <p 3>>]>",
        "pass through capability 4: assert <p 3> as handle 2 of facet 1",
    ),
];

/// The actions about peers, each with its text for people.
const OF_PEERS: &[(&str, &str)] = &[
    (
        "<welcome 1 2 3 \"client\" [\"dataspace/*\"] 4 [<reject <_>>]>",
        "welcome client as actor 2, who has dataspace/*, with 1 caveat",
    ),
    (
        "<widen <grant [\"http/*\"] [<tool-card \"files/read\" [\"mcp.read\"] \"\" #f>] [] <reach []>>>",
        "widen by http/*",
    ),
    (
        "<import-object 7 2 1 4>",
        "import-object object 7 of the peer as facet 2, by capability 4",
    ),
    (
        "<subscribe 1 2 3 <bind <_>> 7>",
        "subscribe <bind <_>> as observer 2 for object 7 of the peer",
    ),
    ("<give 1 2 3 <p 3>>", "give <p 3> as handle 3 to facet 2 of actor 1"),
    ("<publish 9 3 [2] #f [7]>", "publish handle 3 is 9 of the peer"),
    ("<unpublish 9>", "unpublish 9 of the peer"),
    ("<relay 1 2 <message 7 <p 3>>>", "relay <p 3> to object 7 of the peer"),
    ("<relay 1 2 <retract #f 3>>", "relay handle 3 has gone"),
];

#[test]
#[expect(clippy::too_many_lines, reason = "a table with a row for every kind")]
fn every_kind_reads_back_and_says_what_it_does() {
    let cases = [
        ("<assert 1 2 <p 3>>", "assert <p 3> as handle 2 of facet 1"),
        ("<retract 2 #f>", "retract handle 2"),
        (
            "<retract 2 [<foreign>]>",
            "retract handle 2, ignored: it is another actor's",
        ),
        ("<message <p 3>>", "message <p 3>"),
        (
            "<send 1 2 <p 3> [<gone>]>",
            "send <p 3> to facet 2 of actor 1, ignored: it has ended",
        ),
        (
            "<observe 1 2 3 <bind <_>>>",
            "observe <bind <_>> as observer 2 of facet 1",
        ),
        ("<unobserve 2>", "unobserve observer 2"),
        ("<spawn-facet 2 1 #f>", "spawn-facet facet 2 in facet 1"),
        ("<spawn-facet 2 1 [3]>", "spawn-facet facet 2 in facet 1"),
        ("<stop-facet 2 [4 5]>", "stop-facet facet 2, retracting 2 assertions"),
        ("<spawn-fiber 2 1 #f>", "spawn-fiber fiber 2 in facet 1"),
        (
            "<spawn-fiber 2 1 [\"par-map 3\"]>",
            "spawn-fiber fiber 2 \"par-map 3\" in facet 1",
        ),
        (
            "<wait 1 2 <main> 3 [<matching 4 5 <_>> <accepted 6 7 <_>> <answer 8>] #f>",
            "wait wait 1 of fiber 2 for <_> or <_> that a predicate accepts or the answer to request 8",
        ),
        ("<resume 1 0>", "resume wait 1, condition 0 holds"),
        (
            "<yield 1 <handler> 2 <slice>>",
            "yield fiber 1 at the end of its slice of fuel",
        ),
        ("<wake 1>", "wake fiber 1"),
        (
            "<generate-request-id 1 worker \"tag\" \"t\">",
            "generate-request-id \"t\" for \"tag\" of worker",
        ),
        (
            "<report-failure 1 <actor-failure 2 [\"worker\"] 7 <failure \"error\" \"broke\" [] #f []>> #f>",
            "report-failure worker (actor 2), error: broke",
        ),
        ("<log 1 \"text\">", "log \"text\""),
        ("<answer 3 \"yes\">", "answer request 3 with \"yes\""),
        ("<note 1 \"text\">", "note \"text\""),
        (
            "<invoke-tool 1 2 role \"shell\" [] \"t\" #f>",
            "invoke-tool shell [] as request 1, tag \"t\"",
        ),
        (
            "<invoke-tool 1 2 role \"shell\" [] \"t\" [7]>",
            "invoke-tool shell [] through capability 7 as request 1, tag \"t\"",
        ),
        (
            "<attenuate 7 <tool \"shell\"> [<reject <_>>]>",
            "attenuate capability 7 for the tool shell, with 1 caveat",
        ),
        ("<revoke 7>", "revoke capability 7"),
        ("<keep 1 <contents-kept [a] []>>", "keep [a] for request 1"),
        (
            "<ask-user 1 2 3 \"name?\" \"t\">",
            "ask-user \"name?\" as request 1, tag \"t\"",
        ),
        ("<write 1 output #\"text\">", "write \"text\" to standard output"),
        ("<read 1 2 10>", "read at most 10 bytes as request 1"),
        ("<progress 1 \"work\" 2 3>", "progress \"work\" 2 of 3"),
        (
            "<spawn-actor 1 2 \"worker\" [3] [4] \"helper\" [1024] [50] [\"console\"]>",
            "spawn-actor actor 1 as worker running \"helper\", linked to facet 3, its end told in facet 4, \
             in at most 1024 bytes, with at most 50 assertions",
        ),
        (
            "<spawn-guarded 1 2 [500]>",
            "spawn-guarded fiber 1 in facet 2, with 500 units of fuel",
        ),
        ("<cancel 1>", "cancel fiber 1"),
        ("<timer 1 2 250>", "timer of 250 ms as request 1"),
        ("<sync 1 <handler> 2 3>", "sync fiber 1 with actor 3"),
        ("<synced 1 2>", "synced fiber 2 of actor 1"),
        (
            "<register-entity \"worker\" <entity-class \"(farm)\" \"work\">>",
            "register-entity worker played by work of (farm)",
        ),
        (
            "<attach-entity \"worker\" 2 1>",
            "attach-entity worker as facet 2 in facet 1",
        ),
        ("<detach-entity \"worker\" 2>", "detach-entity worker from facet 2"),
        (
            "<patch <changed-text <program> [] [\"rate\"] []> [\"price\"] [\"offer\"] [\"(words)\"]>",
            "patch changes price; adds offer; evaluates rate",
        ),
        ("<restart 3 [5 4]>", "restart in facet 3, retracting 2 assertions"),
        ("<exit 1 [5 4] #f>", "exit with code 1, retracting 2 assertions"),
    ];
    let cases = || cases.iter().chain(OF_POLICY).chain(OF_PEERS);
    for (text, shown) in cases() {
        check(text, shown);
    }
    let names: std::collections::BTreeSet<&str> = cases()
        .filter_map(|(text, _)| text[1..].split([' ', '>']).next())
        .collect();
    assert!(
        KINDS.iter().all(|(name, _)| names.contains(name)),
        "every kind has a case"
    );
}
