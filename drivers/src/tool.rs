//! The tools that a run can call, by name.
//!
//! INVARIANT: one name is one tool; adding another of the same name replaces the first.
//! It does not decide who may call: a call arrives here only after the turn that made it has passed
//! the gate.
//! Read next: `tool/interface.rs`, then `tool/workspace.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::Arc;

use duet_runtime::driver::ToolFailure;
use duet_runtime::model::card::ToolCard;
use duet_runtime::model::manifest::Manifest;

pub mod arguments;
pub(crate) mod chance;
pub(crate) mod clock;
pub mod description;
pub mod double;
pub mod environment;
pub mod failure;
pub mod http;
pub mod interface;
mod json;
pub mod line;
pub mod mcp;
pub mod model;
pub mod process;
pub mod returns;
pub mod scripted;
pub mod secret;
pub(crate) mod surrogate;
pub mod syndicate;
pub mod undo_log;
pub mod webhook;
pub mod workspace;
mod zone;

use crate::clock::WorldClock;
use crate::guard;
use description::Description;
use interface::Tool;
use mcp::{Remote, Server, Servers, Settings};
use workspace::Workspace;

/// The tools a run can call, by name.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    servers: Servers,
    /// The only tools that may be called, and the reason, if not all may.
    only: Option<(Manifest, String)>,
    /// Tools that may not be called, each with what a call fails with.
    withheld: BTreeMap<String, ToolFailure>,
    /// The workspace of the built-in tools, if there is one.
    workspace: Option<Arc<Workspace>>,
}

impl Registry {
    /// Makes the built-in tools, confined to a workspace.
    ///
    /// `environment` is the environment to choose from; programs started by `process/run` see only
    /// [`process::ENVIRONMENT_ALLOWED`] of it.
    pub fn built_in(workspace: Workspace, environment: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let workspace = Arc::new(workspace);
        let environment: Vec<(OsString, OsString)> = environment.into_iter().collect();
        let tools = Self {
            workspace: Some(Arc::clone(&workspace)),
            ..Self::default()
        };
        tools
            .with(workspace::list::tool(Arc::clone(&workspace)))
            .with(workspace::read::tool(Arc::clone(&workspace)))
            .with(workspace::write::tool(Arc::clone(&workspace)))
            .with(workspace::exists::tool(Arc::clone(&workspace)))
            .with(workspace::delete::Delete::new(Arc::clone(&workspace)))
            .with(workspace::patch::tool(Arc::clone(&workspace)))
            .with(workspace::search::tool(Arc::clone(&workspace)))
            .with(workspace::stat::tool(Arc::clone(&workspace)))
            .with(workspace::watch::Watch::new(Arc::clone(&workspace)))
            .with(environment::Environment::new(environment.iter().cloned()))
            .with(process::Run::new(workspace, environment, guard::program()))
            .with_all(clock::Clock::all(&WorldClock::default()))
            .with(zone::Zone)
            .with(chance::Chance::integer())
            .with(chance::Chance::real())
    }

    /// Adds a tool; one of the same name is replaced, so that a test double can take its place.
    #[must_use]
    pub fn with(mut self, tool: impl Tool + 'static) -> Self {
        let name = tool.description().name.clone().into_owned();
        self.tools.insert(name, Arc::new(tool));
        self
    }

    /// Lets the tools that tell the time read a clock.
    #[must_use]
    pub fn reading(self, clock: &WorldClock) -> Self {
        self.with_all(clock::Clock::all(clock))
    }

    /// Adds tools.
    #[must_use]
    pub fn with_all(self, tools: impl IntoIterator<Item = impl Tool + 'static>) -> Self {
        tools.into_iter().fold(self, Self::with)
    }

    /// Adds the tools of a server, which is not asked for them yet.
    #[must_use]
    pub fn with_server(mut self, settings: Settings) -> Self {
        let server = Arc::new(Server::new(settings));
        self.servers.insert(server.settings().name.clone(), Arc::clone(&server));
        self.with(Remote::any(Arc::clone(&server)))
            .with_all(Remote::looking(&server))
    }

    /// The servers whose names satisfy `is_wanted`.
    pub(crate) fn servers(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<Arc<Server>> {
        let wanted = self.servers.iter().filter(|(name, _)| is_wanted(name));
        wanted.map(|(_, server)| Arc::clone(server)).collect()
    }

    /// Adds a tool unless there is one of its name, such as a double.
    pub(crate) fn add(&mut self, tool: impl Tool + 'static) {
        let name = tool.description().name.clone().into_owned();
        self.tools.entry(name).or_insert_with(|| Arc::new(tool));
    }

    /// The descriptions of the tools that policy judges by.
    pub fn cards(&self) -> impl Iterator<Item = ToolCard> {
        self.tools.values().map(|tool| tool.card())
    }

    /// Refuses all tools but those that `granted` names; `because` says why, for the program.
    #[must_use]
    pub fn restricted(mut self, granted: Manifest, because: String) -> Self {
        self.only = Some((granted, because));
        self
    }

    /// Says whether policy judges paths as they are written; then a path through a link is refused.
    pub(crate) fn judge_places(&self, is_judged: bool) {
        if let Some(workspace) = &self.workspace {
            workspace.tree().refuse_links(is_judged);
        }
    }

    /// Lets calls of a tool fail without calling it.
    #[must_use]
    pub fn withholding(mut self, name: String, failure: ToolFailure) -> Self {
        self.withheld.insert(name, failure);
        self
    }

    /// Finds a tool, by its own name or by the `prefix/*` that stands for the name.
    ///
    /// # Errors
    /// `denied` if it may not be called; what it is withheld with; `no-such-tool`, naming the tools
    /// there are.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolFailure> {
        if let Some((_, because)) = self.only.as_ref().filter(|(granted, _)| !granted.grants(name)) {
            return Err(failure::Kind::Denied.because(format!("`{name}` is not granted: {because}")));
        }
        if let Some(failure) = self.withheld.get(name) {
            return Err(failure.clone());
        }
        let mut families = name.rmatch_indices('/').map(|(end, _)| format!("{}/*", &name[..end]));
        let found = self.tools.get(name);
        let found = found.or_else(|| families.find_map(|family| self.tools.get(&family)));
        found.ok_or_else(|| {
            let family = name.rfind('/').map_or("", |end| &name[..=end]);
            let (family, known) = match self.family(family) {
                none if none.is_empty() => ("", self.family("")),
                known => (family, known),
            };
            let known = match (known.is_empty(), family) {
                (true, _) => "there are none".to_owned(),
                (false, "") => format!("there are {}", known.join(", ")),
                (false, family) => format!("of {family}* there are {}", known.join(", ")),
            };
            failure::Kind::NoSuchTool.because(format!("no tool is called `{name}`; {known}"))
        })
    }

    /// The descriptions of what a server has besides its tools, if `name` stands for all of it, as
    /// `files/*` does.
    pub(crate) fn looking(&self, name: &str) -> Vec<Description> {
        let server = name.strip_suffix("/*").and_then(|server| self.servers.get(server));
        let looking = server.into_iter().flat_map(Remote::looking);
        looking.map(|tool| tool.description().clone()).collect()
    }

    /// The names of the tools that begin so.
    fn family(&self, beginning: &str) -> Vec<&str> {
        let names = self.tools.keys().map(String::as_str);
        names.filter(|name| name.starts_with(beginning)).collect()
    }

    /// Returns the names of the tools whose descriptions satisfy `is_wanted`.
    pub fn named(&self, is_wanted: impl Fn(&Description) -> bool) -> BTreeSet<String> {
        let tools = self.tools.iter().filter(|(_, tool)| is_wanted(tool.description()));
        tools.map(|(name, _)| name.clone()).collect()
    }

    /// Lists the tools by name.
    pub fn descriptions(&self) -> impl Iterator<Item = &Description> {
        self.tools.values().map(|tool| tool.description())
    }
}
