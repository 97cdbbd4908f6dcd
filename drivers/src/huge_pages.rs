//! When the system may back this process's memory with huge pages.
//!
//! The allocator asks for them. Among very many actors they spare the processor a good part of its waiting for memory, but an empty program would keep twice
//! as much resident with them as without. So they are put off until the process is large; what it has by then stays in small ones.
//! INVARIANT: programs that the process starts find huge pages allowed, as they would had somebody else started them.
//! It asks for no memory and chooses no page. Only Linux is told; elsewhere nothing is put off and nothing is allowed.
//! Read next: `world.rs`.

/// A process that keeps this much resident is large.
const LARGE_BYTES: u64 = 64 << 20;
/// So many turns pass between two looks at how much it is: a look takes as long as some turns.
const TURNS_BETWEEN_LOOKS: u32 = 4096;

/// Lets the process do with small pages; for the start of `main`.
pub fn put_off() {
    forbid(true);
}

/// Lets the process have huge pages from now on.
pub fn allow() {
    forbid(false);
}

/// Without effect where the system does not know of it.
#[cfg(target_os = "linux")]
fn forbid(are_forbidden: bool) {
    let _ = rustix::thread::disable_transparent_huge_pages(are_forbidden);
}

#[cfg(not(target_os = "linux"))]
fn forbid(_are_forbidden: bool) {}

/// Looks now and then whether the process has become large, and allows huge pages then.
#[derive(Debug, Default)]
pub struct Watch {
    turns: u32,
    is_over: bool,
}

impl Watch {
    /// Counts a turn.
    pub fn note_turn(&mut self) {
        if self.is_over {
            return;
        }
        self.turns += 1;
        if self.turns == TURNS_BETWEEN_LOOKS {
            self.turns = 0;
            self.is_over = resident_bytes().is_none_or(|bytes| bytes >= LARGE_BYTES);
            if self.is_over {
                allow();
            }
        }
    }
}

/// How much of the process's memory is resident, if the system says so.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    resident_bytes_in(&status)
}

/// Finds it in what the system says of a process.
///
/// Source: proc_pid_status(5).
fn resident_bytes_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_resident_is_found_in_what_the_system_says() {
        let status = "Name:\tduet\nVmHWM:\t   99999 kB\nVmRSS:\t   17304 kB\nRssAnon:\t   1 kB\n";
        assert_eq!(resident_bytes_in(status), Some(17_304 * 1024));
        assert_eq!(resident_bytes_in("VmRSS:\tmuch\n"), None);
        assert_eq!(resident_bytes_in(""), None);
    }
}
