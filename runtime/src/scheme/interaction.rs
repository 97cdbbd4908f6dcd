//! Evaluating a text in a living actor.
//!
//! Owns the steps between a text and its run: it links the text's units with the instance and makes
//! procedures of them, and turns an error into a condition, or into the failure of an interaction.
//! INVARIANT: the fuel for a text depends on its length alone, not on whether its units are known.
//! It does not keep texts; `evaluation.rs` does. It does not show values; `(duet internal eval)`
//! does.
//! Read next: `evaluation.rs`.

use duet_kernel::code::CodeSpace;
use duet_kernel::datum::Name;
use duet_kernel::diagnostic::Diagnostic;
use duet_kernel::expander::{Expander, TopLevel};
use duet_kernel::heap::HeapFull;
use duet_kernel::machine::Instance;
use duet_kernel::unit::GlobalName;
use duet_kernel::value::Value;

use super::actor::SchemeActor;
use super::evaluation::{self, EvaluationText, Evaluations, TextCompiler};
use super::execution::mark_fiber;
use super::programs::{Fault, SchemePrograms};
use super::{convert, description};
use crate::driver::Attached;
use crate::model::codec::Codec;
use crate::model::failure::{Failure, Origin};
use crate::model::manifest::Manifest;
use crate::turn::activation::Activation;
use crate::turn::task::End;

/// The cost of a text, and of each of its bytes, in units of fuel.
const TEXT_FUEL: u64 = 256;
const BYTE_FUEL: u64 = 8;

/// The beginning of an object without a notation, in a text.
const UNREADABLE: &str = "#<";

impl SchemePrograms {
    /// Returns the compiler of texts for an actor that plays an entity of a library, or for the
    /// main program.
    pub(super) fn text_compiler(&mut self, entity: Option<&Name>) -> TextCompiler<'_> {
        if let Some(library) = entity
            && !self.present.entity_units.contains_key(library)
        {
            let units = self.units_for(library);
            self.present.entity_units.insert(library.clone(), units);
        }
        let of_entity = entity.and_then(|library| self.present.entity_units.get(library));
        TextCompiler {
            expander: &mut self.present.expander,
            code: &mut self.code,
            sources: &mut self.present.sources,
            brought: &mut self.present.brought,
            compared_units: &self.present.compared_units,
            library_units: &mut self.present.library_units,
            text_units: &mut self.text_units,
            units: of_entity.unwrap_or(&self.present.units),
        }
    }

    /// Returns whether texts can find a library, or a text that another one includes.
    pub fn has_source(&self, wanted: &[String]) -> bool {
        self.present.sources.has(wanted)
    }

    /// Makes the top level of interactions before the first one comes.
    ///
    /// # Errors
    /// The failure that evaluating a text would end in.
    pub fn prepare_interaction(&mut self, actor: &mut SchemeActor, manifest: &Manifest) -> Result<(), Failure> {
        let prepared = actor.evaluations().prepare(&mut self.text_compiler(None), "", manifest);
        prepared.map_err(|fault| self.failure(&fault))
    }

    /// Returns whether an actor takes interactions: whether its program has the library for them.
    pub fn is_interactive(&self, actor: &mut SchemeActor) -> bool {
        actor.instance.heap.expand();
        actor.instance.global(&self.code, &interact()).is_some()
    }

    /// Lists the names visible to interactions of an actor, in alphabetical order, each with
    /// whether it is a keyword.
    pub fn interaction_names(&self, actor: &SchemeActor) -> Vec<(String, bool)> {
        self.names_at(actor.known_evaluations().and_then(Evaluations::interaction))
    }

    /// Lists the names visible to the texts of a session: those of its sandbox, or as
    /// [`interaction_names`](Self::interaction_names) does.
    pub fn session_names(&self, actor: &SchemeActor) -> Vec<(String, bool)> {
        let evaluations = actor.known_evaluations();
        self.names_at(evaluations.and_then(|known| known.sandbox().or_else(|| known.interaction())))
    }

    fn names_at(&self, top: Option<&TopLevel>) -> Vec<(String, bool)> {
        let names = top.map(|top| self.present.expander.names_at(top)).unwrap_or_default();
        let names = names.into_iter();
        names
            .map(|(name, is_keyword)| (name.as_str().to_owned(), is_keyword))
            .collect()
    }

    /// Starts the evaluation of an interaction on the machine; returns an end if its text cannot be
    /// evaluated.
    pub(super) fn begin_interaction(
        &mut self,
        actor: &mut SchemeActor,
        text: &str,
        sources: &[Attached],
        turn: &mut Activation,
    ) -> Result<Option<End>, Fault> {
        let interact = actor.instance.global(&self.code, &interact());
        if self.observation.is_some() {
            if interact.is_none() {
                actor.evaluations().look_from_program(&self.present.expander);
            }
            return self.begin_observation(actor, text, turn);
        }
        let Some(interact) = interact else {
            let message = "the run's program takes no interactions: it has not evaluated (duet internal eval)";
            return Ok(Some(End::Failed(Failure::new("not-interactive", message))));
        };
        let wanted = EvaluationText {
            environment: "",
            // The number of its turn, which differs from text to text, also after a failure.
            name: Some(format!("input {}", turn.number())),
            text,
            sources,
        };
        match self.units(actor, &wanted, turn) {
            Ok(units) => {
                let procedures = procedures(&mut actor.instance, &self.code, &units)?;
                self.machine.start(&mut actor.instance, interact, &[procedures]);
                // Interactions one after another share a top level, whose continuations each may
                // enter.
                if turn.parked_main().is_some() {
                    mark_fiber(&mut actor.instance.heap, turn.fiber())?;
                }
                Ok(None)
            }
            Err(_) if self.is_stopped(turn) => Ok(Some(End::Failed(Failure::interrupted()))),
            Err(fault) => Ok(Some(End::Failed(self.failure(&fault)))),
        }
    }

    /// Answers a request to compile a text: with a list of procedures to be called in order, or
    /// with a condition.
    pub(super) fn compile_for(
        &mut self,
        actor: &mut SchemeActor,
        turn: &mut Activation,
        text: &str,
        environment: &str,
    ) -> Result<(), Fault> {
        let wanted = EvaluationText {
            environment,
            name: None,
            text,
            sources: &[],
        };
        match self.compiled(actor, turn, &wanted)? {
            Ok(procedures) => self.machine.resume(procedures),
            Err(fault) => self.raise_fault(actor, &fault, text.contains(UNREADABLE))?,
        }
        Ok(())
    }

    /// Answers a request to compile a text of several forms: with a list of procedures to be called
    /// in order, or with the failure as a record.
    pub(super) fn compile_text_for(
        &mut self,
        actor: &mut SchemeActor,
        turn: &mut Activation,
        wanted: &EvaluationText<'_>,
    ) -> Result<(), Fault> {
        let answer = match self.compiled(actor, turn, wanted)? {
            Ok(procedures) => procedures,
            Err(fault) => {
                let failure = self.failure(&fault).encode();
                convert::enter(&mut actor.instance.heap, &failure).map_err(|_| Fault)?
            }
        };
        self.machine.resume(answer);
        Ok(())
    }

    fn compiled(
        &mut self,
        actor: &mut SchemeActor,
        turn: &mut Activation,
        wanted: &EvaluationText<'_>,
    ) -> Result<Result<Value, evaluation::Fault>, Fault> {
        match self.units(actor, wanted, turn) {
            Ok(units) => Ok(Ok(procedures(&mut actor.instance, &self.code, &units)?)),
            Err(fault) => Ok(Err(fault)),
        }
    }

    /// Answers a request to describe a name.
    pub(super) fn describe(&mut self, actor: &mut SchemeActor, name: &str) -> Result<(), Fault> {
        let found = description::descriptions(name, &self.present.sources.texts());
        let heap = &mut actor.instance.heap;
        match convert::enter(heap, &description::as_value(&found)) {
            Ok(list) => self.machine.resume(list),
            Err(error) => {
                let condition = convert::boundary_condition(heap, &error)?;
                self.machine.raise(&actor.instance, &self.code, condition);
            }
        }
        Ok(())
    }

    /// Answers a request for an environment: with its import sets, or with a condition.
    pub(super) fn make_environment(
        &mut self,
        actor: &mut SchemeActor,
        turn: &mut Activation,
        imports: &str,
    ) -> Result<(), Fault> {
        charge(turn, imports);
        let entity = actor.entity_library();
        let compiler = &mut self.text_compiler(entity.as_ref());
        let made = actor.evaluations().prepare(compiler, imports, &turn.manifest());
        match made {
            Ok(()) => {
                let imports = actor.instance.heap.string(imports)?;
                self.machine.resume(imports);
            }
            Err(fault) => self.raise_fault(actor, &fault, false)?,
        }
        Ok(())
    }

    pub(super) fn units(
        &mut self,
        actor: &mut SchemeActor,
        wanted: &EvaluationText<'_>,
        turn: &mut Activation,
    ) -> Result<Vec<usize>, evaluation::Fault> {
        charge(turn, wanted.text);
        let entity = actor.entity_library();
        let evaluations = actor.evaluations();
        let units = evaluations.units(&mut self.text_compiler(entity.as_ref()), wanted, &turn.manifest());
        for warning in evaluations.take_warnings() {
            // An evaluation without effects shows none.
            let _ = turn.log(format!("warning: {warning}"));
        }
        units
    }

    fn raise_fault(
        &mut self,
        actor: &mut SchemeActor,
        fault: &evaluation::Fault,
        is_unreadable: bool,
    ) -> Result<(), Fault> {
        let failure = self.failure(fault);
        let message = if is_unreadable {
            "what is to be evaluated contains an object that has no notation, such as a procedure".to_owned()
        } else {
            failure.message
        };
        let condition = convert::make_condition(&mut actor.instance.heap, &failure.kind, &message, &[])?;
        self.machine.raise(&actor.instance, &self.code, condition);
        Ok(())
    }

    /// Converts a fault to the failure that describes it.
    pub(super) fn failure(&self, fault: &evaluation::Fault) -> Failure {
        match fault {
            evaluation::Fault::Expand(errors) => syntax_failure(&self.present.expander, errors),
            evaluation::Fault::Compile(error) => Failure::new("syntax-error", error.to_string()),
            evaluation::Fault::Load(error) => Failure::new("out-of-memory", error.to_string()),
            evaluation::Fault::TooLarge => {
                let message = "a text is longer than a megabyte, or the texts than the limit of an actor allows";
                Failure::new("too-large", message)
            }
        }
    }
}

/// Describes errors of a text.
pub(super) fn syntax_failure(expander: &Expander, errors: &[Diagnostic]) -> Failure {
    let said = |error: &Diagnostic| match error.hint() {
        Some(hint) => format!("{}; {hint}", error.kind),
        None => error.kind.to_string(),
    };
    let messages: Vec<String> = errors.iter().map(said).collect();
    let mut failure = Failure::new("syntax-error", messages.join("\n"));
    failure.origin = errors.first().and_then(|error| {
        let source = expander.source(error.span.source)?;
        Some(Box::new(Origin {
            source: source.name.clone(),
            start: error.span.start.into(),
            end: error.span.end.into(),
        }))
    });
    failure
}

/// The procedure that evaluates an interaction.
fn interact() -> GlobalName {
    GlobalName {
        library: Name::from("(duet internal eval)"),
        name: Name::from("%interact"),
    }
}

fn charge(turn: &mut Activation, text: &str) {
    let cost = TEXT_FUEL + BYTE_FUEL * text.len() as u64;
    let fuel = turn.fuel();
    *fuel = fuel.saturating_sub_unsigned(cost);
}

/// Links units with the instance and returns a list of their procedures.
fn procedures(instance: &mut Instance, code: &CodeSpace, units: &[usize]) -> Result<Value, HeapFull> {
    let mut procedures = Vec::new();
    for unit in units {
        instance.link_apart(code, *unit)?;
        procedures.push(instance.unit_procedure(code, *unit)?);
    }
    instance.heap.list(&procedures, Value::NIL)
}
