//! Configuration files: the providers of models, the servers of the Model Context Protocol,
//! workspaces by name, and the journal.
//!
//! The user's file is `duet/config.toml` in the folder of configurations, the workspace's is
//! `duet.toml` in the workspace; an entry of the workspace replaces the user's entry of that name,
//! and what a person types goes before both.
//! INVARIANT: a key never goes where the workspace says: only the user's own file names keys, and
//! an entry is replaced as a whole, so no URL of a workspace comes together with a key. It calls no
//! provider; the driver does.
//! Read next: `world/world_options.rs`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use duet_drivers::tool::http::OwnHeaders;
use duet_drivers::tool::model::{Key, Price, Protocol, Provider, Providers};
use duet_drivers::tool::secret::is_secret_name;
use toml::{Table, Value};

use crate::text::error::CommandError;
use servers::ServerEntry;

pub(crate) mod journal;
pub(crate) mod listed;
pub(crate) mod servers;
pub(crate) mod workspaces;

/// The file of a workspace.
const OF_WORKSPACE: &str = "duet.toml";

/// The file of a user, in the folder of configurations.
const OF_USER: &str = "duet/config.toml";

/// Providers that need no configuration: name, protocol, URL, variable of the key.
const BUILT_IN: [(&str, Protocol, &str, Option<&str>); 4] = [
    (
        "anthropic",
        Protocol::Anthropic,
        "https://api.anthropic.com",
        Some("ANTHROPIC_API_KEY"),
    ),
    ("ollama", Protocol::OpenaiChat, "http://127.0.0.1:11434/v1", None),
    (
        "openai",
        Protocol::OpenaiResponses,
        "https://api.openai.com/v1",
        Some("OPENAI_API_KEY"),
    ),
    (
        "openrouter",
        Protocol::OpenaiChat,
        "https://openrouter.ai/api/v1",
        Some("OPENROUTER_API_KEY"),
    ),
];

/// The choice of a provider and a model on the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    /// `NAME`, or `NAME=PROTOCOL:URL`.
    pub(crate) provider: Option<String>,
    pub(crate) model: Option<String>,
}

/// A provider, and the place that describes it.
pub(crate) struct Configured {
    pub(crate) provider: Provider,
    /// The variable of its key, whether or not it is set.
    pub(crate) variable: Option<String>,
    pub(crate) origin: String,
}

/// All that is configured.
pub(crate) struct Configuration {
    pub(crate) providers: BTreeMap<String, Configured>,
    pub(crate) chosen: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) servers: BTreeMap<String, ServerEntry>,
    /// The servers that the person allows by name.
    allowed_servers: Vec<String>,
}

/// A file that is being read.
struct File<'a> {
    shown: String,
    may_name_keys: bool,
    environment: &'a [(OsString, OsString)],
}

impl Configuration {
    /// Reads the files and adds the choice of the person.
    ///
    /// # Errors
    /// If a file cannot be read or has a wrong entry; the error names both.
    pub(crate) fn read(
        workspace: &Path,
        choice: &Choice,
        allowed_servers: &[String],
        environment: &[(OsString, OsString)],
    ) -> Result<Self, CommandError> {
        let mut all = Self {
            allowed_servers: allowed_servers.to_owned(),
            ..Self::built_in(environment)
        };
        let files = user_file(environment).map(|path| (path, true));
        let files = files.into_iter().chain([(workspace.join(OF_WORKSPACE), false)]);
        for (path, may_name_keys) in files {
            let Some(text) = text_of(&path)? else { continue };
            let file = File {
                shown: path.display().to_string(),
                may_name_keys,
                environment,
            };
            all.add(&file, &text)?;
        }
        all.choose(choice)?;
        Ok(all)
    }

    fn built_in(environment: &[(OsString, OsString)]) -> Self {
        let configured = BUILT_IN.iter().map(|(name, protocol, url, variable)| {
            let provider = Provider {
                key: variable.and_then(|variable| key(environment, variable)),
                ..Provider::new(*name, *protocol, *url)
            };
            let configured = Configured {
                provider,
                variable: variable.map(str::to_owned),
                origin: "built in".to_owned(),
            };
            ((*name).to_owned(), configured)
        });
        Self {
            providers: configured.collect(),
            chosen: None,
            model: None,
            servers: BTreeMap::new(),
            allowed_servers: Vec::new(),
        }
    }

    fn add(&mut self, file: &File<'_>, text: &str) -> Result<(), CommandError> {
        let table: Table = toml::from_str(text).map_err(|error| file.wrong(&format!("it is no TOML: {error}")))?;
        if let Some(Value::String(name)) = table.get("provider") {
            // A model that was chosen for another provider.
            self.model = None;
            self.chosen = Some(name.clone());
        }
        for (key, value) in &table {
            match (&**key, value) {
                ("provider", Value::String(_)) => {}
                ("model", Value::String(name)) => self.model = Some(name.clone()),
                ("providers", Value::Table(providers)) => {
                    for (name, entries) in providers {
                        let configured = file.provider(name, entries)?;
                        self.providers.insert(name.clone(), configured);
                    }
                }
                ("servers", Value::Table(servers)) => {
                    for (name, entries) in servers {
                        let entry = file.server(name, entries)?;
                        self.add_server(name, entry);
                    }
                }
                // Whoever needs them reads them, and checks their entries.
                ("workspaces", Value::Table(_)) if file.may_name_keys => {}
                ("workspaces", _) if file.may_name_keys => return Err(file.no_workspaces()),
                ("workspaces", _) => {
                    return Err(file.wrong("`workspaces` belongs into your own file, ~/.config/duet/config.toml"));
                }
                ("journal", entry) if file.may_name_keys => drop(file.journal(entry)?),
                ("journal", _) => {
                    return Err(file.wrong("`journal` belongs into your own file, ~/.config/duet/config.toml"));
                }
                ("provider" | "model", _) => return Err(file.wrong(&format!("`{key}` is a string"))),
                ("providers", _) => return Err(file.wrong("`providers` is a table, such as [providers.local]")),
                ("servers", _) => return Err(file.wrong("`servers` is a table, such as [servers.files]")),
                _ => {
                    return Err(file.wrong(&format!(
                        "`{key}` is none of provider, model, providers, servers, workspaces, journal"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Adds a server. One of the workspace that the person has not allowed does not replace the
    /// person's own, or a cloned folder could break it.
    fn add_server(&mut self, name: &str, entry: ServerEntry) {
        let is_free = !entry.needs_permission || !self.servers.contains_key(name);
        if is_free || self.allowed_servers.iter().any(|allowed| allowed == name) {
            self.servers.insert(name.to_owned(), entry);
        }
    }

    fn choose(&mut self, choice: &Choice) -> Result<(), CommandError> {
        if let Some(text) = &choice.provider {
            let name = match text.split_once('=') {
                None => text,
                Some((name, place)) => {
                    let provider = typed(name, place)?;
                    let configured = Configured {
                        provider,
                        variable: None,
                        origin: "typed".to_owned(),
                    };
                    self.providers.insert(name.to_owned(), configured);
                    name
                }
            };
            if self.chosen.as_deref() != Some(name) {
                self.model = None;
            }
            self.chosen = Some(name.to_owned());
        }
        if let Some(name) = &self.chosen
            && !self.providers.contains_key(name)
        {
            let known: Vec<&str> = self.providers.keys().map(String::as_str).collect();
            let problem = CommandError::problem(format!("there is no provider of models `{name}`"));
            return Err(problem
                .advise(format!("there are {}", known.join(", ")))
                .advise("`--provider NAME=PROTOCOL:URL` names another one, and `duet providers --help` says more"));
        }
        self.model = choice.model.clone().or(self.model.take());
        Ok(())
    }

    /// The providers as the tool takes them.
    pub(crate) fn into_providers(self) -> Providers {
        let known = self.providers.into_iter();
        Providers {
            known: known.map(|(name, configured)| (name, configured.provider)).collect(),
            chosen: self.chosen,
            model: self.model,
        }
    }
}

/// Reads `PROTOCOL:URL`.
fn typed(name: &str, place: &str) -> Result<Provider, CommandError> {
    let read = place.split_once(':');
    let read = read.and_then(|(protocol, url)| Some(Provider::new(name, Protocol::named(protocol)?, url)));
    read.filter(|provider| is_url(&provider.url)).ok_or_else(|| {
        let example = "local=openai-chat:http://127.0.0.1:8000/v1";
        CommandError::usage(format!(
            "`{name}={place}` is not NAME=PROTOCOL:URL, such as {example}; protocols are {}",
            protocols()
        ))
    })
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

fn protocols() -> String {
    Protocol::ALL.map(Protocol::name).join(", ")
}

/// Reads a key without the blanks and line ends around it, which come from files and which no
/// header has.
fn key(environment: &[(OsString, OsString)], variable: &str) -> Option<Key> {
    let (_, value) = environment.iter().find(|(name, _)| name == variable)?;
    let value = value.to_str().map(str::trim_ascii);
    let value = value.filter(|value| !value.is_empty())?.to_owned();
    Some(Key {
        variable: variable.to_owned(),
        value,
    })
}

/// Where the user's file is, whether or not it exists.
fn user_file(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let variable = |wanted: &str| {
        let found = environment
            .iter()
            .find(|(name, value)| name == wanted && !value.is_empty());
        found.map(|(_, value)| PathBuf::from(value))
    };
    let folder = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")));
    Some(folder?.join(OF_USER))
}

fn text_of(path: &Path) -> Result<Option<String>, CommandError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => Ok(None),
        Err(error) => Err(CommandError::caused(
            format!("cannot read `{}`", path.display()),
            &error,
        )),
    }
}

impl File<'_> {
    fn wrong(&self, problem: &str) -> CommandError {
        CommandError::problem(format!("`{}`: {problem}", self.shown))
            .advise("`duet providers --help` shows what a configuration has")
    }

    fn provider(&self, name: &str, entries: &Value) -> Result<Configured, CommandError> {
        let wrong = |problem: String| self.wrong(&format!("providers.{name}: {problem}"));
        let entries = entries.as_table().ok_or_else(|| wrong("it is no table".to_owned()))?;
        let required = |key: &str| {
            let text = entries.get(key).and_then(Value::as_str);
            text.ok_or_else(|| wrong(format!("the string `{key}` is missing")))
        };
        let protocol = Protocol::named(required("protocol")?)
            .ok_or_else(|| wrong(format!("`protocol` is none of {}", protocols())))?;
        let url = required("url")?;
        if !is_url(url) {
            return Err(wrong("`url` begins neither with http:// nor with https://".to_owned()));
        }
        let mut configured = Configured {
            provider: Provider::new(name, protocol, url),
            variable: None,
            origin: self.shown.clone(),
        };
        for (key, value) in entries {
            self.entry(&mut configured, key, value).map_err(wrong)?;
        }
        Ok(configured)
    }

    /// Takes an entry of a provider; the error is the problem.
    fn entry(&self, configured: &mut Configured, name: &str, value: &Value) -> Result<(), String> {
        let provider = &mut configured.provider;
        match (name, value) {
            ("protocol" | "url", _) => {}
            ("key", Value::String(_)) if !self.may_name_keys => {
                return Err(format!(
                    "a workspace names no keys, because whoever wrote it would get them; `key` belongs into \
                     ~/.config/{OF_USER}"
                ));
            }
            ("key", Value::String(variable)) => {
                if !is_secret_name(variable) {
                    return Err(format!(
                        "`key` is the name of a variable of the environment that is a secret by its name, such as \
                         LOCAL_API_KEY, and not `{variable}`"
                    ));
                }
                provider.key = key(self.environment, variable);
                configured.variable = Some(variable.clone());
            }
            ("model", Value::String(model)) => provider.model = Some(model.clone()),
            ("timeout_ms", Value::Integer(limit)) => {
                let limit = u64::try_from(*limit).ok().filter(|limit| *limit > 0);
                provider.timeout_ms = limit.ok_or("`timeout_ms` is an integer above 0")?;
            }
            ("prices", Value::Table(prices)) => {
                for (model, price) in prices {
                    provider.prices.insert(model.clone(), read_price(model, price)?);
                }
            }
            ("key_header", Value::String(header)) => provider.headers.name_key(header)?,
            ("headers", Value::Table(headers)) => add_headers(&mut provider.headers, headers)?,
            ("headers", _) => return Err("`headers` is a table of strings".to_owned()),
            ("key" | "key_header" | "model", _) => return Err(format!("`{name}` is a string")),
            ("timeout_ms", _) => return Err("`timeout_ms` is an integer above 0".to_owned()),
            ("prices", _) => return Err("`prices` is a table by model".to_owned()),
            _ => {
                return Err(format!(
                    "`{name}` is none of protocol, url, key, key_header, headers, model, timeout_ms, prices"
                ));
            }
        }
        Ok(())
    }
}

/// Adds the headers of a configuration.
fn add_headers(headers: &mut OwnHeaders, table: &toml::Table) -> Result<(), String> {
    table.iter().try_for_each(|(name, value)| {
        let value = value.as_str().ok_or("`headers` has strings as values")?;
        headers.add(name, value)
    })
}

fn read_price(model: &str, price: &Value) -> Result<Price, String> {
    let dollars = |key: &str| {
        let value = price.get(key)?;
        #[expect(clippy::cast_precision_loss, reason = "no token costs 2⁵³ dollars")]
        let number = value
            .as_float()
            .or_else(|| value.as_integer().map(|number| number as f64));
        number.filter(|number| number.is_finite() && *number >= 0.0)
    };
    let of = |input, output| Price { input, output };
    let price = dollars("input")
        .zip(dollars("output"))
        .map(|(input, output)| of(input, output));
    price.ok_or_else(|| {
        format!("the price of `{model}` is {{ input = DOLLARS, output = DOLLARS }}, for a million tokens")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step of a test is its failure")]

    use super::*;

    struct Place {
        folder: tempfile::TempDir,
        environment: Vec<(OsString, OsString)>,
    }

    impl Place {
        /// A folder of configurations and a workspace in one.
        fn new(user: &str, workspace: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("duet")).unwrap();
            fs::write(folder.path().join(OF_USER), user).unwrap();
            fs::write(folder.path().join(OF_WORKSPACE), workspace).unwrap();
            let environment = vec![
                ("XDG_CONFIG_HOME".into(), folder.path().into()),
                // A key from a file has a line end.
                ("MY_API_KEY".into(), "secret-123\n".into()),
            ];
            Self { folder, environment }
        }

        fn read(&self, choice: &Choice) -> Result<Configuration, CommandError> {
            Configuration::read(self.folder.path(), choice, &[], &self.environment)
        }
    }

    const LOCAL: &str = "[providers.local]\nprotocol = \"openai-chat\"\nurl = \"http://127.0.0.1:1/v1\"\n";

    #[test]
    fn the_workspace_goes_before_the_user_and_the_command_line_before_both() {
        let user = format!(
            "provider = \"local\"\nmodel = \"big\"\n{LOCAL}key = \"MY_API_KEY\"\nmodel = \"small\"\n\
             timeout_ms = 5\n[providers.local.prices]\nsmall = {{ input = 1, output = 2.5 }}\n"
        );
        let plain = Choice::default();
        let read = Place::new(&user, "").read(&plain).unwrap();
        let local = &read.providers["local"].provider;
        assert_eq!(read.chosen.as_deref(), Some("local"));
        assert_eq!(read.model.as_deref(), Some("big"));
        assert_eq!(local.key.as_ref().unwrap().value, "secret-123");
        assert_eq!((local.model.as_deref(), local.timeout_ms), (Some("small"), 5));
        assert_eq!(
            local.prices["small"],
            Price {
                input: 1.0,
                output: 2.5
            }
        );

        // An entry of the workspace takes nothing from the user's.
        let read = Place::new(&user, &format!("provider = \"ollama\"\n{LOCAL}"))
            .read(&plain)
            .unwrap();
        assert_eq!((read.chosen.as_deref(), read.model), (Some("ollama"), None));
        assert_eq!(read.providers["local"].provider.key, None);

        let choice = Choice {
            provider: Some("near=anthropic:http://[::1]:9".to_owned()),
            model: Some("m".to_owned()),
        };
        let read = Place::new(&user, "").read(&choice).unwrap();
        assert_eq!(
            (read.chosen.as_deref(), read.model.as_deref()),
            (Some("near"), Some("m"))
        );
        assert_eq!(read.providers["near"].provider.url, "http://[::1]:9");
    }

    #[test]
    fn a_wrong_entry_is_named() {
        let case = |user: &str, workspace: &str, problem: &str| {
            let place = Place::new(user, workspace);
            let error = place.read(&Choice::default()).err().unwrap();
            let error = format!("{error:?}");
            assert!(error.contains(problem), "{error}");
        };
        case("x = 1", "", "`x` is none of provider, model, providers");
        case("provider = 1", "", "`provider` is a string");
        case("provider = \"nowhere\"", "", "there is no provider of models `nowhere`");
        case("[", "", "it is no TOML");
        case(
            "[providers.a]\nurl = \"http://x\"",
            "",
            "providers.a: the string `protocol` is missing",
        );
        case(
            &LOCAL.replace("openai-chat", "smoke"),
            "",
            "`protocol` is none of openai-chat, ",
        );
        case(&LOCAL.replace("http:", "ftp:"), "", "begins neither with http:// nor");
        case(
            &format!("{LOCAL}colour = 1"),
            "",
            "providers.local: `colour` is none of protocol",
        );
        case(&format!("{LOCAL}key = \"PLAIN\""), "", "is a secret by its name");
        case(
            &format!("{LOCAL}timeout_ms = 0"),
            "",
            "`timeout_ms` is an integer above 0",
        );
        case(&format!("{LOCAL}prices = {{ a = 1 }}"), "", "the price of `a` is");
        case("", &format!("{LOCAL}key = \"MY_API_KEY\""), "a workspace names no keys");
    }
}
