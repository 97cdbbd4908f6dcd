//! Templates: compiled once, filled for every match.
//!
//! Owns the meaning of templates. The outermost ellipses repeat a variable that has fewer in the
//! pattern than in the template, as in SRFI 149, unless one of the others would have nothing to
//! repeat; then the innermost repeat it.
//! INVARIANT: every node that a template inserts is fresh, so that it carries the place and origin
//! of its expansion. Recursion depends only on the depth of the template.
//! It does not match.
//! Read next: `form.rs`.

use std::ops::RangeInclusive;

use super::pattern::{LIMIT_DEPTH, LIMIT_PARTS, Pattern};
use super::{Conventions, ExpansionStep, Match, problem};
use crate::diagnostic::{DiagnosticKind, FormError, RuleProblem};
use crate::syntax::binding::Binding;
use crate::syntax::scope::Scope;
use crate::syntax::{Identifier, Shape, Syntax, SyntaxStore, TemplatePlace};

/// A compiled template, as an arena.
#[derive(Debug)]
pub(crate) struct Template {
    nodes: Vec<TemplateNode>,
    root: usize,
    /// The variables whose matches are copied behind those of all variables, because inner ellipses
    /// repeat them.
    copies: Vec<usize>,
}

#[derive(Debug)]
enum TemplateNode {
    Variable(usize),
    /// An identifier or atom to insert.
    Insert(Syntax, TemplatePlace),
    List {
        elements: Vec<Element>,
        tail: usize,
        place: TemplatePlace,
    },
    Vector(Vec<Element>),
}

#[derive(Debug)]
struct Element {
    part: usize,
    /// The variables that each ellipsis behind it repeats, outermost first.
    repeated: Vec<Vec<usize>>,
}

/// The source of a template's pattern variables.
pub(crate) enum Variables<'a> {
    /// The pattern of the same rule.
    Of(&'a Pattern),
    /// The bindings of the template's identifiers. The template numbers its variables in the order
    /// of their first occurrence.
    Visible {
        /// Returns the multiplicity of a pattern variable of the session.
        multiplicity: &'a dyn Fn(u32) -> Multiplicity,
        /// The variables found so far.
        met: Vec<u32>,
        /// Scopes to remove from inserted identifiers, in ascending order.
        local: &'a [Scope],
    },
}

/// The number of forms that a pattern variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Multiplicity {
    /// One for each repetition by this many ellipses.
    Repeated(u32),
    /// A list of forms, all of which replace the variable.
    Spliced,
}

impl Multiplicity {
    /// Returns the number of list levels around each form that the variable matched.
    pub(crate) fn depth(self) -> u32 {
        match self {
            Self::Repeated(depth) => depth,
            Self::Spliced => 1,
        }
    }
}

impl Variables<'_> {
    /// Returns the number of the pattern variable that an identifier of the template names.
    fn find(&mut self, store: &SyntaxStore, identifier: Identifier) -> Option<usize> {
        match self {
            Self::Of(pattern) => {
                let mut variables = pattern.variables.iter();
                variables.position(|variable| variable.identifier == identifier)
            }
            Self::Visible { met, .. } => {
                let Ok(Some(Binding::Pattern(number))) = store.resolve(identifier) else {
                    return None;
                };
                let known = met.iter().position(|other| *other == number);
                Some(known.unwrap_or_else(|| {
                    met.push(number);
                    met.len() - 1
                }))
            }
        }
    }

    fn multiplicity(&self, variable: usize) -> Multiplicity {
        match self {
            Self::Of(pattern) => Multiplicity::Repeated(pattern.variables[variable].depth),
            Self::Visible { multiplicity, met, .. } => multiplicity(met[variable]),
        }
    }

    fn depth(&self, variable: usize) -> u32 {
        self.multiplicity(variable).depth()
    }

    fn count(&self) -> usize {
        match self {
            Self::Of(pattern) => pattern.variables.len(),
            Self::Visible { met, .. } => met.len(),
        }
    }
}

impl Template {
    pub(crate) fn compile(
        store: &mut SyntaxStore,
        conventions: &Conventions,
        pattern_variables: &mut Variables<'_>,
        template: Syntax,
    ) -> Result<Self, FormError> {
        let mut compiler = Compiler {
            store,
            conventions,
            pattern_variables,
            nodes: Vec::new(),
            mentioned: Vec::new(),
        };
        let root = compiler.part(
            template,
            Context {
                ellipses: 0,
                depth: 0,
                is_escaped: false,
            },
        )?;
        Ok(compiler.finish(root))
    }

    /// Fills the template.
    pub(crate) fn instantiate(
        &self,
        store: &mut SyntaxStore,
        mut matches: Vec<Match>,
        step: &ExpansionStep,
    ) -> Result<Syntax, RuleProblem> {
        for variable in &self.copies {
            matches.push(matches[*variable].clone());
        }
        let mut filling = Filling {
            template: self,
            store,
            matches,
            step,
        };
        filling.part(self.root)
    }
}

/// A template that is being filled.
struct Filling<'a> {
    template: &'a Template,
    store: &'a mut SyntaxStore,
    matches: Vec<Match>,
    step: &'a ExpansionStep,
}

impl Filling<'_> {
    fn part(&mut self, part: usize) -> Result<Syntax, RuleProblem> {
        let (template, step) = (self.template, self.step);
        match &template.nodes[part] {
            TemplateNode::Variable(variable) => match &self.matches[*variable] {
                Match::One(syntax) => Ok(*syntax),
                Match::Nothing | Match::Many(_) => Err(RuleProblem::NothingToRepeat),
            },
            TemplateNode::Insert(syntax, place) => {
                let inserted = self.store.copy_atom(*syntax, step.scope, step.span, step.origin);
                self.store.set_written(inserted, *place);
                Ok(inserted)
            }
            TemplateNode::List { elements, tail, place } => {
                let filled = self.elements(elements)?;
                let tail = self.part(*tail)?;
                let list = self.store.make_list_at(&filled, tail, step.span, step.origin);
                if !filled.is_empty() {
                    self.store.set_written(list, *place);
                }
                Ok(list)
            }
            TemplateNode::Vector(elements) => {
                let filled = self.elements(elements)?;
                Ok(self.store.make_vector(filled, step.span, step.origin))
            }
        }
    }

    fn elements(&mut self, elements: &[Element]) -> Result<Vec<Syntax>, RuleProblem> {
        let mut filled = Vec::with_capacity(elements.len());
        for element in elements {
            self.repeat(element, 0, &mut filled)?;
        }
        Ok(filled)
    }

    /// Fills one element once for each match of its variables, from the ellipsis with number
    /// `ellipsis` on.
    fn repeat(&mut self, element: &Element, ellipsis: usize, filled: &mut Vec<Syntax>) -> Result<(), RuleProblem> {
        if self.store.is_full_for(filled.len()) {
            return Err(RuleProblem::TooLarge);
        }
        let Some(repeated) = element.repeated.get(ellipsis) else {
            filled.push(self.part(element.part)?);
            return Ok(());
        };
        let mut sequences = Vec::new();
        for variable in repeated {
            if let Match::Many(sequence) = &mut self.matches[*variable] {
                sequences.push((*variable, std::mem::take(sequence)));
            }
        }
        let count = sequences
            .first()
            .map(|(_, sequence)| sequence.len())
            .ok_or(RuleProblem::NothingToRepeat)?;
        if sequences.iter().any(|(_, sequence)| sequence.len() != count) {
            return Err(RuleProblem::UnequalLengths);
        }
        for index in 0..count {
            for (variable, sequence) in &mut sequences {
                self.matches[*variable] = std::mem::replace(&mut sequence[index], Match::Nothing);
            }
            self.repeat(element, ellipsis + 1, filled)?;
            for (variable, sequence) in &mut sequences {
                sequence[index] = std::mem::replace(&mut self.matches[*variable], Match::Nothing);
            }
        }
        for (variable, sequence) in sequences {
            self.matches[variable] = Match::Many(sequence);
        }
        Ok(())
    }
}

/// The context of a template part.
#[derive(Clone, Copy)]
struct Context {
    /// The number of ellipses that follow it or its containers.
    ellipses: u32,
    depth: u32,
    /// Whether it is inside `(... template)`, where an ellipsis stands for itself.
    is_escaped: bool,
}

/// An occurrence of a pattern variable.
struct Mention {
    variable: usize,
    /// The node that it becomes.
    node: usize,
    /// The number of ellipses that repeat it.
    depth: u32,
    /// The number of ellipses that follow it or its containers.
    ellipses: u32,
    /// The number of outer ellipses that do not repeat it.
    skipped: u32,
}

impl Mention {
    /// Returns whether an ellipsis repeats it; the outermost one has number 1.
    fn is_repeated_by(&self, ellipsis: u32) -> bool {
        self.skipped < ellipsis && ellipsis <= self.skipped + self.depth
    }
}

struct Compiler<'a, 'v> {
    store: &'a mut SyntaxStore,
    conventions: &'a Conventions,
    pattern_variables: &'a mut Variables<'v>,
    nodes: Vec<TemplateNode>,
    /// The occurrences found so far, in order. Until the end, elements have their indices in the
    /// place of variables.
    mentioned: Vec<Mention>,
}

impl Compiler<'_, '_> {
    fn part(&mut self, template: Syntax, context: Context) -> Result<usize, FormError> {
        if context.depth > LIMIT_DEPTH {
            return Err(self
                .store
                .failure(template, DiagnosticKind::TooDeep { limit: LIMIT_DEPTH }));
        }
        let part = match self.store.shape(template) {
            Shape::Nil | Shape::Atom => self.insert(template),
            Shape::Identifier(_) => self.identifier(template, context)?,
            Shape::Vector => {
                let sources = self.store.vector(template).unwrap_or_default();
                TemplateNode::Vector(self.elements(sources, context)?)
            }
            Shape::Pair(..) => {
                let (sources, tail) = self.store.split_list(template);
                if self.store.pair(tail).is_some() {
                    return Err(self
                        .store
                        .failure(template, DiagnosticKind::TooDeep { limit: LIMIT_DEPTH }));
                }
                if let [first, escaped] = sources[..]
                    && self.is_ellipsis(first, context)
                    && self.store.is_nil(tail)
                {
                    return self.part(
                        escaped,
                        Context {
                            is_escaped: true,
                            depth: context.depth + 1,
                            ..context
                        },
                    );
                }
                let elements = self.elements(sources, context)?;
                let tail = self.part(
                    tail,
                    Context {
                        depth: context.depth + 1,
                        ..context
                    },
                )?;
                let place = self.store.add_template_place(template);
                TemplateNode::List { elements, tail, place }
            }
        };
        if self.nodes.len() >= LIMIT_PARTS as usize {
            let limit = LIMIT_PARTS;
            return Err(self.store.failure(template, DiagnosticKind::TooLarge { limit }));
        }
        self.nodes.push(part);
        Ok(self.nodes.len() - 1)
    }

    fn insert(&mut self, template: Syntax) -> TemplateNode {
        let place = self.store.add_template_place(template);
        match self.pattern_variables {
            Variables::Of(_) => TemplateNode::Insert(template, place),
            Variables::Visible { local, .. } => TemplateNode::Insert(self.store.remove_scopes(template, local), place),
        }
    }

    fn identifier(&mut self, template: Syntax, context: Context) -> Result<TemplateNode, FormError> {
        let Some(identifier) = self.store.identifier(template) else {
            return Ok(self.insert(template));
        };
        let Some(index) = self.pattern_variables.find(self.store, identifier) else {
            if self.is_ellipsis(template, context) {
                return Err(problem(self.store, template, RuleProblem::NothingToRepeat));
            }
            return Ok(self.insert(template));
        };
        let depth = self.pattern_variables.depth(index);
        if depth > context.ellipses {
            let name = self.store.symbols.name(identifier.symbol).clone();
            return Err(problem(self.store, template, RuleProblem::MissingEllipsis(name)));
        }
        self.mention(index, depth, context.ellipses);
        Ok(TemplateNode::Variable(index))
    }

    /// Notes that the next node is a variable.
    fn mention(&mut self, variable: usize, depth: u32, ellipses: u32) {
        self.mentioned.push(Mention {
            variable,
            node: self.nodes.len(),
            depth,
            ellipses,
            skipped: 0,
        });
    }

    fn elements(&mut self, sources: Vec<Syntax>, context: Context) -> Result<Vec<Element>, FormError> {
        let mut elements = Vec::new();
        let mut sources = sources.into_iter().peekable();
        while let Some(source) = sources.next() {
            if let Some(variable) = self.spliced(source) {
                // The ellipses around it do not repeat it.
                self.mention(variable, 0, context.ellipses);
                self.nodes.push(TemplateNode::Variable(variable));
                elements.push(Element {
                    part: self.nodes.len() - 1,
                    repeated: vec![vec![self.mentioned.len() - 1]],
                });
                continue;
            }
            let mut ellipses = 0;
            while sources.next_if(|next| self.is_ellipsis(*next, context)).is_some() {
                ellipses += 1;
            }
            let start = self.mentioned.len();
            let inner = Context {
                ellipses: context.ellipses + ellipses,
                depth: context.depth + 1,
                ..context
            };
            let part = self.part(source, inner)?;
            let own = context.ellipses + 1..=inner.ellipses;
            let repeated = self.repeated(start, own);
            let repeated = repeated.ok_or_else(|| problem(self.store, source, RuleProblem::NothingToRepeat))?;
            elements.push(Element { part, repeated });
        }
        Ok(elements)
    }

    /// Returns, for each of these ellipses, which of the occurrences from `start` on it repeats;
    /// `None` if one of them repeats none.
    fn repeated(&mut self, start: usize, ellipses: RangeInclusive<u32>) -> Option<Vec<Vec<usize>>> {
        let by = |mentioned: &[Mention], ellipsis: u32| -> Vec<usize> {
            let is_repeated = |index: &usize| mentioned[*index].is_repeated_by(ellipsis);
            (start..mentioned.len()).filter(is_repeated).collect()
        };
        let has_idle = ellipses
            .clone()
            .any(|ellipsis| by(&self.mentioned, ellipsis).is_empty());
        if has_idle {
            for mention in &mut self.mentioned[start..] {
                if mention.depth > 0 && mention.skipped == 0 {
                    mention.skipped = mention.ellipses - mention.depth;
                }
            }
        }
        let repeated: Vec<Vec<usize>> = ellipses.map(|ellipsis| by(&self.mentioned, ellipsis)).collect();
        repeated.iter().all(|indices| !indices.is_empty()).then_some(repeated)
    }

    /// Makes the template. An occurrence that outer ellipses do not repeat has its own copy of the
    /// matches.
    fn finish(self, root: usize) -> Template {
        let Self {
            mut nodes,
            mentioned,
            pattern_variables,
            ..
        } = self;
        let mut copies: Vec<(usize, u32)> = Vec::new();
        let mut variable_of = |mention: &Mention| {
            if mention.skipped == 0 {
                return mention.variable;
            }
            let copy = (mention.variable, mention.skipped);
            let known = copies.iter().position(|other| *other == copy);
            pattern_variables.count()
                + known.unwrap_or_else(|| {
                    copies.push(copy);
                    copies.len() - 1
                })
        };
        let variables: Vec<usize> = mentioned.iter().map(&mut variable_of).collect();
        for (mention, variable) in mentioned.iter().zip(&variables) {
            nodes[mention.node] = TemplateNode::Variable(*variable);
        }
        for node in &mut nodes {
            let (TemplateNode::List { elements, .. } | TemplateNode::Vector(elements)) = node else {
                continue;
            };
            for indices in elements.iter_mut().flat_map(|element| &mut element.repeated) {
                for index in indices.iter_mut() {
                    *index = variables[*index];
                }
                indices.sort_unstable();
                indices.dedup();
            }
        }
        Template {
            nodes,
            root,
            copies: copies.into_iter().map(|(variable, _)| variable).collect(),
        }
    }

    /// Returns the variable of a template part, if the part is a variable whose forms are spliced
    /// in.
    fn spliced(&mut self, template: Syntax) -> Option<usize> {
        let identifier = self.store.identifier(template)?;
        let variable = self.pattern_variables.find(self.store, identifier)?;
        (self.pattern_variables.multiplicity(variable) == Multiplicity::Spliced).then_some(variable)
    }

    fn is_ellipsis(&self, template: Syntax, context: Context) -> bool {
        !context.is_escaped && self.conventions.is_ellipsis(self.store, template)
    }
}
