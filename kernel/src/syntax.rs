//! Syntax objects: data in code position, with scopes, source and origin.
//!
//! Owns the arena of syntax nodes. A [`Syntax`] is a reference to a node together with scopes that
//! hold for everything below it, so adding a scope to a whole form costs nothing, and source trees
//! are never copied.
//! INVARIANT: nodes never change; the scopes of an identifier are those of all references on the
//! path to it.
//! It does not know core forms.
//! Read next: `syntax/scope.rs`, then `form.rs`.

pub mod binding;
pub mod procedural;
pub mod rules;
pub mod scope;
pub mod symbol;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::datum::reader::Reading;
use crate::datum::{Datum, Name, Node, NodeId, Span};
use crate::diagnostic::{Diagnostic, DiagnosticKind, FormError, Note, NoteKind};
use binding::{Ambiguity, Binding, Bindings};
use rules::{ExpansionStep, Use};
use scope::{Scope, ScopeSet, ScopeSets};
use symbol::{Symbol, Symbols};

/// A syntax object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Syntax {
    node: u32,
    scopes: ScopeSet,
}

/// Scopes that forms get one after the other, as those of `let*`. Forms with equal scopes, as those
/// of one text are, share the work.
#[derive(Default)]
pub(crate) struct ScopeSeries {
    scopes: Vec<Scope>,
    /// For each set, its union with the first scopes of the series, and their number.
    reached: BTreeMap<ScopeSet, (ScopeSet, usize)>,
}

impl ScopeSeries {
    /// Adds a scope to the series.
    pub(crate) fn push(&mut self, scope: Scope) {
        self.scopes.push(scope);
    }
}

/// The name and scopes of an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identifier {
    /// Its name.
    pub symbol: Symbol,
    /// Its scopes.
    pub scopes: ScopeSet,
}

/// The topmost constructor of a syntax object.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// The empty list.
    Nil,
    /// A symbol in code position.
    Identifier(Identifier),
    /// A pair.
    Pair(Syntax, Syntax),
    /// A vector.
    Vector,
    /// Any other datum.
    Atom,
}

#[derive(Clone, Debug)]
enum Kind {
    Nil,
    Symbol(Symbol),
    Pair(Syntax, Syntax),
    Vector(Box<[Syntax]>),
    Atom(Node),
}

/// Identifies one expansion step; zero is the source text itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OriginId(u32);

/// One expansion step: the macro that produced a node, and the step in which that macro was used.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The macro's keyword.
    pub keyword: Symbol,
    /// Where the macro is defined.
    pub definition: Span,
    /// Where the author wrote the use: in the text of the program, or in a template of the macro
    /// that produced the use.
    pub written: Span,
    /// The step that produced the macro use.
    pub parent: OriginId,
    /// The number of steps up to the source text, including this one.
    pub depth: u32,
}

/// All syntax of one session.
#[derive(Debug, Default)]
pub struct SyntaxStore {
    /// The names.
    pub symbols: Symbols,
    /// The sets of scopes.
    pub sets: ScopeSets,
    /// The bindings.
    pub bindings: Bindings,
    kinds: Vec<Kind>,
    spans: Vec<Span>,
    node_origins: Vec<OriginId>,
    origins: Vec<Origin>,
    /// For each node, one more than the index in `template_spans` of the template part that made
    /// it; zero for other nodes.
    written: Vec<u32>,
    template_spans: Vec<Span>,
    /// The number of parts of compound forms that were visited, a measure of work.
    visits: u64,
    /// The number of nodes beyond which templates make no more.
    pub(crate) nodes_max: Option<u32>,
    /// Macros make nothing more once this flag is set.
    pub(crate) stop: Option<Arc<AtomicBool>>,
}

/// A number of nodes of a store, and of what belongs to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyntaxMark {
    nodes: usize,
    origins: usize,
    template_spans: usize,
}

/// Identifies a part of a template by its place in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TemplatePlace(u32);

impl Syntax {
    /// Returns the syntax object as numbers that are valid only with its store.
    pub(crate) fn to_numbers(self) -> (u32, u32) {
        (self.node, self.scopes.number())
    }

    /// Returns the syntax object that [`Syntax::to_numbers`] encoded.
    pub(crate) fn from_numbers(node: u32, scopes: u32) -> Self {
        let scopes = ScopeSet::from_number(scopes);
        Self { node, scopes }
    }
}

impl SyntaxStore {
    /// Adopts the nodes of a reading; the forms get the given scopes.
    pub fn import(&mut self, reading: Reading, scopes: ScopeSet) -> Vec<Syntax> {
        let base = self.length();
        let child = |id: NodeId| Syntax {
            node: base + id.0,
            scopes: ScopeSet::EMPTY,
        };
        for node in reading.nodes {
            let kind = match node {
                Node::Nil => Kind::Nil,
                Node::Symbol(name) => Kind::Symbol(self.symbols.intern(&name)),
                Node::Pair(first, rest) => Kind::Pair(child(first), child(rest)),
                Node::Vector(elements) => Kind::Vector(elements.into_iter().map(child).collect()),
                atom @ (Node::Boolean(_)
                | Node::Number(_)
                | Node::Complex(_)
                | Node::Character(_)
                | Node::String(_)
                | Node::Keyword(_)
                | Node::Bytevector(_)) => Kind::Atom(atom),
            };
            self.kinds.push(kind);
        }
        self.spans.extend(reading.spans);
        self.node_origins.resize(self.kinds.len(), OriginId::default());
        self.written.resize(self.kinds.len(), 0);
        reading
            .forms
            .into_iter()
            .map(|form| Syntax { scopes, ..child(form) })
            .collect()
    }

    /// Returns the topmost constructor of a syntax object.
    pub fn shape(&mut self, syntax: Syntax) -> Shape {
        match &self.kinds[syntax.node as usize] {
            Kind::Nil => Shape::Nil,
            Kind::Symbol(symbol) => Shape::Identifier(Identifier {
                symbol: *symbol,
                scopes: syntax.scopes,
            }),
            Kind::Pair(first, rest) => {
                let (first, rest) = (*first, *rest);
                Shape::Pair(self.inherit(syntax, first), self.inherit(syntax, rest))
            }
            Kind::Vector(_) => Shape::Vector,
            Kind::Atom(_) => Shape::Atom,
        }
    }

    /// Returns the identifier, if the syntax object is one.
    pub fn identifier(&self, syntax: Syntax) -> Option<Identifier> {
        match self.kinds[syntax.node as usize] {
            Kind::Symbol(symbol) => Some(Identifier {
                symbol,
                scopes: syntax.scopes,
            }),
            Kind::Nil | Kind::Pair(..) | Kind::Vector(_) | Kind::Atom(_) => None,
        }
    }

    /// Returns the two parts of a pair.
    pub fn pair(&mut self, syntax: Syntax) -> Option<(Syntax, Syntax)> {
        match self.shape(syntax) {
            Shape::Pair(first, rest) => Some((first, rest)),
            Shape::Nil | Shape::Identifier(_) | Shape::Vector | Shape::Atom => None,
        }
    }

    /// Returns whether a syntax object is the empty list.
    pub fn is_nil(&self, syntax: Syntax) -> bool {
        matches!(self.kinds[syntax.node as usize], Kind::Nil)
    }

    /// Returns whether a syntax object is a pair or a vector.
    pub(crate) fn has_parts(&self, syntax: Syntax) -> bool {
        matches!(self.kinds[syntax.node as usize], Kind::Pair(..) | Kind::Vector(_))
    }

    /// Returns the datum of an atom.
    pub fn atom(&self, syntax: Syntax) -> Option<&Node> {
        match &self.kinds[syntax.node as usize] {
            Kind::Atom(node) => Some(node),
            Kind::Nil | Kind::Symbol(_) | Kind::Pair(..) | Kind::Vector(_) => None,
        }
    }

    /// Returns the elements of a vector.
    pub fn vector(&mut self, syntax: Syntax) -> Option<Vec<Syntax>> {
        let Kind::Vector(elements) = &self.kinds[syntax.node as usize] else {
            return None;
        };
        let elements = elements.clone();
        Some(elements.iter().map(|element| self.inherit(syntax, *element)).collect())
    }

    /// Returns the elements of a list and its tail, which is `()` for a proper list. A circular
    /// list ends soon after its first repetition; its tail is a pair.
    pub fn split_list(&mut self, syntax: Syntax) -> (Vec<Syntax>, Syntax) {
        let mut elements = Vec::new();
        let mut rest = syntax;
        // Source: Brent, BIT 20 (1980): compare with a mark that moves at doubling distances.
        let (mut marked, mut marked_at, mut lap) = (syntax.node, 0, 1);
        while let Some((first, tail)) = self.pair(rest) {
            elements.push(first);
            rest = tail;
            if rest.node == marked {
                break;
            }
            if elements.len() == marked_at + lap {
                lap *= 2;
                (marked, marked_at) = (rest.node, elements.len());
            }
        }
        (elements, rest)
    }

    /// Returns the elements of a proper list.
    pub fn list(&mut self, syntax: Syntax) -> Option<Vec<Syntax>> {
        let (elements, tail) = self.split_list(syntax);
        self.is_nil(tail).then_some(elements)
    }

    /// Returns the syntax object with one more scope on everything below it.
    pub fn add_scope(&mut self, syntax: Syntax, scope: Scope) -> Syntax {
        Syntax {
            scopes: self.sets.insert(syntax.scopes, scope),
            ..syntax
        }
    }

    /// Returns the form with all scopes of a series.
    pub(crate) fn add_series(&mut self, syntax: Syntax, series: &mut ScopeSeries) -> Syntax {
        let (set, count) = series.reached.entry(syntax.scopes).or_insert((syntax.scopes, 0));
        for scope in &series.scopes[*count..] {
            *set = self.sets.insert(*set, *scope);
        }
        *count = series.scopes.len();
        Syntax { scopes: *set, ..syntax }
    }

    /// Returns the identifier without one scope. Scopes inside a compound form stay.
    pub fn remove_scope(&mut self, syntax: Syntax, scope: Scope) -> Syntax {
        Syntax {
            scopes: self.sets.remove(syntax.scopes, scope),
            ..syntax
        }
    }

    /// Returns the identifier without any of these scopes, which are in ascending order. Scopes
    /// inside a compound form stay.
    pub(crate) fn remove_scopes(&mut self, syntax: Syntax, removed: &[Scope]) -> Syntax {
        let mut kept = syntax;
        let mut rest = syntax.scopes;
        while let Some((scope, older)) = self.sets.split(rest) {
            if removed.binary_search(&scope).is_ok() {
                kept = self.remove_scope(kept, scope);
            }
            rest = older;
        }
        kept
    }

    /// Returns the form as the reader read it, with these scopes.
    pub fn rescope(&mut self, syntax: Syntax, scopes: ScopeSet) -> Syntax {
        Syntax { scopes, ..syntax }
    }

    /// Returns the scopes that hold for a whole form.
    pub fn scopes(&self, syntax: Syntax) -> ScopeSet {
        syntax.scopes
    }

    /// Returns the source of a node. The source of a node that a macro made is the use of the
    /// macro.
    pub fn span(&self, syntax: Syntax) -> Span {
        self.spans[syntax.node as usize]
    }

    /// Returns the expansion step that made a node.
    pub fn origin(&self, syntax: Syntax) -> OriginId {
        self.node_origins[syntax.node as usize]
    }

    /// Returns the details of a step, unless it is the source text itself.
    pub fn origin_details(&self, id: OriginId) -> Option<&Origin> {
        self.origins.get(id.0.checked_sub(1)? as usize)
    }

    /// Returns the place where the author wrote a node: for a node that a template made, the place
    /// in the template.
    fn written(&self, syntax: Syntax) -> Span {
        self.template_span(syntax).unwrap_or_else(|| self.span(syntax))
    }

    fn template_span(&self, syntax: Syntax) -> Option<Span> {
        let place = self.written[syntax.node as usize].checked_sub(1)?;
        Some(self.template_spans[place as usize])
    }

    /// Numbers the place of a template part in the text.
    pub(crate) fn add_template_place(&mut self, part: Syntax) -> TemplatePlace {
        let span = self.written(part);
        self.template_spans.push(span);
        TemplatePlace(u32::try_from(self.template_spans.len()).unwrap_or(u32::MAX))
    }

    /// Records the template part that made a node.
    pub(crate) fn set_written(&mut self, syntax: Syntax, place: TemplatePlace) {
        self.written[syntax.node as usize] = place.0;
    }

    /// Records the expansion step that a macro use begins.
    pub(crate) fn add_origin(&mut self, macro_use: Use) -> OriginId {
        let Use {
            form,
            keyword,
            definition,
        } = macro_use;
        let (parent, written) = (self.origin(form), self.written(form));
        let depth = self.origin_details(parent).map_or(0, |origin| origin.depth) + 1;
        self.origins.push(Origin {
            keyword,
            definition,
            written,
            parent,
            depth,
        });
        OriginId(u32::try_from(self.origins.len()).unwrap_or(u32::MAX))
    }

    /// Attributes a form that a macro received and returned unchanged to the expansion step. So a
    /// macro that expands into its own use takes ever more steps, and their number is limited.
    pub(crate) fn made_in(&mut self, step: OriginId, form: Syntax) -> Syntax {
        let depth = |origin| self.origin_details(origin).map_or(0, |origin| origin.depth);
        let kind = &self.kinds[form.node as usize];
        if !matches!(kind, Kind::Pair(..) | Kind::Symbol(_)) || depth(self.origin(form)) >= depth(step) {
            return form;
        }
        let (kind, written) = (kind.clone(), self.written[form.node as usize]);
        let made = self.add(kind, form.scopes, self.span(form), step);
        self.written[made.node as usize] = written;
        made
    }

    /// Returns the number of nodes.
    pub fn length(&self) -> u32 {
        u32::try_from(self.kinds.len()).unwrap_or(u32::MAX)
    }

    /// Says whether there is no room for this many nodes of a template.
    pub(crate) fn is_full_for(&self, more: usize) -> bool {
        self.nodes_max
            .is_some_and(|nodes_max| self.kinds.len() + more > nodes_max as usize)
    }

    /// Returns the present number of nodes.
    pub(crate) fn mark(&self) -> SyntaxMark {
        SyntaxMark {
            nodes: self.kinds.len(),
            origins: self.origins.len(),
            template_spans: self.template_spans.len(),
        }
    }

    /// Drops the nodes that were made since the mark; nothing may refer to one of them any more.
    pub(crate) fn drop_since(&mut self, mark: SyntaxMark) {
        self.kinds.truncate(mark.nodes);
        self.spans.truncate(mark.nodes);
        self.node_origins.truncate(mark.nodes);
        self.written.truncate(mark.nodes);
        self.origins.truncate(mark.origins);
        self.template_spans.truncate(mark.template_spans);
    }

    /// Returns the binding of an identifier.
    ///
    /// # Errors
    /// [`Ambiguity`], as [`Bindings::resolve`].
    pub fn resolve(&self, identifier: Identifier) -> Result<Option<Binding>, Ambiguity> {
        self.bindings.resolve(&self.sets, identifier.symbol, identifier.scopes)
    }

    /// Binds an identifier; returns the binding that it replaces.
    pub fn bind(&mut self, identifier: Identifier, binding: Binding) -> Option<Binding> {
        self.bindings
            .bind(&self.sets, identifier.symbol, identifier.scopes, binding)
    }

    /// Returns whether two identifiers have the same binding, or the same name if both are unbound
    /// (`free-identifier=?`).
    pub fn is_same_meaning(&self, a: Identifier, b: Identifier) -> bool {
        match (self.resolve(a), self.resolve(b)) {
            (Ok(None), Ok(None)) => a.symbol == b.symbol,
            (Ok(first), Ok(second)) => first == second,
            (Err(Ambiguity), _) | (_, Err(Ambiguity)) => false,
        }
    }

    /// Makes an error at a node, with the macros that made the node.
    pub(crate) fn failure(&self, place: Syntax, kind: DiagnosticKind) -> FormError {
        let span = self.span(place);
        let mut diagnostic = Diagnostic::new(kind, span);
        let mut origin = self.origin(place);
        let template = self.template_span(place).filter(|written| *written != span);
        diagnostic.notes.extend(template.map(|span| Note {
            kind: NoteKind::WrittenHere,
            span,
        }));
        // A runaway macro has thousands of steps; the innermost ones explain the error.
        for _ in 0..8 {
            let Some(step) = self.origin_details(origin) else { break };
            let keyword = self.symbols.name(step.keyword).clone();
            diagnostic.notes.push(Note {
                kind: NoteKind::InExpansionOf(keyword.clone()),
                span: step.definition,
            });
            if step.written != span {
                diagnostic.notes.push(Note {
                    kind: NoteKind::UsedHere(keyword),
                    span: step.written,
                });
            }
            origin = step.parent;
        }
        Box::new(diagnostic)
    }

    /// Makes an identifier with the source of `place`.
    pub fn make_identifier(&mut self, name: &Name, scopes: ScopeSet, place: Syntax) -> Syntax {
        let symbol = self.symbols.intern(name);
        self.add(Kind::Symbol(symbol), scopes, self.span(place), self.origin(place))
    }

    /// Makes a list with the source of `place`.
    pub fn make_list(&mut self, elements: &[Syntax], tail: Option<Syntax>, place: Syntax) -> Syntax {
        let (span, origin) = (self.span(place), self.origin(place));
        let tail = tail.unwrap_or_else(|| self.add(Kind::Nil, ScopeSet::EMPTY, span, origin));
        self.make_list_at(elements, tail, span, origin)
    }

    /// Makes a vector with the source of `place`.
    pub(crate) fn make_vector_like(&mut self, elements: Vec<Syntax>, place: Syntax) -> Syntax {
        self.make_vector(elements, self.span(place), self.origin(place))
    }

    /// Makes an empty list without a source, the place of generated code.
    pub(crate) fn make_nothing(&mut self) -> Syntax {
        let span = Span {
            source: crate::datum::SourceId(0),
            start: 0,
            end: 0,
        };
        self.add(Kind::Nil, ScopeSet::EMPTY, span, OriginId::default())
    }

    fn make_list_at(&mut self, elements: &[Syntax], tail: Syntax, span: Span, origin: OriginId) -> Syntax {
        let cons = |rest, first: &Syntax| self.add(Kind::Pair(*first, rest), ScopeSet::EMPTY, span, origin);
        elements.iter().rev().fold(tail, cons)
    }

    /// Makes a pair as part of an expansion step.
    pub(crate) fn make_pair_at(&mut self, first: Syntax, rest: Syntax, step: &ExpansionStep) -> Syntax {
        self.add(Kind::Pair(first, rest), ScopeSet::EMPTY, step.span, step.origin)
    }

    /// Makes a vector as part of an expansion step.
    pub(crate) fn make_vector_at(&mut self, elements: Vec<Syntax>, step: &ExpansionStep) -> Syntax {
        self.make_vector(elements, step.span, step.origin)
    }

    /// Makes an identifier as part of an expansion step.
    pub(crate) fn make_identifier_at(&mut self, name: &Name, scopes: ScopeSet, step: &ExpansionStep) -> Syntax {
        let symbol = self.symbols.intern(name);
        self.add(Kind::Symbol(symbol), scopes, step.span, step.origin)
    }

    /// Makes an atom as part of an expansion step.
    pub(crate) fn make_atom_at(&mut self, node: Node, step: &ExpansionStep) -> Syntax {
        let kind = if node == Node::Nil { Kind::Nil } else { Kind::Atom(node) };
        self.add(kind, ScopeSet::EMPTY, step.span, step.origin)
    }

    fn make_vector(&mut self, elements: Vec<Syntax>, span: Span, origin: OriginId) -> Syntax {
        self.add(Kind::Vector(elements.into_boxed_slice()), ScopeSet::EMPTY, span, origin)
    }

    /// Copies a node without children to another place, with one more scope.
    fn copy_atom(&mut self, syntax: Syntax, scope: Scope, span: Span, origin: OriginId) -> Syntax {
        let kind = self.kinds[syntax.node as usize].clone();
        let scopes = self.sets.insert(syntax.scopes, scope);
        self.add(kind, scopes, span, origin)
    }

    /// Returns the datum of a syntax object, without scopes; shared and circular structure is kept.
    pub fn datum(&self, syntax: Syntax) -> Datum {
        let mut ids = BTreeMap::from([(syntax.node, NodeId(0))]);
        let mut order = vec![syntax.node];
        let mut nodes = Vec::new();
        let mut next = 0;
        while next < order.len() {
            let kind = &self.kinds[order[next] as usize];
            next += 1;
            let mut child = |child: &Syntax| {
                *ids.entry(child.node).or_insert_with(|| {
                    order.push(child.node);
                    NodeId(u32::try_from(order.len() - 1).unwrap_or(u32::MAX))
                })
            };
            nodes.push(match kind {
                Kind::Nil => Node::Nil,
                Kind::Symbol(symbol) => Node::Symbol(self.symbols.name(*symbol).clone()),
                Kind::Pair(first, rest) => Node::Pair(child(first), child(rest)),
                Kind::Vector(elements) => Node::Vector(elements.iter().map(child).collect()),
                Kind::Atom(node) => node.clone(),
            });
        }
        Datum { nodes, root: NodeId(0) }
    }

    /// Returns the number of nodes made and visited so far.
    pub(crate) fn work(&self) -> u64 {
        self.visits + u64::from(self.length())
    }

    fn inherit(&mut self, parent: Syntax, child: Syntax) -> Syntax {
        self.visits += 1;
        Syntax {
            scopes: self.sets.union(child.scopes, parent.scopes),
            ..child
        }
    }

    fn add(&mut self, kind: Kind, scopes: ScopeSet, span: Span, origin: OriginId) -> Syntax {
        let node = self.length();
        self.kinds.push(kind);
        self.spans.push(span);
        self.node_origins.push(origin);
        self.written.push(0);
        Syntax { node, scopes }
    }
}
