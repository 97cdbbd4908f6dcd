//! Units as bytes: the hash of a unit covers them, and a unit that is compiled ahead is stored as
//! them.
//!
//! A length precedes every piece and a count every table, so that no two units have the same bytes.
//! The bytes omit the source ids of spans, which are numbers of the session that read the texts.
//! INVARIANT: bytes that belong to no unit decode to nothing and never cause a panic;
//! `code/verify.rs` checks that the contents make sense.
//! It does not compile.
//! Read next: `code.rs`.

use super::{Block, CompiledUnit, GlobalName, IntegratedCall};
use crate::datum::{Datum, Name, SourceId, Span};
use crate::instruction::Instruction;

impl CompiledUnit {
    /// Returns the BLAKE3 hash of the whole unit, including its spans and names.
    pub fn hash(&self) -> [u8; 32] {
        *blake3::hash(&self.to_bytes()).as_bytes()
    }

    /// Returns the whole unit as bytes, except for the source ids of its spans.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64 + 16 * self.instructions.len() + 32 * self.spans.len());
        let mut add = |piece: &[u8]| {
            bytes.extend_from_slice(&(piece.len() as u64).to_le_bytes());
            bytes.extend_from_slice(piece);
        };
        add(self.name.0.as_bytes());
        let count = |length: usize| (length as u64).to_le_bytes();
        add(&count(self.instructions.len()));
        for instruction in &self.instructions {
            add(&instruction.to_bits().to_le_bytes());
        }
        add(&count(self.blocks.len()));
        for block in &self.blocks {
            add(&[block.name.is_some().into()]);
            add(block.name.as_ref().map_or("", |name| &name.0).as_bytes());
            add(
                &[block.start, block.end, block.frame_size.into(), block.captured.into()]
                    .map(u32::to_le_bytes)
                    .concat(),
            );
            add(&[block.arity.is_some().into(), block.arity.unwrap_or(0)]);
        }
        add(&count(self.constants.len()));
        for constant in &self.constants {
            add(&constant.to_bytes());
        }
        add(&count(self.globals.len()));
        for global in &self.globals {
            add(global.library.0.as_bytes());
            add(global.name.0.as_bytes());
        }
        add(&count(self.primitives.len()));
        for primitive in &self.primitives {
            add(primitive.0.as_bytes());
        }
        add(&count(self.spans.len()));
        for (offset, span) in &self.spans {
            add(&[*offset, span.start, span.end].map(u32::to_le_bytes).concat());
        }
        // A unit without integrated calls has no table of them.
        if !self.integrated.is_empty() {
            let maybe = |call: Option<u32>| call.map_or(u32::MAX, |call| call).to_le_bytes();
            add(&count(self.integrated.len()));
            for call in &self.integrated {
                add(call.procedure.0.as_bytes());
                let span = [call.span.start, call.span.end].map(u32::to_le_bytes);
                add(&[span[0], span[1], maybe(call.around)].concat());
            }
            add(&count(self.origins.len()));
            for (offset, call) in &self.origins {
                add(&[offset.to_le_bytes(), maybe(*call)].concat());
            }
        }
        bytes
    }

    /// Returns the spans of the unit, in the order in which [`CompiledUnit::from_bytes`] expects
    /// their sources.
    pub fn places(&self) -> impl Iterator<Item = &Span> {
        let integrated = self.integrated.iter().map(|call| &call.span);
        self.spans.iter().map(|(_, span)| span).chain(integrated)
    }

    /// Returns the unit that [`CompiledUnit::to_bytes`] encoded, and gives each of its spans the
    /// next of `sources`.
    pub fn from_bytes(bytes: &[u8], sources: impl IntoIterator<Item = SourceId>) -> Option<CompiledUnit> {
        let mut pieces = Pieces(bytes);
        let mut sources = sources.into_iter();
        let mut unit = CompiledUnit {
            name: pieces.name()?,
            instructions: pieces.table(|pieces| {
                let word: [u8; 8] = pieces.next()?.try_into().ok()?;
                Some(Instruction::from_bits(u64::from_le_bytes(word)))
            })?,
            blocks: pieces.table(Pieces::block)?,
            constants: pieces.table(|pieces| Datum::from_bytes(pieces.next()?))?,
            globals: pieces.table(|pieces| {
                Some(GlobalName {
                    library: pieces.name()?,
                    name: pieces.name()?,
                })
            })?,
            primitives: pieces.table(Pieces::name)?,
            spans: pieces.table(|pieces| {
                let [offset, start, end] = pieces.words()?;
                let source = sources.next()?;
                Some((offset, Span { source, start, end }))
            })?,
            integrated: Vec::new(),
            origins: Vec::new(),
        };
        if !pieces.0.is_empty() {
            let maybe = |call: u32| (call != u32::MAX).then_some(call);
            unit.integrated = pieces.table(|pieces| {
                let procedure = pieces.name()?;
                let [start, end, around] = pieces.words()?;
                let source = sources.next()?;
                Some(IntegratedCall {
                    procedure,
                    span: Span { source, start, end },
                    around: maybe(around),
                })
            })?;
            unit.origins = pieces.table(|pieces| {
                let [offset, call] = pieces.words()?;
                Some((offset, maybe(call)))
            })?;
        }
        pieces.0.is_empty().then_some(unit)
    }
}

/// The bytes that remain.
struct Pieces<'a>(&'a [u8]);

impl<'a> Pieces<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (piece, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(piece)
    }

    fn name(&mut self) -> Option<Name> {
        std::str::from_utf8(self.next()?).ok().map(Name::from)
    }

    fn words<const COUNT: usize>(&mut self) -> Option<[u32; COUNT]> {
        let (words, rest) = self.next()?.as_chunks::<4>();
        let words: [[u8; 4]; COUNT] = words.try_into().ok()?;
        rest.is_empty().then(|| words.map(u32::from_le_bytes))
    }

    fn block(&mut self) -> Option<Block> {
        let has_name = self.next()? == [1];
        let name = self.name()?;
        let [start, end, frame_size, captured] = self.words()?;
        let [has_arity, arity] = self.next()?.try_into().ok()?;
        Some(Block {
            name: has_name.then_some(name),
            start,
            end,
            frame_size: frame_size.try_into().ok()?,
            arity: (has_arity == 1).then_some(arity),
            captured: captured.try_into().ok()?,
        })
    }

    fn table<T>(&mut self, mut row: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = u64::from_le_bytes(self.next()?.try_into().ok()?);
        // Each row takes at least the length of its first piece.
        let most = self.0.len() as u64 / 8;
        let mut rows = Vec::with_capacity(usize::try_from(count.min(most)).ok()?);
        for _ in 0..count {
            rows.push(row(self)?);
        }
        Some(rows)
    }
}
