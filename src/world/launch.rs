//! A program to run: its text, its arguments, its workspace and its granted tools.
//!
//! Owns the note in a run's first record by which a later process finds the workspace again.
//! INVARIANT: a program is granted only the tools that the person or the manifest named.
//! It opens no journal and runs nothing.
//! Read next: `owner/owned_run.rs`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use annotate_snippets::Level;
use duet_drivers::memory;
use duet_drivers::text::Text;
use duet_journal::{Blob, PackedValue};
use duet_kernel::expander::{LibraryName, SourceText};
use duet_runtime::action::{ask_user, spawn_actor, write};
use duet_runtime::model::codec::{Codec, record};
use duet_runtime::model::fixed::FixedEntry;
use duet_runtime::model::limits::Limits;
use duet_runtime::model::manifest::Manifest;
use duet_runtime::policy::authority;

use crate::languages::migrate;
use crate::settings::configuration::servers::ServerChoice;
use crate::settings::policy;
use crate::settings::reach::Reach;
use crate::text::error::CommandError;
use crate::text::render;
use crate::text::similar::nearest;
use crate::world::world_options::known::KnownNames;
use crate::world::world_options::{DoubleScript, WorldOptions};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

mod manifest;
mod note;

pub(crate) use manifest::read_size;
use manifest::{ManifestFile, WorkspaceEntry, read_manifest};
use note::{DOUBLES_NOTE, FOLDER_NOTE, NAMED_WORKSPACE, NOTE};
pub(crate) use note::{LaunchNote, read_note, read_note_of_doubles};

/// The file that makes a folder a program.
pub(crate) const MANIFEST: &str = "manifest.scm";

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

/// A program that a person or a client names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'a> {
    /// The path of a file, or of a folder with a manifest.
    pub(crate) path: &'a Path,
    /// The text of the file, if somebody has read it already.
    pub(crate) text: Option<&'a str>,
    /// The folder in which a server has found the text, without links.
    pub(crate) within: Option<&'a Path>,
}

impl<'a> Program<'a> {
    /// The program at a path, which is yet to be read.
    pub(crate) fn at(path: &'a Path) -> Self {
        Self {
            path,
            text: None,
            within: None,
        }
    }

    /// Refuses a program that is no longer where a server has found its text, because it would get
    /// libraries from another place.
    ///
    /// # Errors
    /// If that is so.
    pub(crate) fn require_within(&self) -> Result<(), CommandError> {
        let Some(folder) = self.within else { return Ok(()) };
        if fs::canonicalize(self.path).is_ok_and(|path| path.starts_with(folder)) {
            return Ok(());
        }
        let path = self.path.display();
        Err(CommandError::problem(format!(
            "`{path}` lies outside the folders of the server"
        )))
    }
}

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
    /// The name under which workers declare their copies of it, if it has one.
    pub(crate) workspace_name: Option<String>,
    /// The capabilities of the program.
    pub(crate) manifest: Manifest,
    /// The libraries that it sees besides the usual ones if it imports none.
    pub(crate) preloaded: Vec<LibraryName>,
    /// Whether it is a folder with a manifest.
    pub(crate) is_folder: bool,
    /// The memory that the run may take in bytes, if the person or the manifest limits it.
    pub(crate) memory_limit: Option<u64>,
    /// The folder that keeps its libraries compiled, if any does.
    pub(crate) cache: Option<PathBuf>,
    /// How it is compiled.
    pub(crate) compiling: Compiling,
    /// The tools and further capabilities that its manifest names.
    named: Vec<String>,
    /// The hosts that its manifest names.
    hosts: Vec<String>,
    /// The variables that its manifest declares as secrets.
    secrets: Vec<String>,
    /// The MCP servers that its manifest describes.
    servers: Vec<Vec<String>>,
    /// The tools that are granted because doubles stand in for them.
    doubled: Vec<String>,
    /// The entries of policy that its manifest lays down.
    pub(crate) policy: Vec<FixedEntry>,
}

impl Launch {
    /// Reads a program, which is a file or a folder with a manifest.
    ///
    /// # Errors
    /// If it cannot be read, is not text, or its manifest is wrong.
    pub(crate) fn read(
        program: Program<'_>,
        workspace: Option<&Path>,
        arguments: Vec<String>,
    ) -> Result<Self, CommandError> {
        let named = program.path;
        let is_folder = program.text.is_none() && named.is_dir();
        let grant = if is_folder {
            read_manifest(&named.join(MANIFEST))?
        } else {
            ManifestFile::default()
        };
        let path = grant
            .program
            .as_ref()
            .map_or_else(|| named.to_owned(), |file| named.join(file));
        let (text, warnings) = match program.text {
            Some(text) => understood(&path, text.to_owned())?,
            None => read_program(&path)?,
        };
        let mut manifest = grant.tools;
        let named_tools: Vec<String> = manifest.names().cloned().collect();
        // A folder changes policy only if its manifest says so; a single file has no manifest.
        let always = ALWAYS
            .iter()
            .filter(|name| !is_folder || **name != authority::POLICY_UPDATE);
        manifest.extend(always.map(|name| (*name).to_owned()));
        let policy = grant.policy.as_ref().map(|file| policy::read(&named.join(file)));
        if !is_folder {
            manifest.extend(of_single_file(workspace));
        }
        let by_manifest = match grant.workspace {
            Some(WorkspaceEntry::Argument(position)) => arguments.get(position - 1).map(PathBuf::from),
            Some(WorkspaceEntry::Directory(path)) => Some(named.join(path)),
            None => None,
        };
        let root = workspace.or(by_manifest.as_deref());
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
            workspace_name: None,
            manifest: manifest.of_main(),
            is_folder,
            memory_limit: grant.memory_limit,
            preloaded: Vec::new(),
            cache: None,
            compiling: Compiling::default(),
            named: named_tools,
            hosts: grant.hosts,
            secrets: grant.secrets,
            servers: grant.servers,
            doubled: Vec::new(),
            policy: policy.transpose()?.unwrap_or_default(),
        })
    }

    /// A text as a program, which works in a workspace that the person named, or else looks at the
    /// present directory.
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
            workspace_name: None,
            manifest: manifest.of_main(),
            is_folder: false,
            memory_limit: None,
            preloaded: Vec::new(),
            cache: None,
            compiling: Compiling::default(),
            named: Vec::new(),
            hosts: Vec::new(),
            secrets: Vec::new(),
            servers: Vec::new(),
            doubled: Vec::new(),
            policy: Vec::new(),
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

    /// Grants the program what the person names, and a single file the options of the person: the
    /// hosts, the secrets, the models, the servers, the tools with doubles.
    ///
    /// # Errors
    /// If a name cannot be that of a capability.
    pub(crate) fn grant(&mut self, options: &WorldOptions) -> Result<(), CommandError> {
        for name in &options.granted {
            let granted = self.manifest.grant(name.clone());
            granted.map_err(|unknown| CommandError::usage(unknown.to_string()))?;
        }
        if self.is_folder {
            return Ok(());
        }
        let doubles = options.double.iter().flat_map(DoubleScript::names);
        // A call of a tool without a recorded answer says that there is none, whatever is granted.
        let doubles = doubles.chain(options.unrecorded(&self.workspace)?);
        self.manifest.extend(implied(options));
        self.doubled = doubles.filter(|name| !self.manifest.grants(name)).collect();
        self.manifest.extend(self.doubled.iter().cloned());
        Ok(())
    }

    /// The tools and further capabilities that its manifest asks for.
    pub(crate) fn asks_for(&self) -> &[String] {
        &self.named
    }

    /// Says which names of its manifest grant nothing, and which doubles stand in for no tool
    /// though their names are nearly those of tools: others may stand in for what is not there yet.
    ///
    /// # Errors
    /// If the tools cannot be listed.
    pub(crate) fn misspelt(&self, known: &KnownNames, options: &WorldOptions) -> Result<Vec<String>, CommandError> {
        let grants = self.named.iter().filter(|name| !known.has(name));
        let mut told: Vec<String> = grants
            .map(|name| format!("`{MANIFEST}` grants `{name}`, but {}", known.told(name)))
            .collect();
        if let Some(script) = &options.double {
            let bare = KnownNames::without_doubles(options, &self.workspace)?;
            told.extend(script.misspelt(&bare));
        }
        Ok(told)
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
        let workspace = self.workspace.to_string_lossy().into_owned().encode();
        let mut fields = vec![match &self.workspace_name {
            Some(name) => record(NAMED_WORKSPACE, vec![name.encode(), workspace]),
            None => workspace,
        }];
        fields.extend(Reach::of(options).fields());
        let label = if self.is_folder { FOLDER_NOTE } else { NOTE };
        let packed = PackedValue::from_value(&record(label, fields))
            .map_err(|error| CommandError::caused("the workspace's path cannot be recorded", &error))?;
        Ok(Blob::new(packed.into_bytes())?)
    }

    /// Notes the tools that only doubles may stand in for, if there are any.
    ///
    /// # Errors
    /// If there are too many for a record.
    pub(crate) fn note_of_doubles(&self) -> Result<Option<Blob>, CommandError> {
        if self.doubled.is_empty() {
            return Ok(None);
        }
        let packed = PackedValue::from_value(&record(DOUBLES_NOTE, vec![self.doubled.encode()]))
            .map_err(|error| CommandError::caused("the names of the doubles cannot be recorded", &error))?;
        Ok(Some(Blob::new(packed.into_bytes())?))
    }
}

/// Says whether a manifest grants any tool of a server, and no double stands in for them.
pub(crate) fn uses_server(manifest: &Manifest, name: &str, options: &WorldOptions) -> bool {
    let of_server = format!("{name}/");
    let is_doubled = |script: &DoubleScript| script.names().iter().any(|double| double.starts_with(&of_server));
    manifest.names().any(|grant| grant.starts_with(&of_server)) && !options.double.iter().any(is_doubled)
}

/// Lists what the options of the person grant a single file: to reach what they name.
pub(crate) fn implied(options: &WorldOptions) -> Vec<String> {
    let http = (!options.hosts.is_empty()).then(|| "http/*".to_owned());
    let secrets = options.secrets.iter().map(|name| format!("environment/{name}"));
    let models = options.models.provider.as_ref().map(|_| "model/chat".to_owned());
    let servers = options.servers.allowed.iter().map(|name| format!("{name}/*"));
    http.into_iter().chain(secrets).chain(models).chain(servers).collect()
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

/// Reads the text of a program, with warnings about it. A workflow of the older language is
/// translated.
pub(crate) fn read_program(path: &Path) -> Result<(String, Vec<Text>), CommandError> {
    understood(path, read_text(path)?)
}

/// Takes the text of a program, with warnings about it.
fn understood(path: &Path, text: String) -> Result<(String, Vec<Text>), CommandError> {
    if !migrate::is_workflow(path) {
        return Ok((text, Vec::new()));
    }
    let translated = translate_workflow(path, &text, false)?;
    Ok((translated.kept, translated.warnings))
}

/// A translated workflow with its warnings, laid out.
pub(crate) struct TranslatedWorkflow {
    pub(crate) text: String,
    /// The text with a comment that tells the places of the workflow.
    kept: String,
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
    let source = SourceText {
        name: path.display().to_string(),
        text: text.into(),
    };
    let translation = migrate::translate(text, is_faithful).map_err(|error| {
        let what = error.fault.to_string();
        CommandError::Shown(render::located(&Level::ERROR, &what, &source, error.span))
    })?;
    let warnings = translation.warnings.into_iter();
    Ok(TranslatedWorkflow {
        text: translation.text,
        kept: translation.kept,
        warnings: warnings
            .map(|(span, what)| render::located(&Level::WARNING, &what, &source, span))
            .collect(),
    })
}

/// Reads a text.
///
/// # Errors
/// If there is no such file, or it is not text.
pub(crate) fn read_text(path: &Path) -> Result<String, CommandError> {
    let shown = path.display();
    fs::read_to_string(path).map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            missing(path)
        } else if error.kind() == ErrorKind::InvalidData {
            CommandError::problem(format!("`{shown}` is not UTF-8 text"))
                .advise("name a Scheme source file or a folder with `manifest.scm`")
        } else {
            CommandError::caused(format!("cannot read `{shown}`"), &error)
        }
    })
}

/// Says that there is no file, and which one beside it may be meant.
fn missing(path: &Path) -> CommandError {
    let error = CommandError::problem(format!("there is no file `{}`", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_program_name(name)).collect();
    names.sort();
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    match nearest(&wanted, names.iter().map(String::as_str)) {
        Some(meant) => error.advise(format!("did you mean `{}`?", path.with_file_name(meant).display())),
        None => error,
    }
}

fn is_program_name(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "scm")
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
    // Where a run is named, a `-` begins an option.
    let letters = stem.chars().map(allowed).skip_while(|letter| *letter == '-');
    let plain: String = letters.take(NAME_LENGTH).collect();
    if plain.is_empty() { "run".to_owned() } else { plain }
}

/// The maximum length of a name made of a file's; it leaves room for a counter.
const NAME_LENGTH: usize = 48;

/// How a program is compiled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compiling {
    /// Whether its executed lines are counted.
    pub(crate) is_counted: bool,
    /// The flag that stops the expansion of its macros, if somebody may.
    pub(crate) stop: Option<Arc<AtomicBool>>,
}

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
            workspace_name: None,
            manifest: Manifest::default(),
            is_folder: false,
            memory_limit: None,
            preloaded: Vec::new(),
            cache: None,
            compiling: Compiling::default(),
            named: Vec::new(),
            hosts: vec!["a.example".to_owned()],
            secrets: vec!["API_KEY".to_owned()],
            servers: vec![vec!["files".to_owned(), "serve".to_owned()]],
            doubled: vec!["process/run".to_owned()],
            policy: Vec::new(),
        };
        let doubles = launch.note_of_doubles().expect("small").expect("a note");
        assert_eq!(read_note(doubles.as_bytes()), None);
        assert_eq!(read_note_of_doubles(doubles.as_bytes()).as_ref(), Some(&launch.doubled));
        let mut options = WorldOptions::default();
        options.models.provider = Some("local=openai-chat:http://[::1]:9".to_owned());
        let note = launch.note(&launch.fit(options.clone())).expect("a short path");
        let reach = Reach {
            hosts: launch.hosts.clone(),
            secrets: launch.secrets.clone(),
            models: vec!["local=openai-chat:http://[::1]:9".to_owned(), String::new()],
            servers: launch.servers.clone(),
        };
        let mut expected = LaunchNote {
            workspace: "/some/where".into(),
            workspace_name: None,
            is_folder: false,
            reach,
        };
        assert_eq!(read_note(note.as_bytes()).as_ref(), Some(&expected));
        let folder = Launch {
            is_folder: true,
            workspace_name: Some("shop".to_owned()),
            ..launch
        };
        expected.is_folder = true;
        expected.workspace_name = Some("shop".to_owned());
        let note = folder.note(&folder.fit(options)).expect("a short path");
        assert_eq!(read_note(note.as_bytes()), Some(expected));
    }
}
