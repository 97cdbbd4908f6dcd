//! Expanded texts and listings of procedures, for people who inspect a run.
//!
//! INVARIANT: an inspection leaves nothing behind: no definition, and no code that the actor could
//! run.
//! It evaluates nothing.
//! Read next: `evaluation.rs`.

use std::sync::Arc;

use duet_kernel::compiler::compile;
use duet_kernel::core::Unit;
use duet_kernel::expander::Meaning;
use duet_kernel::heap::Kind;
use duet_kernel::unit::GlobalName;

use super::actor::SchemeActor;
use super::evaluation::Evaluations;
use super::programs::SchemePrograms;
use crate::model::failure::Failure;
use crate::model::manifest::Manifest;

impl SchemePrograms {
    /// Returns a text after expansion, in the core language.
    ///
    /// # Errors
    /// The failure that evaluating the text would end in.
    pub fn expanded(&mut self, actor: &mut SchemeActor, manifest: &Manifest, text: &str) -> Result<String, Failure> {
        let unit = self.unit_of(actor, manifest, text)?;
        Ok(unit.map(|unit| format!("{unit}\n")).unwrap_or_default())
    }

    /// Returns the instructions of the procedure that a name is bound to, or the compiled
    /// instructions of any other text.
    ///
    /// # Errors
    /// The failure that evaluating the text would end in; `no-listing` if the name is bound to
    /// nothing that has instructions.
    pub fn disassembled(
        &mut self,
        actor: &mut SchemeActor,
        manifest: &Manifest,
        text: &str,
    ) -> Result<String, Failure> {
        let is_name = !text.contains(|next: char| next.is_whitespace() || "()'`,\"#;|".contains(next));
        if is_name && text.parse::<f64>().is_err() {
            return self.listing_of(actor, manifest, text);
        }
        let Some(unit) = self.unit_of(actor, manifest, text)? else {
            return Ok(String::new());
        };
        let compiled = compile(&unit, &self.code);
        compiled
            .map(|compiled| compiled.to_string())
            .map_err(|error| Failure::new("syntax-error", error.to_string()))
    }

    fn unit_of(
        &mut self,
        actor: &mut SchemeActor,
        manifest: &Manifest,
        text: &str,
    ) -> Result<Option<Arc<Unit>>, Failure> {
        match actor.evaluations().look(&mut self.text_compiler(None), text, manifest) {
            Ok(mut units) => Ok(units.pop()),
            Err(fault) => Err(self.failure(&fault)),
        }
    }

    fn listing_of(&mut self, actor: &mut SchemeActor, manifest: &Manifest, name: &str) -> Result<String, Failure> {
        let without = |why: String| Failure::new("no-listing", why);
        let global = match self.meaning(actor, manifest, name)? {
            Meaning::Nothing => return Err(without(format!("`{name}` is not bound to anything"))),
            Meaning::Keyword => return Err(without(format!("`{name}` is a keyword, which has no instructions"))),
            Meaning::Primitive => {
                return Err(without(format!(
                    "`{name}` is a procedure of the machine, which has no instructions"
                )));
            }
            Meaning::Global(global) => global,
        };
        actor.instance.heap.expand();
        let heap = &actor.instance.heap;
        let value = actor.instance.global(&self.code, &global);
        let closure = value.filter(|value| heap.is_kind(*value, Kind::Closure));
        let Some(closure) = closure else {
            // A library that the program has not used yet is compiled, but not evaluated.
            let listing = match value {
                None => self.listing_in_library(actor, manifest, &global)?,
                Some(_) => None,
            };
            return listing.ok_or_else(|| without(format!("`{name}` does not stand for a procedure made by `lambda`")));
        };
        let position = heap.field(closure, 0).payload();
        self.listing_at(position)
            .ok_or_else(|| without(format!("the code of `{name}` is a part of the machine")))
    }

    /// Returns what a name means to the next text.
    pub(super) fn meaning(
        &mut self,
        actor: &mut SchemeActor,
        manifest: &Manifest,
        name: &str,
    ) -> Result<Meaning, Failure> {
        if let Err(fault) = actor.evaluations().prepare(&mut self.text_compiler(None), "", manifest) {
            return Err(self.failure(&fault));
        }
        let meaning = actor
            .known_evaluations()
            .and_then(Evaluations::interaction)
            .map(|top| self.present.expander.meaning_at(top, name));
        Ok(meaning.unwrap_or(Meaning::Nothing))
    }

    /// Returns the listing of the procedure that a library defines under a name.
    fn listing_in_library(
        &mut self,
        actor: &mut SchemeActor,
        manifest: &Manifest,
        global: &GlobalName,
    ) -> Result<Option<String>, Failure> {
        let name = global.name.as_str();
        let units = match actor.evaluations().look(&mut self.text_compiler(None), name, manifest) {
            Ok(units) => units,
            Err(fault) => return Err(self.failure(&fault)),
        };
        let unit = units.iter().find(|unit| unit.name == global.library);
        let compiled = unit.and_then(|unit| compile(unit, &self.code).ok());
        Ok(compiled.and_then(|compiled| {
            let mut blocks = compiled.blocks.iter();
            let block = blocks.find(|block| block.name.as_ref() == Some(&global.name))?;
            compiled.procedure_at(block.start).map(|listing| listing.to_string())
        }))
    }

    /// Returns the listing of the procedure whose first instruction is at this position of the
    /// code.
    fn listing_at(&self, position: u32) -> Option<String> {
        let (unit, start) = self.unit_at(position)?;
        let compiled = compile(unit, &self.code).ok()?;
        let listing = compiled.procedure_at(position - start)?;
        Some(listing.to_string())
    }

    /// Returns the core forms whose code has this position, and the position where it begins.
    pub(super) fn unit_at(&self, position: u32) -> Option<(&Arc<Unit>, u32)> {
        let loaded = self.code.unit_at(position)?;
        let number = self.code.units().iter().position(|unit| unit.start == loaded.start)?;
        let of_library = || {
            let mut units = self.present.library_units.values();
            units.find(|known| known.number == number).map(|known| &known.unit)
        };
        let unit = self.text_units.get(&number).or_else(of_library)?;
        Some((unit, loaded.start))
    }
}
