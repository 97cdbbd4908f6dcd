//! Whole instances: their registers, globals and literals, with computations that are parked in them.
//!
//! A frozen instance is an image whose roots are the heap's registers, in order of their table, and then the values asked for; the symbol table, which the thaw fills anew,
//! is left out. Globals and literals stand in it by the numbers of the process that froze it, next to the hashes of its units; thawing and restoring put them where the code space here has them.
//! INVARIANT: an instance that comes out of here has a place for every global and literal of `code`.
//! It does not load code. Read next: `machine/instance.rs`.

use super::{Chunk, ChunkName, CodePoint, Image, ImageError, freeze, restore, thaw};
use crate::code::CodeSpace;
use crate::heap::{Limits, Register};
use crate::machine::{Instance, RelinkError};
use crate::unit::GlobalName;
use crate::value::Value;

/// Freezes an instance between runs, and `values`, such as parked computations, that nothing in it may refer to.
///
/// # Errors
/// [`ImageError::UnnamedCode`].
pub fn freeze_instance(instance: &Instance, values: &[Value], code: &CodeSpace) -> Result<Image, ImageError> {
    let mut roots: Vec<Value> = Register::ALL
        .iter()
        .map(|&register| match register == Register::Symbols {
            true => Value::FALSE,
            false => instance.heap.register(register),
        })
        .collect();
    roots.extend(values);
    freeze(&instance.heap, &roots, code)
}

/// Makes a frozen instance anew, and gives the values that were frozen with it.
///
/// # Errors
/// [`ImageError`].
pub fn thaw_instance(image: &Image, limits: Limits, code: &CodeSpace) -> Result<(Instance, Vec<Value>), ImageError> {
    let mut instance = Instance::new(limits);
    let roots = thaw(image, &mut instance.heap, code)?;
    if roots.len() < Register::COUNT {
        return Err(ImageError::WrongShape(None));
    }
    let (registers, values) = roots.split_at(Register::COUNT);
    for (&register, &value) in Register::ALL.iter().zip(registers) {
        // Record types are numbered anew.
        if register != Register::Symbols && register != Register::RecordTypeSerial {
            instance.heap.set_register(register, value);
        }
    }
    if !instance.heap.has_sound_registers() {
        return Err(ImageError::WrongShape(None));
    }
    relink(&mut instance, code)?;
    Ok((instance, values.to_vec()))
}

/// Restores the instance whose heap's snapshot has this root; `fetch` finds the bytes of the other chunks.
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

/// What an instance is, without where its objects lie and in which order its code was loaded: instances with the same digest go on alike.
///
/// Costs as much as all that the instance reaches.
///
/// # Errors
/// [`ImageError::UnnamedCode`].
pub fn digest(instance: &Instance, code: &CodeSpace) -> Result<ChunkName, ImageError> {
    // A frame holds words that its code will not read again; which of them are cleared already depends on when was collected.
    let mut instance = instance.clone();
    instance.heap.collect_major(&mut [], code);
    let mut defined: Vec<(&GlobalName, Value)> = code
        .globals()
        .iter()
        .filter_map(|name| Some((name, instance.global(code, name)?)))
        .collect();
    defined.sort_by_key(|(name, _)| (name.library.as_str(), name.name.as_str()));
    let mut hasher = blake3::Hasher::new();
    for (name, _) in &defined {
        for text in [name.library.as_str(), name.name.as_str()] {
            hasher
                .update(&(text.len() as u64).to_le_bytes())
                .update(text.as_bytes());
        }
    }
    let mut roots: Vec<Value> = DIGESTED
        .iter()
        .map(|&register| instance.heap.register(register))
        .collect();
    roots.extend(defined.iter().map(|(_, value)| *value));
    let image = freeze(&instance.heap, &roots, code)?;
    hasher.update(&image.root.name.0);
    Ok(ChunkName(*hasher.finalize().as_bytes()))
}

/// The registers that mean the same in every process; the others have to do with the places of symbols and code.
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
