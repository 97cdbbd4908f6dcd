//! Imported runs: what the person who imported one gives it.
//!
//! A run brings its first record, in which somebody else granted it tools, hosts, secrets and a
//! directory. None of that counts here. The journal notes the terms of whoever imported the run
//! beside the run, where no copy takes them along.
//! INVARIANT: an imported run calls only tools that the terms name, reaches only their hosts and
//! works only in their directory; with no terms it can be looked at, replayed and forked.
//! It does not call tools. Read next: `owner/owned_run.rs`.

use std::path::{Path, PathBuf};

use duet_drivers::memory;
use duet_journal::{PackedValue, RunId, Store};
use duet_runtime::model::codec::{Codec, DecodeError, Fields, record};
use duet_runtime::model::grant::Grant;
use duet_runtime::model::limits::Limits;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::record::Genesis;
use serde::{Deserialize, Serialize};

use crate::history::journal::owner;
use crate::history::silence;
use crate::settings::reach::Reach;
use crate::text::error::CommandError;
use crate::world::launch::{self, LaunchNote};
use crate::world::world_options::WorldOptions;

/// What an imported run has here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Whether the person has said what it has.
    pub(crate) is_settled: bool,
    /// The tools, by name or `prefix/*`.
    pub(crate) tools: Vec<String>,
    /// The directory it works in.
    pub(crate) workspace: Option<String>,
    pub(crate) hosts: Vec<String>,
    /// The maximum memory of the run in bytes.
    pub(crate) memory_bytes: u64,
}

const LABEL: &str = "imported";

impl Terms {
    /// Nothing but memory.
    pub(crate) fn nothing(memory_bytes: u64) -> Self {
        Self {
            memory_bytes,
            ..Self::default()
        }
    }

    /// The note that a journal keeps.
    ///
    /// # Errors
    /// If it is too large for a journal.
    pub(crate) fn pack(&self) -> Result<Vec<u8>, CommandError> {
        let fields = vec![
            self.is_settled.encode(),
            self.tools.encode(),
            self.workspace.encode(),
            self.hosts.encode(),
            self.memory_bytes.encode(),
        ];
        PackedValue::from_value(&record(LABEL, fields))
            .map(PackedValue::into_bytes)
            .map_err(|error| CommandError::caused("the grants cannot be noted in the journal", &error))
    }

    fn unpack(bytes: &[u8]) -> Option<Self> {
        let value = duet_journal::packed::read_value(bytes).ok()?;
        let read = || -> Result<Self, DecodeError> {
            let mut fields = Fields::of(&value, LABEL, 5)?;
            Ok(Self {
                is_settled: fields.read("is-settled")?,
                tools: fields.read("tools")?,
                workspace: fields.read("workspace")?,
                hosts: fields.read("hosts")?,
                memory_bytes: fields.read("memory-bytes")?,
            })
        };
        read().ok()
    }

    /// What its tools may be, with what every program has.
    pub(crate) fn manifest(&self) -> Manifest {
        let mut manifest = Manifest::of(&launch::ALWAYS);
        manifest.extend(self.tools.iter().cloned());
        manifest
    }

    /// The directory it works in; without one its tools can reach none.
    pub(crate) fn directory(&self) -> &Path {
        Path::new(self.workspace.as_deref().unwrap_or("."))
    }
}

/// Reads what an imported run has here; `None` if the run was begun here.
///
/// # Errors
/// If the journal cannot be read.
pub(crate) fn terms(store: &dyn Store, run: &RunId) -> Result<Option<Terms>, CommandError> {
    let Some(note) = store.note(run)? else { return Ok(None) };
    let unreadable = || CommandError::problem(format!("the journal's note on {run} cannot be understood"));
    Terms::unpack(&note).map(Some).ok_or_else(unreadable)
}

/// The limits of a run that nobody limits on this machine.
pub(crate) fn own_limits(memory_bytes: Option<u64>) -> Limits {
    memory_bytes.map_or_else(|| Limits::for_machine(memory::machine_bytes()), Limits::within)
}

/// What a run asks for besides what every program has.
pub(crate) struct WantedGrants {
    tools: Vec<String>,
    note: Option<LaunchNote>,
}

impl WantedGrants {
    /// The grants in a run's first record, and those that it has had since elsewhere.
    pub(crate) fn of(genesis: &Genesis, grants: &[Grant], mut note: Option<LaunchNote>) -> Self {
        let always = Manifest::of(&launch::ALWAYS).of_main();
        let mut manifest = genesis.manifest.clone();
        for grant in grants {
            manifest.add(&grant.manifest);
            if let Some(note) = &mut note {
                note.reach.add(Reach::of_note(&grant.note));
            }
        }
        let asked = manifest.names().filter(|name| !always.grants(name));
        Self {
            tools: asked.cloned().collect(),
            note,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Lists them for a person.
    fn shown(&self) -> String {
        let tool = |name: &String| match &self.note {
            Some(note) if needs_directory(name) => format!("{name} in {}", note.workspace.display()),
            Some(note) if name.starts_with("http/") && !note.reach.hosts.is_empty() => {
                format!("{name} to {}", note.reach.hosts.join(" and "))
            }
            Some(_) | None => name.clone(),
        };
        self.tools.iter().map(tool).collect::<Vec<_>>().join(", ")
    }

    /// Says that a run has nothing here, what it asks for, and how to give it that.
    pub(crate) fn refusal(&self, name: &str) -> CommandError {
        let mut line = format!("duet resume {name} --grant {}", self.tools.join(","));
        if self.tools.iter().any(|tool| needs_directory(tool)) {
            line.push_str(" --workspace DIRECTORY");
        }
        for host in self.note.iter().flat_map(|note| &note.reach.hosts) {
            line.push_str(&format!(" --allow-host {host}"));
        }
        CommandError::problem(format!("{name} was imported, and nobody here has granted it anything"))
            .because(format!("it asks for: {}", self.shown()))
            .advise(format!(
                "`{line}` lets it go on with all that, `--grant none` with nothing"
            ))
            .advise("it can be looked at, replayed and forked as it is")
    }

    /// Requires that the run asks for a tool that a person grants.
    ///
    /// # Errors
    /// A usage failure that lists what it asks for.
    pub(crate) fn require(&self, granted: &str) -> Result<(), CommandError> {
        let covers = |one: &str, other: &str| Manifest::of(&[one]).grants(other);
        if self
            .tools
            .iter()
            .any(|asked| covers(asked, granted) || covers(granted, asked))
        {
            return Ok(());
        }
        let asked = if self.tools.is_empty() {
            "nothing".to_owned()
        } else {
            self.shown()
        };
        Err(CommandError::usage(format!("the run does not ask for `{granted}`"))
            .because(format!("it asks for: {asked}")))
    }
}

/// Says whether a tool works in a directory.
pub(crate) fn needs_directory(tool: &str) -> bool {
    tool == "*" || tool.starts_with("workspace/") || tool.starts_with("process/")
}

/// What a person grants a run when it goes on.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct GrantArguments {
    /// Grants the run these capabilities in addition. For an imported run they replace earlier
    /// grants, and `none` grants nothing.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    grant: Vec<String>,
    /// Lets an imported run work in this directory.
    #[arg(long, value_name = "DIRECTORY", requires = "grant")]
    workspace: Option<PathBuf>,
}

impl GrantArguments {
    /// The capabilities.
    pub(crate) fn names(&self) -> &[String] {
        &self.grant
    }

    /// Notes the grants to an imported run in the journal, if there are any, for `duet resume`.
    ///
    /// # Errors
    /// If an imported run does not ask for a grant or lacks a directory, or a run that was begun
    /// here is given what only an imported one takes.
    pub(crate) fn settle(
        &self,
        store: &mut dyn Store,
        run: &RunId,
        wanted: impl FnOnce(&dyn Store) -> Result<WantedGrants, CommandError>,
        options: &WorldOptions,
    ) -> Result<(), CommandError> {
        if self.grant.is_empty() {
            return Ok(());
        }
        let Some(terms) = terms(store, run)? else {
            return self.check_own(run);
        };
        let wanted = wanted(store)?;
        let tools: Vec<String> = self.grant.iter().filter(|name| *name != "none").cloned().collect();
        tools.iter().try_for_each(|tool| wanted.require(tool))?;
        let workspace = self.workspace.as_deref().map(absolute).transpose()?;
        if let (None, Some(tool)) = (&workspace, tools.iter().find(|tool| needs_directory(tool))) {
            return Err(CommandError::usage(format!("`{tool}` needs a directory to work in"))
                .advise("name it with `--workspace DIRECTORY`"));
        }
        let terms = Terms {
            is_settled: true,
            tools,
            workspace,
            hosts: options.hosts.clone(),
            ..terms
        };
        silence::require_silence(store, run)?;
        let epoch = store.claim(run, &owner("resume"))?;
        Ok(store.set_note(run, epoch, &terms.pack()?)?)
    }

    /// Refuses options that only an imported run takes.
    fn check_own(&self, run: &RunId) -> Result<(), CommandError> {
        let begun = || CommandError::usage(format!("{run} was begun here, and keeps what it was granted"));
        if self.grant.iter().any(|name| name == "none") {
            return Err(begun().advise("`--grant none` is for runs that were imported"));
        }
        if self.workspace.is_some() {
            return Err(begun().advise("it goes on in the workspace that it began with, so leave out `--workspace`"));
        }
        Ok(())
    }
}

fn absolute(directory: &Path) -> Result<String, CommandError> {
    let shown = directory.display();
    let found = std::fs::canonicalize(directory)
        .map_err(|error| CommandError::caused(format!("cannot use `{shown}` as the workspace"), &error))?;
    let text = found.to_str().map(str::to_owned);
    text.ok_or_else(|| CommandError::usage(format!("the path of `{shown}` is no text")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_what_was_noted() {
        let terms = Terms {
            is_settled: true,
            tools: vec!["process/run".to_owned()],
            workspace: Some("/some/where".to_owned()),
            hosts: vec!["a.example".to_owned()],
            memory_bytes: 64 << 20,
        };
        for terms in [terms, Terms::nothing(1)] {
            let packed = terms.pack().expect("small");
            assert_eq!(Terms::unpack(&packed), Some(terms));
            assert_eq!(Terms::unpack(&packed[1..]), None);
        }
    }
}
