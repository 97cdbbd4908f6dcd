//! The pictures of the book.
//!
//! INVARIANT: they show a run of the examples, so that everybody can make them again.
//! Read next: `looks.rs`.

use std::path::PathBuf;

use crate::browser::{Browser, Failed, Screen};
use crate::desk::Desk;

/// Writes the pictures.
pub(crate) async fn write() -> Result<(), Failed> {
    let desk = Desk::of_examples()?;
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    for screen in [Screen::WIDE_LIGHT, Screen::NARROW_DARK] {
        let browser = Browser::open(screen).await?;
        browser.go(&desk.address("research/main@20?tab=variables")).await?;
        browser.sees("#banner", "Failed").await?;
        browser.finds(".branches").await?;
        browser.finds(".variables").await?;
        std::fs::write(folder.join(format!("{}.png", screen.name)), browser.picture().await?)?;
        browser.close().await?;
    }
    Ok(())
}
