//! The work of a guard: it starts the program, reaps its orphans, and ends all of them.
//!
//! INVARIANT: a guard that has read its whole order starts the program once, and leaves only after
//! it has reported.
//! It does not know what asked for the program.
//! Read next: `left.rs`.

use std::fs::{self, OpenOptions};
use std::io::{self, BufReader, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::cmsg_space;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};
use rustix::stdio::{dup2_stderr, dup2_stdout};

use super::{DYING, GROUP, GuardScope, NO_INPUT, PIPE, STARTED};

/// The pause between two looks at processes that are dying.
const PAUSE: Duration = Duration::from_millis(2);

/// What a guard has to do.
struct Order {
    words: Vec<String>,
    input: Input,
    scope: GuardScope,
}

/// What the program reads on its standard input.
enum Input {
    Nothing,
    Bytes(Vec<u8>),
    Pipe(OwnedFd),
}

/// A program under this guard.
#[derive(Clone, Copy)]
struct GuardedProgram {
    program: Pid,
    scope: GuardScope,
}

/// Executes a guard, whose order comes on standard input, a socket.
pub fn serve() {
    let line = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    // Without a line or a whole order, whoever started the guard has gone.
    let Ok(mut line) = line else { return };
    let Ok(order) = read_order(&mut line) else {
        return;
    };
    if order.scope == GuardScope::All {
        become_reaper();
    }
    let report = run(order, &line);
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

fn read_order(line: &mut UnixStream) -> io::Result<Order> {
    let (first, pipe) = read_first(line)?;
    let words = read_part(line)?.unwrap_or_default();
    let words = String::from_utf8(words).map_err(io::Error::other)?;
    let bytes = read_part(line)?;
    let input = match (first & PIPE != 0, pipe) {
        (true, Some(pipe)) => Input::Pipe(pipe),
        (true, None) => return Err(io::ErrorKind::InvalidData.into()),
        (false, _) => bytes.map_or(Input::Nothing, Input::Bytes),
    };
    Ok(Order {
        words: words.split_terminator('\0').map(str::to_owned).collect(),
        input,
        scope: if first & GROUP != 0 {
            GuardScope::Group
        } else {
            GuardScope::All
        },
    })
}

/// Reads the first byte, and the pipe that comes with it.
fn read_first(line: &UnixStream) -> io::Result<(u8, Option<OwnedFd>)> {
    // Linux keeps the pipe from the program in the same step; elsewhere it has it twice.
    #[cfg(target_os = "linux")]
    let flags = RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = RecvFlags::empty();
    let mut first = [0];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(line, &mut [IoSliceMut::new(&mut first)], &mut beside, flags)?;
    if received.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let pipe = beside.drain().find_map(|message| {
        let RecvAncillaryMessage::ScmRights(mut pipes) = message else {
            return None;
        };
        pipes.next()
    });
    Ok((first[0], pipe))
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
fn run(order: Order, mut line: &UnixStream) -> String {
    let Some((program, arguments)) = order.words.split_first() else {
        return "failed there is no program".to_owned();
    };
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    let mut written = None;
    command.stdin(match order.input {
        Input::Nothing => Stdio::null(),
        Input::Bytes(bytes) => {
            written = Some(bytes);
            Stdio::piped()
        }
        Input::Pipe(pipe) => pipe.into(),
    });
    let spawned = command.spawn();
    // It holds the other end of the pipe.
    drop(command);
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return format!("{} {error}", refusal(error.kind())),
    };
    let Some(program) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return "failed it has no number".to_owned();
    };
    let guarded = GuardedProgram {
        program,
        scope: order.scope,
    };
    leave_outputs();
    let _ = line.write_all(format!("{STARTED}\n").as_bytes());
    if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), written) {
        // A program that does not read all of its input is no error.
        in_background(move || drop(pipe.write_all(&bytes)));
    }
    let is_over = Arc::new(AtomicBool::new(false));
    if let Ok(line) = line.try_clone() {
        let is_over = Arc::clone(&is_over);
        in_background(move || end_when_given_up(line, guarded, &is_over));
    }
    let report = wait_for(program);
    is_over.store(true, Ordering::Relaxed);
    end_all(guarded);
    report
}

/// Leaves the outputs to the program, so that they end when nobody of it has them any more.
fn leave_outputs() {
    // Where it fails they end with the guard.
    if let Ok(nowhere) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = dup2_stdout(&nowhere);
        let _ = dup2_stderr(&nowhere);
    }
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
/// program; the thread that waits for it sees it end. What comes before asks the program to end.
fn end_when_given_up(line: UnixStream, guarded: GuardedProgram, is_over: &AtomicBool) {
    for _asked in BufReader::new(line).bytes().map_while(Result::ok) {
        if !is_over.load(Ordering::Relaxed) {
            let _ended = kill_process(guarded.program, Signal::TERM);
        }
    }
    while !is_over.load(Ordering::Relaxed) {
        kill_all(guarded);
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
fn end_all(guarded: GuardedProgram) {
    if guarded.scope == GuardScope::Group {
        // Whoever started the others reaps them.
        return kill_all(guarded);
    }
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
        kill_all(guarded);
        pause();
    }
}

/// Kills the program's group, and every process below this one that is within its scope.
fn kill_all(guarded: GuardedProgram) {
    // Each fails only for a process that has ended, or that belongs to somebody else.
    let _ = kill_process_group(guarded.program, Signal::KILL);
    if guarded.scope == GuardScope::Group {
        return;
    }
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
