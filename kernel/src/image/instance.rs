//! Whole instances: their registers, globals and literals, with computations that are parked in
//! them.
//!
//! Globals and literals stand in a snapshot by the numbers of the process that took it, next to the
//! hashes of its units; restoring puts them where the code space here has them.
//! INVARIANT: an instance that comes out of here has a place for every global and literal of
//! `code`.
//! It does not load code. Read next: `machine/instance.rs`.

use super::{Chunk, ChunkName, CodePoint, ImageError, graph, restore};
use crate::code::CodeSpace;
use crate::heap::{Heap, Limits, Register};
use crate::machine::{Instance, RelinkError};
use crate::unit::GlobalName;
use crate::value::Value;

/// Restores the instance whose heap's snapshot has this root; `fetch` finds the bytes of the other
/// chunks.
///
/// # Errors
/// [`ImageError`].
pub fn restore_instance(
    root: &Chunk,
    limits: Limits,
    fetch: &mut dyn FnMut(ChunkName) -> Option<Vec<u8>>,
    code: &CodeSpace,
) -> Result<Instance, ImageError> {
    let heap = restore(root, limits, fetch, code)?;
    let mut instance = Instance { heap };
    relink(&mut instance, code)?;
    Ok(instance)
}

/// Hashes all that the instance reaches, except the addresses of its objects and the order in which
/// its code was loaded. Instances with the same digest go on alike, also if somebody made one of
/// them up: its literals count, and whether its symbols are the interned ones.
///
/// The cost grows with the number of objects that the instance reaches.
///
/// # Errors
/// [`ImageError::UnnamedCode`], [`ImageError::HeapFull`].
pub fn digest(instance: &Instance, code: &CodeSpace) -> Result<ChunkName, ImageError> {
    let mut instance = instance.clone();
    // A frame holds words that its code will not read again; which of them are cleared already
    // depends on when was collected.
    instance.heap.collect_major(&mut [], code);
    // An instance receives the literals of units for all instances when it runs next.
    instance.heap.set_lenient(true);
    instance.link(code).map_err(|_| ImageError::HeapFull)?;
    let defined = defined_globals(&instance, code);
    let mut hasher = blake3::Hasher::new();
    for (name, _) in &defined {
        for text in [name.library.as_str(), name.name.as_str()] {
            hasher
                .update(&(text.len() as u64).to_le_bytes())
                .update(text.as_bytes());
        }
    }
    let mut roots = roots(&instance, &defined);
    for (unit, literals) in instance.literals(code) {
        hasher.update(&unit);
        roots.extend(literals);
    }
    hasher.update(&graph(&instance.heap, &roots, code)?);
    Ok(ChunkName(*hasher.finalize().as_bytes()))
}

/// Lists the objects that the instance reaches and that `is_wanted` accepts, in an order that
/// depends on the graph alone: neither on addresses nor on when the heap was collected.
///
/// # Errors
/// [`ImageError::UnnamedCode`].
pub fn reachable_objects(
    instance: &mut Instance,
    code: &CodeSpace,
    is_wanted: &dyn Fn(&Heap, Value) -> bool,
) -> Result<Vec<Value>, ImageError> {
    instance.heap.expand();
    let roots = roots(instance, &defined_globals(instance, code));
    let mut objects = graph::objects(&instance.heap, &roots, code)?;
    objects.retain(|object| is_wanted(&instance.heap, *object));
    Ok(objects)
}

/// The globals with values, by name.
fn defined_globals<'a>(instance: &Instance, code: &'a CodeSpace) -> Vec<(&'a GlobalName, Value)> {
    let known = code.globals().iter();
    let mut defined: Vec<_> = known
        .filter_map(|name| Some((name, instance.global(code, name)?)))
        .collect();
    defined.sort_by_key(|(name, _)| (name.library.as_str(), name.name.as_str()));
    defined
}

/// The values from which all others are reached, except literals.
fn roots(instance: &Instance, defined: &[(&GlobalName, Value)]) -> Vec<Value> {
    let registers = DIGESTED.iter().map(|&register| instance.heap.register(register));
    registers.chain(defined.iter().map(|(_, value)| *value)).collect()
}

/// The registers that mean the same in every process; the others have to do with the places of
/// symbols and code.
const DIGESTED: [Register; 10] = [
    Register::HostRoots,
    Register::HostRootsHint,
    Register::RecordTypeSerial,
    Register::IdentityHash,
    Register::Winders,
    Register::Dynamic,
    Register::Continuation,
    Register::Runtime0,
    Register::Runtime1,
    Register::Ports,
];

fn relink(instance: &mut Instance, code: &CodeSpace) -> Result<(), ImageError> {
    instance.heap.set_lenient(true);
    let relinked = instance.relink(code);
    instance.heap.set_lenient(false);
    relinked.map_err(|error| match error {
        RelinkError::UnknownUnit(unit) => ImageError::UnknownCode(CodePoint { unit, offset: 0 }),
        RelinkError::Malformed => ImageError::WrongShape(None),
        RelinkError::HeapFull => ImageError::HeapFull,
    })
}
