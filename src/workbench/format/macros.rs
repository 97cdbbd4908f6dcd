//! The macros that a text defines and whose uses have a body.
//!
//! INVARIANT: a rule makes a body of the last part of its pattern, which stands for any number of
//! data, if that is called `body`, or if its template puts it where a form has its body; a name
//! with several rules has the fewest operands before it.
//! It expands nothing.
//! Read next: `forms.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use duet_kernel::datum::reader::ReadError;

use super::forms;
use super::pieces::{Kind, Pieces};

/// Macros whose uses have a body: how many operands stand before it.
#[derive(Clone, Debug, Default)]
pub struct Macros {
    bodies: BTreeMap<String, usize>,
}

/// The definition of a macro in a text.
struct Definition<'a> {
    text: &'a str,
    pieces: &'a Pieces,
    name: &'a str,
    /// The pieces of its rules or clauses.
    rules: Vec<Range<usize>>,
    ellipsis: &'a str,
}

/// A list of a template that is being read.
#[derive(Default)]
struct OpenList<'a> {
    /// How many of its elements have begun.
    begun: usize,
    /// After how many operands its body begins, if it has one.
    before: Option<usize>,
    /// The names in its body.
    body: Vec<&'a str>,
}

impl Macros {
    /// Reads the definitions of a text, such as that of a library, by `define-syntax`, `let-syntax`
    /// and `letrec-syntax`, with `syntax-rules` and `syntax-case`.
    ///
    /// # Errors
    /// Every error of the reader.
    pub fn of(text: &str) -> Result<Self, Vec<ReadError>> {
        let pieces = super::read(text)?;
        let mut macros = Self::default();
        macros.learn(text, &pieces);
        Ok(macros)
    }

    /// Adds the macros of another text, which replace those of the same names.
    pub fn extend(&mut self, other: &Self) {
        let bodies = other.bodies.iter();
        self.bodies
            .extend(bodies.map(|(name, operands)| (name.clone(), *operands)));
    }

    /// Adds the macros that a text defines.
    pub(super) fn learn(&mut self, text: &str, pieces: &Pieces) {
        let definitions = definitions(text, pieces);
        // A template may use a macro that is defined further down.
        for _ in 0..2 {
            for definition in &definitions {
                let rules = definition.rules.iter();
                let bodies = rules.filter_map(|rule| self.operands(definition, rule));
                if let Some(fewest) = bodies.min() {
                    self.bodies.insert(definition.name.to_owned(), fewest);
                }
            }
        }
    }

    /// How many operands stand before the body of a macro of this name.
    pub(super) fn operands_before_body(&self, name: &str) -> Option<usize> {
        self.bodies.get(name).copied()
    }

    /// All names and their operands.
    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.bodies.iter().map(|(name, operands)| (name.as_str(), *operands))
    }

    /// How many operands stand before the body in the pattern of a rule.
    fn operands(&self, definition: &Definition<'_>, rule: &Range<usize>) -> Option<usize> {
        let Definition { text, pieces, .. } = definition;
        let parts = pieces.parts(rule)?;
        let (pattern, template) = (pieces.parts(parts.first()?)?, parts.last()?);
        let name = |part: &Range<usize>| pieces.text(text, part.start);
        let fixed = match &pattern[..] {
            [fixed @ .., dots] if name(dots) == definition.ellipsis => fixed,
            [.., dot, _] if name(dot) == "." => &pattern[..],
            _ => return None,
        };
        let last = fixed.last().map(name)?;
        let in_body = self.in_bodies(definition, template, last);
        let is_body = |part: &&Range<usize>| {
            let name = name(part);
            name == "."
                || pieces.all[part.start].kind == Kind::Symbol && (name.starts_with("body") || in_body.contains(name))
        };
        let operands = fixed.get(1..)?;
        let bodies = operands.iter().rev().take_while(is_body);
        let names = bodies.filter(|part| name(part) != ".").count();
        let all = operands.iter().filter(|part| name(part) != ".").count();
        (names > 0).then(|| all - names)
    }

    /// The names in a template that stand with `last` where a form has its body.
    fn in_bodies<'a>(&self, definition: &Definition<'a>, template: &Range<usize>, last: &str) -> BTreeSet<&'a str> {
        let Definition { text, pieces, .. } = definition;
        let mut found = BTreeSet::new();
        let mut open: Vec<OpenList<'a>> = Vec::new();
        for at in template.clone() {
            let piece = &pieces.all[at];
            if piece.kind == Kind::Close {
                let body = open.pop().map(|list| list.body).unwrap_or_default();
                if body.contains(&last) {
                    found.extend(body);
                }
                continue;
            }
            if let Some(list) = open.last_mut().filter(|_| piece.end.is_some() && !piece.is_comment()) {
                let name = pieces.text(text, at);
                if list.begun == 0 {
                    let own = self.operands_before_body(name);
                    list.before = own.or_else(|| forms::operands_before_body(name));
                } else if piece.kind == Kind::Symbol && list.before.is_some_and(|before| list.begun > before) {
                    list.body.push(name);
                }
                list.begun += 1;
            }
            if piece.kind == Kind::Open {
                open.push(OpenList::default());
            }
        }
        found
    }
}

/// The definitions of macros by rules or clauses, in order.
fn definitions<'a>(text: &'a str, pieces: &'a Pieces) -> Vec<Definition<'a>> {
    let mut found = Vec::new();
    // The definition around, with its end.
    let mut around: Option<(&str, usize)> = None;
    for at in 1..pieces.all.len() {
        let open = at - 1;
        if pieces.all[at].kind != Kind::Symbol || pieces.all[open].kind != Kind::Open {
            continue;
        }
        let end = pieces.all[open].close;
        let symbol = |piece: usize| (pieces.all.get(piece)?.kind == Kind::Symbol).then(|| pieces.text(text, piece));
        let children = || pieces.children(at..end);
        let word = pieces.text(text, at);
        // The name of `let-syntax` stands before the list of the rules.
        let bound = open.checked_sub(1).and_then(symbol);
        let within = around.filter(|(_, end)| at < *end).map(|(name, _)| name);
        match word {
            "define-syntax" => {
                let name = symbol(at + 1).or_else(|| symbol(at + 2));
                around = name.map(|name| (name, end));
            }
            "syntax-rules" => {
                let parts = children();
                let ellipsis = parts.get(1).and_then(|part| symbol(part.start));
                if let Some(name) = bound.or(within) {
                    found.push(Definition {
                        text,
                        pieces,
                        name,
                        rules: parts,
                        ellipsis: ellipsis.unwrap_or("..."),
                    });
                }
            }
            "syntax-case" => {
                if let Some(name) = within {
                    found.push(Definition {
                        text,
                        pieces,
                        name,
                        rules: children().into_iter().skip(3).collect(),
                        ellipsis: "...",
                    });
                }
            }
            _ => {}
        }
    }
    found
}
