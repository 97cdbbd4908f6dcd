//! Grants: sturdy references by which clients of a server come to a run, and what each gives.
//!
//! A reference is signed with a key beside the journal and names its run and its grant. The file of
//! grants says which rights a grant gives, until when, and whether it was revoked; holders of a
//! reference narrow it further by caveats, which are part of the reference.
//! INVARIANT: only the journal's user can read the key and the grants; a reference gives nothing
//! but what its grant says now, and no process stores the reference itself.
//! It does not judge actions; the gate of the runtime does. Read next: `command/serve.rs`.
//!
//! Rejected: rights as caveats of the reference. A caveat compares patterns by their form, so it
//! cannot say which patterns a client may observe; the gate can.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use duet_drivers::serve::host::Host;
use duet_drivers::serve::{Admission, Gate};
use duet_journal::beside::{append_beside, beside, read_beside, text_beside};
use duet_journal::owner::now_ms;
use duet_runtime::capability::sturdy::SturdyRef;
use duet_runtime::model::codec::{Codec, Fields, record};
use duet_runtime::model::manifest::Manifest;
use preserves::IOValue;

use crate::error::CommandError;

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
}

/// The grants of a journal, by their ids.
#[derive(Debug, Default)]
pub(crate) struct Grants(BTreeMap<String, Grant>);

impl Grants {
    fn path(journal: &Path) -> PathBuf {
        beside(journal, ".grants")
    }

    /// Reads the grants that were not revoked. A line that cannot be read grants nothing.
    pub(crate) fn read(journal: &Path) -> Self {
        let mut grants = BTreeMap::new();
        for line in text_beside(&Self::path(journal)).lines() {
            let Ok(line) = line.parse::<IOValue>() else { continue };
            if let Some((id, grant)) = Grant::read(&line) {
                grants.insert(id, grant);
            } else if let Ok(id) = Fields::of(&line, "revoke", 1).and_then(|mut fields| fields.read::<String>("id")) {
                grants.remove(&id);
            }
        }
        Self(grants)
    }

    /// Lists them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Grant)> {
        self.0.iter()
    }

    /// Adds a grant; returns its id and the reference.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub(crate) fn add(journal: &Path, grant: &Grant) -> Result<(String, IOValue), CommandError> {
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
    pub(crate) fn revoke(journal: &Path, id: &str) -> Result<(), CommandError> {
        if !Self::read(journal).0.contains_key(id) {
            return Err(CommandError::problem(format!("there is no grant `{id}`"))
                .advise("`duet grant --list` lists the grants"));
        }
        append(journal, &record("revoke", vec![id.to_owned().encode()])).map_err(failed)
    }
}

fn failed(error: io::Error) -> CommandError {
    CommandError::caused("the grants beside the journal cannot be written", &error)
}

fn append(journal: &Path, line: &IOValue) -> io::Result<()> {
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
        ];
        record("grant", fields)
    }

    fn read(line: &IOValue) -> Option<(String, Self)> {
        let mut fields = Fields::of(line, "grant", 4).ok()?;
        let id = fields.read("id").ok()?;
        let (run, rights) = (fields.read("run").ok()?, fields.read("rights").ok()?);
        let until_ms = fields.read("until").ok()?;
        Some((id, Self { run, rights, until_ms }))
    }
}

/// Reads the key of a journal; makes it if there is none.
fn key(journal: &Path) -> Result<Vec<u8>, CommandError> {
    let path = beside(journal, ".key");
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

/// Draws from the system's source of chance.
fn chance(bytes: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(bytes)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The gate of a server: the runs that it hosts, and the grants to them.
pub(crate) struct Porter {
    journal: PathBuf,
    key: Vec<u8>,
    hosts: Mutex<BTreeMap<String, Host>>,
    /// The grants as the file had them at a time.
    known: Mutex<(Option<(SystemTime, u64)>, Grants)>,
}

impl Porter {
    /// Makes a gate for the runs of a journal.
    ///
    /// # Errors
    /// If the key cannot be read or made.
    pub(crate) fn new(journal: &Path) -> Result<Self, CommandError> {
        Ok(Self {
            journal: journal.to_owned(),
            key: key(journal)?,
            hosts: Mutex::default(),
            known: Mutex::default(),
        })
    }

    /// Lets clients reach a run.
    pub(crate) fn add(&self, run: String, host: Host) {
        self.hosts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(run, host);
    }

    /// Finds a grant in the file as it is now.
    fn grant(&self, id: &str) -> Option<Grant> {
        let found = fs::metadata(Grants::path(&self.journal));
        let stamp = found.ok().and_then(|found| Some((found.modified().ok()?, found.len())));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != stamp || stamp.is_none() {
            *known = (stamp, Grants::read(&self.journal));
        }
        known.1.0.get(id).cloned()
    }
}

impl Gate for Porter {
    fn resolve(&self, reference: &IOValue) -> Result<Admission, String> {
        let signed = SturdyRef::from_value(reference).map_err(|error| error.to_string())?;
        signed.validate(&self.key).map_err(|error| error.to_string())?;
        let named: Result<(String, String), _> = Codec::decode(signed.oid());
        let (run, id) = named.map_err(|_| "the sturdy reference names no run".to_owned())?;
        let grant = self.grant(&id).filter(|grant| grant.run == run);
        let grant = grant.ok_or_else(|| "the sturdy reference has been revoked".to_owned())?;
        if grant.until_ms.is_some_and(|until_ms| until_ms <= now_ms()) {
            return Err("the sturdy reference has expired".to_owned());
        }
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let host = hosts.get(&run).cloned();
        Ok(Admission {
            host: host.ok_or_else(|| format!("this server does not host the run {run}"))?,
            manifest: grant.rights,
            caveats: signed.caveats().iter().map(|caveat| caveat.source().clone()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(until_ms: Option<u64>) -> Grant {
        Grant {
            run: "chat".to_owned(),
            rights: Manifest::of(&["dataspace/*"]),
            until_ms,
        }
    }

    #[track_caller]
    fn check_refused(porter: &Porter, reference: &IOValue, expected: &str) {
        let why = porter.resolve(reference).err().expect("it is refused");
        assert!(why.contains(expected), "{why}");
    }

    #[test]
    fn a_reference_gives_what_its_grant_says_now() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = folder.path().join("journal.sqlite");
        let (id, reference) = Grants::add(&journal, &grant(None)).expect("it is written");
        let (_, late) = Grants::add(&journal, &grant(Some(1))).expect("it is written");
        let porter = Porter::new(&journal).expect("the key is there");
        check_refused(&porter, &reference, "does not host the run chat");
        check_refused(&porter, &late, "expired");
        for path in [beside(&journal, ".key"), Grants::path(&journal)] {
            assert_eq!(
                fs::metadata(&path).expect("it is there").permissions().mode() & 0o777,
                0o600
            );
            let text = fs::read_to_string(&path).expect("a text");
            assert!(!text.contains("sig"), "{text}");
        }
        // A crash in the middle of a line takes nothing with it that comes later.
        let mut file = append_beside(&Grants::path(&journal)).expect("it can be opened");
        file.write_all(b"<grant \"cut").expect("it is written");
        Grants::revoke(&journal, &id).expect("it is there");
        check_refused(&porter, &reference, "revoked");
        assert!(Grants::revoke(&journal, &id).is_err());
        let forged = format!("{reference:?}").replace("chat", "other");
        check_refused(&porter, &forged.parse().expect("a value"), "not signed with this key");
        fs::write(beside(&journal, ".key"), "0123").expect("a file");
        assert!(Porter::new(&journal).is_err());
    }
}
