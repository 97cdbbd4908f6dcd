//! The reader: text to data with source spans.
//!
//! Owns nesting, datum labels and recovery from errors.
//! INVARIANT: the reader keeps its own stack, so no nesting of the text overflows the Rust stack;
//! every node has a span.
//! It evaluates nothing and knows no special forms beyond the four abbreviations.
//! Read next: `syntax.rs`.

mod problem;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::lexer::{Extent, Lexer, Token};
use super::{Datum, Name, Node, NodeId, SourceId, Span};
use crate::number::Number;

pub use problem::{ReadError, ReadProblem};

/// Reads every datum of `text`; the spans name `source`.
///
/// All errors are reported in one pass; the data around them are still returned.
pub fn read_all(text: &str, source: SourceId) -> (Reading, Vec<ReadError>) {
    read_lexed(text, Lexer::new(text, 0), source, u32::MAX)
}

/// Reads as [`read_all`] does, with case folding on or off at the beginning. A text of more than
/// `nodes_max` nodes is an error, without its data, and takes no more memory than `nodes_max`
/// nodes.
pub fn read_within(text: &str, source: SourceId, folds_case: bool, nodes_max: u32) -> (Reading, Vec<ReadError>) {
    let lexer = Lexer::new(text, 0).with_case_folding(folds_case);
    read_lexed(text, lexer, source, nodes_max)
}

fn read_lexed(text: &str, lexer: Lexer<'_>, source: SourceId, nodes_max: u32) -> (Reading, Vec<ReadError>) {
    if u32::try_from(text.len()).is_err() {
        let span = Span {
            source,
            start: 0,
            end: 0,
        };
        return (
            Reading::default(),
            vec![ReadError {
                problem: ReadProblem::TextTooLong,
                span,
                related: None,
            }],
        );
    }
    let mut reader = DatumReader::new(text, lexer, source);
    while reader.step(usize::MAX) {
        if reader.reading.nodes.len() + reader.pairs_due > nodes_max as usize {
            let span = reader.reading.spans.last().copied();
            let error = span.map(|span| ReadError {
                problem: ReadProblem::TooManyNodes { limit: nodes_max },
                span,
                related: None,
            });
            return (Reading::default(), error.into_iter().collect());
        }
    }
    (reader.reading, reader.errors)
}

/// Reads the first datum at or after byte `start`, a character boundary of `text`. Returns it with
/// the offset of the byte after it, or `None` if only blanks are left.
///
/// # Errors
/// The first error. If [`ReadProblem::is_incomplete`], more text could complete the datum.
pub fn read_one(text: &str, start: usize) -> Result<Option<(Datum, usize)>, ReadError> {
    let next = read_next(text, Lexer::new(text, start))?;
    Ok(next.map(|next| (next.datum, next.end)))
}

/// Reads the first datum of `text`, with case folding on or off at the beginning.
///
/// # Errors
/// As [`read_one`].
pub fn read_first(text: &str, folds_case: bool) -> Result<Option<Next>, ReadError> {
    read_first_until(text, folds_case, None)
}

/// Reads as [`read_first`] does; once the flag is set, as if the text ended there.
///
/// # Errors
/// As [`read_one`].
pub(crate) fn read_first_until(
    text: &str,
    folds_case: bool,
    stop: Option<&AtomicBool>,
) -> Result<Option<Next>, ReadError> {
    let lexer = Lexer::new(text, 0).with_case_folding(folds_case);
    read_next(text, lexer.until(stop))
}

/// A datum, and where the text continues.
pub struct Next {
    /// The datum.
    pub datum: Datum,
    /// The offset of the byte after it.
    pub end: usize,
    /// Whether the rest of the text folds case, as the last `#!fold-case` or `#!no-fold-case` says.
    pub folds_case: bool,
}

fn read_next(text: &str, lexer: Lexer<'_>) -> Result<Option<Next>, ReadError> {
    let source = SourceId(0);
    if u32::try_from(text.len()).is_err() {
        let span = Span {
            source,
            start: 0,
            end: 0,
        };
        return Err(ReadError {
            problem: ReadProblem::TextTooLong,
            span,
            related: None,
        });
    }
    let mut reader = DatumReader::new(text, lexer, source);
    while reader.errors.is_empty() && !reader.lexer.is_stopped() && reader.step(1) {}
    let (end, folds_case) = (reader.lexer.offset(), reader.lexer.folds_case());
    if let Some(error) = reader.errors.into_iter().next() {
        return Err(error);
    }
    let Reading { nodes, forms, .. } = reader.reading;
    Ok(forms.first().map(|root| Next {
        datum: Datum { nodes, root: *root },
        end,
        folds_case,
    }))
}

/// Returns whether `text` stops inside a datum, so that an interactive reader should ask for
/// another line.
pub fn is_incomplete(text: &str) -> bool {
    let (_, errors) = read_all(text, SourceId(0));
    !errors.is_empty() && errors.iter().all(|error| error.problem.is_incomplete())
}

/// The result of reading a text: the nodes of all its data in one arena.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// All nodes.
    pub nodes: Vec<Node>,
    /// The source of each node, parallel to `nodes`. The tail of a list spans from its first
    /// element to the closing parenthesis.
    pub spans: Vec<Span>,
    /// The data at top level, in order.
    pub forms: Vec<NodeId>,
}

/// An unfinished datum.
#[derive(Debug)]
struct Frame {
    kind: FrameKind,
    /// The opening token.
    extent: Extent,
    /// The number of finished data below it on the reader's stack.
    base: usize,
}

#[derive(Debug)]
enum FrameKind {
    /// A list; the number of elements before its dot, if there was one.
    List(Option<usize>),
    Vector,
    Bytevector,
    Abbreviation(&'static str),
    DatumComment,
    /// A label and the node that stands for it until its datum is complete.
    Label(u64, NodeId),
}

/// The datum of a label.
#[derive(Clone, Copy, Debug)]
struct Label {
    node: NodeId,
    /// The datum comments around its definition. A label means something only inside the innermost
    /// of them, because a comment stands for a blank.
    comments: usize,
}

struct DatumReader<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    source: SourceId,
    frames: Vec<Frame>,
    /// Finished data whose parents are not finished.
    values: Vec<NodeId>,
    /// Labels of the current top-level datum.
    labels: BTreeMap<u64, Label>,
    /// The nodes of these labels.
    labelled: BTreeSet<NodeId>,
    /// The number of datum comments that are open.
    comments: usize,
    /// The labels that open datum comments define, with what they hide, in order.
    hidden: Vec<(u64, Option<Label>)>,
    /// The first form at the left margin inside the outermost open list.
    margin: Option<Extent>,
    /// The number of pairs that the elements of open lists will need.
    pairs_due: usize,
    reading: Reading,
    errors: Vec<ReadError>,
}

impl<'a> DatumReader<'a> {
    fn new(text: &'a str, lexer: Lexer<'a>, source: SourceId) -> Self {
        Self {
            text,
            lexer,
            source,
            frames: Vec::new(),
            values: Vec::new(),
            labels: BTreeMap::new(),
            labelled: BTreeSet::new(),
            comments: 0,
            hidden: Vec::new(),
            margin: None,
            pairs_due: 0,
            reading: Reading::default(),
            errors: Vec::new(),
        }
    }

    /// Consumes one token. Returns whether to go on: the text has not ended and fewer than `limit`
    /// data are complete.
    fn step(&mut self, limit: usize) -> bool {
        let (token, extent) = match self.lexer.next_token() {
            Ok(located) => located,
            Err((problem, extent)) => {
                self.error(problem, extent);
                return true;
            }
        };
        match token {
            Token::Open => self.open(FrameKind::List(None), extent),
            Token::OpenVector => self.open(FrameKind::Vector, extent),
            Token::OpenBytevector => self.open(FrameKind::Bytevector, extent),
            Token::Abbreviation(name) => self.open(FrameKind::Abbreviation(name), extent),
            Token::DatumComment => {
                self.comments += 1;
                self.open(FrameKind::DatumComment, extent);
            }
            Token::LabelDefinition(label) => self.define_label(label, extent),
            Token::LabelReference(label) => match self.labels.get(&label) {
                Some(found) => self.complete(found.node),
                None => self.error(ReadProblem::UnknownLabel(label), extent),
            },
            Token::Dot => self.dot(extent),
            Token::Close => self.close(extent),
            Token::Atom(node) => {
                let node = self.add(node, extent);
                self.complete(node);
            }
            Token::End => {
                self.finish();
                return false;
            }
        }
        self.reading.forms.len() < limit
    }

    fn open(&mut self, kind: FrameKind, extent: Extent) {
        let is_at_margin = extent.start == 0 || self.text.as_bytes()[extent.start - 1] == b'\n';
        if is_at_margin && !self.frames.is_empty() && self.margin.is_none() {
            self.margin = Some(extent.clone());
        }
        self.frames.push(Frame {
            kind,
            extent,
            base: self.values.len(),
        });
    }

    fn define_label(&mut self, label: u64, extent: Extent) {
        let comments = self.comments;
        if self.labels.get(&label).is_some_and(|found| found.comments == comments) {
            self.error(ReadProblem::DuplicateLabel(label), extent);
            return;
        }
        let node = self.add(Node::Nil, extent.clone());
        let before = self.labels.insert(label, Label { node, comments });
        self.labelled.insert(node);
        if comments > 0 {
            self.hidden.push((label, before));
        }
        self.open(FrameKind::Label(label, node), extent);
    }

    fn dot(&mut self, extent: Extent) {
        let count = self.values.len();
        match self.frames.last_mut() {
            Some(Frame {
                kind: FrameKind::List(dot @ None),
                base,
                ..
            }) if count > *base => *dot = Some(count - *base),
            _ => self.error(ReadProblem::MisplacedDot, extent),
        }
    }

    /// Completes a datum, and with it the abbreviations and labels that waited for it.
    fn complete(&mut self, mut node: NodeId) {
        loop {
            match self.frames.last() {
                Some(Frame {
                    kind: FrameKind::Abbreviation(name),
                    extent,
                    ..
                }) => {
                    let (name, extent) = (*name, extent.clone());
                    node = self.abbreviation(name, extent, node);
                }
                Some(Frame {
                    kind: FrameKind::Label(label, placeholder),
                    ..
                }) => {
                    node = self.resolve_label(*label, *placeholder, node);
                }
                Some(Frame {
                    kind: FrameKind::DatumComment,
                    ..
                }) => {
                    self.frames.pop();
                    self.leave_comment();
                    return;
                }
                Some(frame) => {
                    self.pairs_due += usize::from(matches!(frame.kind, FrameKind::List(_)));
                    self.values.push(node);
                    return;
                }
                None => {
                    self.reading.forms.push(node);
                    self.labels.clear();
                    self.labelled.clear();
                    self.margin = None;
                    return;
                }
            }
            self.frames.pop();
        }
    }

    fn abbreviation(&mut self, name: &'static str, extent: Extent, node: NodeId) -> NodeId {
        let end = self.reading.spans[node.0 as usize].end as usize;
        let whole = extent.start..end.max(extent.end);
        let start = self.reading.spans[node.0 as usize].start as usize;
        let keyword = self.add(Node::Symbol(Name::from(name)), extent);
        let nil = self.add(Node::Nil, whole.end..whole.end);
        let operand = self.add(Node::Pair(node, nil), start..end);
        self.add(Node::Pair(keyword, operand), whole)
    }

    /// Forgets the labels that the innermost datum comment defines.
    fn leave_comment(&mut self) {
        while let Some((label, before)) = self.hidden.last().copied() {
            let is_inside = self
                .labels
                .get(&label)
                .is_some_and(|found| found.comments == self.comments);
            if !is_inside {
                break;
            }
            self.hidden.pop();
            match before {
                Some(before) => self.labels.insert(label, before),
                None => self.labels.remove(&label),
            };
        }
        self.comments -= 1;
    }

    /// Gives a label its datum: the content moves to the placeholder, because references already
    /// name that.
    fn resolve_label(&mut self, label: u64, placeholder: NodeId, node: NodeId) -> NodeId {
        if node == placeholder {
            let span = self.reading.spans[placeholder.0 as usize];
            self.errors.push(ReadError {
                problem: ReadProblem::UnknownLabel(label),
                span,
                related: None,
            });
            return placeholder;
        }
        if self.labelled.contains(&node) {
            if let Some(found) = self.labels.get_mut(&label) {
                found.node = node;
            }
            return node;
        }
        let content = self.reading.nodes[node.0 as usize].clone();
        self.reading.nodes[placeholder.0 as usize] = content;
        let end = self.reading.spans[node.0 as usize].end;
        self.reading.spans[placeholder.0 as usize].end = end;
        placeholder
    }

    fn close(&mut self, extent: Extent) {
        while let Some(frame) = self.frames.pop() {
            let whole = frame.extent.start..extent.end;
            let (opener, closer) = (
                self.text.as_bytes()[frame.extent.end - 1],
                self.text.as_bytes()[extent.start],
            );
            let node = match frame.kind {
                FrameKind::DatumComment => {
                    self.leave_comment();
                    self.error(ReadProblem::MissingDatum, frame.extent);
                    continue;
                }
                FrameKind::Abbreviation(_) | FrameKind::Label(..) => {
                    self.error(ReadProblem::MissingDatum, frame.extent);
                    continue;
                }
                FrameKind::List(dot) => self.close_list(frame.base, dot, &whole),
                FrameKind::Vector => {
                    let elements = self.values.split_off(frame.base);
                    self.add(Node::Vector(elements), whole)
                }
                FrameKind::Bytevector => self.close_bytevector(frame.base, whole),
            };
            let expected = if opener == b'[' { ']' } else { ')' };
            if char::from(closer) != expected {
                self.errors.push(ReadError {
                    problem: ReadProblem::MismatchedClose { expected },
                    span: self.span(extent),
                    related: Some(self.span(frame.extent)),
                });
            }
            self.complete(node);
            return;
        }
        self.error(ReadProblem::UnexpectedClose, extent);
    }

    fn close_list(&mut self, base: usize, dot: Option<usize>, whole: &Extent) -> NodeId {
        let mut elements = self.values.split_off(base);
        self.pairs_due -= elements.len();
        let mut list = None;
        if let Some(before) = dot {
            if elements.len() == before + 1 {
                list = elements.pop();
            } else {
                self.error(ReadProblem::MisplacedDot, whole.clone());
            }
        }
        let last = whole.end - 1..whole.end;
        if elements.is_empty() {
            return list.unwrap_or_else(|| self.add(Node::Nil, whole.clone()));
        }
        let mut list = list.unwrap_or_else(|| self.add(Node::Nil, last));
        for (index, element) in elements.iter().enumerate().rev() {
            let start = self.reading.spans[element.0 as usize].start as usize;
            // A label reference has the place of its datum, which may be outside of this list.
            let extent = if index == 0 || !whole.contains(&start) {
                whole.clone()
            } else {
                start..whole.end
            };
            list = self.add(Node::Pair(*element, list), extent);
        }
        list
    }

    fn close_bytevector(&mut self, base: usize, whole: Extent) -> NodeId {
        let mut bytes = Vec::new();
        for element in self.values.split_off(base) {
            if let Node::Number(Number::Fixnum(number)) = &self.reading.nodes[element.0 as usize]
                && let Ok(byte) = u8::try_from(*number)
            {
                bytes.push(byte);
                continue;
            }
            let span = self.reading.spans[element.0 as usize];
            self.errors.push(ReadError {
                problem: ReadProblem::NotAByte,
                span,
                related: None,
            });
        }
        self.add(Node::Bytevector(Arc::from(bytes)), whole)
    }

    /// Reports the error at the end of the text: the outermost open list, or else the prefix that
    /// lacks its datum.
    fn finish(&mut self) {
        let margin = self.margin.take().map(|extent| self.span(extent));
        let is_list = |frame: &&Frame| {
            matches!(
                frame.kind,
                FrameKind::List(_) | FrameKind::Vector | FrameKind::Bytevector
            )
        };
        let list = self.frames.iter().find(is_list).map(|frame| frame.extent.clone());
        if let Some(extent) = list {
            let span = self.span(extent);
            self.errors.push(ReadError {
                problem: ReadProblem::UnclosedList,
                span,
                related: margin,
            });
        } else if let Some(frame) = self.frames.last() {
            let extent = frame.extent.clone();
            self.error(ReadProblem::MissingDatum, extent);
        }
    }

    fn add(&mut self, node: Node, extent: Extent) -> NodeId {
        let id = NodeId(u32::try_from(self.reading.nodes.len()).unwrap_or(u32::MAX));
        let span = self.span(extent);
        self.reading.nodes.push(node);
        self.reading.spans.push(span);
        id
    }

    fn span(&self, extent: Extent) -> Span {
        let offset = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
        Span {
            source: self.source,
            start: offset(extent.start),
            end: offset(extent.end),
        }
    }

    fn error(&mut self, problem: ReadProblem, extent: Extent) {
        let span = self.span(extent);
        self.errors.push(ReadError {
            problem,
            span,
            related: None,
        });
    }
}

#[cfg(test)]
mod tests;
