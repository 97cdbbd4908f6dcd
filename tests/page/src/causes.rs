//! Where values came from, and who took a turn: by a click on what the page shows.
//!
//! INVARIANT: each text that a step expects is that of `duet why` and `duet log`.
//! Read next: `main.rs`.

use crate::browser::{Browser, Failed};
use crate::desk::Desk;

/// Clicks on a value, and waits for what led to it.
async fn leads(browser: &Browser, place: &str, value: &str, steps: &[&str]) -> Result<(), Failed> {
    browser.go(place).await?;
    browser.click(value).await?;
    for step in steps {
        browser.sees(".why .values li", step).await?;
    }
    browser.finds(".timeline .bar.lit").await
}

pub(crate) async fn a_click_on_a_value_shows_where_it_came_from(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    let product = "24 ← (* item 12) at jobs.scm:2 in turn ";
    let facts = desk.address("jobs/main?tab=facts");
    leads(browser, &facts, "<priced 24>", &[product]).await?;
    browser.sees(".why .by", "by (assert! (record 'priced second))").await?;
    leads(browser, &desk.address("jobs/main?tab=output"), "24", &[product]).await?;
    let call = desk.address(&format!("jobs/main@{}?tab=turn", desk.call_turn("jobs")?));
    leads(
        browser,
        &call,
        "call pay/send",
        &["48 ← (* 2 second) at jobs.scm:8", product],
    )
    .await?;
    // A step leads to its turn.
    browser.click("turn 3").await?;
    browser.sees(".moment-title", "Turn 3").await?;
    browser.go(&desk.address("order/main")).await?;
    browser.click("Variables there").await?;
    browser.click("\"none\"").await?;
    browser.sees(".why h3", "text = \"none\" in count-of").await?;
    browser.sees(".why .values li", "came in with").await
}

pub(crate) async fn strands_have_lanes_of_their_own(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    browser.go(&desk.address("jobs/main")).await?;
    for name in ["main/par-map 1", "main/par-map 2", "main/par-map 3"] {
        browser.sees(".timeline .lane-name", name).await?;
        browser.sees(".turns .who", name).await?;
    }
    browser.go(&desk.address("jobs/main@1?tab=variables")).await?;
    browser.sees("#panel h3", "of main/par-map 2").await
}

pub(crate) async fn calls_without_a_bar_are_counted(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    browser.go(&desk.address("crowd/main")).await?;
    browser
        .sees(
            ".timeline .lanes-more",
            "8 more calls at the same time have no bar here",
        )
        .await
}
