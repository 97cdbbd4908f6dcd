//! The surfaces: the command line, the prompt, the server of tools, and the page.
//!
//! Read next: `surface/command.rs`.

pub(crate) mod agent;
pub(crate) mod form;
pub(crate) mod command_line;
pub(crate) mod command;
pub(crate) mod repl;
pub(crate) mod mcp;
pub(crate) mod ui;
