//! The address of a worker: it takes in requests for all runs of a journal, by paths that name the
//! run and the webhook.
//!
//! INVARIANT: the guards are those of a run's own listener; a request reaches a run by the run's
//! inbox and in no other way. A name in a path opens nothing: the call of the run that waits for
//! requests says what a request must have.
//! It does not know the journal; `Mail` does. Read next: `intake.rs`.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use duet_runtime::driver::ToolFailure;
use hyper::StatusCode;
use percent_encoding::percent_decode_str;
use preserves::IOValue;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::intake::{Endpoint, Incoming, Refusal, Reply, Terms, listen};
use super::{ACCEPT, ANSWER, read_reply, read_terms};
use crate::background::BackgroundServer;
use crate::tool::arguments::Arguments;

/// The maximum number of searches for a run's call at the same time; others wait for a place.
const LOOKS_MAX: usize = 4;

/// The longest time that a program has to reply, whatever it says itself.
const TIMEOUT_MAX: Duration = Duration::from_secs(600);

/// The first and the longest time between two looks for a reply.
const LOOK_FIRST: Duration = Duration::from_millis(20);
const LOOK_LONGEST: Duration = Duration::from_millis(200);

/// The run and the webhook that a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The run.
    pub run: String,
    /// Its branch, if it is not the first one.
    pub branch: Option<String>,
    /// The name of the webhook, as the program gave it.
    pub hook: String,
}

/// Why a request cannot be given to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// There is no such run, or it takes no requests by this name.
    Unknown(String),
    /// The run has ended.
    Ended(String),
    /// It may be possible later.
    Unable(String),
}

impl Missing {
    fn refusal(self) -> Refusal {
        match self {
            Self::Unknown(why) => (StatusCode::NOT_FOUND, why.into()),
            Self::Ended(why) => (StatusCode::GONE, why.into()),
            Self::Unable(why) => (StatusCode::SERVICE_UNAVAILABLE, why.into()),
        }
    }
}

/// What has become of a request.
#[derive(Debug)]
pub enum Progress {
    /// There is no reply yet.
    Waiting,
    /// The arguments with which the program called `webhook/reply`, with secrets in the place of
    /// their stand-ins.
    Replied(IOValue),
    /// The run does not take it.
    Missing(Missing),
}

/// The inboxes of a journal's runs. Calls may block.
pub trait Mail: Send + Sync + 'static {
    /// Finds the call of `webhook/accept` by which a run waits for requests; returns its arguments,
    /// with secrets in the place of their stand-ins.
    ///
    /// # Errors
    /// If there is none.
    fn find(&self, to: &Recipient) -> Result<IOValue, Missing>;

    /// Names a request whose reply somebody awaits for a time.
    fn name(&self, timeout: Duration) -> String;

    /// Puts a request of this name into the inbox.
    ///
    /// # Errors
    /// If it cannot be put there.
    fn send(&self, to: &Recipient, name: &str, request: IOValue) -> Result<(), Missing>;

    /// Looks for the reply to a request.
    fn look(&self, to: &Recipient, name: &str) -> Progress;

    /// Says that nobody waits for the reply any more.
    fn forget(&self, to: &Recipient, name: &str);
}

/// An address that takes requests in until it is dropped.
pub struct SharedListener(BackgroundServer);

impl SharedListener {
    /// Begins to take requests in.
    ///
    /// # Errors
    /// If the address cannot be used, or the system gives no thread.
    pub fn begin(address: SocketAddr, mail: Arc<dyn Mail>) -> io::Result<Self> {
        let endpoint = SharedEndpoint {
            mail,
            looks: Semaphore::new(LOOKS_MAX),
        };
        let serve = |listener| listen(listener, Arc::new(endpoint));
        BackgroundServer::begin(address, "duet-webhooks", serve).map(Self)
    }

    /// The address, whose port the system may have chosen.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

/// It takes the requests of an address.
struct SharedEndpoint {
    mail: Arc<dyn Mail>,
    looks: Semaphore,
}

/// The purpose of a request, and its terms.
struct Aim {
    to: Recipient,
    terms: Terms,
}

impl SharedEndpoint {
    /// Does what may block on a thread where it blocks no other request.
    async fn ask<T: Send + 'static>(&self, ask: impl FnOnce(&dyn Mail) -> T + Send + 'static) -> Result<T, Refusal> {
        let mail = Arc::clone(&self.mail);
        let failed = |_| {
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                "the request could not be looked up".into(),
            )
        };
        spawn_blocking(move || ask(&*mail)).await.map_err(failed)
    }
}

impl Endpoint for SharedEndpoint {
    type Aim = Aim;

    async fn aim(&self, path: &str) -> Result<(Aim, String), Refusal> {
        let (to, rest) = read_path(path).ok_or((StatusCode::NOT_FOUND, "send to /RUN/WEBHOOK".into()))?;
        let busy = |_| (StatusCode::SERVICE_UNAVAILABLE, "the worker ends".into());
        let _look = self.looks.acquire().await.map_err(busy)?;
        let sought = to.clone();
        let payload = self
            .ask(move |mail| mail.find(&sought))
            .await?
            .map_err(Missing::refusal)?;
        let terms = Arguments::read(&ACCEPT, &payload).and_then(|mut fields| read_terms(&mut fields));
        let terms = terms.map_err(|ToolFailure { message, .. }| (StatusCode::SERVICE_UNAVAILABLE, message.into()))?;
        let terms = Terms {
            timeout: terms.timeout.min(TIMEOUT_MAX),
            ..terms
        };
        Ok((Aim { to, terms }, rest))
    }

    fn terms<'a>(&'a self, aim: &'a Aim) -> &'a Terms {
        &aim.terms
    }

    async fn give(&self, aim: Aim, incoming: Incoming) -> Result<Reply, Refusal> {
        let Aim { to, terms } = aim;
        let waiting = Waiting {
            mail: Arc::clone(&self.mail),
            name: self.mail.name(terms.timeout),
            to,
        };
        let (name, to) = (waiting.name.clone(), waiting.to.clone());
        let value = incoming.value(&name);
        self.ask(move |mail| mail.send(&to, &name, value))
            .await?
            .map_err(Missing::refusal)?;
        let mut pause = LOOK_FIRST;
        loop {
            sleep(pause).await;
            pause = (pause * 3 / 2).min(LOOK_LONGEST);
            let (name, to) = (waiting.name.clone(), waiting.to.clone());
            match self.ask(move |mail| mail.look(&to, &name)).await? {
                Progress::Waiting => {}
                Progress::Missing(missing) => return Err(missing.refusal()),
                Progress::Replied(reply) => {
                    let reply = Arguments::read(&ANSWER, &reply).and_then(|mut fields| read_reply(&mut fields));
                    return reply.map_err(|failure| (StatusCode::INTERNAL_SERVER_ERROR, failure.message.into()));
                }
            }
        }
    }

    fn timeout_max(&self) -> Duration {
        TIMEOUT_MAX
    }
}

/// A client that waits for a reply, which it may give up at any time.
struct Waiting {
    mail: Arc<dyn Mail>,
    to: Recipient,
    name: String,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let (mail, to, name) = (Arc::clone(&self.mail), self.to.clone(), self.name.clone());
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn_blocking(move || mail.forget(&to, &name));
        }
    }
}

/// Reads `/RUN/WEBHOOK`, `/RUN@BRANCH/WEBHOOK` and what may follow, which is the path that the
/// program sees.
fn read_path(path: &str) -> Option<(Recipient, String)> {
    let mut parts = path.strip_prefix('/')?.splitn(3, '/');
    let (run, hook) = (parts.next()?, parts.next()?);
    let rest = format!("/{}", parts.next().unwrap_or_default());
    let (run, branch) = match run.split_once('@') {
        Some((run, branch)) => (run, Some(branch.to_owned())),
        None => (run, None),
    };
    let hook = percent_decode_str(hook).decode_utf8().ok()?.into_owned();
    let recipient = Recipient {
        run: run.to_owned(),
        branch,
        hook,
    };
    Some((recipient, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_path(path: &str, expected: Option<(&str, Option<&str>, &str, &str)>) {
        let expected = expected.map(|(run, branch, hook, rest)| {
            let recipient = Recipient {
                run: run.to_owned(),
                branch: branch.map(str::to_owned),
                hook: hook.to_owned(),
            };
            (recipient, rest.to_owned())
        });
        assert_eq!(read_path(path), expected, "{path}");
    }

    #[test]
    fn a_path_names_a_run_and_a_webhook() {
        check_path("/shop/orders", Some(("shop", None, "orders", "/")));
        check_path("/shop/orders/", Some(("shop", None, "orders", "/")));
        check_path("/shop/orders/a/b", Some(("shop", None, "orders", "/a/b")));
        check_path("/shop@try/orders%3f", Some(("shop", Some("try"), "orders?", "/")));
        check_path("/shop", None);
        check_path("/", None);
        check_path("*", None);
        check_path("/shop/%ff", None);
    }
}
