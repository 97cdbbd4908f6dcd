//! House rules that neither the compiler nor Clippy checks.
//!
//! Owns nothing but the list of the modules below; each holds the rules of one subject.
//! INVARIANT: a rule is a function over given files, and its test runs it twice: on this
//! repository, and on a small planted file that breaks the rule, which proves that it can fail.
//! The tests read files only; other suites test what programs do.
//! Read next: `tidy/rule.rs`.

mod authority;
mod crates;
mod lists;
mod modules;
mod names;
mod parameters;
mod prose;
mod rule;
mod signposts;
mod width;
mod words;
