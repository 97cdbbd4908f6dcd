//! Patterns: compiled once, matched against every use.
//!
//! Owns the meaning of patterns and the numbering of their variables.
//! INVARIANT: the variables of a subpattern have consecutive numbers. Recursion depends on the
//! depth of the pattern, never on the length of a list or the depth of a use.
//! It does not know templates.
//! Read next: `template.rs`.

use super::{Conventions, Match, problem};
use crate::datum::Node;
use crate::diagnostic::{DiagnosticKind, FormError, RuleProblem};
use crate::syntax::{Identifier, Shape, Syntax, SyntaxStore};

/// The greatest nesting depth of a pattern or template; the recursion below stays within a few
/// hundred KiB of stack.
pub(crate) const LIMIT_DEPTH: u32 = 400;

/// The maximum number of parts of a pattern or template, because with labels a short text denotes
/// one that doubles at each level.
pub(super) const LIMIT_PARTS: u32 = 1 << 20;

/// A compiled pattern, as an arena whose last node is the root.
#[derive(Debug)]
pub(crate) struct Pattern {
    nodes: Vec<PatternNode>,
    root: usize,
    /// The variables in order of their numbers.
    pub(crate) variables: Vec<Variable>,
}

/// A pattern variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable {
    pub(crate) identifier: Identifier,
    /// The number of ellipses that follow it or its containers.
    pub(crate) depth: u32,
}

#[derive(Debug)]
enum PatternNode {
    Anything,
    Variable(usize),
    Literal(Identifier),
    Atom(Node),
    List(ListPattern),
    Nil,
    /// A list pattern that the elements must match.
    Vector(usize),
}

/// A pattern of a list: its elements, of which one may be repeated, and its tail.
#[derive(Debug)]
struct ListPattern {
    elements: Vec<usize>,
    repeated: Option<Repeat>,
    tail: usize,
}

#[derive(Clone, Copy, Debug)]
struct Repeat {
    position: usize,
    /// How many elements follow.
    following: usize,
    first_variable: usize,
    end_variable: usize,
}

impl Pattern {
    pub(crate) fn compile(
        store: &mut SyntaxStore,
        conventions: &Conventions,
        pattern: Syntax,
    ) -> Result<Self, FormError> {
        let mut compiler = Compiler {
            store,
            conventions,
            nodes: Vec::new(),
            variables: Vec::new(),
        };
        let root = compiler.part(pattern, 0, 0)?;
        Ok(Self {
            nodes: compiler.nodes,
            root,
            variables: compiler.variables,
        })
    }

    /// Matches a form; returns the match of each variable, by number.
    pub(crate) fn matches(&self, store: &mut SyntaxStore, form: Syntax) -> Option<Vec<Match>> {
        let mut matches = vec![Match::Nothing; self.variables.len()];
        self.part(store, self.root, form, &mut matches).then_some(matches)
    }

    fn part(&self, store: &mut SyntaxStore, part: usize, form: Syntax, matches: &mut [Match]) -> bool {
        match &self.nodes[part] {
            PatternNode::Anything => true,
            PatternNode::Variable(variable) => {
                matches[*variable] = Match::One(form);
                true
            }
            PatternNode::Literal(literal) => {
                let identifier = store.identifier(form);
                identifier.is_some_and(|identifier| store.is_same_meaning(identifier, *literal))
            }
            PatternNode::Atom(atom) => store.atom(form) == Some(atom),
            PatternNode::Nil => store.is_nil(form),
            PatternNode::Vector(list) => match store.vector(form) {
                Some(elements) => {
                    let list_form = store.make_list(&elements, None, form);
                    self.part(store, *list, list_form, matches)
                }
                None => false,
            },
            PatternNode::List(list) => self.list(store, list, form, matches),
        }
    }

    fn list(&self, store: &mut SyntaxStore, list: &ListPattern, form: Syntax, matches: &mut [Match]) -> bool {
        let mut rest = form;
        for (position, element) in list.elements.iter().enumerate() {
            if let Some(repeat) = list.repeated.filter(|repeat| repeat.position == position) {
                let Some(behind) = self.repetitions(store, *element, repeat, rest, matches) else {
                    return false;
                };
                rest = behind;
                continue;
            }
            let Some((first, others)) = store.pair(rest) else {
                return false;
            };
            if !self.part(store, *element, first, matches) {
                return false;
            }
            rest = others;
        }
        self.part(store, list.tail, rest, matches)
    }

    /// Matches all elements except those that follow the repeated one; returns the rest of the
    /// list.
    fn repetitions(
        &self,
        store: &mut SyntaxStore,
        element: usize,
        repeat: Repeat,
        form: Syntax,
        matches: &mut [Match],
    ) -> Option<Syntax> {
        let (available, _) = store.split_list(form);
        let count = available.len().checked_sub(repeat.following)?;
        let variables = repeat.first_variable..repeat.end_variable;
        let mut collected: Vec<Vec<Match>> = variables.clone().map(|_| Vec::with_capacity(count)).collect();
        for form in &available[..count] {
            if !self.part(store, element, *form, matches) {
                return None;
            }
            for (sequence, variable) in collected.iter_mut().zip(variables.clone()) {
                sequence.push(std::mem::replace(&mut matches[variable], Match::Nothing));
            }
        }
        for (sequence, variable) in collected.into_iter().zip(variables) {
            matches[variable] = Match::Many(sequence);
        }
        let mut rest = form;
        for _ in 0..count {
            (_, rest) = store.pair(rest)?;
        }
        Some(rest)
    }
}

struct Compiler<'a> {
    store: &'a mut SyntaxStore,
    conventions: &'a Conventions,
    nodes: Vec<PatternNode>,
    variables: Vec<Variable>,
}

impl Compiler<'_> {
    /// Compiles one pattern at nesting level `depth`, under `ellipses` ellipses.
    fn part(&mut self, pattern: Syntax, ellipses: u32, depth: u32) -> Result<usize, FormError> {
        if depth > LIMIT_DEPTH {
            return Err(self
                .store
                .failure(pattern, DiagnosticKind::TooDeep { limit: LIMIT_DEPTH }));
        }
        let part = match self.store.shape(pattern) {
            Shape::Nil => PatternNode::Nil,
            Shape::Identifier(identifier) => self.identifier(pattern, identifier, ellipses)?,
            Shape::Atom => self
                .store
                .atom(pattern)
                .cloned()
                .map_or(PatternNode::Nil, PatternNode::Atom),
            Shape::Pair(..) => self.list(pattern, ellipses, depth)?,
            Shape::Vector => {
                let elements = self.store.vector(pattern).unwrap_or_default();
                let list = self.store.make_list(&elements, None, pattern);
                PatternNode::Vector(self.part(list, ellipses, depth + 1)?)
            }
        };
        if self.nodes.len() >= LIMIT_PARTS as usize {
            let limit = LIMIT_PARTS;
            return Err(self.store.failure(pattern, DiagnosticKind::TooLarge { limit }));
        }
        self.nodes.push(part);
        Ok(self.nodes.len() - 1)
    }

    fn identifier(&mut self, pattern: Syntax, identifier: Identifier, ellipses: u32) -> Result<PatternNode, FormError> {
        if self.conventions.is_literal(identifier) {
            return Ok(PatternNode::Literal(identifier));
        }
        if self.conventions.is_ellipsis(self.store, pattern) {
            return Err(problem(self.store, pattern, RuleProblem::EllipsisWithoutPattern));
        }
        if self.store.is_same_meaning(identifier, self.conventions.underscore) {
            return Ok(PatternNode::Anything);
        }
        if self.variables.iter().any(|variable| variable.identifier == identifier) {
            let name = self.store.symbols.name(identifier.symbol).clone();
            return Err(problem(self.store, pattern, RuleProblem::DuplicateVariable(name)));
        }
        self.variables.push(Variable {
            identifier,
            depth: ellipses,
        });
        Ok(PatternNode::Variable(self.variables.len() - 1))
    }

    fn list(&mut self, pattern: Syntax, ellipses: u32, depth: u32) -> Result<PatternNode, FormError> {
        let (sources, tail) = self.store.split_list(pattern);
        if self.store.pair(tail).is_some() {
            return Err(self
                .store
                .failure(pattern, DiagnosticKind::TooDeep { limit: LIMIT_DEPTH }));
        }
        let mut elements = Vec::new();
        let mut repeated: Option<Repeat> = None;
        let mut sources = sources.into_iter().peekable();
        while let Some(source) = sources.next() {
            let follows = sources.next_if(|next| self.conventions.is_ellipsis(self.store, *next));
            let first_variable = self.variables.len();
            elements.push(self.part(source, ellipses + u32::from(follows.is_some()), depth + 1)?);
            let Some(ellipsis) = follows else { continue };
            if repeated.is_some() {
                return Err(problem(self.store, ellipsis, RuleProblem::SecondEllipsis));
            }
            let end_variable = self.variables.len();
            repeated = Some(Repeat {
                position: elements.len() - 1,
                following: 0,
                first_variable,
                end_variable,
            });
        }
        let tail = self.part(tail, ellipses, depth + 1)?;
        if let Some(repeat) = &mut repeated {
            repeat.following = elements.len() - repeat.position - 1;
        }
        Ok(PatternNode::List(ListPattern {
            elements,
            repeated,
            tail,
        }))
    }
}
