//! The page in a browser: a run that failed is opened, understood, changed and compared.
//!
//! INVARIANT: a step waits for what a person would see, and fails with what the page shows instead.
//! The server's own rules are tested without a browser.
//! Read next: `desk.rs`, `browser.rs`, `../../it/ui.rs`.

mod browser;
mod causes;
mod desk;
mod looks;
mod pictures;
mod said;

use std::process::ExitCode;

use browser::{Browser, Failed, Screen};
use causes::{
    a_click_on_a_value_shows_where_it_came_from, calls_without_a_bar_are_counted, strands_have_lanes_of_their_own,
};
use desk::Desk;
use said::{
    a_filter_names_what_has_blanks, a_filter_that_is_refused_says_so_beside_its_box, every_kind_of_wait_is_told,
    links_lead_to_marks_and_name_what_is_not_there, values_are_shown_as_they_are,
};

/// Makes the table of the steps: their names, and the functions.
macro_rules! steps {
    ($($name:ident)*) => {
        &[$((stringify!($name), &|browser, desk| Box::pin($name(browser, desk)))),*]
    };
}

type Step =
    &'static dyn for<'a> Fn(&'a Browser, &'a Desk) -> std::pin::Pin<Box<dyn Future<Output = Result<(), Failed>> + 'a>>;

const STEPS: &[(&str, Step)] = steps! {
    a_failed_run_says_why_before_everything_else
    the_variables_and_the_chain_of_a_fact_are_shown
    a_click_on_a_value_shows_where_it_came_from
    strands_have_lanes_of_their_own
    calls_without_a_bar_are_counted
    an_input_is_amended_and_the_branches_are_compared
    texts_of_a_program_stay_texts
    keys_move_the_cursor_and_the_address_follows
    a_filter_finds_turns
    a_filter_that_is_refused_says_so_beside_its_box
    a_filter_names_what_has_blanks
    a_run_that_goes_on_is_followed
    a_question_is_answered_in_place
    values_are_shown_as_they_are
    every_kind_of_wait_is_told
    links_lead_to_marks_and_name_what_is_not_there
    a_link_without_its_token_says_so
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let wants_pictures = std::env::args().any(|word| word == "--pictures");
    match work(wants_pictures).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            eprintln!("{failed}");
            ExitCode::FAILURE
        }
    }
}

async fn work(wants_pictures: bool) -> Result<(), Failed> {
    if wants_pictures {
        return pictures::write().await;
    }
    let desk = Desk::new()?;
    let browser = Browser::open(Screen::WIDE_LIGHT).await?;
    for (name, step) in STEPS {
        step(&browser, &desk)
            .await
            .map_err(|failed| Failed(format!("{name}: {failed}")))?;
        println!("ok {name}");
    }
    browser.close().await?;
    looks::check(&desk).await
}

async fn a_failed_run_says_why_before_everything_else(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    browser.go(&desk.address("")).await?;
    browser.sees(".card.failed", "order").await?;
    browser.click("order").await?;
    browser.sees("#banner", "Failed with code 1").await?;
    browser.sees("#banner", "this is no number").await?;
    browser.click("Go to turn").await?;
    browser.sees("#panel", "Failed and undone").await?;
    browser.sees(".backtrace li", "count-of at order.scm:4").await?;
    browser.sees(".timeline .bar.failed title", "this is no number").await
}

async fn the_variables_and_the_chain_of_a_fact_are_shown(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    browser.go(&desk.address("order/main")).await?;
    browser.click("Variables there").await?;
    browser.sees("#panel .variables", "none").await?;
    browser.go(&desk.address("order/main@1?tab=facts")).await?;
    browser.click("<customer").await?;
    browser.sees(".why .chain-list", "turn 1").await?;
    browser.finds(".timeline .bar.lit").await
}

async fn an_input_is_amended_and_the_branches_are_compared(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    let asked = desk.input_turn("order")?;
    browser.go(&desk.address(&format!("order/main@{asked}"))).await?;
    browser.click("Amend").await?;
    browser.sees("dialog .command", "duet amend").await?;
    browser.fill("dialog textarea", "3").await?;
    browser.fill("dialog input", "three").await?;
    browser.sees("dialog .command", "--branch=three").await?;
    browser.click("Do it").await?;
    browser.sees("dialog", "3 ropes for Ada").await?;
    browser.click("Open three").await?;
    browser.sees("#standing", "finished").await?;
    browser.sees(".branches", "three").await?;
    browser.click("compare").await?;
    browser.sees("main", "They share everything up to").await?;
    browser.sees(".side-card.right", "3 ropes for Ada").await
}

async fn texts_of_a_program_stay_texts(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    browser.go(&desk.address("order/three?tab=output")).await?;
    browser.sees(".console", "<img src=x onerror=alert(1)>").await?;
    // A terminal would read the rest as a colour.
    browser.sees(".console", "\u{241b}[31m").await?;
    browser.has_no("main img").await?;
    let written = browser
        .run("try { document.body.innerHTML = '<b>x</b>'; return 'written' } catch (error) { return error.name }")
        .await?;
    if written != "TypeError" {
        return Err(Failed(format!("markup can be written: {written}")));
    }
    Ok(())
}

async fn keys_move_the_cursor_and_the_address_follows(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    browser.go(&desk.address("order/main")).await?;
    browser.sees(".moment-title", "Turn").await?;
    browser.press("Home").await?;
    browser.sees(".moment-title", "Turn 0").await?;
    browser.leads_to("/order/main@0").await?;
    browser.press("f").await?;
    browser.sees("#panel", "Failed and undone").await?;
    browser.press("7").await?;
    browser.sees("#panel", "The procedures that were active").await?;
    browser.press("?").await?;
    browser.sees("dialog", "Keys and marks").await
}

async fn a_filter_finds_turns(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    browser.go(&desk.address("order/main")).await?;
    browser.sees(".turns", "begins").await?;
    browser.fill("#filter", "is:failed").await?;
    browser.sees(".bar-of-buttons", "match").await?;
    browser.fill("#filter", "no such text").await?;
    browser.sees(".turns", "No turn matches the filter").await
}

async fn a_run_that_goes_on_is_followed(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    let mut ticking = desk.start("run tick.scm")?;
    desk.waits_for_run("tick")?;
    browser.go(&desk.address("tick/main")).await?;
    browser.sees(".live", "live").await?;
    browser.sees(".turns", "tick 5").await?;
    browser.sees(".turns", "tick 9").await?;
    ticking.end();
    browser.click("1").await
}

async fn a_question_is_answered_in_place(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    browser.go(&desk.address("ask/main")).await?;
    browser.sees("#banner", "Asks a person").await?;
    browser.click("Show the question").await?;
    browser.sees(".question .prompt", "Who is there?").await?;
    browser.click("Answer").await?;
    browser.fill("dialog textarea", "Ada").await?;
    browser.click("Do it").await?;
    browser.sees("dialog", "welcome Ada").await?;
    browser.click("Close").await?;
    browser.sees("#standing", "finished").await
}

async fn a_link_without_its_token_says_so(browser: &Browser, desk: &Desk) -> Result<(), Failed> {
    browser.go(&desk.without_token("order/main@1")).await?;
    browser.sees("main", "no valid token").await
}
