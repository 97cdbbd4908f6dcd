//! Images: the libraries of a tree, compiled ahead, as one stretch of bytes.
//!
//! Owns the layout: the index's length, the index (for each library its path and where its bytes
//! start and end, counted from the end of the index), then the bytes of each library, which are
//! those of [`Ahead::to_bytes`].
//! INVARIANT: reading decodes nothing but the library that is asked for, and no bytes make it
//! panic.
//! It does not compile, and does not know whether the texts have changed since; whoever has both
//! image and texts does.
//! Read next: `compile.rs`.

use duet_kernel::expander::Ahead;

/// An image.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    index: &'a [u8],
    libraries: &'a [u8],
}

impl<'a> Image<'a> {
    /// The image in these bytes; `None` if they are too short for their index.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (index, libraries) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        Some(Self { index, libraries })
    }

    /// Returns the compiled library whose text has this path below the tree's root.
    pub fn find(&self, path: &str) -> Option<Ahead> {
        let mut rest = self.index;
        while let Some((row, after)) = IndexRow::read(rest) {
            if row.path == path.as_bytes() {
                return Ahead::from_bytes(self.libraries.get(row.start..row.end)?);
            }
            rest = after;
        }
        None
    }
}

/// A row of the index.
struct IndexRow<'a> {
    path: &'a [u8],
    start: usize,
    end: usize,
}

impl<'a> IndexRow<'a> {
    fn read(index: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (numbers, rest) = index.split_first_chunk::<12>()?;
        let (numbers, _) = numbers.as_chunks::<4>();
        let [length, start, end] = [0, 1, 2].map(|place: usize| u32::from_le_bytes(numbers[place]) as usize);
        let (path, rest) = rest.split_at_checked(length)?;
        Some((Self { path, start, end }, rest))
    }
}

/// Encodes libraries with their paths as an image.
pub(crate) fn encode<'a>(libraries: impl Iterator<Item = (String, &'a Ahead)>) -> Vec<u8> {
    let (mut index, mut contents) = (Vec::new(), Vec::new());
    for (path, ahead) in libraries {
        let start = contents.len();
        contents.extend(ahead.to_bytes());
        for number in [path.len(), start, contents.len()] {
            index.extend((number as u32).to_le_bytes());
        }
        index.extend(path.into_bytes());
    }
    let mut image = (index.len() as u32).to_le_bytes().to_vec();
    image.extend(index);
    image.extend(contents);
    image
}
