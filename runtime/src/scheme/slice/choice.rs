//! The conditions that chose a value, and the form of the text in which one was chosen.
//!
//! A literal or a variable that a condition chose leads on to that condition. A condition of
//! another procedure counts only if it decided about the call that returned the literal.
//! INVARIANT: a form is one of the program's own text; compiling the text again says which.
//! Read next: `../slice.rs`, `kernel/src/machine/tracing/decision.rs`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use duet_kernel::compiler::{UnitVariables, ValuePlace};
use duet_kernel::datum::reader::{Reading, read_all};
use duet_kernel::datum::{Node as DatumNode, SourceId, Span};
use duet_kernel::instruction::Opcode;
use duet_kernel::machine::{Origin, OriginId, Sort};

use super::super::frames::Units;
use super::Slicing;
use super::found::{Node, contains, has_word};

/// The parts of the texts that were looked up.
#[derive(Default)]
pub(super) struct Texts {
    units: RefCell<Units>,
    lists: RefCell<BTreeMap<SourceId, Vec<Span>>>,
}

/// The form in which a condition chose a value.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub(super) form: Span,
    /// Whether the form names the value.
    pub(super) is_literal: bool,
    /// Whether the condition stands in the form; else it decided about the call of the procedure
    /// that has the literal.
    is_inside: bool,
}

impl Slicing<'_> {
    /// The form in which a condition chose a literal or a variable's value.
    pub(super) fn choice(&self, id: OriginId) -> Option<Choice> {
        let (origin, condition) = self.chosen(id)?;
        let place = self.value_place(origin.position)?;
        let test = self.test_place(condition)?;
        let is_here = condition.caller == origin.caller && self.block(condition) == self.block(origin);
        let form = match () {
            () if !is_here => None,
            () if place.is_truth || contains(place.span, test) => Some(place.span),
            () => self.list_around(place.span, test),
        };
        if form.is_none() && origin.sort == Sort::Chosen {
            return None;
        }
        let whole = form
            .or_else(|| self.list_around(place.span, place.span))
            .unwrap_or(place.span);
        let names = || {
            self.text(whole)
                .is_some_and(|text| has_word(text, &self.value_of(id, origin)))
        };
        Some(Choice {
            form: whole,
            is_literal: !place.is_truth && origin.sort == Sort::Literal && names(),
            is_inside: form.is_some(),
        })
    }

    /// The parts of a value, without the conditions that did not choose it in the text.
    pub(super) fn chosen_parts(&self, id: OriginId) -> Vec<Node> {
        let parts = self.trace.parts(id);
        let Some(_) = self.chosen(id) else {
            return values(parts);
        };
        let choice = self.choice(id);
        let (mut kept, mut is_nearest) = (Vec::new(), true);
        for part in parts {
            let condition = self.trace.origin(*part).filter(|part| part.sort == Sort::Condition);
            let Some(condition) = condition else {
                kept.push(*part);
                continue;
            };
            let is_first = std::mem::replace(&mut is_nearest, false);
            let test = self.test_place(condition);
            let is_in = |choice: Choice, test: Span| match choice.is_inside {
                true => contains(choice.form, test),
                false => is_first,
            };
            if choice.zip(test).is_some_and(|(choice, test)| is_in(choice, test)) {
                kept.push(*part);
            }
        }
        values(&kept)
    }

    /// The nearest condition that chose a literal in one of Duet's libraries.
    pub(super) fn library_condition(&self, node: Node) -> Option<Node> {
        let Node::Value(id) = node else { return None };
        let (origin, _) = self.chosen(id).filter(|(origin, _)| origin.sort == Sort::Literal)?;
        let is_hidden = self.span(origin.position).is_none();
        is_hidden.then(|| self.trace.parts(id).first().copied().map(Node::Value))?
    }

    /// The place of a value in the text, if a condition chose it or a jump computed it.
    pub(super) fn place_of_choice(&self, id: OriginId) -> Option<Span> {
        let origin = self.trace.origin(id)?;
        match origin.sort {
            // `case` compares the key with each datum, which is no expression.
            Sort::Tested => self.test_place(origin).filter(|test| self.is_list(*test)),
            Sort::Literal | Sort::Chosen => self.choice(id).map(|choice| choice.form),
            Sort::Found => self.variable_place(origin),
            Sort::Computed | Sort::Returned | Sort::Answered | Sort::Given | Sort::Condition | Sort::Call => None,
        }
    }

    /// The place of the variable that a value was found in, if the expression is just that. Another
    /// expression did not make the value, but used it.
    fn variable_place(&self, origin: &Origin) -> Option<Span> {
        let instruction = self.programs.code.instructions().get(origin.position as usize)?;
        let reads = matches!(
            instruction.opcode()?,
            Opcode::Global | Opcode::Free | Opcode::CellRef | Opcode::Move | Opcode::Return
        );
        let place = self.value_place(origin.position).filter(|_| reads)?;
        Some(place.span).filter(|place| !self.is_list(*place))
    }

    /// Whether a condition was not traced, so that earlier turns may tell more.
    pub(super) fn is_unknown_condition(&self, node: Node) -> bool {
        let Node::Value(id) = node else { return false };
        let origin = self.trace.origin(id).filter(|origin| origin.sort == Sort::Condition);
        self.trace.parts(id).is_empty() && origin.and_then(|origin| self.test_place(origin)).is_some()
    }

    fn is_list(&self, span: Span) -> bool {
        self.text(span).is_some_and(|text| text.starts_with(['(', '[']))
    }

    /// The value that conditions chose, and the nearest of them.
    fn chosen(&self, id: OriginId) -> Option<(&Origin, &Origin)> {
        let origin = self.trace.origin(id)?;
        let parts = self.trace.parts(id);
        let nearest = match origin.sort {
            Sort::Literal => parts.first(),
            Sort::Chosen => parts.get(1),
            Sort::Computed
            | Sort::Returned
            | Sort::Answered
            | Sort::Given
            | Sort::Found
            | Sort::Tested
            | Sort::Condition
            | Sort::Call => None,
        };
        Some((origin, self.trace.origin(*nearest?)?))
    }

    fn block(&self, origin: &Origin) -> Option<usize> {
        self.programs.code.block_number_at(origin.position)
    }

    fn value_place(&self, position: u32) -> Option<ValuePlace> {
        let instruction = self.programs.code.instructions().get(position as usize)?;
        let is_content = instruction.opcode() == Some(Opcode::CellRef);
        let place = self.in_unit(position, |variables, offset| {
            // The instruction before has fetched the cell, if it was not there.
            let before = offset.checked_sub(1).filter(|_| is_content);
            let place = variables.value_at(offset);
            place.or_else(|| variables.value_at(before?))
        });
        place.filter(|place| self.is_own(place.span))
    }

    /// The place of a condition, or of the test that a jump made.
    fn test_place(&self, origin: &Origin) -> Option<Span> {
        let place = self.in_unit(origin.position, UnitVariables::test_at);
        place.filter(|place| self.is_own(*place))
    }

    fn in_unit<T>(&self, position: u32, read: impl Fn(&UnitVariables, u32) -> Option<T>) -> Option<T> {
        // Duet's own libraries are compiled ahead, or large.
        self.span(position)?;
        let mut units = self.texts.units.borrow_mut();
        self.programs.with_unit(&mut units, position, read)
    }

    fn text(&self, span: Span) -> Option<&str> {
        let source = self.programs.present.expander.source(span.source)?;
        source.text.get(span.start as usize..span.end as usize)
    }

    /// The smallest list of the text that has two places in it.
    fn list_around(&self, one: Span, other: Span) -> Option<Span> {
        let source = self.programs.present.expander.source(one.source)?;
        let mut lists = self.texts.lists.borrow_mut();
        let lists = lists
            .entry(one.source)
            .or_insert_with(|| lists_of(&source.text, one.source));
        let around = lists
            .iter()
            .filter(|list| contains(**list, one) && contains(**list, other));
        around.min_by_key(|list| list.end - list.start).copied()
    }
}

/// The places of all lists of a text.
fn lists_of(text: &str, source: SourceId) -> Vec<Span> {
    let (Reading { nodes, spans, .. }, _) = read_all(text, source);
    // The tail of a list has the end of its list.
    let mut is_tail = vec![false; nodes.len()];
    for node in &nodes {
        if let DatumNode::Pair(_, tail) = node {
            is_tail[tail.0 as usize] = true;
        }
    }
    let lists = nodes.iter().zip(spans).zip(is_tail);
    let lists = lists.filter(|((node, _), is_tail)| matches!(node, DatumNode::Pair(..)) && !is_tail);
    lists.map(|((_, span), _)| span).collect()
}

fn values(ids: &[OriginId]) -> Vec<Node> {
    ids.iter().copied().map(Node::Value).collect()
}
