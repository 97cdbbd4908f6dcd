//! The connection to a server, and the thread that owns it.
//!
//! Owns the asynchronous side: whoever uses a [`Link`] waits for the answer of one statement.
//! INVARIANT: one statement is one round trip and one transaction, and leaves nothing in the
//! server's session: so each may go through another connection of a pooler.
//!
//! It repeats no statement that may have happened, unless its caller says that it may be repeated.
//! Read next: `schema.rs`.

use std::sync::Arc;
use std::sync::mpsc as answers;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::sync::mpsc as tasks;
use tokio::time::timeout;
use tokio_postgres::{Client, Config, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::Address;
use crate::clock::ServerClock;
use crate::failure::Failure;
use crate::value::Value;

/// How long a server may be away: it restarts in less, or a standby takes its place.
const AWAY_MAX: Duration = Duration::from_secs(20);

/// How long to wait before asking again for a server that is away.
const PAUSE: Duration = Duration::from_millis(100);

struct Task {
    sql: String,
    /// `None` for several statements in one transaction.
    values: Option<Vec<Value>>,
    answer: answers::Sender<Result<Vec<Row>, Failure>>,
}

/// The way to a server.
pub(crate) struct Link {
    /// `None` once it is to end.
    tasks: Option<tasks::UnboundedSender<Task>>,
    thread: Option<JoinHandle<()>>,
    server: String,
    clock: Arc<ServerClock>,
}

impl Link {
    /// Connects to a server.
    pub(crate) fn connect(address: &Address) -> Result<Self, Failure> {
        let server = address.shown();
        let tls = address.tls()?;
        let broken = |error: std::io::Error| Failure::Unreachable {
            server: server.clone(),
            why: error.to_string(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(broken)?;
        let (sender, receiver) = tasks::unbounded_channel();
        let (began, begun) = answers::channel();
        let mut end = End {
            address: address.clone(),
            tls,
            server: server.clone(),
            client: None,
            host: Config::new(),
        };
        let serve = move || {
            runtime.block_on(async move {
                let connected = end.connect().await;
                let is_connected = connected.is_ok();
                if began.send(connected).is_ok() && is_connected {
                    end.serve(receiver).await;
                }
            });
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "the connection lives beside the run's thread, which waits for each answer"
        )]
        let thread = thread::Builder::new()
            .name("postgres".to_owned())
            .spawn(serve)
            .map_err(broken)?;
        let link = Self {
            tasks: Some(sender),
            thread: Some(thread),
            server: server.clone(),
            clock: Arc::clone(&address.clock),
        };
        begun.recv().map_err(|_| link.ended())??;
        Ok(link)
    }

    /// The server, for people.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// The clock of the server.
    pub(crate) fn clock(&self) -> &ServerClock {
        &self.clock
    }

    /// Performs one statement, as a transaction of its own.
    pub(crate) fn ask(&self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, Failure> {
        self.send(sql, Some(values))
    }

    /// Performs one statement that may be repeated, and waits for a server that is away.
    #[expect(
        clippy::disallowed_methods,
        reason = "a server is waited for; no record shows how long"
    )]
    pub(crate) fn ask_until_there(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Failure> {
        let begun = Instant::now();
        // A connection that was lost is noticed by whoever uses it first, and made again.
        let mut is_first = true;
        loop {
            match self.ask(sql, values.to_vec()) {
                Err(failure) if failure.is_unclear() && (is_first || begun.elapsed() < AWAY_MAX) => {
                    if !std::mem::take(&mut is_first) {
                        thread::sleep(PAUSE);
                    }
                }
                done => return done,
            }
        }
    }

    /// Performs several statements, in one transaction.
    pub(crate) fn execute(&self, sql: &str) -> Result<(), Failure> {
        self.send(sql, None).map(drop)
    }

    fn send(&self, sql: &str, values: Option<Vec<Value>>) -> Result<Vec<Row>, Failure> {
        let (answer, answered) = answers::channel();
        let task = Task {
            sql: sql.to_owned(),
            values,
            answer,
        };
        let tasks = self.tasks.as_ref().ok_or_else(|| self.ended())?;
        tasks.send(task).map_err(|_| self.ended())?;
        answered.recv().map_err(|_| self.ended())?
    }

    fn ended(&self) -> Failure {
        Failure::Unreachable {
            server: self.server.clone(),
            why: "the connection's thread has ended".to_owned(),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            // It has no result.
            let _ = thread.join();
        }
    }
}

/// The thread's end of a link.
struct End {
    address: Address,
    tls: MakeRustlsConnect,
    server: String,
    client: Option<Client>,
    /// The host to which it is connected.
    host: Config,
}

impl End {
    async fn serve(&mut self, mut tasks: tasks::UnboundedReceiver<Task>) {
        while let Some(task) = tasks.recv().await {
            let done = self.perform(&task).await;
            // Who does not wait does not want to know.
            let _ = task.answer.send(done);
        }
    }

    /// Connects to the first host that lets it in.
    async fn connect(&mut self) -> Result<(), Failure> {
        let mut last = None;
        for host in self.address.hosts() {
            match self.connect_to(&host).await {
                Ok(client) => {
                    (self.client, self.host) = (Some(client), host);
                    return Ok(());
                }
                Err(failure) => last = Some(failure),
            }
        }
        last.map_or(Ok(()), Err)
    }

    /// Connects to a host. One that accepts the connection may still be silent, because its server
    /// hangs, so that the library's limit does not suffice.
    async fn connect_to(&self, host: &Config) -> Result<Client, Failure> {
        let limit = self.address.connect_max();
        let connected = timeout(limit, host.connect(self.tls.clone())).await;
        let connected = connected.map_err(|_| self.silent(limit))?;
        let (client, connection) = connected.map_err(|error| Failure::of(&self.server, &error))?;
        // What ends the connection fails the statement that waits for it.
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }

    fn silent(&self, limit: Duration) -> Failure {
        Failure::Unreachable {
            server: self.server.clone(),
            why: format!("it has not answered for {} s", limit.as_secs()),
        }
    }

    /// How long a statement may take before the server is asked whether it is still there.
    fn quiet_max(&self) -> Duration {
        2 * self.address.connect_max()
    }

    /// Performs a task; a connection that was lost while nothing was under way is made again.
    async fn perform(&mut self, task: &Task) -> Result<Vec<Row>, Failure> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.connect().await?;
        }
        let Some(client) = &self.client else {
            return Ok(Vec::new());
        };
        let done = self.answer(client, task).await;
        if done.is_none() {
            // What it still answers belongs to nobody.
            self.client = None;
        }
        done.unwrap_or_else(|| Err(self.silent(self.quiet_max())))
    }

    /// Waits for the answer to a task. A statement may take long: after a while the server is asked
    /// whether it lets in somebody else; `None` if it does not.
    async fn answer(&self, client: &Client, task: &Task) -> Option<Result<Vec<Row>, Failure>> {
        let answer = async {
            match &task.values {
                None => client.batch_execute(&task.sql).await.map(|()| Vec::new()),
                Some(values) => {
                    let values: Vec<_> = values.iter().map(Value::typed).collect();
                    client.query_typed(&task.sql, &values).await
                }
            }
        };
        tokio::pin!(answer);
        loop {
            if let Ok(done) = timeout(self.quiet_max(), &mut answer).await {
                return Some(done.map_err(|error| Failure::of(&self.server, &error)));
            }
            if let Err(Failure::Unreachable { .. }) = self.connect_to(&self.host).await {
                return None;
            }
        }
    }
}
