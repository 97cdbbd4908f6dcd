//! The memory of the machine.
//!
//! INVARIANT: the size is what this process may use: that of the machine, of the container it runs
//! in, or of its own limits, such as `ulimit -v` sets, whichever is smallest.
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

/// Where Linux lists the limits of this process, and the names of those for memory.
const LIMITS: &str = "/proc/self/limits";
const LIMITS_OF_MEMORY: [&str; 2] = ["Max address space", "Max data size"];

/// Returns the memory of the machine in bytes; `None` where the system does not say.
pub fn machine_bytes() -> Option<u64> {
    let machine = fs::read_to_string(MACHINE).ok().as_deref().and_then(total_bytes);
    let contained = CONTAINERS.iter().filter_map(|path| fs::read_to_string(path).ok());
    let contained = contained.filter_map(|text| text.trim().parse().ok());
    let own = fs::read_to_string(LIMITS).ok().and_then(|text| own_limit(&text));
    machine.into_iter().chain(contained).chain(own).min()
}

/// Reads the smallest limit of memory in a list of limits, which has the limit that counts in the
/// first column after the name.
fn own_limit(text: &str) -> Option<u64> {
    let limit = |name: &&str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    LIMITS_OF_MEMORY.iter().filter_map(limit).min()
}

/// Reads the total of a description such as `MemTotal:  24580916 kB`.
fn total_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
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
        assert_eq!(own_limit(text), Some(2_048_000_000));
        assert_eq!(own_limit("Max data size   unlimited   unlimited   bytes"), None);
    }

    #[test]
    fn a_linux_machine_says_how_much_memory_it_has() {
        assert_eq!(machine_bytes().is_some(), cfg!(target_os = "linux"));
    }
}
