//! The person's streams: what a session's world gets in place of the standard streams, because the
//! prompt reads the same terminal.
//!
//! Owns the lines that the person types for the program, and the waker by which other threads reach
//! the session.
//! INVARIANT: only the session reads standard input; the program gets a line when the session gives
//! it one.
//! It decides nothing about who is asked. Read next: `surface/repl/evaluation.rs`.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use duet_drivers::console::Console;
use duet_drivers::waker::Waker;
use duet_drivers::world::{Person, Settings, World};
use duet_runtime::driver::Stream;

use crate::text::screen::Screen;

/// The waker of the current world, which each line calls.
pub(crate) type SharedWaker = Arc<Mutex<Option<Waker>>>;

/// The person's side of a session, the same for all its worlds.
#[derive(Clone, Default)]
pub(crate) struct PromptStreams(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The terminal; `None` if the session reads a file or a pipe.
    screen: Option<Arc<Screen>>,
    waker: SharedWaker,
    /// Whether the program waits for a line of input.
    is_input_wanted: AtomicBool,
    /// Where the current world's input comes from.
    input: Mutex<Option<Sender<Vec<u8>>>>,
}

impl fmt::Debug for PromptStreams {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PromptStreams").finish_non_exhaustive()
    }
}

impl PromptStreams {
    /// The streams of a terminal.
    pub(crate) fn at(screen: Arc<Screen>) -> Self {
        Self(Arc::new(Shared {
            screen: Some(screen),
            ..Shared::default()
        }))
    }

    /// The screen of the terminal, if there is one.
    pub(crate) fn screen(&self) -> Option<Arc<Screen>> {
        self.0.screen.clone()
    }

    /// The waker of the current world.
    pub(crate) fn waker(&self) -> SharedWaker {
        Arc::clone(&self.0.waker)
    }

    /// Makes the settings of a world those of these streams.
    pub(crate) fn furnish(&self, settings: Settings) -> Settings {
        let (lines, given) = channel();
        *self.0.input.lock().unwrap_or_else(PoisonError::into_inner) = Some(lines);
        self.0.is_input_wanted.store(false, Ordering::Relaxed);
        let input = Box::new(Given {
            streams: self.clone(),
            lines: given,
            left: Vec::new(),
        });
        let Some(screen) = &self.0.screen else {
            return Settings { input, ..settings };
        };
        Settings {
            input,
            console: console_on(screen),
            person: Person::Away,
            ..settings
        }
    }

    /// Takes the waker of a new world.
    pub(crate) fn listen(&self, world: &World) {
        *self.0.waker.lock().unwrap_or_else(PoisonError::into_inner) = world.waker();
    }

    /// Whether the program waits for a line of input.
    pub(crate) fn is_input_wanted(&self) -> bool {
        self.0.is_input_wanted.load(Ordering::Relaxed)
    }

    /// Ends the program's input.
    pub(crate) fn close(&self) {
        *self.0.input.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Gives the program a line of input, with its end; no bytes mean the end of input.
    pub(crate) fn give(&self, line: Vec<u8>) {
        self.0.is_input_wanted.store(false, Ordering::Relaxed);
        if let Some(lines) = &*self.0.input.lock().unwrap_or_else(PoisonError::into_inner) {
            // The world may have been dropped.
            let _ = lines.send(line);
        }
    }
}

/// A console that writes to the screen of a prompt.
pub(crate) fn console_on(screen: &Arc<Screen>) -> Console {
    let stream = |stream| {
        Box::new(OnScreen {
            screen: Arc::clone(screen),
            stream,
        })
    };
    // A progress line and the prompt would overwrite each other.
    Console::without_progress(stream(Stream::Output), stream(Stream::Error))
}

/// The input that the session gives.
struct Given {
    streams: PromptStreams,
    lines: Receiver<Vec<u8>>,
    left: Vec<u8>,
}

impl Read for Given {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.is_empty() {
            self.streams.0.is_input_wanted.store(true, Ordering::Relaxed);
            if let Some(waker) = &*self.streams.0.waker.lock().unwrap_or_else(PoisonError::into_inner) {
                waker.wake();
            }
            self.left = self.lines.recv().unwrap_or_default();
        }
        let length = self.left.len().min(buffer.len());
        for (place, byte) in buffer.iter_mut().zip(self.left.drain(..length)) {
            *place = byte;
        }
        Ok(length)
    }
}

/// One of the console's streams on the screen.
struct OnScreen {
    screen: Arc<Screen>,
    stream: Stream,
}

impl Write for OnScreen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.screen.write_program(self.stream, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.screen.flush()
    }
}
