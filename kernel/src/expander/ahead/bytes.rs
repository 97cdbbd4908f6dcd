//! The stored form of a library, as bytes.
//!
//! A 32-bit length precedes every piece, and a count every list.
//! INVARIANT: bytes that belong to no library decode to nothing and never cause a panic.
//! It does not know where they are stored.
//! Read next: `expander/demand.rs`.

use super::{Ahead, Export, UnitBytes};
use crate::datum::Name;
use crate::expander::Requirement;
use crate::unit::GlobalName;

const KERNEL: u32 = 0;
const GLOBAL: u32 = 1;
const MACRO: u32 = 2;

impl Ahead {
    /// Returns the library as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer(Vec::new());
        writer.list(&self.imports, |writer, import| writer.piece(import.as_str().as_bytes()));
        writer.list(&self.exports, |writer, (name, export)| {
            writer.piece(name.as_str().as_bytes());
            match export {
                Export::Kernel(name) => {
                    writer.number(KERNEL);
                    writer.piece(name.as_str().as_bytes());
                }
                Export::Global(global) => {
                    writer.number(GLOBAL);
                    writer.piece(global.library.as_str().as_bytes());
                    writer.piece(global.name.as_str().as_bytes());
                }
                Export::Macro(library, ordinal) => {
                    writer.number(MACRO);
                    writer.piece(library.as_str().as_bytes());
                    writer.number(*ordinal);
                }
            }
        });
        writer.list(&self.includes, |writer, path| writer.piece(path.as_bytes()));
        writer.list(&self.texts, |writer, hash| writer.piece(hash));
        writer.list(&self.needs, |writer, need| {
            writer.piece(need.module.as_str().as_bytes());
            writer.piece(need.capability.as_str().as_bytes());
        });
        writer.number(self.macros);
        writer.number(self.is_on_demand.into());
        writer.number(self.is_computed.into());
        writer.list(self.unit.as_slice(), |writer, unit| {
            writer.piece(&unit.bytes);
            writer.piece(&unit.places);
        });
        writer.0
    }

    /// Returns the library that [`Ahead::to_bytes`] encoded.
    pub fn from_bytes(bytes: &[u8]) -> Option<Ahead> {
        let mut reader = ByteReader(bytes);
        let ahead = Ahead {
            imports: reader.list(ByteReader::name)?,
            exports: reader.list(|reader| Some((reader.name()?, reader.export()?)))?,
            includes: reader.list(|reader| Some(reader.text()?.to_owned()))?,
            texts: reader.list(|reader| reader.piece()?.try_into().ok())?,
            needs: reader.list(ByteReader::requirement)?,
            macros: reader.number()?,
            is_on_demand: reader.number()? == 1,
            is_computed: reader.number()? == 1,
            unit: reader
                .list(|reader| {
                    Some(UnitBytes {
                        bytes: reader.piece()?.to_vec(),
                        places: reader.piece()?.to_vec(),
                    })
                })?
                .pop(),
        };
        let is_whole = reader.0.is_empty() && ahead.texts.len() == 1 + ahead.includes.len();
        is_whole.then_some(ahead)
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn piece(&mut self, piece: &[u8]) {
        // A library has far fewer than 2³² bytes.
        self.number(piece.len() as u32);
        self.0.extend_from_slice(piece);
    }

    fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u32);
        for each in items {
            item(self, each);
        }
    }
}

struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    fn piece(&mut self) -> Option<&'a [u8]> {
        let length = self.number()? as usize;
        let (piece, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(piece)
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.piece()?).ok()
    }

    fn name(&mut self) -> Option<Name> {
        self.text().map(Name::from)
    }

    fn requirement(&mut self) -> Option<Requirement> {
        Some(Requirement {
            module: self.name()?,
            capability: self.name()?,
        })
    }

    fn export(&mut self) -> Option<Export> {
        Some(match self.number()? {
            KERNEL => Export::Kernel(self.name()?),
            GLOBAL => Export::Global(GlobalName {
                library: self.name()?,
                name: self.name()?,
            }),
            MACRO => Export::Macro(self.name()?, self.number()?),
            _ => return None,
        })
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()? as usize;
        // Each item takes at least four bytes.
        let mut items = Vec::with_capacity(count.min(self.0.len() / 4));
        for _ in 0..count {
            items.push(item(self)?);
        }
        Some(items)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn library() -> Ahead {
        Ahead {
            imports: vec![Name::from("(duet kernel)")],
            exports: vec![
                (Name::from("first"), Export::Kernel(Name::from("car"))),
                (
                    Name::from("count"),
                    Export::Global(GlobalName {
                        library: Name::from("(a)"),
                        name: Name::from("count~1"),
                    }),
                ),
                (Name::from("while"), Export::Macro(Name::from("(a)"), 3)),
            ],
            includes: vec!["a.scm".to_owned()],
            texts: vec![[1; 32], [2; 32]],
            needs: vec![Requirement {
                module: Name::from("(b)"),
                capability: Name::from("shell"),
            }],
            macros: 4,
            is_on_demand: true,
            is_computed: true,
            unit: Some(UnitBytes {
                bytes: vec![1, 2, 3],
                places: vec![0, 1],
            }),
        }
    }

    #[test]
    fn a_library_is_its_bytes() {
        let bytes = library().to_bytes();
        assert_eq!(Ahead::from_bytes(&bytes), Some(library()));
        for length in 0..bytes.len() {
            assert_eq!(Ahead::from_bytes(&bytes[..length]), None, "{length}");
        }
    }

    proptest! {
        #[test]
        fn damaged_bytes_are_a_library_or_nothing(place in any::<prop::sample::Index>(), byte: u8) {
            let mut bytes = library().to_bytes();
            let place = place.index(bytes.len());
            bytes[place] = byte;
            if let Some(ahead) = Ahead::from_bytes(&bytes) {
                prop_assert_eq!(ahead.to_bytes().len(), bytes.len());
            }
        }
    }
}
