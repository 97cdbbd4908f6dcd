//! Grants as a person or a program writes them, as data.
//!
//! Owns their forms: a name, or `(right pattern …)` for a right in the dataspace that patterns
//! limit, each `(pattern template)`.
//! INVARIANT: a template has the meaning that the form `pattern` gives it; one that it would not
//! accept is refused, and so is one that needs a program, such as `,expression`.
//! It does not say who may grant what; `../gate/right.rs` does.
//! Read next: `host/entity.rs`.

use std::fmt;

use duet_kernel::datum::reader::read_all;
use duet_kernel::datum::{Datum, Node, NodeId, SourceId};
use preserves::IOValue;

use crate::dataspace::pattern::{GroupKind, Pattern, Step};
use crate::model::codec::Codec;
use crate::model::manifest::{Extent, Manifest, Right, UnknownRight};
use crate::model::value::Fact;

/// The maximum nesting of a template.
const DEPTH_MAX: usize = 64;

/// Why a datum is not a grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantError {
    /// It is neither a name nor a limited right.
    Form,
    /// The name begins like that of a right in the dataspace and is none.
    Right(UnknownRight),
    /// Only a right in the dataspace takes patterns.
    NoRight(String),
    /// A limit is not `(pattern template)` with a template that data can express.
    Template,
    /// Nothing can match the pattern.
    Impossible,
    /// A template is nested too deeply, or circular.
    TooDeep,
}

impl fmt::Display for GrantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => {
                write!(
                    f,
                    "a grant is a name, or a right with patterns such as (dataspace/observe (pattern (job $_)))"
                )
            }
            Self::Right(unknown) => write!(f, "{unknown}"),
            Self::NoRight(name) => write!(
                f,
                "`{name}` takes no pattern, only {} do; a token of policy limits the calls of tools",
                Right::ALL.map(Right::name).join(", ")
            ),
            Self::Template => {
                write!(
                    f,
                    "a limit is (pattern template), and a template that is data has no ,expression in it"
                )
            }
            Self::Impossible => write!(
                f,
                "nothing can match the pattern: it looks for more entries than it allows"
            ),
            Self::TooDeep => write!(f, "a template is nested at most {DEPTH_MAX} levels deep"),
        }
    }
}

impl std::error::Error for GrantError {}

impl From<UnknownRight> for GrantError {
    fn from(unknown: UnknownRight) -> Self {
        Self::Right(unknown)
    }
}

/// Adds a grant to a manifest.
///
/// # Errors
/// [`GrantError`]; then the manifest is as it was, or has some of the patterns.
pub fn add(manifest: &mut Manifest, datum: &Datum, grant: NodeId) -> Result<(), GrantError> {
    if let Some(name) = name_of(datum, grant) {
        return Ok(manifest.grant(name.to_owned())?);
    }
    let parts = list(datum, grant).ok_or(GrantError::Form)?;
    let (name, patterns) = parts.split_first().ok_or(GrantError::Form)?;
    let name = name_of(datum, *name).ok_or(GrantError::Form)?;
    let right = right(name)?;
    if patterns.is_empty() {
        return Err(GrantError::Form);
    }
    for pattern in patterns {
        limit(manifest, right, &read_pattern(datum, *pattern)?)?;
    }
    Ok(())
}

/// Says whether a manifest grants what a module asks for: a name, or the written form of a right
/// with patterns, each of which a granted pattern includes.
pub fn covers(manifest: &Manifest, wanted: &str) -> bool {
    if !wanted.starts_with('(') {
        return manifest.grants(wanted);
    }
    let Some(asked) = asked(wanted) else {
        return false;
    };
    let is_covered = |right: Right, narrower: &Fact| match manifest.extent(right) {
        Extent::Nothing => false,
        Extent::Whole => true,
        Extent::Limited => {
            let narrower = pattern_of(narrower);
            let mut granted = manifest.limited().filter(|limited| limited.right == right);
            narrower.is_some_and(|narrower| {
                granted.any(|limited| pattern_of(&limited.pattern).is_some_and(|wider| wider.includes(&narrower)))
            })
        }
    };
    asked
        .limited()
        .all(|limited| is_covered(limited.right, &limited.pattern))
}

/// Returns what a module asks for in its written form, if it means something.
fn asked(wanted: &str) -> Option<Manifest> {
    let mut asked = Manifest::default();
    if !wanted.starts_with('(') {
        asked.extend([wanted.to_owned()]);
        return Some(asked);
    }
    let (reading, errors) = read_all(wanted, SourceId(0));
    let [root] = reading.forms[..] else {
        return None;
    };
    let datum = Datum {
        nodes: reading.nodes,
        root,
    };
    (errors.is_empty() && add(&mut asked, &datum, root).is_ok()).then_some(asked)
}

/// Returns all that a module lists.
pub(super) fn listed<'a>(capabilities: impl Iterator<Item = &'a str>) -> Manifest {
    let mut listed = Manifest::default();
    capabilities.filter_map(asked).for_each(|asked| listed.add(&asked));
    listed
}

fn pattern_of(packed: &Fact) -> Option<Pattern> {
    Pattern::read(packed.view())
}

/// Finds the right that patterns are to limit.
///
/// # Errors
/// [`GrantError::NoRight`].
pub(super) fn right(name: &str) -> Result<Right, GrantError> {
    Right::of_name(name).ok_or_else(|| GrantError::NoRight(name.to_owned()))
}

/// Adds a right that is limited by a pattern.
///
/// # Errors
/// [`GrantError::Impossible`], [`GrantError::TooDeep`].
pub(super) fn limit(manifest: &mut Manifest, right: Right, pattern: &Pattern) -> Result<(), GrantError> {
    if !pattern.is_possible() {
        return Err(GrantError::Impossible);
    }
    let packed = Fact::new(pattern.encode()).map_err(|_| GrantError::TooDeep)?;
    manifest.limit(right, packed);
    Ok(())
}

/// Reads `(pattern template)`.
///
/// # Errors
/// [`GrantError::Template`], [`GrantError::TooDeep`].
pub(super) fn read_pattern(datum: &Datum, form: NodeId) -> Result<Pattern, GrantError> {
    match list(datum, form).as_deref() {
        Some([head, template]) if is_symbol(datum, *head, "pattern") => {
            GrantReader { datum }.template(*template, false, DEPTH_MAX)
        }
        _ => Err(GrantError::Template),
    }
}

/// Reads the written form of `(pattern template)`.
///
/// # Errors
/// As [`read_pattern`].
pub(super) fn read_pattern_text(text: &str) -> Result<Pattern, GrantError> {
    let (reading, _) = read_all(text, SourceId(0));
    // An object without notation, such as a procedure, makes the text unreadable.
    let [root] = reading.forms[..] else {
        return Err(GrantError::Template);
    };
    let datum = Datum {
        nodes: reading.nodes,
        root,
    };
    read_pattern(&datum, root)
}

/// A reader of templates.
struct GrantReader<'a> {
    datum: &'a Datum,
}

impl GrantReader<'_> {
    /// Reads a template; with `is_exact`, it must be a compound, and matches only a compound
    /// without further entries.
    fn template(&self, id: NodeId, is_exact: bool, depth: usize) -> Result<Pattern, GrantError> {
        let depth = depth.checked_sub(1).ok_or(GrantError::TooDeep)?;
        let size = |count: usize| is_exact.then_some(count as u64);
        if let Node::Vector(elements) = self.datum.node(id) {
            return self.group(GroupKind::Sequence, size(elements.len()), elements, depth);
        }
        let Some(parts) = list(self.datum, id).filter(|parts| !parts.is_empty()) else {
            return if is_exact {
                Err(GrantError::Template)
            } else {
                self.atom(id, depth)
            };
        };
        match parts[..] {
            [head, inner] if is_keyword(self.datum, head, "exact") => self.template(inner, true, depth),
            [head, ref entries @ ..] if is_keyword(self.datum, head, "dict") => {
                self.dictionary(entries, is_exact, depth)
            }
            [head, datum] if is_symbol(self.datum, head, "quote") && !is_exact => {
                Ok(Pattern::Literal(self.literal(datum, depth)?))
            }
            [head, _] if is_symbol(self.datum, head, "unquote") => Err(GrantError::Template),
            [head, inner] if self.is_capture(head) && !is_exact => {
                Ok(Pattern::bind(self.template(inner, false, depth)?))
            }
            [head, ref fields @ ..] if self.is_label(head) => {
                let label = self.literal(head, depth)?;
                self.group(GroupKind::Record(label), size(fields.len()), fields, depth)
            }
            _ => Err(GrantError::Template),
        }
    }

    fn atom(&self, id: NodeId, depth: usize) -> Result<Pattern, GrantError> {
        if is_symbol(self.datum, id, "_") {
            return Ok(Pattern::Discard);
        }
        if self.is_capture(id) {
            return Ok(Pattern::bind(Pattern::Discard));
        }
        Ok(Pattern::Literal(self.literal(id, depth)?))
    }

    fn group(
        &self,
        kind: GroupKind,
        size: Option<u64>,
        entries: &[NodeId],
        depth: usize,
    ) -> Result<Pattern, GrantError> {
        let entry = |(index, entry): (u64, &NodeId)| Ok((Step::Index(index), self.template(*entry, false, depth)?));
        let entries = (0..).zip(entries).map(entry).collect::<Result<Vec<_>, GrantError>>()?;
        Ok(Pattern::Group { kind, size, entries })
    }

    fn dictionary(&self, entries: &[NodeId], is_exact: bool, depth: usize) -> Result<Pattern, GrantError> {
        let entry = |entry: &NodeId| match list(self.datum, *entry).as_deref() {
            Some([key, inner]) => Ok((
                Step::Key(self.literal(*key, depth)?),
                self.template(*inner, false, depth)?,
            )),
            _ => Err(GrantError::Template),
        };
        let mut entries = entries.iter().map(entry).collect::<Result<Vec<_>, GrantError>>()?;
        let length = entries.len();
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        entries.dedup_by(|(left, _), (right, _)| left == right);
        if entries.len() < length {
            return Err(GrantError::Template);
        }
        let pattern = Pattern::Group {
            kind: GroupKind::Dictionary,
            size: is_exact.then_some(length as u64),
            entries,
        };
        // Decoding puts the entries into the order that patterns have.
        Pattern::decode(&pattern.encode()).map_err(|_| GrantError::Template)
    }

    fn literal(&self, id: NodeId, depth: usize) -> Result<Fact, GrantError> {
        Fact::new(self.value(id, depth)?).map_err(|_| GrantError::TooDeep)
    }

    /// Converts a datum to the value that it is at the boundary.
    fn value(&self, id: NodeId, depth: usize) -> Result<IOValue, GrantError> {
        let depth = depth.checked_sub(1).ok_or(GrantError::TooDeep)?;
        let values = |parts: &[NodeId]| {
            let values = parts.iter().map(|part| self.value(*part, depth));
            values.collect::<Result<Vec<_>, _>>().map(IOValue::new)
        };
        match self.datum.node(id) {
            Node::Nil => Ok(IOValue::new(Vec::<IOValue>::new())),
            Node::Boolean(boolean) => Ok(IOValue::new(*boolean)),
            Node::String(text) => Ok(IOValue::new(text.to_string())),
            Node::Symbol(name) if !name.as_str().starts_with(':') => Ok(IOValue::symbol(name.as_str().to_owned())),
            Node::Keyword(name) => Ok(IOValue::symbol(format!(":{name}"))),
            Node::Bytevector(bytes) => Ok(IOValue::bytes(bytes.to_vec())),
            Node::Number(number) if number.is_integer() || !number.is_exact() => {
                number.to_string().parse().map_err(|_| GrantError::Template)
            }
            Node::Pair(..) => values(&list(self.datum, id).ok_or(GrantError::Template)?),
            Node::Vector(elements) => values(elements),
            Node::Number(_) | Node::Complex(_) | Node::Character(_) | Node::Symbol(_) => Err(GrantError::Template),
        }
    }

    fn is_capture(&self, id: NodeId) -> bool {
        matches!(self.datum.node(id), Node::Symbol(name) if name.as_str().len() > 1 && name.as_str().starts_with('$'))
    }

    fn is_label(&self, id: NodeId) -> bool {
        matches!(self.datum.node(id), Node::Symbol(_)) && !self.is_capture(id)
    }
}

/// Returns the text of a symbol or string.
fn name_of(datum: &Datum, id: NodeId) -> Option<&str> {
    if let Node::Symbol(name) = datum.node(id) {
        Some(name.as_str())
    } else if let Node::String(name) = datum.node(id) {
        Some(name)
    } else {
        None
    }
}

fn is_symbol(datum: &Datum, id: NodeId, text: &str) -> bool {
    matches!(datum.node(id), Node::Symbol(name) if name.as_str() == text)
}

fn is_keyword(datum: &Datum, id: NodeId, text: &str) -> bool {
    matches!(datum.node(id), Node::Keyword(name) if name.as_str() == text)
}

/// Returns the elements of a proper list, which labels may have made circular.
fn list(datum: &Datum, mut id: NodeId) -> Option<Vec<NodeId>> {
    let mut elements = Vec::new();
    while let Node::Pair(first, rest) = datum.node(id) {
        elements.push(*first);
        if elements.len() > datum.nodes.len() {
            return None;
        }
        id = *rest;
    }
    matches!(datum.node(id), Node::Nil).then_some(elements)
}

#[cfg(test)]
mod tests;
