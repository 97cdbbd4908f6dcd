//! A stream that is read only after the first pending read.
//!
//! INVARIANT: nothing is taken from a stream that nobody reads: it may be another program's.
//! Read next: the crate's `input.rs`.

use std::io::{self, Read};

use crate::input::{InputStream, PendingRead};
use crate::threads::Threads;

/// A stream, and where its bytes come from until somebody reads it.
pub(super) struct LazyInput {
    pub(super) stream: InputStream,
    source: Option<Box<dyn Read + Send>>,
}

impl LazyInput {
    pub(super) fn new(stream: InputStream, source: Box<dyn Read + Send>) -> Self {
        Self {
            stream,
            source: Some(source),
        }
    }

    /// Adds a read; the first one begins to read the stream.
    ///
    /// # Errors
    /// If the operating system gives no thread; the read then waits for the next one.
    pub(super) fn add(&mut self, threads: Option<&Threads>, pending: PendingRead) -> io::Result<()> {
        self.stream.add(pending);
        let Some(threads) = threads.filter(|_| self.source.is_some()) else {
            return Ok(());
        };
        let runtime = threads.begin()?;
        if let Some(source) = self.source.take() {
            let stream = self.stream.clone();
            runtime.spawn_blocking(move || stream.serve(source));
        }
        Ok(())
    }
}
