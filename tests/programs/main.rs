//! Tests that are files: scripts of the language, programs of actors, and pages of the book.
//!
//! Owns the runner that makes one test of each file.
//! INVARIANT: a file in one of these folders is a test; nothing lists the files.
//! Read next: `scripts.rs`, `actors.rs`, `pages.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod actors;
mod pages;
mod scripts;

#[path = "../it/support"]
#[allow(dead_code, reason = "`it` uses the rest")]
mod support {
    pub(crate) mod example;
    pub(crate) mod expectation;
    pub(crate) mod native;
    pub(crate) mod page;
    pub(crate) mod readable;
    pub(crate) mod scan;
    pub(crate) mod scenario;
    pub(crate) mod script;
    pub(crate) mod session;
    pub(crate) mod witness;
    pub(crate) mod world;
}

use actors::actor;
use pages::page;
use scripts::script;

datatest_stable::harness! {
    { test = script, root = "tests/scripts", pattern = r"\.scm$" },
    { test = actor, root = "tests/actors", pattern = r"\.scm$" },
    { test = page, root = "docs/src", pattern = r"\.md$" },
}
