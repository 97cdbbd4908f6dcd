//! The look of the page on each screen: nothing is wider than the screen, and every text has
//! enough contrast.
//!
//! INVARIANT: a text has 4.5 to 1 against what is behind it, in both schemes.
//! Read next: `pictures.rs`.
//!
//! Source: Web Content Accessibility Guidelines 2.2, 1.4.3 and 1.4.10.

use crate::browser::{Browser, Failed, Screen};
use crate::desk::Desk;

/// Lists texts with too little contrast.
const CONTRAST: &str = include_str!("contrast.js");

/// Looks at some views on every screen.
pub(crate) async fn check(desk: &Desk) -> Result<(), Failed> {
    for screen in Screen::ALL {
        let browser = Browser::open(screen).await?;
        let views = [
            ("", ".card"),
            ("order/main", "#banner strong"),
            ("order/main?tab=variables", ".variables"),
            ("order/three?tab=facts", "#panel"),
            ("order/main?with=three", ".side-card"),
        ];
        for (place, shown) in views {
            browser.go(&desk.address(place)).await?;
            browser.finds(shown).await?;
            let wide = browser
                .run("return String(document.documentElement.scrollWidth)")
                .await?;
            if wide.parse::<u32>()? > screen.width {
                return Err(Failed(format!("{}: `{place}` is {wide} pixels wide", screen.name)));
            }
            let pale = browser.run(CONTRAST).await?;
            if !pale.is_empty() {
                return Err(Failed(format!("{}: `{place}` has pale texts:\n{pale}", screen.name)));
            }
        }
        browser.close().await?;
        println!("ok {}", screen.name);
    }
    Ok(())
}
