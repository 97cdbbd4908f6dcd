//! The tools that Duet offers to clients: a table from which their schemas and commands follow.
//!
//! INVARIANT: a word of a client is never read as an option, because all of them stand behind
//! `--` or behind an option that takes them. No command opens a path of a client: it gets the text
//! that the server has read, or the path of an allowed folder as the person wrote it.
//! It does not run commands.
//! Read next: `../mcp.rs`.

use std::path::{Path, PathBuf};

use duet_drivers::host::folders::{Folders, Named, Unnamed};
use serde_json::{Map, Value as Json, json};

use crate::journal::Journal;
use crate::verb::agent::{refuse_others, request, schema as schema_of};
use crate::verb::{self, Request};

/// The time limit of a command without one of its own, in milliseconds. Most clients wait for a
/// minute, and must hear that the run goes on later.
pub(crate) const LIMIT_MS: u64 = 50_000;

/// The longest time limit of a command, in milliseconds.
const LIMIT_MS_MAX: u64 = 3_600_000;

/// What a call asks for.
pub(crate) enum Call {
    /// The command of these words.
    Words(Vec<String>),
    /// A verb.
    Verb(Box<Request>),
}

/// The options of the person who started the server.
#[derive(Clone, Debug)]
pub(crate) struct Grants {
    /// The words that name the journal.
    pub(crate) journal: Vec<String>,
    /// The journal.
    pub(crate) project: Journal,
    /// The words for commands that drive a run.
    pub(crate) world: Vec<String>,
    /// The words for new runs.
    pub(crate) run: Vec<String>,
    /// The words for commands that go on with a run after they have changed it.
    pub(crate) changed: Vec<String>,
    /// The folders in which the files lie that a client may name.
    pub(crate) folders: Folders,
    /// The folders that a client may run.
    pub(crate) allowed: Vec<PathBuf>,
}

impl Grants {
    /// Adds the words for a file or folder that a client names: an error that a text of a program
    /// has shows its lines, and a manifest may grant more than the person does.
    fn hand(&self, field: &Field, named: &str, line: &mut Line) -> Result<(), Misuse> {
        let refused = |why: &str| Misuse::Arguments(format!("`{named}`: {why}"));
        let read = self.folders.read(Path::new(named)).map_err(|why| match why {
            Unnamed::Outside => Misuse::Arguments(format!(
                "`{named}` lies outside the folders of this server, which are the current one, that of `--workspace` \
                 and those of `--allow-folder`; whoever starts the server chooses them"
            )),
            other @ (Unnamed::Missing
            | Unnamed::NoFile
            | Unnamed::TooLong(_)
            | Unnamed::NoText
            | Unnamed::System(_)) => refused(&other.to_string()),
        })?;
        match (field.shape, read) {
            (Shape::Program, Named::File { text, within }) => {
                line.options.push(format!("--program-text={text}"));
                line.options.push(format!("--within={}", within.display()));
                line.words.push(named.to_owned());
            }
            (Shape::Program, Named::Folder(folder)) => {
                let allowed = self.allowed_as(&folder).ok_or_else(|| {
                    refused(&format!(
                        "whoever started the server has not allowed this folder; `duet mcp --allow-folder {named}` \
                         allows what its manifest grants; a client can run single files, which have what the options \
                         of the server grant"
                    ))
                })?;
                line.words.push(allowed.display().to_string());
            }
            (_, Named::File { text, .. }) => {
                line.options.push(format!("--{}={named}", field.name));
                line.options.push(format!("--{}-text={text}", field.name));
            }
            (_, Named::Folder(_)) => return Err(refused("it is a folder")),
        }
        Ok(())
    }

    /// The allowed folder that is at a path without links, as the person named it.
    fn allowed_as(&self, folder: &Path) -> Option<&PathBuf> {
        let is_there = |allowed: &&PathBuf| allowed.canonicalize().is_ok_and(|allowed| allowed == folder);
        self.allowed.iter().find(is_there)
    }
}

/// The command line of a call.
#[derive(Default)]
struct Line {
    options: Vec<String>,
    /// What stands behind `--`.
    words: Vec<String>,
    limit_ms: u64,
}

impl Line {
    /// Adds the words of a value.
    fn add(&mut self, field: &Field, value: &Json) -> Result<(), Misuse> {
        let texts = texts(field, value)?;
        match field.place {
            Place::Word => self.words.extend(texts),
            Place::Limit => self.limit_ms = value.as_u64().unwrap_or(LIMIT_MS).min(LIMIT_MS_MAX),
            Place::Option(option) if matches!(field.shape, Shape::Flag) => {
                let is_given = value == &Json::Bool(true);
                self.options.extend(is_given.then(|| option.to_owned()));
            }
            Place::Option(option) => {
                let options = texts.into_iter().map(|text| format!("{option}={text}"));
                self.options.extend(options);
            }
        }
        Ok(())
    }
}

/// Why a call is no command.
pub(crate) enum Misuse {
    /// There is no such tool.
    Tool(String),
    /// The arguments do not fit; the model can mend them.
    Arguments(String),
}

/// A tool.
struct Row {
    name: &'static str,
    description: &'static str,
    /// Whether it changes nothing.
    is_reading: bool,
    fields: &'static [Field],
    /// The words that it always has.
    words: &'static [&'static str],
    /// Which of the person's options it gets.
    drives: Drives,
}

/// Whether a command drives a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Drives {
    /// It needs no journal.
    NoRun,
    Nothing,
    New,
    Known,
    /// A run that goes on after something of it has changed.
    Changed,
}

/// A field of a tool's arguments.
struct Field {
    name: &'static str,
    /// Its shape, its meaning, and how it becomes a word.
    shape: Shape,
    meaning: &'static str,
    place: Place,
    is_required: bool,
}

#[derive(Clone, Copy)]
enum Shape {
    Text,
    /// The path of a file.
    File,
    /// The path of a file or folder that is run.
    Program,
    Texts,
    Count,
    Flag,
}

#[derive(Clone, Copy)]
enum Place {
    /// Behind `--`, in the order of the table.
    Word,
    /// As the value of an option, or as an option without one.
    Option(&'static str),
    /// The time limit.
    Limit,
}

const fn field(name: &'static str, shape: Shape, place: Place, meaning: &'static str) -> Field {
    Field {
        name,
        shape,
        meaning,
        place,
        is_required: false,
    }
}

const fn required(name: &'static str, shape: Shape, place: Place, meaning: &'static str) -> Field {
    Field {
        is_required: true,
        ..field(name, shape, place, meaning)
    }
}

const TURN: Field = required("address", Shape::Text, Place::Word, "RUN@TURN, such as review@12");
const RUN: Field = required("address", Shape::Text, Place::Word, "RUN or RUN/BRANCH");
const PLACE: Field = required("address", Shape::Text, Place::Word, "RUN, RUN/BRANCH or RUN@TURN");
const LIMIT: Field = field(
    "timeout_ms",
    Shape::Count,
    Place::Limit,
    "milliseconds after which the command is ended; without it 50000, less than most clients wait",
);
const DOUBLE: Field = field(
    "double",
    Shape::File,
    Place::Option("--double"),
    "a file of doubles that answer in place of tools",
);

const fn reading(name: &'static str, description: &'static str, fields: &'static [Field]) -> Row {
    Row {
        name,
        description,
        is_reading: true,
        fields,
        words: &[],
        drives: Drives::Nothing,
    }
}

const fn acting(name: &'static str, description: &'static str, fields: &'static [Field], drives: Drives) -> Row {
    Row {
        is_reading: false,
        drives,
        ..reading(name, description, fields)
    }
}

const TABLE: &[Row] = &[
    acting(
        "run",
        "Runs a program, a Scheme file, a folder with manifest.scm or a text, until it ends or waits for a person.",
        &[
            field("program", Shape::Program, Place::Word, "the path of the program"),
            field(
                "text",
                Shape::Text,
                Place::Option("--text"),
                "the text of the program, in place of a path",
            ),
            field("arguments", Shape::Texts, Place::Word, "the program's arguments"),
            field("name", Shape::Text, Place::Option("--name"), "a name for the run"),
            field(
                "answers",
                Shape::Texts,
                Place::Option("--answer"),
                "answers to the program's questions, in order",
            ),
            field(
                "detach",
                Shape::Flag,
                Place::Option("--detach"),
                "returns when the run has begun; `log` and `waits` follow it",
            ),
            DOUBLE,
            LIMIT,
        ],
        Drives::New,
    ),
    acting(
        "resume",
        "Goes on with a run from its newest turn.",
        &[
            RUN,
            field(
                "again",
                Shape::Flag,
                Place::Option("--again"),
                "makes calls again that the run made before it was taken back",
            ),
            DOUBLE,
            LIMIT,
        ],
        Drives::Known,
    ),
    reading(
        "eval",
        "Evaluates a Scheme expression in a run as it was at a turn, without a trace.",
        &[
            PLACE,
            required("expression", Shape::Text, Place::Word, "the expression"),
            LIMIT,
        ],
    ),
    acting(
        "goto",
        "Takes a run back or forward to a turn.",
        &[TURN],
        Drives::Nothing,
    ),
    acting(
        "fork",
        "Begins branches at a turn; the run itself does not change.",
        &[
            PLACE,
            required("branches", Shape::Texts, Place::Word, "the names of the new branches"),
        ],
        Drives::Nothing,
    ),
    Row {
        words: &["--not-approvals"],
        ..acting(
            "amend",
            "Begins a branch with another input at a turn, such as another result of a tool or reply of a model, and \
             goes on there.",
            &[
                TURN,
                required(
                    "input",
                    Shape::Text,
                    Place::Word,
                    "the other input: text, or a result of a tool in Preserves text, of a model {content: \"text\"}",
                ),
                field(
                    "branch",
                    Shape::Text,
                    Place::Option("--branch"),
                    "a name for the branch",
                ),
                DOUBLE,
                LIMIT,
            ],
            Drives::Changed,
        )
    },
    acting(
        "answer",
        "Answers the oldest question of a waiting run and goes on. Approvals stay with the person.",
        &[
            RUN,
            required("text", Shape::Text, Place::Word, "the answer"),
            DOUBLE,
            LIMIT,
        ],
        Drives::Changed,
    ),
    acting(
        "message",
        "Sends a message to a run, which its observers receive once.",
        &[
            RUN,
            required(
                "value",
                Shape::Text,
                Place::Word,
                "the value in Preserves text, such as <order \"tea\" 2>",
            ),
            LIMIT,
        ],
        Drives::Nothing,
    ),
    acting(
        "signal",
        "Asserts a signal in a run, for which `(await (signal 'LABEL))` waits.",
        &[
            RUN,
            required("label", Shape::Text, Place::Word, "the label of the signal"),
            field("values", Shape::Texts, Place::Word, "its values in Preserves text"),
            LIMIT,
        ],
        Drives::Nothing,
    ),
    acting(
        "stop",
        "Stops a run that goes on in the background.",
        &[RUN],
        Drives::Nothing,
    ),
    acting(
        "undo",
        "Takes the last move of a run's head back.",
        &[RUN],
        Drives::Nothing,
    ),
    Row {
        drives: Drives::NoRun,
        ..reading(
            "describe",
            "Describes a procedure, a form or a tool of the language by its name.",
            &[required(
                "name",
                Shape::Text,
                Place::Word,
                "the name, such as string-split or process/run",
            )],
        )
    },
    reading(
        "replay",
        "Executes a run again from its journal, without the world, and proves that every turn comes out the same, or \
         names the first that differs.",
        &[
            PLACE,
            field(
                "check",
                Shape::Flag,
                Place::Option("--check"),
                "changes nothing: the turns are always compared",
            ),
            LIMIT,
        ],
    ),
];

/// The tools as clients see them.
pub(crate) fn list() -> Vec<Json> {
    let shown = TABLE.iter().map(|row| {
        json!({
            "name": row.name,
            "description": row.description,
            "inputSchema": schema(row),
            "annotations": {
                "readOnlyHint": row.is_reading,
                "destructiveHint": false,
                "openWorldHint": ![Drives::NoRun, Drives::Nothing].contains(&row.drives),
            },
        })
    });
    shown.chain(verb::for_agents().map(listed)).collect()
}

/// A verb as clients see it.
fn listed(row: &verb::Row) -> Json {
    let (about, schema) = schema_of(row);
    json!({
        "name": row.name,
        "description": about,
        "inputSchema": schema,
        "annotations": { "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false },
    })
}

fn schema(row: &Row) -> Json {
    let properties = row.fields.iter().map(|field| {
        let mut schema = match field.shape {
            Shape::Text | Shape::File | Shape::Program => json!({ "type": "string" }),
            Shape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Shape::Count => json!({ "type": "integer", "minimum": 1 }),
            Shape::Flag => json!({ "type": "boolean" }),
        };
        schema["description"] = field.meaning.into();
        (field.name.to_owned(), schema)
    });
    let required = row.fields.iter().filter(|field| field.is_required);
    json!({
        "type": "object",
        "properties": properties.collect::<Map<String, Json>>(),
        "required": required.map(|field| field.name).collect::<Vec<_>>(),
        "additionalProperties": false,
    })
}

/// What a call asks for, and its time limit in milliseconds.
///
/// # Errors
/// If there is no such tool, or the arguments do not fit its schema.
pub(crate) fn command(params: &Json, grants: &Grants) -> Result<(Call, u64), Misuse> {
    let name = params.get("name").and_then(Json::as_str).unwrap_or_default();
    let nothing = Map::new();
    let given = match params.get("arguments") {
        None | Some(Json::Null) => &nothing,
        Some(Json::Object(given)) => given,
        Some(_) => return Err(Misuse::Arguments("the arguments are no object".to_owned())),
    };
    if let Some(row) = verb::for_agents().find(|row| row.name == name) {
        let request = request(row, given).map_err(Misuse::Arguments)?;
        return Ok((Call::Verb(Box::new(request)), LIMIT_MS));
    }
    let row = TABLE.iter().find(|row| row.name == name).ok_or_else(|| {
        let known = TABLE.iter().map(|row| row.name);
        let known: Vec<&str> = known.chain(verb::for_agents().map(|row| row.name)).collect();
        Misuse::Tool(format!("there is no tool `{name}`; there are {}", known.join(", ")))
    })?;
    let known: Vec<&str> = row.fields.iter().map(|field| field.name).collect();
    refuse_others(name, given, &known).map_err(Misuse::Arguments)?;
    let mut options: Vec<String> = vec![name.to_owned()];
    options.extend(row.words.iter().map(|word| (*word).to_owned()));
    if row.drives != Drives::NoRun {
        options.extend(grants.journal.iter().cloned());
    }
    let granted: &[&Vec<String>] = match row.drives {
        Drives::NoRun | Drives::Nothing => &[],
        Drives::New => &[&grants.world, &grants.run],
        Drives::Known => &[&grants.world],
        Drives::Changed => &[&grants.changed],
    };
    options.extend(granted.iter().copied().flatten().cloned());
    let mut line = Line {
        options,
        words: Vec::new(),
        limit_ms: LIMIT_MS,
    };
    for field in row.fields {
        // Some clients must give every argument, and give nothing as an empty text.
        let is_nothing = |value: &Json| value.is_null() || (!field.is_required && value.as_str() == Some(""));
        let value = given.get(field.name).filter(|value| !is_nothing(value));
        match (value, field.shape) {
            (None, _) if field.is_required => {
                return Err(Misuse::Arguments(format!("{name} needs the argument `{}`", field.name)));
            }
            (None, _) => {}
            (Some(value), Shape::Program | Shape::File) => {
                let named = texts(field, value)?.concat();
                grants.hand(field, &named, &mut line)?;
            }
            (Some(value), _) => line.add(field, value)?,
        }
    }
    line.options.push("--".to_owned());
    line.options.extend(line.words);
    Ok((Call::Words(line.options), line.limit_ms))
}

/// The words of a value.
fn texts(field: &Field, value: &Json) -> Result<Vec<String>, Misuse> {
    let one = |value: &Json| {
        let text = value.as_str()?;
        (!text.contains('\0')).then(|| text.to_owned())
    };
    let read = match field.shape {
        Shape::Text | Shape::File | Shape::Program => one(value).map(|text| vec![text]),
        Shape::Texts => value.as_array().and_then(|texts| texts.iter().map(one).collect()),
        Shape::Count => value
            .as_u64()
            .filter(|count| *count > 0)
            .map(|count| vec![count.to_string()]),
        Shape::Flag => value.as_bool().map(|_| Vec::new()),
    };
    let expected = match field.shape {
        Shape::Text | Shape::File | Shape::Program => "a string",
        Shape::Texts => "a list of strings",
        Shape::Count => "an integer above 0",
        Shape::Flag => "a boolean",
    };
    read.ok_or_else(|| Misuse::Arguments(format!("the argument `{}` must be {expected}", field.name)))
}
