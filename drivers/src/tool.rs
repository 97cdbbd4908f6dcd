//! What a program can have done: the trait behind which every tool stands, and the table of them.
//!
//! INVARIANT: a tool answers each call exactly once, with a value or a [`ToolFailure`]; no payload makes it panic.
//! It does not decide who may call: a call arrives here only after the turn that made it has passed the gate.
//! Read next: `tool/arguments.rs`, then `tool/workspace.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use duet_runtime::driver::ToolFailure;
use preserves::IOValue;

use crate::tool::description::Description;

pub mod arguments;
pub mod clock;
pub mod description;
pub mod double;
pub mod environment;
pub mod failure;
pub mod http;
pub mod keeper;
pub mod process;
pub mod scripted;
pub mod secret;
pub mod workspace;

/// What a call comes back with.
pub type Outcome = Result<IOValue, ToolFailure>;

/// A call under way.
pub type Call = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// Something a program can have done in the world.
pub trait Tool: Send + Sync {
    /// Says what the tool is called, takes, returns and leaves behind.
    fn description(&self) -> &Description;

    /// Starts a call; dropping the result abandons it.
    fn call(&self, payload: IOValue, context: Context) -> Call;
}

/// What a tool may know about the call besides its payload.
#[derive(Clone, Debug)]
pub struct Context {
    /// The call's key: the same when the call is repeated after a crash, and for no other call.
    pub key: String,
    /// The name by which the tool was called.
    pub tool: String,
    /// Where the call tells what it is about to replace.
    pub keeper: keeper::Keeper,
}

/// The tools a run can call, by name.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl Registry {
    /// Makes the built-in tools, confined to the directory `root`.
    ///
    /// `environment` is the environment to choose from; programs started by `process/run` see only [`process::ENVIRONMENT_ALLOWED`] of it.
    ///
    /// # Errors
    /// If `root` cannot be opened as a directory.
    pub fn built_in(root: &Path, environment: impl IntoIterator<Item = (OsString, OsString)>) -> io::Result<Self> {
        let workspace = Arc::new(workspace::Workspace::open(root)?);
        let environment: Vec<(OsString, OsString)> = environment.into_iter().collect();
        Ok(Self::default()
            .with(workspace::list::List::new(Arc::clone(&workspace)))
            .with(workspace::read::Read::new(Arc::clone(&workspace)))
            .with(workspace::write::Write::new(Arc::clone(&workspace)))
            .with(workspace::exists::Exists::new(Arc::clone(&workspace)))
            .with(workspace::delete::Delete::new(Arc::clone(&workspace)))
            .with(workspace::patch::Patch::new(Arc::clone(&workspace)))
            .with(workspace::search::Search::new(Arc::clone(&workspace)))
            .with(workspace::stat::Stat::new(Arc::clone(&workspace)))
            .with(environment::Environment::new(environment.iter().cloned()))
            .with(process::Run::new(workspace, environment))
            .with(clock::Clock::second())
            .with(clock::Clock::jiffy()))
    }

    /// Adds a tool; one of the same name is replaced, so that a double can stand in for it.
    #[must_use]
    pub fn with(mut self, tool: impl Tool + 'static) -> Self {
        let name = tool.description().name.clone().into_owned();
        self.tools.insert(name, Arc::new(tool));
        self
    }

    /// Finds a tool, by its own name or by the `prefix/*` that stands for the name.
    ///
    /// # Errors
    /// `no-such-tool`, naming the tools there are.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolFailure> {
        let family = || name.rsplit_once('/').map(|(prefix, _)| format!("{prefix}/*"));
        let found = self.tools.get(name).or_else(|| self.tools.get(&family()?));
        found.ok_or_else(|| {
            let known: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            let known = if known.is_empty() {
                "there are none".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            failure::Kind::NoSuchTool.because(format!("no tool is called `{name}`; {known}"))
        })
    }

    /// The names of the tools of a sort.
    pub fn named(&self, is_wanted: impl Fn(&Description) -> bool) -> BTreeSet<String> {
        let tools = self.tools.iter().filter(|(_, tool)| is_wanted(tool.description()));
        tools.map(|(name, _)| name.clone()).collect()
    }

    /// Lists the tools by name.
    pub fn descriptions(&self) -> impl Iterator<Item = &Description> {
        self.tools.values().map(|tool| tool.description())
    }
}

/// Does `work`, which may wait for the disk, where it holds up nobody else.
pub(crate) fn blocking(work: impl FnOnce() -> Outcome + Send + 'static) -> Call {
    Box::pin(off_thread(work))
}

/// Does `work` where it may wait for the disk.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolFailure> + Send + 'static,
) -> Result<T, ToolFailure> {
    let broken = |error| Err(failure::Kind::Failed.because(format!("the tool broke down: {error}")));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(broken)
}
