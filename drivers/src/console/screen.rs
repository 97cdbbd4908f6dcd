//! A terminal for tests that keeps what is on it.
//!
//! INVARIANT: it takes the text as it is; a control sequence in it fails the test that looks at it.

#![allow(clippy::unwrap_used, reason = "it is part of tests, which fail by panicking")]

use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Mutex};

use indicatif::TermLike;

/// A screen of a fixed size, and the place of its cursor.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    columns: u16,
    rows: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Screen {
    /// Makes an empty screen of `rows` lines of `columns` characters.
    pub(crate) fn new(rows: u16, columns: u16) -> Self {
        let state = State {
            lines: vec![Vec::new(); usize::from(rows)],
            row: 0,
            column: 0,
        };
        Self {
            columns,
            rows,
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Returns the text on the screen, without blanks at the ends of lines and empty lines at its
    /// end.
    pub(crate) fn contents(&self) -> String {
        let state = self.state.lock().unwrap();
        let lines = state
            .lines
            .iter()
            .map(|line| String::from_iter(line).trim_end().to_owned());
        let text = lines.collect::<Vec<_>>().join("\n");
        text.trim_end_matches('\n').to_owned()
    }

    fn change(&self, change: impl FnOnce(&mut State)) -> io::Result<()> {
        change(&mut self.state.lock().unwrap());
        Ok(())
    }
}

impl State {
    fn write(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '\n' => {
                    self.row += 1;
                    self.column = 0;
                }
                '\r' => self.column = 0,
                _ => self.put(character),
            }
        }
    }

    fn put(&mut self, character: char) {
        let line = &mut self.lines[self.row];
        if line.len() <= self.column {
            line.resize(self.column + 1, ' ');
        }
        line[self.column] = character;
        self.column += 1;
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        self.columns
    }

    fn height(&self) -> u16 {
        self.rows
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.change(|state| state.row = state.row.saturating_sub(n))
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.change(|state| state.row += n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.change(|state| state.column += n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.change(|state| state.column = state.column.saturating_sub(n))
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.change(|state| {
            state.write(text);
            state.write("\n");
        })
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.change(|state| state.write(text))
    }

    fn clear_line(&self) -> io::Result<()> {
        self.change(|state| {
            state.column = 0;
            let row = state.row;
            state.lines[row].clear();
        })
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}
