//! The option that lets texts without `import` see more libraries.
//!
//! INVARIANT: the libraries are in a run's first record, so a replay needs no option.
//! It loads nothing; the expander does.

use duet_kernel::expander::LibraryName;
use serde::{Deserialize, Serialize};

/// The option of a command that begins runs.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PreloadArgument {
    /// Lets a text that imports nothing see this library besides the usual ones, such as
    /// '(srfi 1)'; may be given several times.
    #[arg(long, value_name = "LIBRARY", value_parser = read_library)]
    preload: Vec<String>,
}

impl PreloadArgument {
    /// The libraries, in the order in which they were named.
    pub(crate) fn libraries(&self) -> Vec<LibraryName> {
        let name = |words: &String| LibraryName {
            parts: words.split(' ').map(Into::into).collect(),
        };
        self.preload.iter().map(name).collect()
    }
}

/// Reads the name of a library, with or without its parentheses; the words have one space between.
pub(crate) fn read_library(text: &str) -> Result<String, String> {
    let inner = text.trim();
    let inner = inner
        .strip_prefix('(')
        .and_then(|inner| inner.strip_suffix(')'))
        .unwrap_or(inner);
    let words: Vec<&str> = inner.split_whitespace().collect();
    let is_odd = |word: &&str| word.contains(['(', ')', '"', '\'', '`', ',', ';', '|', '#']);
    if words.is_empty() || words.iter().any(is_odd) {
        return Err("give the name of a library, as '(srfi 1)'".to_owned());
    }
    Ok(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_named_with_parentheses_or_without() {
        for text in ["(srfi 1)", " ( srfi   1 ) ", "srfi 1"] {
            assert_eq!(read_library(text).as_deref(), Ok("srfi 1"), "{text}");
        }
        for text in ["", "()", "((srfi 1))", "(srfi 1", "(only (srfi 1) fold)", "\"srfi\""] {
            assert!(read_library(text).is_err(), "{text}");
        }
    }
}
