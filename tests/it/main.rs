//! The integration tests of `duet`, as one executable: each suite is a module.
//!
//! INVARIANT: every file beside this one is named here; `tests/it/tidy/modules.rs` checks it.
//! Suites with a runner of their own lie beside this folder: `../programs`, `../simulation.rs`.
//! Read next: `cli.rs`, `support/desk.rs`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support {
    pub(crate) mod desk;
    pub(crate) mod example;
    pub(crate) mod expectation;
    pub(crate) mod forgery;
    pub(crate) mod library;
    pub(crate) mod modules;
    pub(crate) mod native;
    pub(crate) mod page;
    pub(crate) mod peer;
    pub(crate) mod process;
    pub(crate) mod provider;
    pub(crate) mod raw_log;
    pub(crate) mod readable;
    pub(crate) mod running;
    pub(crate) mod scan;
    pub(crate) mod scenario;
    pub(crate) mod script;
    pub(crate) mod session;
    pub(crate) mod terminal;
    pub(crate) mod tree;
    pub(crate) mod witness;
    pub(crate) mod workspace;
    pub(crate) mod world;
}

mod aeiou;
mod agents;
mod asking;
mod attaching;
mod attempts;
mod bad_input;
mod cli;
mod clocks;
mod completion;
#[cfg(feature = "proofs")]
mod conform;
mod coverage;
mod crash;
mod deadlines;
mod documented;
mod durable;
mod expansion;
mod explain;
mod failover;
mod failures;
mod format;
mod formatter;
mod frames;
mod frozen;
mod fuzz;
mod harness;
mod interruptions;
mod isolation;
mod json_schema;
mod language;
mod library;
mod loading;
mod mcp;
mod mcp_http;
mod mcp_server;
mod memory;
mod migrating;
mod migration;
mod misspelt;
mod models;
mod modules;
mod moving;
mod nesting;
mod oncall;
mod output;
mod owners;
mod patch;
mod own_names;
mod pages;
mod paging;
mod people;
mod planted;
mod policy;
#[cfg(target_os = "linux")]
mod postgres;
mod preload;
mod preserves;
mod primitives;
mod processes;
mod read_only;
mod readme;
mod repl;
mod repl_pty;
mod reports;
mod rerun;
mod restart;
mod review;
mod rights;
mod serve;
mod schemas;
mod scripts;
mod server_kill;
mod sessions;
mod shorthand;
mod standings;
mod steps;
mod strangers;
mod sweep;
mod syndicate;
mod testing;
mod tidy;
mod tools;
mod traces;
mod travel;
mod trust;
mod ui;
mod versions;
mod ways;
mod webhooks;
mod watching;
mod why;
mod widening;
mod wire;
mod work;
mod workspace;
mod wrong_calls;
