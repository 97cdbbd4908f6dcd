//! All closures of a heap, to give them the code of a changed text.
//!
//! INVARIANT: a closure keeps its place, its captured values and its identity, so everything that
//! holds it calls the new code from then on.
//! It does not know which code takes the place of which; `code/versions.rs` does.
//! Read next: `code/versions.rs`.

use std::collections::BTreeMap;

use super::allocate::reference;
use super::kind::{Header, Kind};
use super::{Heap, LiveRegisters};
use crate::value::Value;

impl Heap {
    /// Gives each closure over a position among the keys the code word that belongs to it, and
    /// returns how many there were, garbage included.
    pub fn replace_code(&mut self, words: &BTreeMap<u32, Value>) -> usize {
        self.expand();
        let mut replaced = 0;
        for closure in self.closures() {
            let word = self.field(closure, 0);
            if let Some(other) = words.get(&word.payload())
                && word != *other
            {
                self.set_field(closure, 0, *other);
                replaced += 1;
            }
        }
        replaced
    }

    /// Returns the positions of the code of all living closures, with how many there are of each.
    pub fn code_in_use(&mut self, live: &dyn LiveRegisters) -> BTreeMap<u32, usize> {
        self.collect_major(&mut [], live);
        let mut positions = BTreeMap::new();
        for closure in self.closures() {
            *positions.entry(self.field(closure, 0).payload()).or_default() += 1;
        }
        positions
    }

    fn closures(&self) -> Vec<Value> {
        self.objects_of(Kind::Closure)
    }

    /// All objects of a kind in an expanded heap, garbage included.
    pub(crate) fn objects_of(&self, kind: Kind) -> Vec<Value> {
        let (mut index, mut found) = (0, Vec::new());
        while index < self.top {
            let header = Header::from_value(self.word(index));
            if header.is_some_and(|header| header.kind == kind) {
                found.push(reference(kind, index));
            }
            index += header.map_or(2, Header::object_words);
        }
        found
    }
}
