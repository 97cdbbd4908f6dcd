//! The gatekeeper of a server: which sturdy reference leads to which of the runs and branches that
//! this process executes, and what it refuses.
//!
//! INVARIANT: a reference gives what its grant says now, whatever branch it is shown for; each
//! refusal is counted in the journal of a run, and a flood of them costs few turns.
//! It knows no sockets; the driver does. Read next: `refusals.rs`, then `history/grants.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use duet_drivers::serve::host::Host;
use duet_drivers::serve::{Admission, Gate};
use duet_drivers::ticker::Ticker;
use duet_journal::owner::now_ms;
use duet_journal::{BranchName, Store};
use duet_runtime::capability::sturdy::SturdyRef;
use duet_runtime::model::codec::Codec;
use preserves::{IOValue, ValueImpl};

use crate::history::grants::{self, Grant, Grants};
use crate::history::journal::Journal;
use crate::owner::doors;
use crate::owner::owned_run::serve::OwnerRequest;
use crate::owner::refusals::Refusals;
use crate::text::error::CommandError;

/// The runs and branches that clients reach, by their addresses.
pub(crate) type Hosts = Arc<Mutex<BTreeMap<String, Host>>>;

/// The gate of a server: the runs that it hosts, and the grants to them.
pub(crate) struct Gatekeeper {
    journal: Journal,
    key: Vec<u8>,
    hosts: Hosts,
    /// The grants as the file had them at a time.
    known: Mutex<(Option<(SystemTime, u64)>, Grants)>,
    refusals: Arc<Refusals>,
    _ticker: Option<Ticker>,
}

/// Why a reference is refused.
pub(crate) struct Refused {
    /// A word for the kind of refusal.
    pub(crate) kind: &'static str,
    /// The run that it is about, if that is known.
    pub(crate) run: Option<String>,
    pub(crate) why: String,
}

impl Refused {
    fn new(kind: &'static str, why: impl ToString) -> Self {
        Self {
            kind,
            run: None,
            why: why.to_string(),
        }
    }

    fn of(self, run: &str) -> Self {
        Self {
            run: Some(run.to_owned()),
            ..self
        }
    }
}

/// A reference that holds, and what it grants now.
struct Granted {
    reference: SturdyRef,
    /// The name of the grant.
    id: String,
    grant: Grant,
}

/// How often refusals that were counted are given to the runs.
const BEAT: Duration = Duration::from_secs(5);

impl Gatekeeper {
    /// Makes a gate for the runs of a journal.
    ///
    /// # Errors
    /// If the key cannot be read or made.
    pub(crate) fn new(journal: &Journal) -> Result<Self, CommandError> {
        let hosts = Hosts::default();
        let refusals = Arc::new(Refusals::of(Arc::clone(&hosts)));
        let counted = Arc::clone(&refusals);
        let beat = move || {
            counted.flush(now_ms());
            true
        };
        Ok(Self {
            journal: journal.clone(),
            key: grants::key(journal)?,
            hosts,
            known: Mutex::default(),
            refusals,
            // Without it a count waits for the next refusal.
            _ticker: Ticker::start(BEAT, beat).ok(),
        })
    }

    /// Lets clients reach a run, or a branch of one.
    pub(crate) fn add(&self, address: String, host: Host) {
        self.hosts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(address, host);
    }

    fn host(&self, address: &str) -> Option<Host> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.get(address).cloned()
    }

    /// Finds a grant in the file as it is now.
    fn grant(&self, id: &str) -> Option<Grant> {
        let found = fs::metadata(Grants::path(&self.journal));
        let stamp = found.ok().and_then(|found| Some((found.modified().ok()?, found.len())));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != stamp || stamp.is_none() {
            *known = (stamp, Grants::read(&self.journal));
        }
        known.1.get(id).cloned()
    }

    fn admit(&self, shown: &IOValue) -> Result<Admission, Refused> {
        let steps = Steps::read(shown)?;
        let Granted { reference, id, grant } = self.granted(&steps)?;
        let reached = self.reach(&grant.run, &steps, &grant);
        let host = reached.map_err(|refused| refused.of(&grant.run))?;
        Ok(Admission {
            host,
            grant: id,
            manifest: grant.rights,
            caveats: reference
                .caveats()
                .iter()
                .map(|caveat| caveat.source().clone())
                .collect(),
        })
    }

    /// Finds what a reference grants now.
    fn granted(&self, steps: &Steps) -> Result<Granted, Refused> {
        let reference = SturdyRef::from_value(&steps.reference).map_err(|error| Refused::new("malformed", error))?;
        reference
            .validate(&self.key)
            .map_err(|error| Refused::new("forged", error))?;
        let named: Result<(String, String), _> = Codec::decode(reference.oid());
        let (run, id) = named.map_err(|_| Refused::new("malformed", "the sturdy reference names no run"))?;
        let grant = self.grant(&id).filter(|grant| grant.run == run);
        let revoked = || Refused::new("revoked", "the sturdy reference has been revoked").of(&run);
        let grant = grant.ok_or_else(revoked)?;
        if grant.until_ms.is_some_and(|until_ms| until_ms <= self.journal.now_ms()) {
            return Err(Refused::new("expired", "the sturdy reference has expired").of(&run));
        }
        Ok(Granted { reference, id, grant })
    }

    /// Finds the run, or the branch of it that is asked for, and does first what is asked there.
    fn reach(&self, run: &str, steps: &Steps, grant: &Grant) -> Result<Host, Refused> {
        let unknown = |address: &str| Refused::new("unknown", format!("this server does not host the run {address}"));
        let denied = |why: String| Refused::new("denied", why);
        let (id, own) = run
            .split_once('/')
            .map_or((run, None), |(id, branch)| (id, Some(branch)));
        if let (Some(own), Some(other)) = (own, steps.branch.as_deref())
            && own != other
            && !grant.may_fork
        {
            return Err(denied(format!("the sturdy reference is for the branch {own} alone")));
        }
        let at = steps.branch.as_deref().or(own);
        let address = at.map_or_else(|| id.to_owned(), |branch| format!("{id}/{branch}"));
        let host = self.host(&address).ok_or_else(|| unknown(&address))?;
        match &steps.asked {
            None => Ok(host),
            Some(SessionRequest::Fork(name)) => {
                if !grant.may_fork {
                    let why = "the sturdy reference does not grant forks; `duet grant --fork` does";
                    return Err(denied(why.to_owned()));
                }
                let forked = format!("{id}/{name}");
                self.fork(&address, name).map_err(|error| denied(error.first_line()))?;
                self.host(&forked).ok_or_else(|| unknown(&forked))
            }
            Some(SessionRequest::Approve { question, answer }) => {
                let why = "the sturdy reference does not grant approvals; `duet grant --approve` does";
                let session = grant.approves.clone().ok_or_else(|| denied(why.to_owned()))?;
                let owner_request = OwnerRequest::Approve {
                    session,
                    question: question.clone(),
                    answer: answer.clone(),
                };
                self.ask(&address, &owner_request)
                    .map_err(|error| denied(error.first_line()))?;
                Ok(host)
            }
        }
    }

    /// Has the run begin a branch at its newest turn, unless there is one of this name, and execute
    /// it.
    fn fork(&self, address: &str, branch: &str) -> Result<(), CommandError> {
        let store = self.journal.open_to_read()?;
        let at = self.journal.resolve(&store, Some(address))?;
        let name = BranchName::new(branch).map_err(|error| CommandError::problem(error.to_string()))?;
        if store.head(&at.run, &name)?.is_none() {
            let branches = vec![branch.to_owned()];
            let turn = at.head.sequence.number();
            self.ask(address, &OwnerRequest::Fork { turn, branches })?;
        }
        let name = branch.to_owned();
        self.ask(address, &OwnerRequest::Branch { name })
    }

    /// Asks the thread that executes a run or a branch.
    fn ask(&self, address: &str, owner_request: &OwnerRequest) -> Result<(), CommandError> {
        let store = self.journal.open_to_read()?;
        let at = self.journal.resolve(&store, Some(address))?;
        doors::ask_self(&self.journal, &at, owner_request)
    }
}

/// The request of a client that comes with a reference.
enum SessionRequest {
    /// To begin a branch.
    Fork(String),
    /// To answer what a session wants approved.
    Approve { question: String, answer: IOValue },
}

/// A sturdy reference, and what a client shows around it.
struct Steps {
    reference: IOValue,
    branch: Option<String>,
    asked: Option<SessionRequest>,
}

impl Steps {
    /// Reads `REFERENCE`, `<branch NAME REFERENCE>`, or `<fork NAME …>` or `<approve QUESTION
    /// ANSWER …>` around one of these.
    fn read(shown: &IOValue) -> Result<Self, Refused> {
        let mut steps = Self {
            reference: shown.clone(),
            branch: None,
            asked: None,
        };
        let part = |value: &IOValue, index| IOValue::from(value.index(index));
        if shown.is_simple_record("fork", Some(2)) {
            steps.asked = Some(SessionRequest::Fork(branch_name(&part(shown, 0))?));
            steps.reference = part(shown, 1);
        } else if shown.is_simple_record("approve", Some(3)) {
            let question = String::decode(&part(shown, 0));
            steps.asked = Some(SessionRequest::Approve {
                question: question.map_err(|error| Refused::new("malformed", error))?,
                answer: part(shown, 1),
            });
            steps.reference = part(shown, 2);
        }
        if steps.reference.is_simple_record("branch", Some(2)) {
            steps.branch = Some(branch_name(&part(&steps.reference, 0))?);
            steps.reference = part(&steps.reference, 1);
        }
        Ok(steps)
    }
}

fn branch_name(value: &IOValue) -> Result<String, Refused> {
    let given = String::decode(value)
        .ok()
        .filter(|given| BranchName::new(given).is_ok());
    let why = "the name of a branch is a string of letters, digits and - _ .";
    given.ok_or_else(|| Refused::new("malformed", why))
}

impl Gate for Gatekeeper {
    fn resolve(&self, reference: &IOValue) -> Result<Admission, String> {
        self.admit(reference).map_err(|refused| {
            self.refusals.note(&refused, now_ms());
            refused.why
        })
    }

    fn check(&self, reference: &IOValue) -> Result<(), String> {
        let granted = Steps::read(reference).and_then(|steps| self.granted(&steps));
        granted.map(drop).map_err(|refused| {
            self.refusals.note(&refused, now_ms());
            refused.why
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::str::FromStr;

    use duet_journal::beside::append_beside;
    use duet_runtime::model::manifest::Manifest;

    use super::*;

    fn grant(until_ms: Option<u64>) -> Grant {
        Grant {
            run: "chat".to_owned(),
            rights: Manifest::of(&["dataspace/*"]),
            until_ms,
            may_fork: false,
            approves: None,
        }
    }

    #[track_caller]
    fn check_refused(gatekeeper: &Gatekeeper, reference: &IOValue, expected: &str) {
        let why = gatekeeper.resolve(reference).err().expect("it is refused");
        assert!(why.contains(expected), "{why}");
    }

    #[test]
    fn a_reference_gives_what_its_grant_says_now() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.sqlite");
        let journal = Journal::named(&path.display().to_string()).expect("a path");
        let (id, reference) = Grants::add(&journal, &grant(None)).expect("it is written");
        let (_, late) = Grants::add(&journal, &grant(Some(1))).expect("it is written");
        let gatekeeper = Gatekeeper::new(&journal).expect("the key is there");
        check_refused(&gatekeeper, &reference, "does not host the run chat");
        check_refused(&gatekeeper, &late, "expired");
        for path in [journal.beside(".key"), Grants::path(&journal)] {
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
        check_refused(&gatekeeper, &reference, "revoked");
        assert!(Grants::revoke(&journal, &id).is_err());
        let side = Grant {
            run: "chat/side".to_owned(),
            ..grant(None)
        };
        let (_, side) = Grants::add(&journal, &side).expect("it is written");
        let on = |branch| IOValue::from_str(&format!("<branch {branch:?} {side:?}>")).expect("a value");
        check_refused(&gatekeeper, &on("side"), "does not host the run chat/side");
        check_refused(&gatekeeper, &on("other"), "is for the branch side alone");
        let forged = format!("{reference:?}").replace("chat", "other");
        check_refused(
            &gatekeeper,
            &forged.parse().expect("a value"),
            "not signed with this key",
        );
        fs::write(journal.beside(".key"), "0123").expect("a file");
        assert!(Gatekeeper::new(&journal).is_err());
    }
}
