//! The tools that Duet offers to clients: a table from which their schemas and requests follow.
//!
//! INVARIANT: a client sets the members of a request that the table names and no others. No verb
//! opens a path of a client: it gets the text that the server has read, or the path of an allowed
//! folder as the person wrote it.
//! It performs nothing.
//! Read next: `surface/mcp.rs`.

use std::path::{Path, PathBuf};

use duet_drivers::host::folders::{Folders, Named, Unnamed};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use crate::history::journal::Journal;
use crate::surface::agent::{description, refuse_others, request, schema as schema_of};
use crate::surface::form::of_tool;
use crate::verb::{self, Answers, Request, act, describe};
use crate::world::world_options::WorldArguments;

/// The time limit of a command without one of its own, in milliseconds. Most clients wait for a
/// minute, and must hear that the run goes on later.
pub(crate) const LIMIT_MS: u64 = 50_000;

/// The longest time limit of a command, in milliseconds.
const LIMIT_MS_MAX: u64 = 3_600_000;

/// The options of the person who started the server.
#[derive(Clone, Debug)]
pub(crate) struct Grants {
    /// The journal.
    pub(crate) project: Journal,
    /// What runs reach.
    pub(crate) world: WorldArguments,
    /// The directory of the tools of new runs.
    pub(crate) workspace: Option<PathBuf>,
    /// The folders in which the files lie that a client may name.
    pub(crate) folders: Folders,
    /// The folders that a client may run.
    pub(crate) allowed: Vec<PathBuf>,
    /// Whether a client may change the code of a run, and make its actors begin anew.
    pub(crate) may_change_code: bool,
}

impl Grants {
    /// Reads a file or folder that a client names and adds its contents to the request, after
    /// checking that the client may read it: an error in a program shows lines of its text, and a
    /// manifest may grant more than the person does.
    fn hand(&self, field: &Field, named: &str, request: &mut Map<String, Json>) -> Result<(), Misuse> {
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
        let named = match (field.shape, read) {
            (Shape::Program, Named::File { text, within }) => {
                request.insert(format!("{}_text", field.name), text.into());
                request.insert("within".to_owned(), within.to_string_lossy().into());
                named.to_owned()
            }
            (Shape::Program, Named::Folder(folder)) => {
                let allowed = self.allowed_as(&folder).ok_or_else(|| {
                    refused(&format!(
                        "whoever started the server has not allowed this folder; `duet mcp --allow-folder {named}` \
                         allows what its manifest grants; a client can run single files, which have what the options \
                         of the server grant"
                    ))
                })?;
                allowed.display().to_string()
            }
            (_, Named::File { text, .. }) => {
                request.insert(format!("{}_text", field.name), text.into());
                named.to_owned()
            }
            (_, Named::Folder(_)) => return Err(refused("it is a folder")),
        };
        request.insert(field.name.to_owned(), named.into());
        Ok(())
    }

    /// The allowed folder that is at a path without links, as the person named it.
    fn allowed_as(&self, folder: &Path) -> Option<&PathBuf> {
        let is_there = |allowed: &&PathBuf| allowed.canonicalize().is_ok_and(|allowed| allowed == folder);
        self.allowed.iter().find(is_there)
    }
}

/// Why a call is no request.
pub(crate) enum Misuse {
    /// There is no such tool.
    Tool(String),
    /// The arguments do not fit; the model can mend them.
    Arguments(String),
}

/// A tool whose words for a model are not those for a person, or that takes less than a person may
/// choose.
struct Row {
    /// The name of the verb.
    name: &'static str,
    description: &'static str,
    fields: &'static [Field],
    /// Makes the request of its fields, which are members of the request.
    request: fn(Json, &Grants) -> Result<Request, Misuse>,
}

/// A field of a tool's arguments.
struct Field {
    name: &'static str,
    shape: Shape,
    meaning: &'static str,
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
    Flag,
    /// The time limit in milliseconds, which is no member of the request.
    Limit,
}

const fn field(name: &'static str, shape: Shape, meaning: &'static str) -> Field {
    Field {
        name,
        shape,
        meaning,
        is_required: false,
    }
}

const fn required(name: &'static str, shape: Shape, meaning: &'static str) -> Field {
    Field {
        is_required: true,
        ..field(name, shape, meaning)
    }
}

const TURN: Field = required("address", Shape::Text, "RUN@TURN, such as review@12");
const RUN: Field = required("address", Shape::Text, "RUN or RUN/BRANCH");
const PLACE: Field = required("address", Shape::Text, "RUN, RUN/BRANCH or RUN@TURN");
const LIMIT: Field = field(
    "timeout_ms",
    Shape::Limit,
    "milliseconds after which the command is ended; without it 50000, less than most clients wait",
);
const CHANGED: &str = "the path of a changed program, which runs from its start on a new branch, with the recorded \
                       answers; it needs the option `--allow-code` of the server";
const DOUBLE: Field = field("double", Shape::File, "a file of doubles that answer in place of tools");

const TABLE: &[Row] = &[
    Row {
        name: "run",
        description: "Runs a program, a Scheme file, a folder with manifest.scm or a text, until it ends or waits for \
                      a person.",
        fields: &[
            field("program", Shape::Program, "the path of the program"),
            field("text", Shape::Text, "the text of the program, in place of a path"),
            field("arguments", Shape::Texts, "the program's arguments"),
            field("name", Shape::Text, "a name for the run"),
            field("answers", Shape::Texts, "answers to the program's questions, in order"),
            field(
                "detach",
                Shape::Flag,
                "returns when the run has begun; `log` and `waits` follow it",
            ),
            DOUBLE,
            LIMIT,
        ],
        request: |given, grants| {
            let run = read::<act::run::Request>(given)?;
            granted(run.within(&grants.world, grants.workspace.as_deref()))
        },
    },
    Row {
        name: "resume",
        description: "Goes on with a run from its newest turn.",
        fields: &[
            RUN,
            field(
                "again",
                Shape::Flag,
                "makes calls again that the run made before it was taken back",
            ),
            field("with", Shape::Program, CHANGED),
            field("dry_run", Shape::Flag, "only shows what the changed program asks"),
            field("branch", Shape::Text, "a name for the branch of the changed program"),
            DOUBLE,
            LIMIT,
        ],
        request: |given, grants| {
            let resume = read::<act::resume::Request>(given)?;
            granted(resume.within(&grants.world, grants.may_change_code))
        },
    },
    Row {
        name: "patch",
        description: "Puts a changed text in the place of the one that a run executes; the run keeps its state. It \
                      needs the option `--allow-code` of the server.",
        fields: &[
            RUN,
            required("program", Shape::Program, "the path of the changed program"),
            field("run", Shape::Texts, "definitions and expressions to evaluate, too"),
            field(
                "let",
                Shape::Texts,
                "NAME=EXPRESSION for variables that waiting frames lack",
            ),
            field(
                "require_moved",
                Shape::Flag,
                "refuses a text that leaves a waiting frame behind",
            ),
            field("dry_run", Shape::Flag, "only shows what would change"),
            LIMIT,
        ],
        request: |given, grants| granted(read::<act::patch::Request>(given)?.within(grants.may_change_code)),
    },
    Row {
        name: "restart",
        description: "Makes one actor of a run begin anew. It needs the option `--allow-code` of the server.",
        fields: &[
            RUN,
            required(
                "actor",
                Shape::Text,
                "its number, its role, both, or its path of names such as main/clerk",
            ),
            field(
                "with",
                Shape::Program,
                "the path of a changed program that is patched in first",
            ),
            LIMIT,
        ],
        request: |given, grants| granted(read::<act::restart::Request>(given)?.within(grants.may_change_code)),
    },
    Row {
        name: "eval",
        description: "Evaluates a Scheme expression in a run as it was at a turn, without a trace.",
        fields: &[PLACE, required("expression", Shape::Text, "the expression"), LIMIT],
        request: plain::<act::eval::Request>,
    },
    Row {
        name: "goto",
        description: "Takes a run back or forward to a turn.",
        fields: &[TURN],
        request: plain::<act::goto::Request>,
    },
    Row {
        name: "fork",
        description: "Begins branches at a turn; the run itself does not change.",
        fields: &[
            PLACE,
            required("branches", Shape::Texts, "the names of the new branches"),
        ],
        request: plain::<act::fork::Request>,
    },
    Row {
        name: "amend",
        description: "Begins a branch with another input at a turn, such as another result of a tool or reply of a \
                      model, and goes on there.",
        fields: &[
            TURN,
            required(
                "input",
                Shape::Text,
                "the other input: text, or a result of a tool in Preserves text, of a model {content: \"text\"}",
            ),
            field("branch", Shape::Text, "a name for the branch"),
            DOUBLE,
            LIMIT,
        ],
        request: |given, grants| granted(read::<act::amend::Request>(given)?.within(&grants.world)),
    },
    Row {
        name: "answer",
        description: "Answers the oldest question of a waiting run and goes on. Approvals stay with the person.",
        fields: &[RUN, required("text", Shape::Text, "the answer"), DOUBLE, LIMIT],
        request: |mut given, grants| {
            // Only with the name of a question is something approved.
            given["words"] = json!([given["text"].take()]);
            granted(read::<act::answer::Request>(given)?.within(&grants.world))
        },
    },
    Row {
        name: "message",
        description: "Sends a message to a run, which its observers receive once.",
        fields: &[
            RUN,
            required(
                "value",
                Shape::Text,
                "the value in Preserves text, such as <order \"tea\" 2>",
            ),
            LIMIT,
        ],
        request: plain::<act::message::Request>,
    },
    Row {
        name: "signal",
        description: "Asserts a signal in a run, for which `(await (signal 'LABEL))` waits.",
        fields: &[
            RUN,
            required("label", Shape::Text, "the label of the signal"),
            field("values", Shape::Texts, "its values in Preserves text"),
            LIMIT,
        ],
        request: plain::<act::signal::Request>,
    },
    Row {
        name: "stop",
        description: "Stops a run that goes on in the background.",
        fields: &[RUN],
        request: plain::<act::stop::Request>,
    },
    Row {
        name: "undo",
        description: "Takes the last move of a run's head back.",
        fields: &[RUN],
        request: plain::<act::undo::Request>,
    },
    Row {
        name: "describe",
        description: "Describes a procedure, a form or a tool of the language by its name.",
        fields: &[required(
            "name",
            Shape::Text,
            "the name, such as string-split or process/run",
        )],
        request: plain::<describe::Request>,
    },
    Row {
        name: "replay",
        description: "Executes a run again from its journal, without the world, and proves that every turn comes out \
                      the same, or names the first that differs.",
        fields: &[
            PLACE,
            field("check", Shape::Flag, "changes nothing: the turns are always compared"),
            LIMIT,
        ],
        request: plain::<act::replay::Request>,
    },
];

/// A request that is its fields, and is granted to everybody.
fn plain<R: DeserializeOwned + Into<Request>>(given: Json, _: &Grants) -> Result<Request, Misuse> {
    read::<R>(given).map(Into::into)
}

fn read<R: DeserializeOwned>(given: Json) -> Result<R, Misuse> {
    serde_json::from_value(given).map_err(|error| Misuse::Arguments(error.to_string()))
}

fn granted(request: Result<impl Into<Request>, String>) -> Result<Request, Misuse> {
    request.map(Into::into).map_err(Misuse::Arguments)
}

/// The tools as clients see them.
pub(crate) fn list() -> Vec<Json> {
    let shown = TABLE.iter().map(|row| listed(row.name, row.description, schema(row)));
    let others = verb::for_agents().filter(|verb| TABLE.iter().all(|row| row.name != verb.name));
    shown
        .chain(others.map(|verb| listed(verb.name, &description(verb), schema_of(verb))))
        .collect()
}

fn listed(name: &str, description: &str, schema: Json) -> Json {
    let answers = verb::find(name).map(|verb| verb.answers);
    let mut tool = json!({
        "name": name,
        "description": description,
        "inputSchema": schema,
        "annotations": {
            "readOnlyHint": answers.is_some_and(Answers::is_reading),
            "destructiveHint": false,
            "openWorldHint": answers == Some(Answers::Drives),
        },
    });
    if let Some(schema) = of_tool(name) {
        tool["outputSchema"] = schema;
    }
    tool
}

fn schema(row: &Row) -> Json {
    let properties = row.fields.iter().map(|field| {
        let mut schema = match field.shape {
            Shape::Text | Shape::File | Shape::Program => json!({ "type": "string" }),
            Shape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Shape::Limit => json!({ "type": "integer", "minimum": 1 }),
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
pub(crate) fn call(params: &Json, grants: &Grants) -> Result<(Request, u64), Misuse> {
    let name = params.get("name").and_then(Json::as_str).unwrap_or_default();
    let nothing = Map::new();
    let given = match params.get("arguments") {
        None | Some(Json::Null) => &nothing,
        Some(Json::Object(given)) => given,
        Some(_) => return Err(Misuse::Arguments("the arguments are no object".to_owned())),
    };
    let Some(row) = TABLE.iter().find(|row| row.name == name) else {
        let verb = verb::for_agents().find(|verb| verb.name == name).ok_or_else(|| {
            let all = list();
            let known: Vec<&str> = all.iter().filter_map(|tool| tool["name"].as_str()).collect();
            Misuse::Tool(format!("there is no tool `{name}`; there are {}", known.join(", ")))
        })?;
        return Ok((request(verb, given).map_err(Misuse::Arguments)?, LIMIT_MS));
    };
    let known: Vec<&str> = row.fields.iter().map(|field| field.name).collect();
    refuse_others(name, given, &known).map_err(Misuse::Arguments)?;
    let mut request = Map::new();
    let mut limit_ms = LIMIT_MS;
    for field in row.fields {
        // Some clients must give every argument, and give nothing as an empty text.
        let is_nothing = |value: &&Json| value.is_null() || (!field.is_required && value.as_str() == Some(""));
        let Some(value) = given.get(field.name).filter(|value| !is_nothing(value)) else {
            if field.is_required {
                return Err(Misuse::Arguments(format!("{name} needs the argument `{}`", field.name)));
            }
            continue;
        };
        require_shape(field, value)?;
        match (field.shape, value.as_str()) {
            (Shape::Program | Shape::File, Some(named)) => grants.hand(field, named, &mut request)?,
            (Shape::Limit, _) => limit_ms = value.as_u64().unwrap_or(LIMIT_MS).min(LIMIT_MS_MAX),
            _ => drop(request.insert(field.name.to_owned(), value.clone())),
        }
    }
    Ok(((row.request)(Json::Object(request), grants)?, limit_ms))
}

/// Requires that a value has the shape of its field.
fn require_shape(field: &Field, value: &Json) -> Result<(), Misuse> {
    let is_text = |value: &Json| value.as_str().is_some_and(|text| !text.contains('\0'));
    let (fits, expected) = match field.shape {
        Shape::Text | Shape::File | Shape::Program => (is_text(value), "a string"),
        Shape::Texts => (
            value.as_array().is_some_and(|texts| texts.iter().all(is_text)),
            "a list of strings",
        ),
        Shape::Limit => (value.as_u64().is_some_and(|count| count > 0), "an integer above 0"),
        Shape::Flag => (value.is_boolean(), "a boolean"),
    };
    if fits {
        return Ok(());
    }
    Err(Misuse::Arguments(format!(
        "the argument `{}` must be {expected}",
        field.name
    )))
}
