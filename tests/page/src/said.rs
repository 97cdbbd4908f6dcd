//! The page says the same as the commands: values, waits, filters and addresses.
//!
//! INVARIANT: each text that a step expects is that of the command line.
//! Read next: `main.rs`.

use crate::browser::{Browser, Failed};
use crate::desk::Desk;

pub(crate) async fn values_are_shown_as_they_are(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    for part in ["facts", "turn"] {
        browser.go(&desk.address(&format!("values/main@1?tab={part}"))).await?;
        for fact in [
            "<int 9007199254740993 -9223372036854775809>",
            "<float 1.0 -0.0>",
            "<text \"a\" a>",
            "<dict {\"a\": 2, a: 1}>",
        ] {
            browser.sees("#panel .facts li", fact).await?;
        }
    }
    browser.go(&desk.address("values/main@1?tab=record")).await?;
    browser.sees("#panel .member-name", "came").await?;
    let open = "document.querySelectorAll('#panel details').forEach((part) => { part.open = true }); return 'open'";
    browser.run(open).await?;
    browser.sees("#panel", "<float 1.0 -0.0>").await?;
    browser.go(&desk.address("pay/main?tab=waits")).await?;
    browser
        .sees(
            "#panel .pieces",
            "{amount: 9007199254740993, name: \"Ada\", rate: 1.0, to: bank}",
        )
        .await?;
    browser.sees("#panel .prompt", "\"amount\":9007199254740993").await
}

pub(crate) async fn every_kind_of_wait_is_told(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    browser.go(&desk.address("waits/main?tab=waits")).await?;
    for wait in [
        "for <size _ ...> that a predicate accepts",
        "for the answer to request 0",
        "for <go ...> or <come ...>",
        "main/par-map 2 fiber",
        "until its strands have ended",
    ] {
        browser.sees("#panel .pieces li", wait).await?;
    }
    browser.sees(".question .prompt", "Size? [small/large]").await?;
    browser.click("Answer").await?;
    browser.sees("dialog", "Size? [small/large]").await
}

pub(crate) async fn a_filter_that_is_refused_says_so_beside_its_box(
    browser: &Browser,
    desk: &Desk,
) -> Result<(), Failed> {
    browser.go(&desk.address("order/main")).await?;
    browser.sees("#banner", "Failed with code 1").await?;
    browser.fill("#filter", "kind:zzz").await?;
    browser
        .sees("#filter-said", "no event or action is of this kind")
        .await?;
    browser.sees(".turns", "The filter is not understood").await?;
    browser.sees("#banner", "Failed with code 1").await?;
    browser.fill("#filter", "kind:write").await?;
    browser.sees(".bar-of-buttons", "match").await?;
    browser.lacks("#filter-said", "kind").await?;
    browser.fill("#filter", "actor:nobody").await?;
    browser.sees("#filter-said", "no actor of order has this name").await?;
    browser.fill("#filter", "").await?;
    browser.sees(".turns", "begins").await?;
    browser.lacks("#filter-said", "nobody").await
}

pub(crate) async fn a_filter_names_what_has_blanks(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    browser.go(&desk.address("waits/main")).await?;
    for (filter, count) in [
        ("actor:\"main/par-map 1\"", 1),
        ("actor:main pattern:'<size _>'", 0),
        ("since:1 until:1", 1),
    ] {
        browser.fill("#filter", filter).await?;
        let said = if count == 1 { "1 turn matches" } else { "0 turns match" };
        browser.sees(".bar-of-buttons", said).await?;
    }
    Ok(())
}

pub(crate) async fn links_lead_to_marks_and_name_what_is_not_there(
    browser: &Browser,
    desk: &Desk,
) -> Result<(), Failed> {
    browser.go(&desk.address("waits@before")).await?;
    browser.sees(".moment-title", "Turn 1").await?;
    browser.leads_to("/waits/main@1").await?;
    for (place, said) in [
        ("waits/main@99", "waits has no turn 99"),
        ("waits@nowhere", "nowhere"),
        ("waits/nobranch", "nobranch"),
        ("waits/main/extra", "main/extra"),
    ] {
        browser.go(&desk.address(place)).await?;
        browser.sees(".trouble", said).await?;
    }
    Ok(())
}
