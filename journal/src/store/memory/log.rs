//! The byte format of the memory store: a log of checksummed frames.
//!
//! Owns header, frames and entries; one commit is one frame.
//! INVARIANT: a frame is complete exactly if its checksum is right, and it names the frame before
//! it. So only the loss of the last frame looks like a torn write; every other loss is damage.
//!
//! It does not know which records and heads there are; `store/memory/index.rs` does.
//! Read next: `store/memory/index.rs`.
//!
//! Source: `journal/FORMAT.md`, "Log".

use std::ops::Range;

use twox_hash::XxHash3_64;

use crate::identity::{BlobHash, BranchName, Epoch, RecordHash, RunId};
use crate::inbox::{Letter, LetterId, Need, Taken};
use crate::record::Record;
use crate::store::{Blob, CommitTime, Object, StoreError};

/// The version of the log format, little-endian in the header after the magic bytes.
pub(super) const VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"DUETLOG\n";
/// The length of the header: magic bytes, version.
pub(super) const HEADER_BYTES: usize = 12;

const FRAME_MAGIC: &[u8; 4] = b"\xf5DLF";

/// The checksum of a frame, which the next frame repeats: XXH3, 64 bits, of what follows it in the
/// frame.
pub(super) type Checksum = [u8; 8];

/// Stands for the checksum of the frame before the first.
pub(super) const NO_CHECKSUM: Checksum = [0; 8];

/// The length of what precedes a payload: magic bytes, checksum, length, the checksum before.
const PREFIX_BYTES: usize = 28;

/// Where in a frame the checksum stands, and the bytes that it covers begin.
const CHECKSUM: Range<usize> = 4..12;

/// One thing that a commit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LogEntry<'a> {
    Claim {
        run: RunId,
        epoch: Epoch,
        owner: &'a str,
    },
    Record {
        /// The name of the record before it, if there is one.
        parent: Option<RecordHash>,
        bytes: Range<usize>,
    },
    Time {
        hash: RecordHash,
        time: CommitTime,
    },
    Blob {
        hash: BlobHash,
        bytes: Range<usize>,
    },
    Head {
        run: RunId,
        branch: BranchName,
        hash: RecordHash,
    },
    DropHead {
        run: RunId,
        branch: BranchName,
    },
    DropRecord {
        hash: RecordHash,
    },
    DropBlob {
        hash: BlobHash,
    },
    Need {
        run: RunId,
        branch: BranchName,
        need: Need,
    },
    Letter {
        run: RunId,
        letter: Letter,
    },
    Taken {
        run: RunId,
        taken: Taken,
    },
    DropLetter {
        run: RunId,
        letter: LetterId,
    },
    Worker {
        name: String,
        told: String,
    },
}

mod code {
    pub(super) const CLAIM: u8 = b'C';
    pub(super) const RECORD: u8 = b'R';
    pub(super) const RECORD_AFTER: u8 = b'P';
    pub(super) const TIME: u8 = b'T';
    pub(super) const BLOB: u8 = b'B';
    pub(super) const HEAD: u8 = b'H';
    pub(super) const DROP_HEAD: u8 = b'h';
    pub(super) const DROP_RECORD: u8 = b'r';
    pub(super) const DROP_BLOB: u8 = b'b';
    pub(super) const NEED: u8 = b'N';
    pub(super) const LETTER: u8 = b'L';
    pub(super) const TAKEN: u8 = b'A';
    pub(super) const DROP_LETTER: u8 = b'l';
    pub(super) const WORKER: u8 = b'W';
}

/// Returns the header of an empty log.
pub(super) fn header() -> Vec<u8> {
    [MAGIC.as_slice(), &VERSION.to_le_bytes()].concat()
}

/// Collects the entries of one commit.
pub(super) struct FrameBuilder {
    /// Room for the prefix, then the payload.
    bytes: Vec<u8>,
    previous: Checksum,
}

impl FrameBuilder {
    /// Begins the frame after another, with room for `payload_bytes` of entries.
    pub(super) fn after(previous: Checksum, payload_bytes: usize) -> Self {
        let mut bytes = Vec::with_capacity(PREFIX_BYTES + payload_bytes);
        bytes.resize(PREFIX_BYTES, 0);
        Self { bytes, previous }
    }

    /// How many bytes the entry of a record takes at most besides its bytes: code, parent, length.
    pub(super) const RECORD_ENTRY_BYTES: usize = 1 + (8 + 32) + 8;

    pub(super) fn claim(&mut self, run: &RunId, epoch: Epoch, owner: &str) {
        self.entry(
            code::CLAIM,
            &[run.as_str().as_bytes(), &epoch.0.to_le_bytes(), owner.as_bytes()],
        );
    }

    pub(super) fn record(&mut self, record: &Record) {
        match record.header().parent {
            Some(parent) => self.entry(code::RECORD_AFTER, &[parent.as_bytes(), record.as_bytes()]),
            None => self.entry(code::RECORD, &[record.as_bytes()]),
        }
    }

    pub(super) fn time(&mut self, record: RecordHash, ms: u64) {
        self.entry(code::TIME, &[record.as_bytes(), &ms.to_le_bytes()]);
    }

    pub(super) fn blob(&mut self, blob: &Blob) {
        self.entry(code::BLOB, &[blob.hash().as_bytes(), blob.as_bytes()]);
    }

    pub(super) fn head(&mut self, run: &RunId, branch: &BranchName, hash: RecordHash) {
        self.entry(
            code::HEAD,
            &[run.as_str().as_bytes(), branch.as_str().as_bytes(), hash.as_bytes()],
        );
    }

    pub(super) fn drop_head(&mut self, run: &RunId, branch: &BranchName) {
        self.entry(code::DROP_HEAD, &[run.as_str().as_bytes(), branch.as_str().as_bytes()]);
    }

    pub(super) fn drop_record(&mut self, hash: RecordHash) {
        self.entry(code::DROP_RECORD, &[hash.as_bytes()]);
    }

    pub(super) fn drop_blob(&mut self, hash: BlobHash) {
        self.entry(code::DROP_BLOB, &[hash.as_bytes()]);
    }

    pub(super) fn need(&mut self, run: &RunId, branch: &BranchName, need: Need) {
        let at = need.encode().map_or_else(Vec::new, |at| at.to_le_bytes().to_vec());
        self.entry(code::NEED, &[run.as_str().as_bytes(), branch.as_str().as_bytes(), &at]);
    }

    pub(super) fn letter(&mut self, run: &RunId, letter: &Letter) {
        let Letter {
            id,
            branch,
            sent_ms,
            body,
        } = letter;
        let (run, branch) = (run.as_str().as_bytes(), branch.as_str().as_bytes());
        self.entry(code::LETTER, &[run, &id.0, branch, &sent_ms.to_le_bytes(), body]);
    }

    pub(super) fn taken(&mut self, run: &RunId, taken: &Taken) {
        self.entry(code::TAKEN, &[run.as_str().as_bytes(), &taken.letter.0, &taken.reply]);
    }

    pub(super) fn drop_letter(&mut self, run: &RunId, letter: LetterId) {
        self.entry(code::DROP_LETTER, &[run.as_str().as_bytes(), &letter.0]);
    }

    pub(super) fn worker(&mut self, name: &str, told: &str) {
        self.entry(code::WORKER, &[name.as_bytes(), told.as_bytes()]);
    }

    fn entry(&mut self, code: u8, fields: &[&[u8]]) {
        self.bytes.push(code);
        for field in fields {
            self.bytes.extend_from_slice(&(field.len() as u64).to_le_bytes());
            self.bytes.extend_from_slice(field);
        }
    }

    /// Puts the prefix before the payload, as that of the frame that will stand at `start`.
    pub(super) fn finish(mut self, start: usize) -> (Vec<u8>, Frame) {
        let length = ((self.bytes.len() - PREFIX_BYTES) as u64).to_le_bytes();
        self.bytes[..CHECKSUM.start].copy_from_slice(FRAME_MAGIC);
        self.bytes[12..20].copy_from_slice(&length);
        self.bytes[20..PREFIX_BYTES].copy_from_slice(&self.previous);
        let checksum = checksum(&self.bytes[CHECKSUM.end..]);
        self.bytes[CHECKSUM].copy_from_slice(&checksum);
        let frame = Frame {
            payload: start + PREFIX_BYTES..start + self.bytes.len(),
            checksum,
            previous: self.previous,
        };
        (self.bytes, frame)
    }
}

fn checksum(checked: &[u8]) -> Checksum {
    XxHash3_64::oneshot(checked).to_le_bytes()
}

/// A complete frame.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) payload: Range<usize>,
    pub(super) checksum: Checksum,
    previous: Checksum,
}

/// Reads the frame at `start`, if the bytes there are one and have not changed.
pub(super) fn frame_at(log: &[u8], start: usize) -> Option<Frame> {
    let prefix = log.get(start..)?.get(..PREFIX_BYTES)?.strip_prefix(FRAME_MAGIC)?;
    let (expected, rest) = prefix.split_first_chunk()?;
    let (length, previous) = rest.split_first_chunk()?;
    let from = start + PREFIX_BYTES;
    let to = from.checked_add(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let is_right = checksum(log.get(start + CHECKSUM.end..to)?) == *expected;
    is_right.then_some(Frame {
        payload: from..to,
        checksum: *expected,
        previous: previous.try_into().ok()?,
    })
}

/// The intact part of a log.
#[derive(Debug)]
pub(super) struct Recovered {
    pub(super) frames: Vec<Frame>,
    /// Where the last complete frame ends.
    pub(super) end: usize,
    /// The checksum of the last complete frame.
    pub(super) last: Checksum,
}

/// Finds the frames of a log whose header has been checked.
///
/// # Errors
/// [`StoreError::ChecksumMismatch`] if a frame is damaged though a complete one stands after it: a
/// torn write cannot do that, as each frame was synced before the next was written.
pub(super) fn recover(log: &[u8]) -> Result<Recovered, StoreError> {
    let mut recovered = Recovered {
        frames: Vec::new(),
        end: HEADER_BYTES,
        last: NO_CHECKSUM,
    };
    while let Some(frame) = frame_at(log, recovered.end).filter(|frame| frame.previous == recovered.last) {
        recovered.end = frame.payload.end;
        recovered.last = frame.checksum;
        recovered.frames.push(frame);
    }
    let mut starts = recovered.end..log.len();
    if starts.any(|start| log[start..].starts_with(FRAME_MAGIC) && frame_at(log, start).is_some()) {
        let object = Object::Frame {
            offset_bytes: recovered.end,
        };
        return Err(StoreError::ChecksumMismatch { object });
    }
    Ok(recovered)
}

/// Checks the header, and says whether the log was begun: not if it is empty, or a crash came while
/// the header was written.
///
/// # Errors
/// [`StoreError::NotAJournal`], [`StoreError::UnsupportedVersion`].
pub(super) fn check_header(log: &[u8]) -> Result<bool, StoreError> {
    let header = header();
    if log.len() <= HEADER_BYTES
        && log
            .iter()
            .zip(&header)
            .all(|(&found, &whole)| found == whole || found == 0)
    {
        return Ok(log == header);
    }
    let version = log
        .strip_prefix(MAGIC)
        .and_then(|rest| rest.first_chunk())
        .map(|bytes| u32::from_le_bytes(*bytes));
    match version {
        Some(VERSION) => Ok(true),
        Some(found) => Err(StoreError::UnsupportedVersion {
            found: found.into(),
            supported: VERSION.into(),
        }),
        None => Err(StoreError::NotAJournal {
            path: "memory".into(),
            why: "it does not begin like a log",
        }),
    }
}

/// Reads the entries of a frame, one after the other.
///
/// # Errors
/// [`StoreError::Inconsistent`] if a payload with the right checksum is not a list of entries.
pub(super) fn entries<'a>(log: &'a [u8], frame: &Frame) -> impl Iterator<Item = Result<LogEntry<'a>, StoreError>> {
    let mut reader = LogReader {
        log,
        at: frame.payload.start,
        end: frame.payload.end,
    };
    std::iter::from_fn(move || {
        let is_left = reader.at < reader.end;
        is_left.then(|| {
            reader.entry().ok_or(StoreError::Inconsistent {
                what: "a frame of the log is malformed",
            })
        })
    })
}

struct LogReader<'a> {
    log: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> LogReader<'a> {
    fn entry(&mut self) -> Option<LogEntry<'a>> {
        let code = self.log[self.at];
        self.at += 1;
        Some(match code {
            code::CLAIM => LogEntry::Claim {
                run: RunId::new(self.text()?).ok()?,
                epoch: Epoch(u64::from_le_bytes(self.bytes()?.try_into().ok()?)),
                owner: self.text()?,
            },
            code::RECORD => LogEntry::Record {
                parent: None,
                bytes: self.field()?,
            },
            code::RECORD_AFTER => LogEntry::Record {
                parent: Some(RecordHash::from_slice(self.bytes()?)?),
                bytes: self.field()?,
            },
            code::TIME => LogEntry::Time {
                hash: RecordHash::from_slice(self.bytes()?)?,
                time: CommitTime::from_ms(u64::from_le_bytes(self.bytes()?.try_into().ok()?)),
            },
            code::BLOB => LogEntry::Blob {
                hash: BlobHash::from_slice(self.bytes()?)?,
                bytes: self.field()?,
            },
            code::HEAD => LogEntry::Head {
                run: RunId::new(self.text()?).ok()?,
                branch: BranchName::new(self.text()?).ok()?,
                hash: RecordHash::from_slice(self.bytes()?)?,
            },
            code::DROP_HEAD => LogEntry::DropHead {
                run: RunId::new(self.text()?).ok()?,
                branch: BranchName::new(self.text()?).ok()?,
            },
            code::DROP_RECORD => LogEntry::DropRecord {
                hash: RecordHash::from_slice(self.bytes()?)?,
            },
            code::DROP_BLOB => LogEntry::DropBlob {
                hash: BlobHash::from_slice(self.bytes()?)?,
            },
            _ => return self.entry_beside(code),
        })
    }

    /// Reads an entry about what stands beside the records.
    fn entry_beside(&mut self, code: u8) -> Option<LogEntry<'a>> {
        Some(match code {
            code::NEED => LogEntry::Need {
                run: RunId::new(self.text()?).ok()?,
                branch: BranchName::new(self.text()?).ok()?,
                need: match self.bytes()? {
                    [] => Need::Nothing,
                    at => Need::decode(Some(i64::from_le_bytes(at.try_into().ok()?))),
                },
            },
            code::LETTER => LogEntry::Letter {
                run: RunId::new(self.text()?).ok()?,
                letter: Letter {
                    id: LetterId::from_slice(self.bytes()?)?,
                    branch: BranchName::new(self.text()?).ok()?,
                    sent_ms: u64::from_le_bytes(self.bytes()?.try_into().ok()?),
                    body: self.bytes()?.to_vec(),
                },
            },
            code::TAKEN => LogEntry::Taken {
                run: RunId::new(self.text()?).ok()?,
                taken: Taken {
                    letter: LetterId::from_slice(self.bytes()?)?,
                    reply: self.bytes()?.to_vec(),
                },
            },
            code::DROP_LETTER => LogEntry::DropLetter {
                run: RunId::new(self.text()?).ok()?,
                letter: LetterId::from_slice(self.bytes()?)?,
            },
            code::WORKER => LogEntry::Worker {
                name: self.text()?.to_owned(),
                told: self.text()?.to_owned(),
            },
            _ => return None,
        })
    }

    fn field(&mut self) -> Option<Range<usize>> {
        let start = self.at + 8;
        let length = u64::from_le_bytes(self.log.get(self.at..start)?.try_into().ok()?);
        let field = start..start.checked_add(usize::try_from(length).ok()?)?;
        self.at = field.end;
        (field.end <= self.end).then_some(field)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let field = self.field()?;
        self.log.get(field)
    }

    fn text(&mut self) -> Option<&'a str> {
        str::from_utf8(self.bytes()?).ok()
    }
}
