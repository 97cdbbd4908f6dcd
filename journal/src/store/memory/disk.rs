//! A disk in memory that forgets what was not synced, tears writes and fails on cue.
//!
//! Owns one file's bytes and the faults to come.
//! INVARIANT: after a crash the file holds every synced byte, and of the unsynced ones exactly
//! those that the fault keeps.
//! It does not know what the bytes mean.
//! Read next: `store/memory/log.rs`.

use std::io;

/// The unit in which unsynced bytes survive a crash with reordering.
pub const SECTOR_BYTES: usize = 512;

/// What goes wrong at one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFault {
    /// The operation fails and changes nothing; the disk goes on. After a failed sync the writes
    /// before it stay unsynced.
    Error,
    /// The machine stops at the operation, and each later operation fails.
    Crash(Loss),
}

/// The effect of a crash on writes that were not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// They had reached the medium all the same.
    Nothing,
    /// They are gone.
    Unsynced,
    /// The last of them reached the medium only in part, the others whole.
    Torn {
        /// How much of the last one survives.
        kept_bytes: usize,
    },
    /// Some sectors reached the medium, others did not, in no order.
    Reordered {
        /// Chooses the sectors.
        seed: u64,
    },
}

/// Faults by the number of the operation that they hit; writes, cuts and syncs are counted from 0.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan {
    faults: Vec<(u64, DiskFault)>,
}

impl FaultPlan {
    /// Plans a single fault.
    pub fn at(operation: u64, fault: DiskFault) -> Self {
        Self {
            faults: vec![(operation, fault)],
        }
    }

    /// Plans one more fault.
    pub fn and(mut self, operation: u64, fault: DiskFault) -> Self {
        self.faults.push((operation, fault));
        self
    }

    fn find(&self, operation: u64) -> Option<DiskFault> {
        self.faults
            .iter()
            .find(|(at, _)| *at == operation)
            .map(|&(_, fault)| fault)
    }
}

/// One file on a disk that can fail.
#[derive(Clone, Debug, Default)]
pub struct SimulatedDisk {
    /// What a reader sees: synced bytes with the unsynced changes on top.
    bytes: Vec<u8>,
    unsynced: Vec<Change>,
    operations: u64,
    plan: FaultPlan,
    is_down: bool,
}

/// A change, and what is needed to take it back.
#[derive(Clone, Debug)]
struct Change {
    offset_bytes: usize,
    kind: ChangeKind,
    /// Everything that stood at and after the offset.
    before: Vec<u8>,
}

#[derive(Clone, Debug)]
enum ChangeKind {
    Write(Vec<u8>),
    Cut,
}

impl SimulatedDisk {
    /// Makes a disk whose file holds `bytes`, all synced.
    pub fn new(bytes: Vec<u8>, plan: FaultPlan) -> Self {
        Self {
            bytes,
            plan,
            ..Self::default()
        }
    }

    /// Returns what a reader sees.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns how many operations were attempted.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Says whether a crash has happened.
    pub fn is_down(&self) -> bool {
        self.is_down
    }

    /// Writes `bytes` at `offset_bytes`, with zeros before it where the file is shorter.
    ///
    /// # Errors
    /// As planned; after [`DiskFault::Error`] nothing has been written.
    pub fn write(&mut self, offset_bytes: usize, bytes: impl Into<Vec<u8>>) -> io::Result<()> {
        self.perform(offset_bytes, ChangeKind::Write(bytes.into()))
    }

    /// Cuts the file off at `length_bytes`.
    ///
    /// # Errors
    /// As planned; after [`DiskFault::Error`] the file is as long as before.
    pub fn cut(&mut self, length_bytes: usize) -> io::Result<()> {
        self.perform(length_bytes, ChangeKind::Cut)
    }

    /// Makes everything written so far durable.
    ///
    /// # Errors
    /// As planned; then nothing more has become durable.
    pub fn sync(&mut self) -> io::Result<()> {
        match self.begin()? {
            None => self.unsynced.clear(),
            Some(DiskFault::Error) => return Err(io::Error::other("simulated failure of a sync")),
            Some(DiskFault::Crash(loss)) => return Err(self.crash(loss)),
        }
        Ok(())
    }

    /// Stops the machine now, whatever the plan.
    pub fn pull_the_plug(&mut self, loss: Loss) {
        if !self.is_down {
            self.crash(loss);
        }
    }

    /// Starts the machine again on what has survived, with other faults ahead.
    pub fn restart(self, plan: FaultPlan) -> Self {
        Self::new(self.bytes, plan)
    }

    fn begin(&mut self) -> io::Result<Option<DiskFault>> {
        if self.is_down {
            return Err(down());
        }
        self.operations += 1;
        Ok(self.plan.find(self.operations - 1))
    }

    fn perform(&mut self, offset_bytes: usize, kind: ChangeKind) -> io::Result<()> {
        let fault = self.begin()?;
        if fault == Some(DiskFault::Error) {
            return Err(io::Error::other("simulated failure of a write"));
        }
        let before = self.bytes.get(offset_bytes..).unwrap_or(&[]).to_vec();
        apply(&mut self.bytes, offset_bytes, &kind);
        self.unsynced.push(Change {
            offset_bytes,
            kind,
            before,
        });
        if let Some(DiskFault::Crash(loss)) = fault {
            Err(self.crash(loss))
        } else {
            Ok(())
        }
    }

    fn crash(&mut self, loss: Loss) -> io::Error {
        self.is_down = true;
        let changes = std::mem::take(&mut self.unsynced);
        for change in changes.iter().rev() {
            self.bytes.truncate(change.offset_bytes);
            self.bytes.extend_from_slice(&change.before);
        }
        let last = changes.len().saturating_sub(1);
        for (index, change) in changes.iter().enumerate() {
            self.survive(change, loss, index == last, index as u64);
        }
        down()
    }

    fn survive(&mut self, change: &Change, loss: Loss, is_last: bool, index: u64) {
        match (&change.kind, loss) {
            (_, Loss::Unsynced) => (),
            (ChangeKind::Write(bytes), Loss::Torn { kept_bytes }) if is_last => {
                let kept = bytes[..kept_bytes.min(bytes.len())].to_vec();
                if !kept.is_empty() {
                    apply(&mut self.bytes, change.offset_bytes, &ChangeKind::Write(kept));
                }
            }
            (ChangeKind::Write(bytes), Loss::Reordered { seed }) => {
                self.survive_in_sectors(change.offset_bytes, bytes, seed ^ mix(index));
            }
            (ChangeKind::Cut, Loss::Reordered { seed }) if mix(seed ^ mix(index)) & 1 == 0 => (),
            (kind, Loss::Nothing | Loss::Torn { .. } | Loss::Reordered { .. }) => {
                apply(&mut self.bytes, change.offset_bytes, kind);
            }
        }
    }

    fn survive_in_sectors(&mut self, offset_bytes: usize, bytes: &[u8], seed: u64) {
        let mut start = 0;
        while start < bytes.len() {
            let sector = (offset_bytes + start) / SECTOR_BYTES;
            let end = ((sector + 1) * SECTOR_BYTES - offset_bytes).min(bytes.len());
            if mix(seed ^ sector as u64) & 1 == 1 {
                apply(
                    &mut self.bytes,
                    offset_bytes + start,
                    &ChangeKind::Write(bytes[start..end].to_vec()),
                );
            }
            start = end;
        }
    }
}

fn apply(file: &mut Vec<u8>, offset_bytes: usize, kind: &ChangeKind) {
    match kind {
        ChangeKind::Cut => file.truncate(offset_bytes),
        ChangeKind::Write(bytes) => {
            if file.len() < offset_bytes {
                file.resize(offset_bytes, 0);
            }
            let (over, after) = bytes.split_at(bytes.len().min(file.len() - offset_bytes));
            file[offset_bytes..offset_bytes + over.len()].copy_from_slice(over);
            if file.capacity() - file.len() < after.len() {
                // The system gives memory only for room that is used, so a large reservation is
                // cheap, and the file seldom moves.
                file.reserve(2 * (file.len() + after.len()));
            }
            file.extend_from_slice(after);
        }
    }
}

/// Scatters the bits of a number.
///
/// Source: the output function of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn down() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the simulated machine has crashed")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `ab` synced, then `cd` and `EF` (over `ab`) unsynced, then crashes.
    #[track_caller]
    fn check(loss: Loss, expected: &[u8]) {
        let mut disk = SimulatedDisk::new(Vec::new(), FaultPlan::at(4, DiskFault::Crash(loss)));
        disk.write(0, b"ab").unwrap();
        disk.sync().unwrap();
        disk.write(2, b"cd").unwrap();
        disk.write(0, b"EF").unwrap();
        assert_eq!(disk.bytes(), b"EFcd");
        disk.sync().unwrap_err();
        assert!(disk.is_down());
        disk.write(0, b"x").unwrap_err();
        assert_eq!(disk.restart(FaultPlan::default()).bytes(), expected, "{loss:?}");
    }

    #[test]
    fn a_crash_keeps_what_the_fault_says() {
        check(Loss::Nothing, b"EFcd");
        check(Loss::Unsynced, b"ab");
        check(Loss::Torn { kept_bytes: 1 }, b"Ebcd");
        check(Loss::Torn { kept_bytes: 0 }, b"abcd");
    }

    #[test]
    fn reordering_keeps_whole_sectors_and_every_synced_byte() {
        let mut outcomes = std::collections::BTreeSet::new();
        for seed in 0..64 {
            let mut disk = SimulatedDisk::new(vec![1; 600], FaultPlan::default());
            disk.write(600, [2; 1000]).unwrap();
            disk.pull_the_plug(Loss::Reordered { seed });
            let bytes = disk.bytes();
            assert!(bytes[..600].iter().all(|&byte| byte == 1));
            let survives = |at: usize| bytes.get(at).is_some_and(|&byte| byte == 2);
            assert_eq!(survives(600), survives(1023));
            assert_eq!(survives(1024), survives(1535));
            outcomes.insert((survives(600), survives(1024), survives(1536)));
        }
        assert_eq!(outcomes.len(), 8);
    }

    #[test]
    fn a_failed_sync_leaves_writes_at_risk() {
        let mut disk = SimulatedDisk::new(Vec::new(), FaultPlan::at(1, DiskFault::Error).and(2, DiskFault::Error));
        disk.write(0, b"ab").unwrap();
        disk.sync().unwrap_err();
        disk.write(2, b"cd").unwrap_err();
        assert_eq!(disk.bytes(), b"ab");
        disk.pull_the_plug(Loss::Unsynced);
        assert_eq!(disk.bytes(), b"");
    }

    #[test]
    fn a_cut_is_undone_like_a_write() {
        let mut disk = SimulatedDisk::new(b"abcd".to_vec(), FaultPlan::default());
        disk.cut(1).unwrap();
        assert_eq!(disk.bytes(), b"a");
        disk.pull_the_plug(Loss::Unsynced);
        assert_eq!(disk.bytes(), b"abcd");
    }
}
