//! Scripts that carry their answers: `(+ 1 2) ; => 3`, `(car '()) ; raises: type-error`.
//!
//! Owns the cutting of a script into top-level expressions, each with the answer written after it.
//! INVARIANT: every expectation belongs to exactly one expression; any other is an error, so that a
//! typo cannot turn a test off.
//! It does not evaluate, and has a scanner of its own rather than the kernel's reader, so that a
//! broken reader cannot hide its tests.
//! Read next: `script.rs`.

use std::fmt;

use super::scan::{Token, TokenKind, tokens};

/// The outcome that a script expects of one expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// `; => text`: the written form of the value.
    Value(String),
    /// `; raises: kind`: the kind of the condition.
    Raises(String),
}

/// One top-level expression and its expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScriptStep {
    /// Line of the expression's first character, from 1.
    pub(crate) line: usize,
    /// The expression's source text.
    pub(crate) text: String,
    /// `None`: it must evaluate, to anything.
    pub(crate) expectation: Option<Expectation>,
}

/// A script that cannot be cut into steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScriptError {
    /// Line of the fault, from 1.
    pub(crate) line: usize,
    /// The fault.
    pub(crate) fault: ScriptFault,
}

/// The faults that a script can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScriptFault {
    /// The script ends inside a list, string, quoted symbol or block comment.
    Unfinished,
    /// A closing bracket has no opening one.
    Unopened,
    /// An expectation stands after no expression, or not on its last line nor the next.
    Orphan,
    /// An expectation stands inside an expression.
    Inside,
    /// An expression has two expectations.
    Twice,
    /// An expectation names no value or no kind.
    Empty,
    /// The script expects nothing at all.
    NothingExpected,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.fault {
            ScriptFault::Unfinished => "the script ends inside what begins here",
            ScriptFault::Unopened => "this bracket closes nothing",
            ScriptFault::Orphan => {
                "this expectation follows no expression; write it on the expression's last line or the next"
            }
            ScriptFault::Inside => "this expectation is inside an expression; move it behind the last bracket",
            ScriptFault::Twice => "the expression has an expectation already",
            ScriptFault::Empty => "this expectation says nothing; write the value or the kind of condition",
            ScriptFault::NothingExpected => "no expression has an expectation; add `; => value` or `; raises: kind`",
        };
        write!(formatter, "line {}: {reason}", self.line)
    }
}

/// Cuts a script into its top-level expressions.
///
/// # Errors
/// [`ScriptError`] at the first fault; a script without any expectation is one.
pub(crate) fn steps(script: &str) -> Result<Vec<ScriptStep>, ScriptError> {
    let mut cutter = Cutter::default();
    for token in tokens(script)? {
        cutter.take(script, &token)?;
    }
    cutter.finish()
}

#[derive(Default)]
struct Cutter {
    steps: Vec<ScriptStep>,
    /// Where the expression being read began: byte offset and line.
    start: Option<(usize, usize)>,
    depth: usize,
    /// `#;` prefixes whose datum has not been read yet.
    discards: usize,
    /// Last line of the expression an expectation may still follow.
    answerable_line: Option<usize>,
}

impl Cutter {
    fn take(&mut self, script: &str, token: &Token) -> Result<(), ScriptError> {
        let at = |fault| ScriptError {
            line: token.line,
            fault,
        };
        match token.kind {
            TokenKind::Comment => return self.expect(token.line, &script[token.start..token.end]),
            TokenKind::Discard if self.depth == 0 => self.discards += 1,
            TokenKind::Discard => {}
            TokenKind::Prefix => self.begin(token),
            TokenKind::Open => {
                self.begin(token);
                self.depth += 1;
            }
            TokenKind::Close => {
                self.depth = self.depth.checked_sub(1).ok_or(at(ScriptFault::Unopened))?;
                self.end(script, token);
            }
            TokenKind::Atom => {
                self.begin(token);
                self.end(script, token);
            }
        }
        Ok(())
    }

    fn begin(&mut self, token: &Token) {
        if self.start.is_none() {
            self.start = Some((token.start, token.line));
        }
    }

    fn end(&mut self, script: &str, token: &Token) {
        if self.depth > 0 {
            return;
        }
        let Some((start, line)) = self.start.take() else { return };
        if self.discards > 0 {
            self.discards -= 1;
            self.answerable_line = None;
            return;
        }
        self.steps.push(ScriptStep {
            line,
            text: script[start..token.end].to_owned(),
            expectation: None,
        });
        self.answerable_line = Some(token.end_line);
    }

    fn expect(&mut self, line: usize, comment: &str) -> Result<(), ScriptError> {
        let Some(expectation) = read_expectation(comment) else {
            return Ok(());
        };
        let at = |fault| Err(ScriptError { line, fault });
        if self.start.is_some() {
            return at(ScriptFault::Inside);
        }
        let (Expectation::Value(text) | Expectation::Raises(text)) = &expectation;
        if text.is_empty() {
            return at(ScriptFault::Empty);
        }
        let follows = self.answerable_line.is_some_and(|last| line <= last + 1);
        match self.steps.last_mut() {
            Some(step) if follows && step.expectation.is_none() => step.expectation = Some(expectation),
            Some(_) if follows => return at(ScriptFault::Twice),
            Some(_) | None => return at(ScriptFault::Orphan),
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<ScriptStep>, ScriptError> {
        if let Some((_, line)) = self.start {
            return Err(ScriptError {
                line,
                fault: ScriptFault::Unfinished,
            });
        }
        if self.steps.iter().all(|step| step.expectation.is_none()) {
            return Err(ScriptError {
                line: 1,
                fault: ScriptFault::NothingExpected,
            });
        }
        Ok(self.steps)
    }
}

fn read_expectation(comment: &str) -> Option<Expectation> {
    let text = comment.trim_start_matches(';').trim();
    if let Some(value) = text.strip_prefix("=>") {
        return Some(Expectation::Value(value.trim().to_owned()));
    }
    text.strip_prefix("raises:")
        .map(|kind| Expectation::Raises(kind.trim().to_owned()))
}
