//! The limits of modules that declare capabilities, found where a procedure is about to act.
//!
//! INVARIANT: the limits depend on the dynamic extent alone, which is part of the heap, so a replay
//! finds the same.
//! It does not judge; `../turn/activation/right.rs` does.
//! Read next: `../../../stdlib/duet/internal/needs.scm`.

use duet_kernel::code::CodeSpace;
use duet_kernel::datum::Name;
use duet_kernel::heap::Register;
use duet_kernel::machine::Instance;
use duet_kernel::unit::GlobalName;
use duet_kernel::value::Value;

use super::grants::listed;
use crate::action::write;
use crate::turn::module_limit::ModuleLimit;

/// Returns the limits of the modules whose code runs. Whatever they list, they may write to the
/// console.
pub(super) fn of(instance: &Instance, code: &CodeSpace) -> Vec<ModuleLimit> {
    let mut found = Vec::new();
    let heap = &instance.heap;
    let mut frames = heap.register(Register::Dynamic);
    // Most fibers have none, and the name is looked for each time that one runs.
    if !frames.is_pair() {
        return found;
    }
    let Some(key) = key(instance, code) else {
        return found;
    };
    while frames.is_pair() {
        let frame = heap.car(frames);
        if frame.is_pair() && heap.car(frame) == key {
            found.push(read(&heap.string_text(heap.cdr(frame))));
        }
        frames = heap.cdr(frames);
    }
    found
}

/// Returns the key of the frames, if a module with limits is loaded.
fn key(instance: &Instance, code: &CodeSpace) -> Option<Value> {
    let name = GlobalName {
        library: Name::from("(duet internal needs)"),
        name: Name::from("%limits-key"),
    };
    instance.global(code, &name)
}

/// Reads the name of a module and what it lists.
fn read(text: &str) -> ModuleLimit {
    let (module, capabilities) = text.split_once('\n').unwrap_or((text, ""));
    let mut manifest = listed(capabilities.lines());
    manifest.extend([write::CAPABILITY.to_owned()]);
    ModuleLimit {
        module: module.to_owned(),
        listed: manifest,
    }
}
