//! A source whose files are part of the program.
//!
//! Owns the list of paths and texts, and the image that was compiled from them.
//! INVARIANT: the image was made of these very texts; the build that embeds both ensures it.
//! It does not read files.
//! Read next: `resolver.rs`.

use duet_kernel::expander::{Ahead, SourceError};

use super::Source;
use crate::image::Image;

/// A fixed list of paths and texts.
#[derive(Clone, Copy, Debug)]
pub struct Embedded<'a> {
    name: &'static str,
    files: &'a [(&'a str, &'a str)],
    image: Option<Image<'a>>,
}

impl<'a> Embedded<'a> {
    /// A source whose files are called `<name>/path` in messages.
    pub fn new(name: &'static str, files: &'a [(&'a str, &'a str)]) -> Self {
        Self {
            name,
            files,
            image: None,
        }
    }

    /// The same source with the image that was compiled from these files.
    #[must_use]
    pub fn with_image(self, image: Option<Image<'a>>) -> Self {
        Self { image, ..self }
    }
}

impl Source for Embedded<'_> {
    fn read(&self, path: &str) -> Result<Option<String>, SourceError> {
        let file = self.files.iter().find(|(known, _)| *known == path);
        Ok(file.map(|(_, text)| (*text).to_owned()))
    }

    fn display_name(&self, path: &str) -> String {
        format!("<{}>/{path}", self.name)
    }

    fn paths(&self) -> Vec<String> {
        self.files
            .iter()
            .map(|(path, _)| (*path).to_owned())
            .filter(|path| path.ends_with(".sld"))
            .collect()
    }

    fn ahead(&self, path: &str) -> Option<Ahead> {
        self.image?.find(path)
    }
}
