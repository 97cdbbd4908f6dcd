//! The work of a guard: it starts the program, reaps its orphans, and ends all of them.
//!
//! INVARIANT: a guard that has read its whole order starts the program once, and leaves only after
//! it has reported.
//! It does not know what asked for the program.
//! Read next: `left.rs`.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};

use super::{DYING, NO_INPUT};

/// The pause between two looks at processes that are dying.
const PAUSE: Duration = Duration::from_millis(2);

/// Executes a guard, whose order comes on standard input, a socket.
pub fn serve() {
    let line = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    // Without a line or a whole order, whoever started the guard has gone.
    let Ok(mut line) = line else { return };
    let Ok((words, input)) = read_order(&mut line) else {
        return;
    };
    become_reaper();
    let report = run(&words, input, &line);
    // Nobody may be there to hear it.
    let _ = line.write_all(report.as_bytes());
}

/// Makes processes that lose their parents children of this one, where the system can.
fn become_reaper() {
    #[cfg(target_os = "linux")]
    {
        // A kernel without reapers is older than all that Duet runs on.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
}

fn read_order(line: &mut UnixStream) -> io::Result<(Vec<String>, Option<Vec<u8>>)> {
    let words = read_part(line)?.unwrap_or_default();
    let words = String::from_utf8(words).map_err(io::Error::other)?;
    let words = words.split_terminator('\0').map(str::to_owned).collect();
    Ok((words, read_part(line)?))
}

fn read_part(line: &mut UnixStream) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 8];
    line.read_exact(&mut length)?;
    let length_bytes = u64::from_be_bytes(length);
    if length_bytes == NO_INPUT {
        return Ok(None);
    }
    let mut part = Vec::new();
    line.take(length_bytes).read_to_end(&mut part)?;
    if part.len() as u64 == length_bytes {
        Ok(Some(part))
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Runs the program until all of it has ended; returns the report.
fn run(words: &[String], input: Option<Vec<u8>>, line: &UnixStream) -> String {
    let Some((program, arguments)) = words.split_first() else {
        return "failed there is no program".to_owned();
    };
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return format!("{} {error}", refusal(error.kind())),
    };
    let Some(program) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return "failed it has no number".to_owned();
    };
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        // A program that does not read all of its input is no error.
        in_background(move || drop(pipe.write_all(&input)));
    }
    let is_over = Arc::new(AtomicBool::new(false));
    if let Ok(line) = line.try_clone() {
        let is_over = Arc::clone(&is_over);
        in_background(move || end_when_given_up(line, program, &is_over));
    }
    let report = wait_for(program);
    is_over.store(true, Ordering::Relaxed);
    end_all(program);
    report
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the list is the standard library's, and open"
)]
fn refusal(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "missing",
        io::ErrorKind::PermissionDenied => "denied",
        _ => "failed",
    }
}

fn in_background(work: impl FnOnce() + Send + 'static) {
    #[expect(
        clippy::disallowed_methods,
        reason = "a guard is a process of its own, and has no turns"
    )]
    std::thread::spawn(work);
}

fn pause() {
    #[expect(
        clippy::disallowed_methods,
        reason = "a guard is a process of its own, and has no turns"
    )]
    std::thread::sleep(PAUSE);
}

/// Waits until the other side closes the line, by intention or by its death, and then ends the
/// program; the thread that waits for it sees it end.
fn end_when_given_up(mut line: UnixStream, program: Pid, is_over: &AtomicBool) {
    let _closed = io::copy(&mut line, &mut io::sink());
    while !is_over.load(Ordering::Relaxed) {
        kill_all(program);
        pause();
    }
}

/// Waits for the program, and reaps whatever else ends before it.
fn wait_for(program: Pid) -> String {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => {
                return match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => format!("exit {code}"),
                    (None, Some(signal)) => format!("signal {signal}"),
                    (None, None) => continue,
                };
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return format!("failed it cannot be waited for: {error}"),
        }
    }
}

/// Kills and reaps all that the program has left, until nothing is or it takes too long.
#[expect(
    clippy::disallowed_methods,
    reason = "a guard is a process of its own, and has no turns"
)]
fn end_all(program: Pid) {
    let start = Instant::now();
    loop {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        if start.elapsed() > DYING {
            return;
        }
        kill_all(program);
        pause();
    }
}

/// Kills the program's group, and every process below this one.
fn kill_all(program: Pid) {
    // Each fails only for a process that has ended, or that belongs to somebody else.
    let _ = kill_process_group(program, Signal::KILL);
    for process in below(rustix::process::getpid()) {
        let _ = kill_process(process, Signal::KILL);
    }
}

/// Lists the processes below one; none where the system does not tell.
fn below(top: Pid) -> Vec<Pid> {
    let parents: Vec<(Pid, i32)> = processes()
        .filter_map(|process| Some((process, parent(process)?)))
        .collect();
    let mut found = vec![top];
    let mut next = 0;
    while let Some(above) = found.get(next).copied() {
        let children = parents
            .iter()
            .filter(|(_, parent)| *parent == above.as_raw_nonzero().get());
        let children: Vec<Pid> = children.map(|(process, _)| *process).collect();
        found.extend(children);
        next += 1;
    }
    found.split_off(1)
}

/// Lists the processes that the system shows.
pub(super) fn processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// Returns the number of a process's parent.
///
/// Source: proc(5), `/proc/pid/stat`: the second field, in parentheses, may contain anything.
pub(super) fn parent(process: Pid) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}
