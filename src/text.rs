//! Texts for people: values, errors and messages, and the streams that show them.
//!
//! It knows no run and no journal.
//!
//! Read next: `text/terminal.rs`.

pub(crate) mod value_text;
pub(crate) mod value_json;
pub(crate) mod similar;
pub(crate) mod exports;
pub(crate) mod saying;
pub(crate) mod version;
pub(crate) mod error;
pub(crate) mod query;
pub(crate) mod exchange;
pub(crate) mod graph;
pub(crate) mod redact;
pub(crate) mod render;
pub(crate) mod pager;
pub(crate) mod view;
pub(crate) mod screen;
pub(crate) mod terminal;
