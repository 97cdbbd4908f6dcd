//! Grants: sturdy references by which clients of a server come to a run, and what each gives.
//!
//! A reference is signed with a key beside the journal and names its run and its grant. The file of
//! grants says which rights a grant gives, until when, and whether it was revoked; holders of a
//! reference narrow it further by caveats, which are part of the reference.
//! INVARIANT: only the journal's user can read the key and the grants; a reference gives nothing
//! but what its grant says now, and no process stores the reference itself.
//! It does not judge actions; the gate of the runtime does. Read next: `owner/gatekeeper.rs`.
//!
//! Rejected: rights as caveats of the reference. A caveat compares patterns by their form, so it
//! cannot say which patterns a client may observe; the gate can.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;

use duet_journal::beside::{append_beside, read_beside, text_beside};
use duet_runtime::capability::sturdy::SturdyRef;
use duet_runtime::driver::packed::PackedLimits;
use duet_runtime::driver::packed::framing::read_text;
use duet_runtime::model::codec::{Codec, Fields, record};
use duet_runtime::model::manifest::Manifest;
use preserves::IOValue;

use crate::history::journal::Journal;
use crate::text::error::CommandError;
use crate::text::saying::{Way, say};

/// The length of the key in bytes.
const KEY_BYTES: usize = 32;

/// What a reference gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grant {
    /// The run.
    pub(crate) run: String,
    /// The rights in its dataspace.
    pub(crate) rights: Manifest,
    /// The moment in milliseconds since 1970 at which it ends, if it does.
    pub(crate) until_ms: Option<u64>,
    /// Whether the client may begin branches of the run and go on there.
    pub(crate) may_fork: bool,
    /// The session in which the client may approve what policy wants approved, if it may.
    pub(crate) approves: Option<String>,
}

/// The grants of a journal, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Grants(BTreeMap<String, Grant>);

impl Grants {
    /// Where they are.
    pub(crate) fn path(journal: &Journal) -> PathBuf {
        journal.beside(".grants")
    }

    /// Reads the grants that were not revoked. A line that cannot be read grants nothing.
    pub(crate) fn read(journal: &Journal) -> Self {
        let mut grants = BTreeMap::new();
        for line in text_beside(&Self::path(journal)).lines() {
            let Ok(line) = read_text(line, PackedLimits::NONE) else {
                continue;
            };
            if let Some((id, grant)) = Grant::read(&line) {
                grants.insert(id, grant);
            } else if let Ok(id) = Fields::of(&line, "revoke", 1).and_then(|mut fields| fields.read::<String>("id")) {
                grants.remove(&id);
            }
        }
        Self(grants)
    }

    /// Finds one.
    pub(crate) fn get(&self, id: &str) -> Option<&Grant> {
        self.0.get(id)
    }

    /// Lists them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Grant)> {
        self.0.iter()
    }

    /// Adds a grant; returns its id and the reference.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub(crate) fn add(journal: &Journal, grant: &Grant) -> Result<(String, IOValue), CommandError> {
        let key = key(journal)?;
        let mut drawn = [0; 4];
        chance(&mut drawn).map_err(failed)?;
        let id = hexadecimal(&drawn);
        append(journal, &grant.write(&id)).map_err(failed)?;
        let oid = (grant.run.clone(), id.clone()).encode();
        let signed = SturdyRef::mint(oid, &key);
        let signed = signed.map_err(|error| CommandError::caused("the reference cannot be signed", &error))?;
        Ok((id, signed.to_value()))
    }

    /// Revokes a grant.
    ///
    /// # Errors
    /// If there is none, or the file cannot be written.
    pub(crate) fn revoke(journal: &Journal, id: &str) -> Result<(), CommandError> {
        if !Self::read(journal).0.contains_key(id) {
            return Err(CommandError::problem(format!("there is no grant `{id}`"))
                .advise(say![Way::of("grant").with("--list"), " lists the grants"]));
        }
        append(journal, &record("revoke", vec![id.to_owned().encode()])).map_err(failed)
    }
}

fn failed(error: io::Error) -> CommandError {
    CommandError::caused("the grants beside the journal cannot be written", &error)
}

fn append(journal: &Journal, line: &IOValue) -> io::Result<()> {
    let path = Grants::path(journal);
    let mut file = append_beside(&path)?;
    fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    // One write, so that lines of several processes do not mix. It begins a line, because a crash
    // may have cut off the last one.
    file.write_all(format!("\n{line:?}\n").as_bytes())?;
    file.sync_all()
}

impl Grant {
    fn write(&self, id: &str) -> IOValue {
        let fields = vec![
            id.to_owned().encode(),
            self.run.encode(),
            self.rights.encode(),
            self.until_ms.encode(),
            self.may_fork.encode(),
            self.approves.encode(),
        ];
        record("grant", fields)
    }

    fn read(line: &IOValue) -> Option<(String, Self)> {
        let mut fields = Fields::of(line, "grant", 6).ok()?;
        let id = fields.read("id").ok()?;
        let (run, rights) = (fields.read("run").ok()?, fields.read("rights").ok()?);
        let until_ms = fields.read("until").ok()?;
        let grant = Self {
            run,
            rights,
            until_ms,
            may_fork: fields.read("may-fork").ok()?,
            approves: fields.read("approves").ok()?,
        };
        Some((id, grant))
    }
}

/// Reads the key of a journal; makes it if there is none.
pub(crate) fn key(journal: &Journal) -> Result<Vec<u8>, CommandError> {
    let path = journal.beside(".key");
    let unreadable = |error: io::Error| {
        CommandError::caused(format!("the key `{}` cannot be used", path.display()), &error)
            .advise("without this key no reference to the runs of the journal is valid")
            .advise("put the key back, or delete the file to begin with a new one")
    };
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Ok(mut file) => {
            let mut key = [0; KEY_BYTES];
            chance(&mut key).map_err(unreadable)?;
            file.write_all(hexadecimal(&key).as_bytes()).map_err(unreadable)?;
            file.sync_all().map_err(unreadable)?;
            Ok(key.to_vec())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let bytes = read_beside(&path).map_err(unreadable)?;
            let text = String::from_utf8(bytes).unwrap_or_default();
            let digits = text.trim().as_bytes().chunks(2);
            let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
            let key: Option<Vec<u8>> = digits.map(pair).collect();
            key.filter(|key| key.len() == KEY_BYTES).ok_or_else(|| {
                unreadable(io::Error::other(format!(
                    "it is not {KEY_BYTES} bytes as hexadecimal digits"
                )))
            })
        }
        Err(error) => Err(unreadable(error)),
    }
}

/// Draws a text that nobody guesses.
///
/// # Errors
/// If the system gives no random bytes.
pub(crate) fn drawn_name() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    chance(&mut bytes)?;
    Ok(hexadecimal(&bytes))
}

/// Draws from the system's source of chance.
fn chance(bytes: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(bytes)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
