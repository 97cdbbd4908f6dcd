//! A tool that gives prepared replies: a test double.
//!
//! INVARIANT: it gives replies in the order of the calls, each once; one that is for certain calls
//! waits for the first of these.
//! It does not check payloads; a test reads [`Scripted::calls`].
//! Read next: `ask.rs`.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use duet_runtime::driver::packed::PackedValue;
use duet_runtime::driver::{Asker, Asking, BlobHash};
use duet_runtime::model::value::map_atoms;
use preserves::IOValue;

use super::failure::Kind;
use super::interface::{Call, Context, Outcome, Stub, Tool};
use crate::text;
use crate::tool::description::{Description, EffectClass, Retry};
use crate::tool::returns::Returns;

/// A tool with prepared replies. Clones share replies and calls.
#[derive(Clone, Debug)]
pub struct Scripted {
    description: Description,
    script: Arc<Mutex<Script>>,
}

#[derive(Debug, Default)]
struct Script {
    replies: VecDeque<Prepared>,
    taken: Vec<Taken>,
    /// The replies that were chosen for calls that are still to be made, by the keys of these.
    chosen: BTreeMap<String, Choice>,
    calls: Vec<(IOValue, Context)>,
}

/// The reply to a call, or the reason why there is none, as a clause about the double.
type Choice = Result<Reply, String>;

/// A reply that a call has taken: whom it was for.
#[derive(Debug)]
struct Taken {
    payload: Option<IOValue>,
    by: Option<Asker>,
}

/// A prepared reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// It is for a call with this payload, if there is one.
    pub payload: Option<IOValue>,
    /// It is for a call by this actor, preferably in this definition, if there is one. Then it is
    /// what came of a call in another run, with all attempts.
    pub by: Option<Asker>,
    /// It is for a call with all these texts in strings of its payload.
    pub texts: Vec<String>,
    /// How long it takes, in milliseconds.
    pub delay_ms: u64,
    /// What the call returns; nothing if it never does.
    pub outcome: Option<Outcome>,
}

/// A reply that no call has taken yet.
#[derive(Clone, Debug)]
struct Prepared {
    reply: Reply,
    /// The hash of the payload that it is for.
    hash: Option<BlobHash>,
}

/// A call that wants a reply.
struct Wanted<'a> {
    payload: &'a IOValue,
    asking: Option<&'a Asking>,
    /// The hashes of its payload and of its arguments with keys in the place of the run's own ids.
    hashes: [Option<BlobHash>; 2],
}

/// The hash of a value, by which payloads are compared: those of a conversation are long, and all
/// begin with the same messages.
fn hash(value: &IOValue) -> Option<BlobHash> {
    let packed = PackedValue::from_value(value).ok()?;
    Some(BlobHash::of(packed.as_bytes()))
}

/// How well a reply fits a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The same actor asks the same in another definition.
    Elsewhere,
    Whole,
}

impl Prepared {
    /// Says how well it fits a call. A call of which nobody knows who makes it is anybody's.
    fn fit(&self, call: &Wanted<'_>) -> Option<Fit> {
        let is_wanted = self.reply.payload.is_none() || self.hash.is_some() && call.hashes.contains(&self.hash);
        if !(is_wanted && self.reply.texts.iter().all(|text| has_text(call.payload, text))) {
            return None;
        }
        match (&self.reply.by, call.asking.map(|asking| &asking.asker)) {
            (None, _) | (_, None) => Some(Fit::Whole),
            (Some(by), Some(asker)) if by.actor != asker.actor => None,
            (Some(by), Some(asker)) if by.definition != asker.definition => Some(Fit::Elsewhere),
            (Some(_), Some(_)) => Some(Fit::Whole),
        }
    }
}

/// For people: what it is for, and who asks.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.payload {
            Some(payload) => f.write_str(&text::preserves(payload))?,
            None => f.write_str("any call")?,
        }
        self.texts.iter().try_for_each(|text| write!(f, " with {text:?}"))?;
        self.by.iter().try_for_each(|by| write!(f, " by {by}"))
    }
}

impl Script {
    fn choose(&mut self, payload: &IOValue, asking: Option<&Asking>) -> Choice {
        let reply = take_fitting(&mut self.replies, payload, asking).ok_or_else(|| self.lack(payload, asking))?;
        self.taken.push(Taken {
            payload: reply.payload.clone(),
            by: reply.by.clone(),
        });
        Ok(reply)
    }

    /// Says why there is no reply to a call, with the nearest one that there is or was.
    fn lack(&self, payload: &IOValue, asking: Option<&Asking>) -> String {
        let asked = text::preserves(&asking.map_or_else(|| payload.clone(), |asking| asking.arguments.value()));
        let taken = self.taken.iter().map(|taken| (&taken.payload, &taken.by, true));
        let left = self.replies.iter();
        let left = left.map(|Prepared { reply, .. }| (&reply.payload, &reply.by, false));
        // Of several that are as near, the last one counts: one that is left.
        let known = taken
            .chain(left)
            .filter_map(|(own, by, is_taken)| Some((text::preserves(own.as_ref()?), by, is_taken)));
        let nearest = known.max_by_key(|(own, ..)| common(own, &asked));
        let Some((nearest, by, is_taken)) = nearest else {
            return match self.replies.len() {
                0 => format!("has no reply left to {asked}"),
                left => format!("cannot reply: none of the {left} replies left is for {asked}"),
            };
        };
        // Who asks matters only if the same was asked.
        let by = by.as_ref().filter(|_| nearest == asked).map(|by| format!(" by {by}"));
        let asker = asking
            .filter(|_| by.is_some())
            .map(|asking| format!(" by {}", asking.asker));
        let (by, asker) = (by.unwrap_or_default(), asker.unwrap_or_default());
        let told = if is_taken {
            format!("the nearest, to {nearest}{by}, is used up")
        } else {
            format!("the nearest is to {nearest}{by}")
        };
        format!("cannot reply: no answer to {asked}{asker} is left; {told}")
    }
}

/// Takes the reply that fits a call best; among equal ones the first.
fn take_fitting(replies: &mut VecDeque<Prepared>, payload: &IOValue, asking: Option<&Asking>) -> Option<Reply> {
    // The call is only hashed if there are replies for a payload.
    let hashes = if replies.iter().any(|prepared| prepared.hash.is_some()) {
        [
            hash(payload),
            asking.map(|asking| BlobHash::of(asking.arguments.bytes())),
        ]
    } else {
        [None, None]
    };
    let call = Wanted {
        payload,
        asking,
        hashes,
    };
    let fits: Vec<Option<Fit>> = replies.iter().map(|prepared| prepared.fit(&call)).collect();
    let best = fits.iter().flatten().max()?;
    let place = fits.iter().position(|fit| fit.as_ref() == Some(best))?;
    replies.remove(place).map(|prepared| prepared.reply)
}

/// The number of characters that two texts have in common at their beginnings and ends.
fn common(one: &str, other: &str) -> usize {
    let before = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    let behind = one.chars().rev().zip(other.chars().rev());
    before.count() + behind.take_while(|(one, other)| one == other).count()
}

fn has_text(payload: &IOValue, text: &str) -> bool {
    use preserves::ValueImpl as _;
    let found = Cell::new(false);
    map_atoms(payload, &|atom| {
        let is_in = atom.as_string().is_some_and(|string| string.contains(text));
        found.set(found.get() || is_in);
        atom.clone()
    });
    found.get()
}

impl Scripted {
    /// Makes a double called `name` without replies; its description says pure and idempotent.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        let description = Description {
            name: name.into(),
            summary: Cow::Borrowed("gives prepared replies"),
            payload: Cow::Borrowed(&[]),
            result: Cow::Borrowed("what was prepared"),
            effect: EffectClass::Pure,
            idempotent: true,
            needs: &[],
            timeout_ms: None,
            retry: Retry::NEVER,
            returns: Returns::Anything,
            takes_secrets: false,
        };
        Self {
            description,
            script: Arc::default(),
        }
    }

    /// Replaces parts of its description; the name stays.
    #[must_use]
    pub fn described(mut self, effect: EffectClass, idempotent: bool, timeout_ms: Option<u64>) -> Self {
        self.description = Description {
            effect,
            idempotent,
            timeout_ms,
            ..self.description
        };
        self
    }

    /// Replaces the number of attempts in its description.
    #[must_use]
    pub fn retried(mut self, retry: Retry) -> Self {
        self.description.retry = retry;
        self
    }

    /// Gives it the description of the tool that it replaces.
    #[must_use]
    pub(crate) fn standing_in_for(mut self, description: &Description) -> Self {
        self.description = Description {
            name: self.description.name,
            ..description.clone()
        };
        self
    }

    /// Gives it the description and the name of the tool that it replaces.
    #[must_use]
    pub(crate) fn in_place_of(mut self, description: Description) -> Self {
        self.description = description;
        self
    }

    /// Says whether a call with this reply may be made again, or be late.
    fn is_tried_again(&self, delay_ms: u64, outcome: &Outcome) -> bool {
        let Description { retry, timeout_ms, .. } = &self.description;
        timeout_ms.is_some_and(|limit_ms| limit_ms <= delay_ms) || retry.attempts_max > 1 && outcome.is_err()
    }

    /// Adds a reply for the next call that has none; it is given after `delay_ms` milliseconds.
    #[must_use]
    pub fn reply(self, delay_ms: u64, outcome: Outcome) -> Self {
        self.prepared(Reply {
            payload: None,
            by: None,
            texts: Vec::new(),
            delay_ms,
            outcome: Some(outcome),
        })
    }

    /// Adds a reply for the next call that has none and that it fits.
    #[must_use]
    pub fn prepared(self, reply: Reply) -> Self {
        let hash = reply.payload.as_ref().and_then(hash);
        self.script().replies.push_back(Prepared { reply, hash });
        self
    }

    /// Returns the calls so far, in order.
    pub fn calls(&self) -> Vec<(IOValue, Context)> {
        self.script().calls.clone()
    }

    /// Returns the replies that no call has taken so far.
    pub fn left(&self) -> Vec<Reply> {
        let script = self.script();
        script.replies.iter().map(|prepared| prepared.reply.clone()).collect()
    }

    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tool for Scripted {
    fn description(&self) -> &Description {
        &self.description
    }

    fn stub(&self, payload: &IOValue, context: &Context) -> Stub {
        let mut script = self.script();
        let stub = match script.choose(payload, context.asking.as_deref()) {
            Ok(Reply { outcome: None, .. }) => Stub::Silent,
            Ok(Reply {
                outcome: Some(outcome),
                delay_ms,
                by,
                ..
            }) if by.is_some() || context.is_time_virtual && !self.is_tried_again(delay_ms, &outcome) => {
                Stub::Returns { outcome, delay_ms }
            }
            choice => {
                script.chosen.insert(context.key.clone(), choice);
                return Stub::Absent;
            }
        };
        script.calls.push((payload.clone(), context.clone()));
        stub
    }

    fn call(&self, payload: IOValue, context: Context) -> Call {
        let choice = {
            let mut script = self.script();
            let chosen = script.chosen.remove(&context.key);
            let choice = chosen.unwrap_or_else(|| script.choose(&payload, context.asking.as_deref()));
            script.calls.push((payload, context));
            choice
        };
        let name = self.description.name.clone();
        Box::pin(async move {
            let reply = choice.map_err(|lack| Kind::NoAnswer.because(format!("the double of {name} {lack}")))?;
            tokio::time::sleep(Duration::from_millis(reply.delay_ms)).await;
            match reply.outcome {
                Some(outcome) => outcome,
                None => std::future::pending().await,
            }
        })
    }
}
