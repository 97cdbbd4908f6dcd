//! A program to run: its text, its arguments, its workspace and its granted tools.
//!
//! Owns the note in a run's first record by which a later process finds the workspace again.
//! INVARIANT: a program is granted only the tools that the person or the manifest named.
//! It opens no journal and runs nothing.
//! Read next: `session.rs`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use annotate_snippets::Level;
use duet_drivers::memory;
use duet_drivers::text::Text;
use duet_journal::{Blob, PackedValue};
use duet_runtime::action::{ask_user, spawn_actor, write};
use duet_runtime::model::codec::{Codec, Fields, record};
use duet_runtime::model::limits::Limits;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::policy::authority;

use crate::configuration::servers::ServerChoice;
use crate::error::CommandError;
use crate::world_options::WorldOptions;
use crate::{migrate, render};

mod manifest;

pub(crate) use manifest::read_size;
use manifest::{ManifestFile, read_manifest};

/// The file that makes a folder a program.
const MANIFEST: &str = "manifest.scm";

/// Granted to every program: the console, questions to the person, the clock, chance, actors, and
/// the entries that it is governed by; what it grants in turn is never more than it has.
pub(crate) const ALWAYS: [&str; 8] = [
    write::CAPABILITY,
    ask_user::CAPABILITY,
    "clock/*",
    "chance/*",
    spawn_actor::CAPABILITY,
    authority::POLICY_UPDATE,
    authority::GOAL_PROPOSE,
    authority::FACT_RECORD,
];

/// Granted to a single file, which then works in its own directory.
const BESIDE_PROGRAM: [&str; 3] = ["workspace/read", "workspace/exists", "workspace/list"];

/// Granted to a single file: variables of the environment that describe the place where it runs and
/// hold no secrets.
const PLAIN_VARIABLES: [&str; 9] = [
    "environment/HOME",
    "environment/LANG",
    "environment/LOGNAME",
    "environment/PATH",
    "environment/PWD",
    "environment/SHELL",
    "environment/TERM",
    "environment/TZ",
    "environment/USER",
];

/// Granted to a single file when the person names a workspace.
const IN_WORKSPACE: [&str; 1] = ["workspace/*"];

/// A program that is to be run.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The program's path, by which messages call it.
    pub(crate) path: PathBuf,
    /// Its text; that of a workflow is its translation.
    pub(crate) text: String,
    /// What the translation of a workflow does otherwise, laid out.
    pub(crate) warnings: Vec<Text>,
    /// The name that runs of it get.
    pub(crate) stem: String,
    /// The words behind the program's name.
    pub(crate) arguments: Vec<String>,
    /// The directory that tools work in.
    pub(crate) workspace: PathBuf,
    /// The capabilities of the program.
    pub(crate) manifest: Manifest,
    /// Whether it is a folder with a manifest.
    pub(crate) is_folder: bool,
    /// The memory that the run may take in bytes, if the person or the manifest limits it.
    pub(crate) memory_limit: Option<u64>,
    /// The folder that keeps its libraries compiled, if any does.
    pub(crate) cache: Option<PathBuf>,
    /// The hosts that its manifest names.
    hosts: Vec<String>,
    /// The variables that its manifest declares as secrets.
    secrets: Vec<String>,
    /// The MCP servers that its manifest describes.
    servers: Vec<Vec<String>>,
}

impl Launch {
    /// Reads a program, which is a file or a folder with a manifest.
    ///
    /// # Errors
    /// If it cannot be read, is not text, or its manifest is wrong.
    pub(crate) fn read(named: &Path, workspace: Option<&Path>, arguments: Vec<String>) -> Result<Self, CommandError> {
        let is_folder = named.is_dir();
        let grant = if is_folder {
            read_manifest(&named.join(MANIFEST))?
        } else {
            ManifestFile::default()
        };
        let path = grant
            .program
            .as_ref()
            .map_or_else(|| named.to_owned(), |file| named.join(file));
        let (text, warnings) = read_program(&path)?;
        let mut manifest = grant.tools;
        manifest.extend(ALWAYS.iter().map(|name| (*name).to_owned()));
        if !is_folder {
            manifest.extend(of_single_file(workspace));
        }
        let by_argument = grant.workspace.and_then(|position| arguments.get(position - 1));
        let root = workspace.or(by_argument.map(Path::new));
        let root = root.unwrap_or_else(|| if is_folder { Path::new(".") } else { directory_of(&path) });
        let workspace = fs::canonicalize(root).map_err(|error| {
            CommandError::caused(format!("cannot use `{}` as the workspace", root.display()), &error)
        })?;
        Ok(Self {
            stem: stem(if is_folder { named } else { &path }),
            path,
            text,
            warnings,
            arguments,
            workspace,
            manifest: manifest.of_main(),
            is_folder,
            memory_limit: grant.memory_limit,
            cache: None,
            hosts: grant.hosts,
            secrets: grant.secrets,
            servers: grant.servers,
        })
    }

    /// A program of this command's own, which works in a workspace that the person named, or else
    /// looks at the present directory.
    ///
    /// # Errors
    /// If the workspace cannot be used.
    pub(crate) fn of_text(name: &str, text: &str, workspace: Option<&Path>) -> Result<Self, CommandError> {
        let mut manifest = Manifest::of(&ALWAYS);
        manifest.extend(of_single_file(workspace));
        let root = workspace.unwrap_or(Path::new("."));
        let workspace = fs::canonicalize(root).map_err(|error| {
            CommandError::caused(format!("cannot use `{}` as the workspace", root.display()), &error)
        })?;
        Ok(Self {
            path: name.into(),
            text: text.to_owned(),
            warnings: Vec::new(),
            stem: name.to_owned(),
            arguments: Vec::new(),
            workspace,
            manifest: manifest.of_main(),
            is_folder: false,
            memory_limit: None,
            cache: None,
            hosts: Vec::new(),
            secrets: Vec::new(),
            servers: Vec::new(),
        })
    }

    /// Adds the entries of the manifest to the options of the person.
    pub(crate) fn fit(&self, mut options: WorldOptions) -> WorldOptions {
        options.hosts.extend(self.hosts.iter().cloned());
        options.secrets.extend(self.secrets.iter().cloned());
        options.servers.extend(ServerChoice {
            allowed: Vec::new(),
            described: self.servers.clone(),
        });
        options
    }

    /// Says whether the program may call any tool of a server, and no double stands in for them.
    pub(crate) fn uses_server(&self, name: &str, options: &WorldOptions) -> bool {
        let of_server = format!("{name}/");
        let is_doubled = |(_, script): &(String, String)| {
            let doubles = duet_drivers::tool::double::names(script);
            doubles.iter().any(|double| double.starts_with(&of_server))
        };
        self.manifest.names().any(|grant| grant.starts_with(&of_server)) && !options.double.iter().any(is_doubled)
    }

    /// Grants a single file the options of the person: the hosts, the secrets, the models, the
    /// servers, the tools with doubles.
    pub(crate) fn grant(&mut self, options: &WorldOptions) {
        if self.is_folder {
            return;
        }
        let http = (!options.hosts.is_empty()).then(|| "http/*".to_owned());
        let secrets = options.secrets.iter().map(|name| format!("environment/{name}"));
        let doubles = options
            .double
            .iter()
            .flat_map(|(_, script)| duet_drivers::tool::double::names(script));
        let models = options.models.provider.as_ref().map(|_| "model/chat".to_owned());
        let servers = options.servers.allowed.iter().map(|name| format!("{name}/*"));
        let granted = http
            .into_iter()
            .chain(secrets)
            .chain(models)
            .chain(servers)
            .chain(doubles);
        self.manifest.extend(granted);
    }

    /// The limits of the run. Without a choice of the person, they follow from this machine, and
    /// the run's first record keeps them for every other.
    pub(crate) fn limits(&self) -> Limits {
        match self.memory_limit {
            Some(bytes) => Limits::within(bytes),
            None => Limits::for_machine(memory::machine_bytes()),
        }
    }

    /// Notes the workspace and the options, for a process that resumes the run.
    ///
    /// # Errors
    /// If the path is too long for a record.
    pub(crate) fn note(&self, options: &WorldOptions) -> Result<Blob, CommandError> {
        let workspace = self.workspace.to_string_lossy().into_owned();
        let models: Vec<String> = [&options.models.provider, &options.models.model]
            .map(|choice| choice.clone().unwrap_or_default())
            .to_vec();
        let fields = vec![
            workspace.encode(),
            options.hosts.encode(),
            options.secrets.encode(),
            models.encode(),
            options.servers.encoded().encode(),
        ];
        let packed = PackedValue::from_value(&record(NOTE, fields))
            .map_err(|error| CommandError::caused("the workspace's path cannot be recorded", &error))?;
        Ok(Blob::new(packed.into_bytes())?)
    }
}

/// Lists the further grants of a single file.
fn of_single_file(workspace: Option<&Path>) -> impl Iterator<Item = String> {
    let files = workspace.map_or(BESIDE_PROGRAM.as_slice(), |_| IN_WORKSPACE.as_slice());
    PLAIN_VARIABLES.iter().chain(files).map(|name| (*name).to_owned())
}

/// The directory that a file is in.
fn directory_of(path: &Path) -> &Path {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

const NOTE: &str = "launch";

/// The note about a launch in a run's first record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LaunchNote {
    /// The workspace.
    pub(crate) workspace: PathBuf,
    pub(crate) hosts: Vec<String>,
    pub(crate) secrets: Vec<String>,
    /// The provider of models and the model, each empty if the person chose none.
    pub(crate) models: Vec<String>,
    /// The servers, as [`ServerChoice::encoded`] has them.
    pub(crate) servers: Vec<Vec<String>>,
}

impl LaunchNote {
    /// Adds the options that the run began with.
    pub(crate) fn fit(self, mut options: WorldOptions) -> (PathBuf, WorldOptions) {
        options.hosts.extend(self.hosts);
        options.secrets.extend(self.secrets);
        options.servers.extend(ServerChoice::decoded(self.servers));
        let mut models = self
            .models
            .into_iter()
            .map(|choice| Some(choice).filter(|choice| !choice.is_empty()));
        let (provider, model) = (models.next().flatten(), models.next().flatten());
        // The earlier model may be unknown to another provider.
        if options.models.provider.is_none() {
            options.models.provider = provider;
            options.models.model = options.models.model.or(model);
        }
        (self.workspace, options)
    }
}

/// Reads a note; `None` if the bytes are something else, such as a source text: packed records do
/// not begin like UTF-8.
pub(crate) fn read_note(bytes: &[u8]) -> Option<LaunchNote> {
    let value = duet_journal::packed::read_value(bytes).ok()?;
    let mut fields = Fields::of(&value, NOTE, 5).ok()?;
    let workspace: String = fields.read("workspace").ok()?;
    Some(LaunchNote {
        workspace: workspace.into(),
        hosts: fields.read("hosts").ok()?,
        secrets: fields.read("secrets").ok()?,
        models: fields.read("models").ok()?,
        servers: fields.read("servers").ok()?,
    })
}

/// Reads the text of a program, with warnings about it. A workflow of the older language is
/// translated.
pub(crate) fn read_program(path: &Path) -> Result<(String, Vec<Text>), CommandError> {
    let text = read_text(path)?;
    if !migrate::is_workflow(path) {
        return Ok((text, Vec::new()));
    }
    let translated = translate_workflow(path, &text, false)?;
    Ok((translated.text, translated.warnings))
}

/// A translated workflow with its warnings, laid out.
pub(crate) struct TranslatedWorkflow {
    pub(crate) text: String,
    pub(crate) warnings: Vec<Text>,
}

/// Reads and translates a workflow of the older language.
///
/// # Errors
/// If it cannot be read, or has a form that the older language does not have.
pub(crate) fn read_workflow(path: &Path, is_faithful: bool) -> Result<TranslatedWorkflow, CommandError> {
    translate_workflow(path, &read_text(path)?, is_faithful)
}

fn translate_workflow(path: &Path, text: &str, is_faithful: bool) -> Result<TranslatedWorkflow, CommandError> {
    let name = path.display().to_string();
    let place = (name.as_str(), text);
    let translation = migrate::translate(text, is_faithful).map_err(|error| {
        let what = error.fault.to_string();
        CommandError::Shown(render::located(&Level::ERROR, &what, place, error.span))
    })?;
    let warnings = translation.warnings.into_iter();
    Ok(TranslatedWorkflow {
        text: translation.text,
        warnings: warnings
            .map(|(span, what)| render::located(&Level::WARNING, &what, place, span))
            .collect(),
    })
}

fn read_text(path: &Path) -> Result<String, CommandError> {
    let shown = path.display();
    fs::read_to_string(path).map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            CommandError::problem(format!("there is no file `{shown}`"))
        } else if error.kind() == ErrorKind::InvalidData {
            CommandError::problem(format!("`{shown}` is not UTF-8 text"))
                .advise("name a Scheme source file or a folder with `manifest.scm`")
        } else {
            CommandError::caused(format!("cannot read `{shown}`"), &error)
        }
    })
}

/// The name that runs of a program get: letters, digits and the like of its file's stem.
fn stem(path: &Path) -> String {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let allowed = |letter: char| {
        if letter.is_ascii_alphanumeric() || "-_.".contains(letter) {
            letter
        } else {
            '-'
        }
    };
    let plain: String = stem.chars().map(allowed).take(NAME_LENGTH).collect();
    if plain.is_empty() { "run".to_owned() } else { plain }
}

/// The maximum length of a name made of a file's; it leaves room for a counter.
const NAME_LENGTH: usize = 48;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_told_from_a_source_text() {
        assert_eq!(read_note(b"(display 1)"), None);
        let launch = Launch {
            path: PathBuf::new(),
            text: String::new(),
            warnings: Vec::new(),
            stem: String::new(),
            arguments: Vec::new(),
            workspace: "/some/where".into(),
            manifest: Manifest::default(),
            is_folder: false,
            memory_limit: None,
            cache: None,
            hosts: vec!["a.example".to_owned()],
            secrets: vec!["API_KEY".to_owned()],
            servers: vec![vec!["files".to_owned(), "serve".to_owned()]],
        };
        let mut options = WorldOptions::default();
        options.models.provider = Some("local=openai-chat:http://[::1]:9".to_owned());
        let note = launch.note(&launch.fit(options)).expect("a short path");
        let expected = LaunchNote {
            workspace: "/some/where".into(),
            hosts: launch.hosts,
            secrets: launch.secrets,
            models: vec!["local=openai-chat:http://[::1]:9".to_owned(), String::new()],
            servers: launch.servers,
        };
        assert_eq!(read_note(note.as_bytes()), Some(expected));
    }
}
