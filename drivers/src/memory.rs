//! The memory of the machine.
//!
//! INVARIANT: the size is what this process may use: that of the machine, of the container it runs
//! in, or what its own limits leave, such as `ulimit -v` sets, whichever is smallest.
//! It sets no limit; who starts a run does, and the run's first record keeps it.
//! Read next: `world.rs`.

use std::fs;

/// Where Linux describes the machine's memory.
const MACHINE: &str = "/proc/meminfo";

/// Where Linux says how much memory the processes of a container may use.
const CONTAINERS: [&str; 2] = [
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];

/// Where Linux lists the limits of this process, and what counts against them.
const LIMITS: &str = "/proc/self/limits";
const STATUS: &str = "/proc/self/status";
/// The limits of memory, each with the name of what counts against it.
const LIMITS_OF_MEMORY: [(&str, &str); 2] = [("Max address space", "VmSize:"), ("Max data size", "VmData:")];

/// What Duet itself maps later: the stacks of threads, and the store.
const COMMAND_BYTES: u64 = 64 << 20;

/// Returns the memory of the machine in bytes; `None` where the system does not say.
pub fn machine_bytes() -> Option<u64> {
    let machine = fs::read_to_string(MACHINE).ok().as_deref().and_then(total_bytes);
    let contained = CONTAINERS.iter().filter_map(|path| fs::read_to_string(path).ok());
    let contained = contained.filter_map(|text| text.trim().parse().ok());
    let own = fs::read_to_string(LIMITS).ok();
    let own = own.and_then(|limits| own_limit(&limits, &fs::read_to_string(STATUS).unwrap_or_default()));
    machine.into_iter().chain(contained).chain(own).min()
}

/// Reads what the smallest limit of memory leaves. A list of limits has the limit that counts in
/// the first column after the name. The allocator reserves addresses ahead, 1 GiB at once, so that
/// what is in use already may be most of the limit.
fn own_limit(limits: &str, status: &str) -> Option<u64> {
    let left = |(name, used): &(&str, &str)| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
        let used = described_bytes(status, used).unwrap_or(0);
        Some(limit.saturating_sub(used + COMMAND_BYTES).max(COMMAND_BYTES))
    };
    LIMITS_OF_MEMORY.iter().filter_map(left).min()
}

/// Reads the total of a description such as `MemTotal:  24580916 kB`.
fn total_bytes(text: &str) -> Option<u64> {
    described_bytes(text, "MemTotal:")
}

fn described_bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_found_in_a_description() {
        let text = "MemFree:  1 kB\nMemTotal:       24580916 kB\n";
        assert_eq!(total_bytes(text), Some(24_580_916 * 1024));
        assert_eq!(total_bytes("MemTotal: many"), None);
    }

    #[test]
    fn a_limit_of_the_process_counts_if_it_has_one() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max data size             unlimited            unlimited            bytes     \n\
                    Max address space         2048000000           unlimited            bytes     \n";
        let status = "VmPeak:   999999 kB\nVmSize:\t 1000000 kB\n";
        assert_eq!(own_limit(text, status), Some(1_024_000_000 - COMMAND_BYTES));
        assert_eq!(own_limit(text, "VmSize: 3000000 kB"), Some(COMMAND_BYTES));
        assert_eq!(own_limit(text, ""), Some(2_048_000_000 - COMMAND_BYTES));
        assert_eq!(own_limit("Max data size   unlimited   unlimited   bytes", status), None);
    }

    #[test]
    fn a_linux_machine_says_how_much_memory_it_has() {
        assert_eq!(machine_bytes().is_some(), cfg!(target_os = "linux"));
    }
}
