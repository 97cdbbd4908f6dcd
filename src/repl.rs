//! The prompt: what a person types, line by line.
//!
//! INVARIANT: nothing here evaluates; the parts know text, the line editor knows keys.
//! Read next: `repl/editor.rs`.

#![allow(dead_code, reason = "the loop that reads and evaluates is not part of this module")]

pub(crate) mod command;
pub(crate) mod complete;
pub(crate) mod editor;
mod highlight;
pub(crate) mod history;
mod indent;
mod outline;
