//! The owner of a run: which process it is, and whether it still lives.
//!
//! A claim records its owner as one line of text. On the owner's own host anyone can ask the system
//! for the process: its number, when it started and the boot of the machine name it for ever. From
//! elsewhere (another host, another container) only the time counts at which the owner was last
//! heard of: its lease.
//! INVARIANT: an owner that lives on this host is never taken for dead, however long it is stopped;
//! one that has died is known to be dead at once.
//!
//! It protects nothing: the epoch does, which a store checks with every write.
//! Read next: `store/batch.rs`.

use std::fmt;
use std::fs;
use std::str::FromStr;
use std::sync::OnceLock;

/// How long an owner on another host may be silent before others take it for dead, in milliseconds,
/// unless it says otherwise.
pub const LEASE_MS: u64 = 60_000;

/// How long an owner may have effects leave after a commit without asking once more whether it
/// still has the run, in milliseconds. Whoever takes a run from an owner that lives waits for as
/// long.
pub const TRUST_MS: u64 = 1_000;

/// How often an owner with a lease says that it lives: four times in its lease. In milliseconds.
pub const fn beat_ms(lease_ms: u64) -> u64 {
    lease_ms / 4
}

/// A process that executes runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The number of the process.
    pub process: u32,
    /// When it started, in ticks of the system's clock since its boot; 0 if the system does not
    /// say.
    pub started: u64,
    /// The boot of the machine and the space of process numbers; empty if the system does not say.
    pub host: String,
    /// When it claimed the run, in milliseconds since 1970.
    pub claimed_ms: u64,
    /// When it was last heard of, in milliseconds since 1970.
    pub seen_ms: u64,
    /// How long it may be silent before other hosts take it for dead, in milliseconds.
    pub lease_ms: u64,
    /// The command that it executes, for people.
    pub command: String,
}

impl Owner {
    /// Describes this process.
    pub fn this(command: &str) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "it names the owner of a claim and enters no record"
        )]
        let process = std::process::id();
        let now = now_ms();
        Self {
            process,
            started: look(process).map_or(0, |found| found.started),
            host: host(),
            claimed_ms: now,
            seen_ms: now,
            lease_ms: LEASE_MS,
            command: command.to_owned(),
        }
    }

    /// Says whether both are one process.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.process, self.started, &self.host) == (other.process, other.started, &other.host)
    }

    /// Says whether the owner is on this host, where the system knows its process.
    pub fn is_here(&self) -> bool {
        !self.host.is_empty() && self.host == host()
    }

    /// Says whether the owner lives, as far as anyone can tell from here at a time in milliseconds
    /// since 1970.
    pub fn is_alive(&self, now_ms: u64) -> bool {
        if self.is_here() {
            look(self.process).is_some_and(|found| found.started == self.started && !found.is_over)
        } else {
            now_ms.saturating_sub(self.seen_ms) < self.lease_ms
        }
    }

    /// Returns a name that no other process has, for files that belong to this one.
    pub fn name(&self) -> String {
        format!("{}-{}-{}", self.host, self.process, self.started)
    }

    /// Returns the process with a name, which tells whether it lives if it is on this host.
    pub fn named(name: &str) -> Option<Self> {
        let (rest, started) = name.rsplit_once('-')?;
        let (host, process) = rest.rsplit_once('-')?;
        Some(Self {
            process: process.parse().ok()?,
            started: started.parse().ok()?,
            host: host.to_owned(),
            claimed_ms: 0,
            seen_ms: 0,
            lease_ms: LEASE_MS,
            command: String::new(),
        })
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            process,
            started,
            host,
            claimed_ms,
            seen_ms,
            lease_ms,
            command,
        } = self;
        write!(
            f,
            "process={process} started={started} host={host} claimed={claimed_ms} seen={seen_ms} "
        )?;
        // The usual lease goes without saying.
        if *lease_ms != LEASE_MS {
            write!(f, "lease={lease_ms} ")?;
        }
        f.write_str(command)
    }
}

/// A text that describes no process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoOwner;

impl FromStr for Owner {
    type Err = NoOwner;

    fn from_str(text: &str) -> Result<Self, NoOwner> {
        let mut words = text.splitn(6, ' ');
        let mut field = |name: &str| {
            let value = words.next()?.strip_prefix(name)?.strip_prefix('=')?;
            Some(value.to_owned())
        };
        let mut read = || {
            Some(Self {
                process: field("process")?.parse().ok()?,
                started: field("started")?.parse().ok()?,
                host: field("host")?,
                claimed_ms: field("claimed")?.parse().ok()?,
                seen_ms: field("seen")?.parse().ok()?,
                lease_ms: LEASE_MS,
                command: String::new(),
            })
        };
        let owner = read().ok_or(NoOwner)?;
        let rest = words.next().unwrap_or_default();
        let lease = rest.strip_prefix("lease=").and_then(|rest| rest.split_once(' '));
        let lease = lease.and_then(|(lease_ms, command)| Some((lease_ms.parse().ok()?, command)));
        let (lease_ms, command) = lease.unwrap_or((LEASE_MS, rest));
        Ok(Self {
            lease_ms,
            command: command.to_owned(),
            ..owner
        })
    }
}

/// Returns the time in milliseconds since 1970.
pub fn now_ms() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "a lease is a matter of clocks and enters no record"
    )]
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// What the system says of a process.
struct ProcessStatus {
    started: u64,
    /// It has ended, and nobody has asked for its result yet.
    is_over: bool,
}

/// Source: proc(5), `/proc/pid/stat`: the second field, in parentheses, may contain anything.
fn look(process: u32) -> Option<ProcessStatus> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    Some(ProcessStatus {
        started: fields.get(19)?.parse().ok()?,
        is_over: matches!(*fields.first()?, "Z" | "X" | "x"),
    })
}

/// Names the boot of the machine and the space in which a process number means something. Empty
/// where the system hides processes, because a hidden one would look dead. Neither changes while
/// this process lives, and each look for runs that can go on asks for hundreds of owners.
fn host() -> String {
    static HOST: OnceLock<String> = OnceLock::new();
    let named = || {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let space = fs::read_link("/proc/self/ns/pid").ok()?;
        look(1)?;
        let both = format!("{} {}", boot.trim(), space.display());
        Some(blake3::hash(both.as_bytes()).to_hex()[..16].to_owned())
    };
    HOST.get_or_init(|| named().unwrap_or_default()).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_what_was_written() {
        let owner = Owner::this("duet run, in the background");
        let hasty = Owner {
            lease_ms: 1_000,
            ..owner.clone()
        };
        for owner in [&owner, &hasty] {
            assert_eq!(owner.to_string().parse().as_ref(), Ok(owner));
        }
        assert!(Owner::named(&owner.name()).is_some_and(|named| named.is_same(&owner)));
        let unnamed = Owner {
            host: String::new(),
            command: String::new(),
            ..owner
        };
        assert_eq!(unnamed.to_string().parse(), Ok(unnamed));
        for text in [
            "",
            "duet run, process 7",
            "process=x started=1 host= claimed=1 seen=1 a",
        ] {
            assert_eq!(text.parse::<Owner>(), Err(NoOwner), "{text}");
        }
    }

    #[test]
    fn this_process_lives_and_an_earlier_one_of_its_number_does_not() {
        let owner = Owner::this("test");
        assert!(owner.is_here() && owner.is_alive(u64::MAX));
        let earlier = Owner {
            started: owner.started - 1,
            ..owner.clone()
        };
        assert!(!earlier.is_alive(owner.seen_ms));
    }

    #[test]
    fn an_owner_elsewhere_lives_as_long_as_its_lease() {
        let there = Owner {
            host: "elsewhere".to_owned(),
            ..Owner::this("test")
        };
        assert!(there.is_alive(there.seen_ms + LEASE_MS - 1));
        assert!(!there.is_alive(there.seen_ms + LEASE_MS));
        assert!(there.is_alive(there.seen_ms - 1), "its clock may be ahead");
        let hasty = Owner {
            lease_ms: 1_000,
            ..there
        };
        assert!(hasty.is_alive(hasty.seen_ms + 999) && !hasty.is_alive(hasty.seen_ms + 1_000));
    }
}
