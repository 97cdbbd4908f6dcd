//! Verbs that act: they drive a run, change a journal, or write a file.
//!
//! Read next: `act/run.rs`.

pub(crate) mod amend;
pub(crate) mod answer;
pub(crate) mod double;
pub(crate) mod eval;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod goto;
pub(crate) mod gc;
pub(crate) mod grant;
pub(crate) mod import;
pub(crate) mod mark;
pub(crate) mod merge;
pub(crate) mod message;
pub(crate) mod patch;
pub(crate) mod pick;
pub(crate) mod redo;
pub(crate) mod replay;
pub(crate) mod restart;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod signal;
pub(crate) mod stop;
pub(crate) mod tell;
pub(crate) mod undo;
