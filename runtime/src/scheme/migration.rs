//! Making the records that an instance has into records of a type whose definition has changed, as
//! the new text says.
//!
//! The type stays the same object and gets the new fields; a copy of it with the old fields marks
//! the records that are still to change, so that no procedure of the new text reads them. When each
//! has its successor, every reference leads to that one.
//! INVARIANT: the order of the calls depends on what the instance reaches alone, so a replay makes
//! the same records. Code that knows the old fields never runs again: a frame in it refuses the
//! text, and closures over it raise.
//! It does not compare definitions; `change.rs` does. Read next: `apart.rs`.

use std::collections::{BTreeMap, BTreeSet};

use duet_kernel::code::moves::Kept;
use duet_kernel::compiler::compile;
use duet_kernel::core::forms::Migration;
use duet_kernel::core::{Core, CoreId, Global, GlobalId, Lambda, LambdaId, Unit, Variable, VariableId};
use duet_kernel::datum::{Datum, Name, Node, SourceId, Span};
use duet_kernel::heap::kind::record;
use duet_kernel::heap::{Heap, Kind, RootId};
use duet_kernel::image::reachable_objects;
use duet_kernel::machine::{ParkedFrame, waiting_points};
use duet_kernel::unit::GlobalName;
use duet_kernel::value::Value;

use super::actor::SchemeActor;
use super::apart::{Call, full, refused};
use super::convert;
use super::programs::SchemePrograms;
use super::version::{Change, LoadedUnit, MigratedType, TypeMigration};
use crate::model::failure::Failure;

impl TypeMigration {
    /// Compares what a new text says with the old definition.
    ///
    /// # Errors
    /// [`Failure`] if it takes a field that old records do not have.
    pub(super) fn of(
        migration: &Migration,
        MigratedType { record_type, shown }: MigratedType,
        before: &[Name],
        now: &[Name],
    ) -> Result<Self, Failure> {
        let place = |field: &Name| {
            let found = before.iter().position(|old| old == field);
            found.ok_or_else(|| {
                let old: Vec<&str> = before.iter().map(Name::as_str).collect();
                refused(format!(
                    "the migration of {shown} takes the field `{field}`, but the records that the run has made have \
                     the fields {}",
                    old.join(", ")
                ))
            })
        };
        Ok(Self {
            arguments: migration.fields.iter().map(place).collect::<Result<_, _>>()?,
            fields: now.iter().map(|name| name.as_str().to_owned()).collect(),
            procedure: migration.procedure,
            record_type,
            shown,
            unit: 0,
        })
    }
}

impl SchemePrograms {
    /// Makes the records of an instance into those of the new definitions of their types.
    ///
    /// # Errors
    /// [`Failure`] if a procedure of the text fails or returns something else, or if a frame stays
    /// in code that knows the old fields.
    pub(super) fn migrate_records(&mut self, actor: &mut SchemeActor, fuel: &mut i64) -> Result<(), Failure> {
        if self.present.change.migrations.is_empty() {
            return Ok(());
        }
        // Frames that nobody can continue must not refuse the text: whether they are there depends
        // on when the heap was collected.
        self.collect_all(&mut actor.instance.heap);
        let migrations = std::mem::take(&mut self.present.change.migrations);
        let mut migrated = Ok(());
        for migration in &migrations {
            migrated = migrated.and_then(|()| self.migrate(actor, migration, fuel));
        }
        self.present.change.migrations = migrations;
        migrated
    }

    fn migrate(&mut self, actor: &mut SchemeActor, migration: &TypeMigration, fuel: &mut i64) -> Result<(), Failure> {
        let global = |programs: &Self, actor: &SchemeActor| {
            let value = actor.instance.global(&programs.code, &migration.record_type)?;
            actor.instance.heap.is_kind(value, Kind::RecordType).then_some(value)
        };
        let Some(record_type) = global(self, actor) else {
            return Ok(());
        };
        self.require_no_reader(actor, migration)?;
        let is_wanted = |heap: &Heap, object: Value| heap.is_instance(object, record_type);
        let records = reachable_objects(&mut actor.instance, &self.code, &is_wanted);
        let records = records.map_err(|error| refused(error.to_string()))?;
        let heap = &mut actor.instance.heap;
        let before = heap.copy_record_type(record_type).map_err(full)?;
        let names: Vec<&str> = migration.fields.iter().map(String::as_str).collect();
        heap.rename_fields(record_type, &names).map_err(full)?;
        if records.is_empty() {
            return Ok(());
        }
        for record in &records {
            heap.set_field(*record, record::LABEL, before);
        }
        // The second half of the list is for the successors.
        let count = records.len();
        let pairs = [records, vec![Value::FALSE; count]].concat();
        let pairs = heap.make(Kind::Vector, &pairs).and_then(|pairs| heap.root(pairs));
        let pairs = pairs.map_err(full)?;
        let purpose = format!("the migration of records of type {}", migration.shown);
        let procedure = self.evaluate_apart(actor, migration.unit, &purpose, fuel)?;
        let procedure = actor.instance.heap.root(procedure).map_err(full)?;
        for number in 0..count {
            let heap = &actor.instance.heap;
            let old = heap.field(heap.root_value(pairs), number);
            let argument = |field: &usize| heap.field(old, record::FIELDS + field);
            let arguments: Vec<Value> = migration.arguments.iter().map(argument).collect();
            let word = |field: &usize| old.index() + 1 + record::FIELDS + field;
            if let Some(trace) = self.machine.tracing_mut() {
                trace.pass(&migration.arguments.iter().map(word).collect::<Vec<usize>>());
            }
            let call = Call {
                procedure: heap.root_value(procedure),
                arguments: &arguments,
                purpose: &purpose,
            };
            let new = self.call_apart(actor, &call, fuel)?;
            if !global(self, actor).is_some_and(|own| actor.instance.heap.is_instance(new, own)) {
                return Err(refused(format!("{purpose} returns something else than such a record")));
            }
            let heap = &mut actor.instance.heap;
            heap.set_field(heap.root_value(pairs), count + number, new);
        }
        actor.instance.heap.release_root(procedure);
        self.put_in_place(actor, pairs, &purpose)
    }

    /// Puts the new records in the places of the old ones.
    fn put_in_place(&self, actor: &mut SchemeActor, pairs: RootId, purpose: &str) -> Result<(), Failure> {
        let heap = &mut actor.instance.heap;
        let list = heap.root_value(pairs);
        let count = heap.object_length(list) / 2;
        let pair = |number: usize| (heap.field(list, number), heap.field(list, count + number));
        let replaced: Vec<(Value, Value)> = (0..count).map(pair).collect();
        let new: BTreeSet<u64> = replaced.iter().map(|(_, new)| new.to_bits()).collect();
        if new.len() < count {
            return Err(refused(format!("{purpose} returns the same record for two of them")));
        }
        heap.fill_fields(list, 0, 2 * count, Value::FALSE);
        heap.release_root(pairs);
        heap.replace_objects(&replaced);
        Ok(())
    }

    /// Checks that no frame of an instance will stay in code that knows the old fields of a type.
    fn require_no_reader(&mut self, actor: &mut SchemeActor, migration: &TypeMigration) -> Result<(), Failure> {
        let old = self.blocks_with_old_fields(&migration.record_type);
        for point in waiting_points(&mut actor.instance.heap) {
            let Some(frame) = ParkedFrame::at(&self.code, point) else {
                continue;
            };
            let block = self.code.block_number_at(frame.position);
            if !block.is_some_and(|block| old.contains(&block)) {
                continue;
            }
            let kept = match self.plan(point) {
                Some(Ok(_)) => continue,
                Some(Err(kept)) => kept,
                None => Kept::NoSuccessor,
            };
            let place = convert::listed(&frame.entries, &self.present.expander);
            let place = place.first().map_or("the program", |frame| frame.procedure.as_str());
            return Err(refused(format!(
                "a computation that waits in `{place}` knows the old fields of {} and cannot move to the new text: \
                 {kept}",
                migration.shown
            )));
        }
        Ok(())
    }

    /// The blocks of earlier units that mention the global of a type.
    fn blocks_with_old_fields(&self, record_type: &GlobalName) -> BTreeSet<usize> {
        let present: BTreeSet<usize> = self
            .present
            .compared_units
            .values()
            .map(|loaded| loaded.number)
            .collect();
        let steps = self.present.change.steps.iter().map(|step| step.number);
        let migrations = self.present.change.migrations.iter().map(|migration| migration.unit);
        let shared = self.present.shared_number();
        let present: BTreeSet<usize> = present
            .into_iter()
            .chain(steps)
            .chain(migrations)
            .chain(shared)
            .collect();
        let mut found = BTreeSet::new();
        for unit in self
            .present
            .change
            .units
            .iter()
            .map(|unit| &unit.name)
            .chain([&record_type.library])
        {
            for LoadedUnit { number, .. } in self.earlier_units(unit) {
                if !present.contains(&number) {
                    let blocks = self.code.blocks_of(number);
                    found.extend(blocks.filter(|block| self.code.mentions_global(*block, record_type)));
                }
            }
        }
        found
    }

    /// Says what becomes of the procedures that raise in the present version: those that the next
    /// one has again are themselves again, and the others stay as they are, because frames of still
    /// earlier texts may make closures over them.
    pub(super) fn keep_retired(&self, change: &mut Change, next: &[usize]) {
        for unit in &self.present.change.retired {
            let blocks = self.code.blocks_of(*unit);
            for (from, to) in self
                .present
                .change
                .redirects
                .iter()
                .filter(|(_, to)| blocks.contains(to))
            {
                let is_present = next.iter().any(|unit| self.code.blocks_of(*unit).contains(from));
                match change.redirects.get(from).copied() {
                    Some(successor) => change.redirects.insert(*to, successor),
                    None if is_present => change.redirects.insert(*to, *from),
                    None => change.redirects.insert(*from, *to),
                };
            }
            change.retired.push(*unit);
        }
    }

    /// Makes the closures over procedures that know the old fields of a type, and that the new text
    /// does not have, raise when they are called. To be called while the version before is the
    /// present one; `present` is the unit of the new text.
    pub(super) fn retire_readers(
        &mut self,
        present: usize,
        record_type: &GlobalName,
        change: &mut Change,
    ) -> Result<(), Failure> {
        let mut earlier = self.earlier_units(&record_type.library);
        // A text that comes back is one of the earlier ones.
        earlier.retain(|known| known.number != present);
        for LoadedUnit { unit, number } in earlier {
            let (_, procedures) = self.compiled_procedures(&unit)?;
            for procedure in procedures {
                let block = self.code.block_number(number, procedure.block);
                if change.redirects.contains_key(&block) || !self.code.mentions_global(block, record_type) {
                    continue;
                }
                let loaded = self.load_retired(&procedure.shown(), self.code.block(block).frame_size)?;
                change.redirects.insert(block, self.code.block_number(loaded, 1));
                change.retired.push(loaded);
            }
        }
        Ok(())
    }
}

impl SchemePrograms {
    /// Loads a procedure that raises because the text does not have it any more, with a frame of at
    /// least this size: frames of the old code may call themselves.
    fn load_retired(&mut self, procedure: &str, frame_size: u16) -> Result<usize, Failure> {
        let compiled = compile(&retired(procedure), &self.code);
        let mut compiled = compiled.map_err(|error| Failure::new("syntax-error", error.to_string()))?;
        let block = &mut compiled.blocks[1];
        block.frame_size = block.frame_size.max(frame_size);
        self.load_compiled(&compiled)
    }
}

/// The source of what no text has.
const NOWHERE: Span = Span {
    source: SourceId(0),
    start: 0,
    end: 0,
};

/// A unit with one procedure, which raises: the text does not have this procedure any more.
fn retired(procedure: &str) -> Unit {
    let text = |text: &str| Core::Constant(Datum::of(Node::String(text.into())));
    let message = format!("the text that the run executes does not have `{procedure}` any more");
    let nodes = vec![
        Core::Lambda(vec![LambdaId(0)]),
        Core::Global(GlobalId(0)),
        text(&message),
        Core::Call {
            procedure: CoreId(1),
            arguments: vec![CoreId(2)],
        },
    ];
    Unit {
        name: Name::from("(retired)"),
        spans: vec![NOWHERE; nodes.len()],
        nodes,
        integrated: Vec::new(),
        integrated_nodes: BTreeMap::new(),
        variables: vec![Variable {
            name: Name::from("arguments"),
            is_assigned: false,
        }],
        lambdas: vec![Lambda {
            name: Some(Name::from(procedure)),
            parameters: Vec::new(),
            rest: Some(VariableId(0)),
            body: CoreId(3),
            span: NOWHERE,
        }],
        globals: vec![Global {
            name: GlobalName {
                library: Name::from("(duet internal control)"),
                name: Name::from("error"),
            },
            is_defined_here: false,
            is_assigned: false,
        }],
        body: CoreId(0),
        is_interactive: false,
        is_counted: false,
        compiled: None,
    }
}
