//! Configuration files: the servers of the Model Context Protocol.
//!
//! INVARIANT: a server that only a workspace's file describes starts only if the person allows it
//! by name, and gets no secret of the person.
//! It starts nothing; the driver does.
//! Read next: `settings/configuration.rs`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use duet_drivers::tool::description::EffectClass;
use duet_drivers::tool::mcp::{Credentials, Login, Settings, Transport};
use duet_drivers::tool::model::Key;
use duet_drivers::tool::process::allowed;
use duet_drivers::tool::secret::is_secret_name;
use toml::{Table, Value};

use super::{File, OF_USER, add_headers, is_url, key};
use crate::settings::state_folder;
use crate::text::error::CommandError;

/// A server as a file or a manifest describes it.
#[derive(Clone, Debug)]
pub(crate) struct ServerEntry {
    pub(crate) settings: Settings,
    /// The place of the description.
    pub(crate) origin: String,
    /// Whether the person has to allow it, because a workspace's file describes it.
    pub(crate) needs_permission: bool,
}

/// The servers that a run may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerChoice {
    /// The names that the person allows.
    pub(crate) allowed: Vec<String>,
    /// Those that the manifest of the program describes: a name, and a URL or the words of a
    /// command.
    pub(crate) described: Vec<Vec<String>>,
}

impl ServerChoice {
    /// Adds those of another choice that it does not have.
    pub(crate) fn extend(&mut self, other: Self) {
        for name in other.allowed {
            if !self.allowed.contains(&name) {
                self.allowed.push(name);
            }
        }
        for words in other.described {
            if !self.described.contains(&words) {
                self.described.push(words);
            }
        }
    }

    /// As a note keeps them: allowed names, which are lists of one word, and descriptions.
    pub(crate) fn encoded(&self) -> Vec<Vec<String>> {
        let allowed = self.allowed.iter().map(|name| vec![name.clone()]);
        allowed.chain(self.described.iter().cloned()).collect()
    }

    /// Reads what [`encoded`](Self::encoded) made.
    pub(crate) fn decoded(noted: Vec<Vec<String>>) -> Self {
        let (allowed, described): (Vec<_>, Vec<_>) = noted.into_iter().partition(|words| words.len() == 1);
        Self {
            allowed: allowed.into_iter().flatten().collect(),
            described,
        }
    }
}

/// Reads a server of a manifest: a name, and a URL or the words of a command.
///
/// # Errors
/// The fault.
pub(crate) fn check_described(words: &[String]) -> Result<(), String> {
    let Some((name, rest)) = words.split_first() else {
        return Err("a server has a name".to_owned());
    };
    check_name(name)?;
    if rest.iter().all(String::is_empty) {
        return Err(format!("the server `{name}` has neither a command nor a URL"));
    }
    Ok(())
}

/// Refuses names that could be taken for a tool's own.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let is_taken = [
        "workspace",
        "process",
        "http",
        "line",
        "model",
        "clock",
        "chance",
        "environment",
        "dataspace",
        "mcp",
    ];
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(format!(
            "`{name}` cannot be a server's name: use letters, digits, `-`, `_` and `.`"
        ));
    }
    if is_taken.contains(&name) {
        return Err(format!(
            "a server cannot be called `{name}`, because Duet has tools of that name"
        ));
    }
    Ok(())
}

/// The servers of a run with the settings that hold for it.
///
/// # Errors
/// If the person allows a server that nothing describes.
pub(crate) fn settings(
    entries: BTreeMap<String, ServerEntry>,
    choice: &ServerChoice,
    workspace: &Path,
    environment: &[(OsString, OsString)],
) -> Result<Vec<Settings>, CommandError> {
    let mut all: BTreeMap<String, Settings> = BTreeMap::new();
    for (name, entry) in entries {
        let mut settings = entry.settings;
        if entry.needs_permission && !choice.allowed.contains(&name) {
            settings.place = Transport::Refused(format!(
                "the MCP server `{name}` is described by `{}`, which may come from somebody else; `--allow-server \
                 {name}` lets it start",
                entry.origin
            ));
        }
        all.insert(name, settings);
    }
    for words in &choice.described {
        if let Some((name, rest)) = words.split_first() {
            let place = match rest {
                [url] if is_url(url) => Transport::Url {
                    url: url.clone(),
                    login: Login::None,
                },
                command => program(command.to_vec()),
            };
            all.insert(name.clone(), Settings::new(name.clone(), place));
        }
    }
    if let Some(unknown) = choice.allowed.iter().find(|name| !all.contains_key(*name)) {
        let known: Vec<&str> = all.keys().map(String::as_str).collect();
        let known = if known.is_empty() {
            "none is configured".to_owned()
        } else {
            format!("there are {}", known.join(", "))
        };
        return Err(CommandError::problem(format!("there is no MCP server `{unknown}`"))
            .advise(known)
            .advise(format!(
                "`duet servers --help` shows how ~/.config/{OF_USER} describes one"
            )));
    }
    for settings in all.values_mut() {
        if let Transport::Program {
            environment: own,
            directory,
            ..
        } = &mut settings.place
        {
            let mut variables = allowed(environment.iter().cloned());
            variables.append(own);
            *own = variables;
            workspace.clone_into(directory);
        }
    }
    Ok(all.into_values().collect())
}

/// The fault of an entry that is unknown, or has a value of another kind.
fn wrong_entry(name: &str) -> String {
    match name {
        "environment" | "headers" | "effects" | "oauth" => format!("`{name}` is a table of strings"),
        "revision" | "token_header" => format!("`{name}` is a string"),
        "token" => "`token` is the name of a variable of the environment".to_owned(),
        "timeout_ms" | "start_timeout_ms" => format!("`{name}` is an integer above 0"),
        "args" | "env" | "mcpServers" => format!(
            "`{name}` is of another program's configuration: the words of `command` are one list, and variables stand \
             in `environment`"
        ),
        _ => format!(
            "`{name}` is none of command, url, environment, secrets, token, token_header, headers, oauth, effects, \
             revision, timeout_ms, start_timeout_ms"
        ),
    }
}

/// A program whose environment and folder are not known yet.
fn program(words: Vec<String>) -> Transport {
    Transport::Program {
        words,
        environment: Vec::new(),
        directory: Path::new(".").to_owned(),
    }
}

impl File<'_> {
    /// Reads a server.
    ///
    /// # Errors
    /// The fault of its entry.
    pub(super) fn server(&self, name: &str, entries: &Value) -> Result<ServerEntry, CommandError> {
        let wrong = |problem: String| {
            CommandError::problem(format!("`{}`: servers.{name}: {problem}", self.shown))
                .advise("`duet servers --help` shows what a configuration has")
        };
        check_name(name).map_err(wrong)?;
        let entries = entries.as_table().ok_or_else(|| wrong("it is no table".to_owned()))?;
        let place = match (entries.get("command"), entries.get("url")) {
            (Some(command), None) => strings(command).filter(|words| !words.is_empty()).map(program),
            (None, Some(Value::String(url))) if is_url(url) => Some(Transport::Url {
                url: url.clone(),
                login: Login::None,
            }),
            _ => None,
        };
        let place = place.ok_or_else(|| {
            wrong(
                "it needs either `command`, a list of one or more strings, or `url`, which begins with http".to_owned(),
            )
        })?;
        let mut settings = Settings::new(name, place);
        for (key, value) in entries {
            self.server_entry(&mut settings, key, value).map_err(wrong)?;
        }
        Ok(ServerEntry {
            settings,
            origin: self.shown.clone(),
            needs_permission: !self.may_name_keys,
        })
    }

    /// Takes an entry of a server; the error is the problem.
    fn server_entry(&self, settings: &mut Settings, name: &str, value: &Value) -> Result<(), String> {
        let milliseconds = |value: i64| {
            let limit = u64::try_from(value).ok().filter(|limit| *limit > 0);
            limit.ok_or_else(|| format!("`{name}` is an integer above 0"))
        };
        match (name, value) {
            ("command" | "url", _) => {}
            ("environment", Value::Table(variables)) => {
                let Transport::Program { environment, .. } = &mut settings.place else {
                    return Err("`environment` belongs to a server with a `command`".to_owned());
                };
                for (variable, value) in variables {
                    let value = value.as_str().ok_or("`environment` has strings as values")?;
                    environment.push((variable.into(), value.into()));
                }
            }
            ("secrets" | "token" | "oauth", _) if !self.may_name_keys => {
                return Err(format!(
                    "a workspace gives away no secrets, because whoever wrote it would get them; `{name}` belongs into \
                     ~/.config/{OF_USER}"
                ));
            }
            ("secrets", value) => self.server_secrets(settings, value)?,
            ("token", Value::String(variable)) => {
                let key = self.secret("token", variable)?;
                log_in(settings, name, key.map(Login::Token).map_err(|()| variable.clone()))?;
            }
            ("token_header", Value::String(header)) => settings.headers.name_key(header)?,
            ("headers", Value::Table(headers)) => add_headers(&mut settings.headers, headers)?,
            ("oauth", Value::Table(entries)) => {
                let credentials = self.credentials(&settings.name, entries)?;
                log_in(settings, name, credentials.map(|all| Login::OAuth(Box::new(all))))?;
            }
            ("effects", Value::Table(effects)) => {
                for (tool, effect) in effects {
                    let effect = effect.as_str().and_then(effect_named);
                    let effect = effect.ok_or("an effect is pure, reversible, compensable or irreversible")?;
                    settings.effects.insert(tool.clone(), effect);
                }
            }
            ("revision", Value::String(revision)) => {
                settings.is_of_2025 = match &**revision {
                    "2025-11-25" => true,
                    "2026-07-28" => false,
                    _ => return Err("`revision` is \"2026-07-28\" or \"2025-11-25\"".to_owned()),
                };
            }
            ("timeout_ms", Value::Integer(limit)) => settings.timeout_ms = milliseconds(*limit)?,
            ("start_timeout_ms", Value::Integer(limit)) => settings.start_timeout_ms = milliseconds(*limit)?,
            _ => return Err(wrong_entry(name)),
        }
        Ok(())
    }

    /// Reads the credentials for an authorization server; the inner error is a variable that is not
    /// set.
    fn credentials(&self, server: &str, entries: &Table) -> Result<Result<Credentials, String>, String> {
        let mut texts: BTreeMap<&str, String> = BTreeMap::new();
        for (name, value) in entries {
            let known = ["token_url", "client_id", "client_secret", "refresh_token", "scope"];
            let Some(name) = known.into_iter().find(|known| known == name) else {
                return Err(format!("`oauth.{name}` is none of {}", known.join(", ")));
            };
            let value = value.as_str().ok_or_else(|| format!("`oauth.{name}` is a string"))?;
            texts.insert(name, value.to_owned());
        }
        let (Some(token_url), Some(client_id)) = (texts.remove("token_url"), texts.remove("client_id")) else {
            return Err("`oauth` needs `token_url` and `client_id`".to_owned());
        };
        if !is_private(&token_url) {
            return Err(format!(
                "`oauth.token_url` begins with https://, because credentials are sent there, and not with that of \
                 {token_url}"
            ));
        }
        let mut keys = BTreeMap::new();
        for name in ["client_secret", "refresh_token"] {
            let Some(variable) = texts.remove(name) else { continue };
            match self.secret(&format!("oauth.{name}"), &variable)? {
                Ok(key) => keys.insert(name, key),
                Err(()) => return Ok(Err(variable)),
            };
        }
        if keys.is_empty() {
            return Err("`oauth` needs `client_secret`, `refresh_token` or both, names of variables".to_owned());
        }
        Ok(Ok(Credentials {
            token_url,
            client_id,
            client_secret: keys.remove("client_secret"),
            refresh_token: keys.remove("refresh_token"),
            scope: texts.remove("scope"),
            kept_in: state_folder::path(&format!("oauth/{server}.json")),
        }))
    }

    /// Reads a secret of the environment; the inner error means that it is not set.
    fn secret(&self, entry: &str, variable: &str) -> Result<Result<Key, ()>, String> {
        if !is_secret_name(variable) {
            return Err(format!(
                "`{entry}` is the name of a variable of the environment that is a secret by its name, such as \
                 SEARCH_TOKEN, and not `{variable}`"
            ));
        }
        Ok(key(self.environment, variable).ok_or(()))
    }

    /// Gives a server variables of the person's environment.
    fn server_secrets(&self, settings: &mut Settings, value: &Value) -> Result<(), String> {
        let names = strings(value).ok_or("`secrets` is a list of names of variables")?;
        let Transport::Program { environment, .. } = &mut settings.place else {
            return Err("`secrets` belongs to a server with a `command`; one with a `url` has a `token`".to_owned());
        };
        for name in names {
            let found = self.environment.iter().find(|(known, _)| *known == *name);
            // The server says best what it misses without the variable.
            environment.extend(found.cloned());
        }
        Ok(())
    }
}

/// Gives a server on the net a login; the error of `login` is a variable that is not set.
fn log_in(settings: &mut Settings, entry: &str, login: Result<Login, String>) -> Result<(), String> {
    let Transport::Url { login: kept, .. } = &mut settings.place else {
        return match settings.place {
            Transport::Refused(_) => Ok(()),
            Transport::Program { .. } | Transport::Url { .. } => Err(format!(
                "`{entry}` belongs to a server with a `url`; one with a `command` has `secrets`"
            )),
        };
    };
    if !matches!(kept, Login::None) {
        return Err("a server has either `token` or `oauth`".to_owned());
    }
    match login {
        Ok(login) => *kept = login,
        // Other commands need not fail for it.
        Err(variable) => {
            settings.place = Transport::Refused(format!(
                "the MCP server `{}` needs a token, but the variable {variable} is not set",
                settings.name
            ));
        }
    }
    Ok(())
}

/// Says whether nobody listens on the way to a URL.
fn is_private(url: &str) -> bool {
    let local = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
    let is_local = |start: &str| {
        let rest = url.strip_prefix(start);
        rest.is_some_and(|rest| rest.starts_with([':', '/']))
    };
    url.starts_with("https://") || local.into_iter().any(is_local)
}

fn strings(value: &Value) -> Option<Vec<String>> {
    let values = value.as_array()?.iter();
    values.map(|value| value.as_str().map(str::to_owned)).collect()
}

fn effect_named(name: &str) -> Option<EffectClass> {
    let all = [
        EffectClass::Pure,
        EffectClass::Reversible,
        EffectClass::Compensable,
        EffectClass::Irreversible,
    ];
    all.into_iter().find(|effect| effect.to_string() == name)
}
