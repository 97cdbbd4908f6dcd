//! A look into a write-ahead log without the database library.
//!
//! INVARIANT: looking changes nothing, and believes a page only if every checksum up to the commit
//! that it belongs to is right.
//!
//! It does not repair. Read next: `store/sqlite/file.rs`.
//!
//! Source: "Database File Format", 4, <https://www.sqlite.org/fileformat2.html>.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::Path;

const HEADER_BYTES: usize = 32;
const FRAME_BYTES: usize = 24;
/// The log's first four bytes, without the last bit, which says how its checksums read numbers.
const MAGIC: u32 = 0x377f_0682;
const PAGE_BYTES_MAX: u32 = 65_536;

/// The database's first page in its write-ahead log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FirstPage {
    /// The newest committed one.
    Found(Vec<u8>),
    /// The log is one, and has none.
    Absent,
    /// There is no such log.
    NoLog,
}

/// Finds the first page of a database in its write-ahead log.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn first_page(log: &Path) -> io::Result<FirstPage> {
    // Opening would wait at a pipe.
    match fs::metadata(log) {
        Ok(found) if found.is_file() => {}
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(_) | Err(_) => return Ok(FirstPage::NoLog),
    }
    let mut reader = BufReader::new(File::open(log)?);
    let mut header = [0; HEADER_BYTES];
    if !fill(&mut reader, &mut header)? || number(&header, 0) & !1 != MAGIC {
        return Ok(FirstPage::NoLog);
    }
    let page_bytes = number(&header, 8);
    if !page_bytes.is_power_of_two() || !(512..=PAGE_BYTES_MAX).contains(&page_bytes) {
        return Ok(FirstPage::NoLog);
    }
    let mut sum = Sum {
        is_big_endian: number(&header, 0) & 1 == 1,
        values: (0, 0),
    };
    sum.add(&header[..24]);
    if !sum.is(&header[24..]) {
        return Ok(FirstPage::NoLog);
    }
    let (mut frame, mut page) = ([0; FRAME_BYTES], vec![0; page_bytes as usize]);
    let (mut candidate, mut committed) = (None, None);
    while fill(&mut reader, &mut frame)? && fill(&mut reader, &mut page)? {
        sum.add(&frame[..8]);
        sum.add(&page);
        if frame[8..16] != header[16..24] || !sum.is(&frame[16..]) {
            break;
        }
        if number(&frame, 0) == 1 {
            candidate = Some(page.clone());
        }
        if number(&frame, 4) != 0 {
            committed = candidate.take().or(committed);
        }
    }
    Ok(committed.map_or(FirstPage::Absent, FirstPage::Found))
}

/// Fills a buffer; false if the file ends before.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4]
        .iter()
        .fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The running checksum of a log.
struct Sum {
    is_big_endian: bool,
    values: (u32, u32),
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        let (pairs, _) = bytes.as_chunks::<8>();
        for pair in pairs {
            let (one, two) = (number(pair, 0), number(pair, 4));
            let read = |word: u32| if self.is_big_endian { word } else { word.swap_bytes() };
            self.values.0 = self.values.0.wrapping_add(read(one)).wrapping_add(self.values.1);
            self.values.1 = self.values.1.wrapping_add(read(two)).wrapping_add(self.values.0);
        }
    }

    fn is(&self, stored: &[u8]) -> bool {
        (number(stored, 0), number(stored, 4)) == self.values
    }
}
