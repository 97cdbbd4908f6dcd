//! Guards whose Duet has died.
//!
//! INVARIANT: a run that goes on after its process was killed finds nothing of that process's
//! programs at work.
//! It kills nothing: guards do.
//! Read next: `../guard.rs`.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::watch::{parent, processes};
use super::{DYING, WORD};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// Waits until no guard is left whose Duet has died: each is ending its program. Returns whether
/// none is left; one that takes too long was stopped by somebody.
#[expect(
    clippy::disallowed_methods,
    reason = "it waits for other processes and enters no record"
)]
pub fn wait() -> bool {
    let start = Instant::now();
    while processes().any(is_left) {
        if start.elapsed() > DYING * 2 {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
    true
}

/// Says whether a process is a guard, of this machine's space of process numbers, whose parent is
/// not the process that started it.
fn is_left(process: Pid) -> bool {
    let at = format!("/proc/{}", process.as_raw_nonzero());
    let starter = || {
        let line = fs::read_to_string(format!("{at}/cmdline")).ok()?;
        let mut words = line.split('\0').skip(1);
        (words.next() == Some(WORD)).then_some(())?;
        words.next()?.parse::<i32>().ok()
    };
    let is_near = || fs::read_link(format!("{at}/ns/pid")).ok() == fs::read_link("/proc/self/ns/pid").ok();
    starter().is_some_and(|starter| is_near() && parent(process).is_some_and(|parent| parent != starter))
}
