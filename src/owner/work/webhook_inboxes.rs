//! The webhooks of a worker: it puts requests for any run of the journal into that run's inbox, and
//! brings the replies back.
//!
//! INVARIANT: a request is one letter, so the run hears it once, whoever owns the run, or will.
//! It does not judge requests: a run's call says which proof they need.
//! Read next: `world/webhooks.rs`, `owner/owned_run/letters.rs`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use duet_drivers::tool::webhook::shared_listener::{Mail, Missing, Progress, Recipient, SharedListener};
use duet_journal::{BranchName, Letter, Need, PackedValue, RecordHash, RunId, Store};
use duet_runtime::action::Action;
use duet_runtime::action::invoke_tool::InvokeTool;
use duet_runtime::driver::name_of_inbox_call;
use duet_runtime::record::Outcome;
use duet_runtime::state::request::Question;
use preserves::IOValue;

use crate::history::journal::{Journal, Place, first_branch};
use crate::history::records::newest_turns;
use crate::owner::mail::{self, Replied};
use crate::owner::owned_run::serve::OwnerRequest;
use crate::owner::owned_run::{compiled, secrets};
use crate::text::error::CommandError;
use crate::world::webhooks::{RequestName, read_reply};
use crate::world::world_options::WorldOptions;

/// Begins to take webhooks in.
///
/// # Errors
/// If the address cannot be used.
pub(crate) fn begin(
    address: SocketAddr,
    journal: &Journal,
    options: &WorldOptions,
) -> Result<SharedListener, CommandError> {
    let webhook_inboxes = WebhookInboxes {
        journal: journal.clone(),
        options: options.clone(),
        stores: Mutex::default(),
        memory: Mutex::default(),
    };
    SharedListener::begin(address, Arc::new(webhook_inboxes))
        .map_err(|error| CommandError::caused(format!("the address {address} cannot be used"), &error))
}

/// The newest turns among which a run's call is looked for before the run is restored.
const NEWEST_TURNS: u64 = 16;

/// How many runs are remembered with what they take.
const REMEMBERED_MAX: usize = 1_024;

struct WebhookInboxes {
    journal: Journal,
    options: WorldOptions,
    /// Connections to the journal that nobody uses.
    stores: Mutex<Vec<Box<dyn Store>>>,
    memory: Mutex<Memory>,
}

/// What runs take.
type Memory = BTreeMap<(RunId, BranchName), OpenWebhooks>;

/// The webhooks for which a run waits at a turn.
#[derive(Clone)]
struct OpenWebhooks {
    at: RecordHash,
    /// The arguments of the calls by which it waits, by the names of the webhooks.
    calls: BTreeMap<String, IOValue>,
    /// The names of the run's secrets.
    secrets: Vec<String>,
    is_over: bool,
}

impl WebhookInboxes {
    /// Does something with the journal.
    fn with<T>(&self, act: impl FnOnce(&mut dyn Store) -> Result<T, Missing>) -> Result<T, Missing> {
        let free = self.stores.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut store = match free {
            Some(store) => store,
            None => self.journal.open_again().map_err(unable)?,
        };
        let done = act(&mut *store);
        // The connection may have failed.
        if !matches!(done, Err(Missing::Unable(_))) {
            let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
            stores.push(store);
        }
        done
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remembered(&self, place: &Place) -> Option<OpenWebhooks> {
        self.memory().get(&(place.run.clone(), place.branch.clone())).cloned()
    }

    fn remember(&self, place: &Place, known: OpenWebhooks) -> OpenWebhooks {
        let mut memory = self.memory();
        if memory.len() >= REMEMBERED_MAX {
            memory.clear();
        }
        memory.insert((place.run.clone(), place.branch.clone()), known.clone());
        known
    }

    /// What a run takes, at its newest turn.
    fn known(&self, store: &dyn Store, place: &Place, hook: &str) -> Result<OpenWebhooks, Missing> {
        let Some(mut known) = self.remembered(place) else {
            return self.look_again(store, place);
        };
        if known.at == place.head.hash {
            return Ok(known);
        }
        let is_at_rest = store.need(&place.run, &place.branch).map_err(unable)? == Need::Nothing;
        if !is_at_rest && known.calls.contains_key(hook) {
            // A run that answers requests makes the same call again and again: its newest turns
            // have it. The owner refuses what the run takes no more.
            if let Some(call) = newest_call(store, place, hook)? {
                known.at = place.head.hash;
                known.calls.insert(hook.to_owned(), call);
                return Ok(self.remember(place, known));
            }
        }
        self.look_again(store, place)
    }

    /// Restores a run to see what it takes.
    fn look_again(&self, store: &dyn Store, place: &Place) -> Result<OpenWebhooks, Missing> {
        let run = compiled::sight(store, place).map_err(|error| Missing::Unable(error.first_line()))?;
        let mut calls = BTreeMap::new();
        for request in run.state().requests.values() {
            if let (Some(name), Question::Tool { payload, .. }) = (request.inbox_name(), &request.question) {
                calls.entry(name).or_insert_with(|| payload.value());
            }
        }
        let known = OpenWebhooks {
            at: place.head.hash,
            calls,
            secrets: secrets(store, &run),
            is_over: run.state().exit.is_some(),
        };
        Ok(self.remember(place, known))
    }

    /// The arguments of a run's call, or why there is none.
    fn judge(known: &OpenWebhooks, to: &Recipient) -> Result<IOValue, Missing> {
        let Recipient { run, hook, .. } = to;
        if known.is_over {
            return Err(over(to));
        }
        known.calls.get(hook).cloned().ok_or_else(|| {
            Missing::Unknown(format!(
                "the run {run} takes no requests for a webhook `{hook}` from workers"
            ))
        })
    }

    /// That a run has ended which nobody executes any more, so that it replies to nobody.
    fn ended(&self, store: &dyn Store, to: &Recipient) -> Result<Option<Missing>, Missing> {
        let place = place(store, to)?;
        if store.need(&place.run, &place.branch).map_err(unable)? != Need::Nothing {
            return Ok(None);
        }
        let claim = store.claimed(&place.run).map_err(unable)?;
        if claim.is_some_and(|claim| claim.living().is_some()) {
            return Ok(None);
        }
        let known = self.known(store, &place, &to.hook)?;
        Ok(known.is_over.then(|| over(to)))
    }

    /// Why a run has refused a request.
    fn refused(&self, to: &Recipient, why: String) -> Missing {
        let judged = self.with(|store| Self::judge(&self.look_again(store, &place(store, to)?)?, to));
        judged.err().unwrap_or(Missing::Unable(why))
    }

    /// Puts the run's secrets in the place of their stand-ins.
    fn reveal(&self, value: &IOValue, names: &[String]) -> IOValue {
        let mut options = self.options.clone();
        options.secrets.extend(names.iter().cloned());
        options.own_secrets().reveal(value)
    }
}

impl Mail for WebhookInboxes {
    fn find(&self, to: &Recipient) -> Result<IOValue, Missing> {
        let (call, names) = self.with(|store| {
            let known = self.known(store, &place(store, to)?, &to.hook)?;
            Ok((Self::judge(&known, to)?, known.secrets))
        })?;
        Ok(self.reveal(&call, &names))
    }

    fn name(&self, timeout: Duration) -> String {
        let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        RequestName::fresh(self.journal.now_ms().saturating_add(timeout_ms)).to_string()
    }

    fn send(&self, to: &Recipient, name: &str, request: IOValue) -> Result<(), Missing> {
        let name = RequestName::read(name).ok_or_else(|| Missing::Unable("the request has no name".to_owned()))?;
        let owner_request = OwnerRequest::Webhook {
            name: to.hook.clone(),
            request,
        };
        self.with(|store| {
            let place = place(store, to)?;
            let letter = Letter {
                id: name.letter,
                branch: place.branch.clone(),
                sent_ms: store.now_ms().map_err(unable)?,
                body: PackedValue::from_value(&owner_request.encode())
                    .map_err(unable)?
                    .into_bytes(),
            };
            store.put(&place.run, &letter).map_err(unable)
        })
    }

    fn look(&self, to: &Recipient, name: &str) -> Progress {
        let Some(name) = RequestName::read(name) else {
            return Progress::Waiting;
        };
        // Before the reply is read: the last that a run does may be its reply.
        let ended = self.with(|store| self.ended(store, to)).ok().flatten();
        let looked = self.with(|store| {
            let place = place(store, to)?;
            let Some(reply) = store.reply(&place.run, name.letter).map_err(unable)? else {
                return Ok(None);
            };
            let names = self.remembered(&place).map_or_else(Vec::new, |known| known.secrets);
            Ok(Some((reply, names)))
        });
        let (reply, names) = match looked {
            Ok(Some(found)) => found,
            Ok(None) => return ended.map_or(Progress::Waiting, Progress::Missing),
            // A letter stays, and a journal that is away comes back.
            Err(Missing::Unable(_)) => return Progress::Waiting,
            Err(missing) => return Progress::Missing(missing),
        };
        let value = duet_journal::packed::read_value(&reply).ok();
        if let Some(reply) = value.as_ref().and_then(read_reply) {
            return Progress::Replied(self.reveal(&reply, &names));
        }
        match value.as_ref().and_then(mail::replied) {
            Some(Replied::Refused(why)) => Progress::Missing(self.refused(to, why)),
            Some(Replied::Done(_)) | None => ended.map_or(Progress::Waiting, Progress::Missing),
        }
    }

    fn forget(&self, to: &Recipient, name: &str) {
        if let Some(name) = RequestName::read(name) {
            // A reply that stays is removed after a day.
            let _stays = self.with(|store| {
                let place = place(store, to)?;
                store.forget_reply(&place.run, name.letter).map_err(unable)
            });
        }
    }
}

fn over(to: &Recipient) -> Missing {
    Missing::Ended(format!("the run {} has ended", to.run))
}

fn unable(error: impl std::fmt::Display) -> Missing {
    Missing::Unable(format!("the journal cannot be used: {error}"))
}

/// The newest turn of the branch that a path names.
fn place(store: &dyn Store, to: &Recipient) -> Result<Place, Missing> {
    let unknown = || {
        let branch = to.branch.iter().map(|branch| format!("/{branch}")).collect::<String>();
        Missing::Unknown(format!("there is no run {}{branch}", to.run))
    };
    let run = RunId::new(&to.run).map_err(|_| unknown())?;
    let branch = match &to.branch {
        Some(branch) => BranchName::new(branch).map_err(|_| unknown())?,
        None => first_branch().map_err(|_| unknown())?,
    };
    if !store.has_run(&run).map_err(unable)? {
        return Err(unknown());
    }
    let head = store.head(&run, &branch).map_err(unable)?.ok_or_else(unknown)?;
    Ok(Place {
        run,
        branch,
        head,
        turn: None,
    })
}

/// The arguments of the newest call by which a run waits for requests of a name, if one of its
/// newest turns made it.
fn newest_call(store: &dyn Store, place: &Place, hook: &str) -> Result<Option<IOValue>, Missing> {
    let turns = newest_turns(store, place, NEWEST_TURNS).map_err(|error| Missing::Unable(error.first_line()))?;
    let committed = turns.iter().filter(|(turn, _)| turn.outcome == Outcome::Committed {});
    let actions = committed.flat_map(|(turn, _)| turn.actions.iter().flat_map(Action::done));
    let payload = |call: &InvokeTool| {
        let payload = call.payload.value();
        let is_it = name_of_inbox_call(&call.tool, &payload).as_deref() == Some(hook);
        is_it.then_some(payload)
    };
    Ok(actions.filter_map(Action::call).rev().find_map(payload))
}
