//! Programs compiled without libraries, and code spaces that have loaded them in some order.

use std::collections::BTreeMap;

use duet_kernel::code::CodeSpace;
use duet_kernel::compiler::compile;
use duet_kernel::expander::Expander;
use duet_kernel::heap::{Limits, Register};
use duet_kernel::image::{ChunkName, restore_instance, snapshot};
use duet_kernel::machine::Instance;
use duet_kernel::unit::CompiledUnit;
use duet_kernel::value::Value;

use super::bare::{NoLibraries, expander};

/// Compiles a program of one unit on the bare kernel library.
pub(crate) fn compiled(name: &str, text: &str) -> CompiledUnit {
    compiled_for(&CodeSpace::new(&[]), name, text)
}

/// The same with the primitives of a code space.
pub(crate) fn compiled_for(code: &CodeSpace, name: &str, text: &str) -> CompiledUnit {
    compiled_by(expander(code), code, name, text)
}

/// Compiles a program whose executed lines can be counted.
pub(crate) fn counted(name: &str, text: &str) -> CompiledUnit {
    let code = CodeSpace::new(&[]);
    let mut expander = expander(&code);
    expander.begin_counted();
    compiled_by(expander, &code, name, text)
}

fn compiled_by(mut expander: Expander, code: &CodeSpace, name: &str, text: &str) -> CompiledUnit {
    let expansion = expander.expand_program(name, text, &mut NoLibraries);
    let units = expansion.unwrap_or_else(|errors| panic!("{text}: {errors:?}")).units;
    assert_eq!(units.len(), 1, "one program is one unit");
    compile(&units[0], code).unwrap()
}

/// Makes a code space with these units, in this order.
pub(crate) fn code_of(units: &[&CompiledUnit]) -> CodeSpace {
    let mut code = CodeSpace::new(&[]);
    for unit in units {
        code.load(unit).unwrap();
    }
    code
}

/// The chunks of all snapshots so far: a later one may count on them.
pub(crate) type Store = BTreeMap<ChunkName, Vec<u8>>;

/// Takes a snapshot of an instance and of what is parked in it, and restores both where `there` is
/// loaded.
#[allow(dead_code, reason = "not every suite that compiles programs moves them")]
pub(crate) fn moved(
    mut instance: Instance,
    parked: Value,
    (here, there): (&CodeSpace, &CodeSpace),
    limits: Limits,
    store: &mut Store,
) -> (Instance, Value) {
    let heap = &mut instance.heap;
    heap.set_register(Register::Runtime0, parked);
    heap.collect_minor(&mut [], here);
    let taken = snapshot(heap, here).unwrap();
    // The root is named by the snapshot that says what has changed.
    let chunks = taken.chunks.into_iter().chain([taken.root.clone()]);
    store.extend(chunks.map(|chunk| (chunk.name, chunk.bytes)));
    let mut fetch = |name: ChunkName| store.get(&name).cloned();
    let restored = restore_instance(&taken.root, limits, &mut fetch, there).unwrap();
    let parked = restored.heap.register(Register::Runtime0);
    (restored, parked)
}
