//! The comparison of a library of a changed text with the one before, form by form.
//!
//! Read next: `change.rs`.

use std::collections::BTreeSet;

use duet_kernel::core::forms::{FormKind, TopForm, written_type};
use duet_kernel::core::{CoreId, Unit};
use duet_kernel::datum::Name;
use duet_kernel::unit::GlobalName;

use super::apart::refused;
use super::change::NewUnit;
use super::entity::PROGRAM;
use super::version::{Change, MigratedType, TopPlace, TypeMigration, UnevaluatedForm};
use crate::model::failure::Failure;

/// The refusal to keep the records of a type that has other fields now.
fn another_type(name: &str, global: &str) -> Failure {
    refused(format!(
        "the records of type {name} that the run has made do not have the fields of the new text; `(migrate-records \
         {name} (FIELD …) EXPRESSION)` in the new text makes each of them a record of the new type; with `--run \
         {global}` the run makes another type of that name, and its procedures refuse the records that it has made \
         before"
    ))
}

/// The comparison of a unit with the one before.
pub(super) struct Comparison<'a> {
    pub(super) library: &'a Name,
    pub(super) before: &'a [TopForm],
    /// The expressions before that the new text has not had yet.
    pub(super) unseen: Vec<Unnamed>,
    /// The number of expressions of the new text so far.
    pub(super) expressions: usize,
    /// The procedures that are new.
    pub(super) added: Vec<(GlobalName, usize)>,
    /// The forms to be evaluated.
    pub(super) nodes: Vec<CoreId>,
    /// Those of them that define values which are new.
    pub(super) values: Vec<(Name, CoreId)>,
    pub(super) change: &'a mut Change,
    /// The names and numbers that the person gave and nothing had yet.
    pub(super) wanted: &'a mut BTreeSet<String>,
    /// The unit before and the new one.
    pub(super) texts: (&'a Unit, &'a NewUnit<'a>),
}

/// A name or a number of a unit for people.
fn shown_in(library: &Name, name: &str) -> String {
    if library.as_str() == PROGRAM {
        name.to_owned()
    } else {
        format!("{name} of {library}")
    }
}

/// Whether a person wants forms of a unit evaluated.
pub(super) fn has_wanted(unit: &Unit, wanted: &BTreeSet<String>) -> bool {
    if wanted.is_empty() {
        return false;
    }
    let forms = unit.top_forms();
    let numbers = unnamed(&forms).into_iter().map(|form| form.number.to_string());
    let names = forms
        .iter()
        .filter_map(TopForm::name)
        .map(|name| name.as_str().to_owned());
    names
        .chain(numbers)
        .any(|name| wanted.contains(&shown_in(&unit.name, &name)))
}

/// An expression at the top level.
pub(super) struct Unnamed {
    /// Its place among all forms, from 0.
    place: usize,
    /// Its number among the expressions, from 1.
    pub(super) number: usize,
    digest: [u8; 32],
}

/// The expressions among some forms.
pub(super) fn unnamed(forms: &[TopForm]) -> Vec<Unnamed> {
    let is_expression = |form: &TopForm| form.name().is_none() && !matches!(form.kind, FormKind::Migration(_));
    let expressions = forms.iter().enumerate().filter(|(_, form)| is_expression(form));
    let numbered = expressions.zip(1..).map(|((place, form), number)| Unnamed {
        place,
        number,
        digest: form.digest,
    });
    numbered.collect()
}

impl<'a> Comparison<'a> {
    /// A name or a number of the unit for people.
    pub(super) fn shown(&self, name: &str) -> String {
        shown_in(self.library, name)
    }

    pub(super) fn find(&self, name: &Name) -> Option<&'a TopForm> {
        self.before.iter().find(|form| form.name() == Some(name))
    }

    /// Compares an expression, the form of the new text with a number.
    pub(super) fn expression(&mut self, form: &TopForm, number: usize) {
        self.expressions += 1;
        let shown = self.shown(&self.expressions.to_string());
        let known = self.unseen.iter().position(|old| old.digest == form.digest);
        let before = self.texts.1.alignment.old_top(number);
        let edited = known.or_else(|| self.unseen.iter().position(|old| Some(old.place) == before));
        if self.wanted.remove(&shown) {
            self.change.listed.run.push(format!("expression {shown}"));
            self.nodes.push(form.node);
        } else if known.is_none() && edited.is_some() && self.has_successor(form) {
            self.change.listed.changed.push(format!("expression {shown}"));
        } else if known.is_none() {
            self.change.listed.expressions.push(self.unevaluated(shown, number));
        }
        if let Some(place) = edited {
            self.unseen.remove(place);
        }
    }

    /// Whether a procedure in a form of the new text takes the place of an earlier one.
    fn has_successor(&self, form: &TopForm) -> bool {
        let new = self.texts.1;
        let inside = new.unit.inside(form.node);
        inside.iter().any(|node| new.successors.contains(node))
    }

    fn unevaluated(&self, name: String, number: usize) -> UnevaluatedForm {
        let library = self.library.clone();
        UnevaluatedForm {
            name,
            place: TopPlace { library, number },
        }
    }

    /// Compares the definition of a value that is no procedure.
    pub(super) fn value(&mut self, name: &Name, form: &TopForm, number: usize) -> Result<(), Failure> {
        let shown = self.shown(name.as_str());
        let listed = &mut self.change.listed;
        let old = self.before.iter().find(|old| old.name() == Some(name));
        if old.is_none() {
            self.wanted.remove(&shown);
            listed.added.push(shown);
            self.nodes.push(form.node);
            self.values.push((name.clone(), form.node));
        } else if self.wanted.remove(&shown) {
            listed.run.push(shown);
            self.nodes.push(form.node);
        } else if old.is_some_and(|old| old.digest != form.digest) {
            if let FormKind::RecordType(_) = form.kind {
                return self.record_type(name, &shown);
            }
            let unevaluated = self.unevaluated(shown, number);
            self.change.listed.data.push(unevaluated);
        }
        Ok(())
    }

    /// Takes on another definition of a record type, if the new text says what becomes of its
    /// records.
    fn record_type(&mut self, name: &Name, shown: &str) -> Result<(), Failure> {
        let (present, new) = self.texts;
        let written = Name::from(written_type(name));
        let new = new.unit;
        let forms = new.top_forms();
        let migration = forms.iter().find_map(|form| match &form.kind {
            FormKind::Migration(migration) if migration.record_type == written => Some(migration),
            FormKind::Migration(_)
            | FormKind::Procedure(_)
            | FormKind::RecordType(_)
            | FormKind::Data(_)
            | FormKind::Expression => None,
        });
        let (Some(migration), Some(before), Some(now)) =
            (migration, present.record_fields(&written), new.record_fields(&written))
        else {
            return Err(another_type(written.as_str(), shown));
        };
        let record_type = GlobalName {
            library: self.library.clone(),
            name: name.clone(),
        };
        let shown = self.shown(written.as_str());
        self.change.listed.migrated.push(shown.clone());
        let migration = TypeMigration::of(migration, MigratedType { record_type, shown }, &before, &now)?;
        self.change.migrations.push(migration);
        Ok(())
    }

    /// Checks that each migration of the new text is of a type that the text defines.
    pub(super) fn require_migrations_used(&self, forms: &[TopForm]) -> Result<(), Failure> {
        for form in forms {
            if let FormKind::Migration(migration) = &form.kind
                && self.texts.1.unit.record_fields(&migration.record_type).is_none()
            {
                return Err(refused(format!(
                    "the migration of {} is of no record type that the text defines",
                    self.shown(migration.record_type.as_str())
                )));
            }
        }
        Ok(())
    }
}
