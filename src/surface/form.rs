//! The JSON of reports, and its contract: the JSON Schema that follows from the type of each.
//!
//! INVARIANT: what a surface gives as JSON is made from the type whose schema it shows, so the two
//! cannot differ.
//! It does not know what the reports say. Read next: `command/schema.rs`.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value as Json, json};

use crate::{owner, verb, workbench};

/// The forms of a verb's report.
pub(crate) struct Forms {
    /// The name of the verb.
    pub(crate) name: &'static str,
    printed: fn() -> Json,
    /// The schema of what a server hands over; none if it hands over what the verb prints.
    handed: Option<fn() -> Json>,
}

macro_rules! forms {
    (
        $($module:ident $name:literal $handed:ident)*
        @command $($command:ident $command_name:literal)*
        @other $($other_name:literal $other:ty,)*
        @printed $($printed_name:literal $printed:ty,)*
    ) => {
        /// The forms of all reports.
        pub(crate) static TABLE: &[Forms] = &[$(Forms {
            name: $name,
            printed: schema::<verb::$module::Form>,
            handed: Some(schema::<verb::$module::$handed>),
        },)* $(Forms {
            name: $command_name,
            printed: schema::<verb::act::$command::Form>,
            handed: Some(schema::<verb::act::$command::Form>),
        },)* $(Forms {
            name: $other_name,
            printed: schema::<$other>,
            handed: Some(schema::<$other>),
        },)* $(Forms {
            name: $printed_name,
            printed: schema::<$printed>,
            handed: None,
        },)*];
    };
}

forms! {
    log "log" PageForm
    show "show" Form
    facts "facts" Form
    waits "waits" Form
    frames "frames" Form
    explain "explain" Form
    diff "diff" Form
    why "why" Form
    why_not "why-not" Form
    when "when" Form
    stats "stats" Form
    cost "cost" Form
    branches "branches" Form
    transcript "transcript" Form
    runs "runs" Form
    rm "rm" Form
    stale "stale" Form
    @command
    patch "patch"
    restart "restart"
    stop "stop"
    goto "goto"
    undo "undo"
    redo "redo"
    fork "fork"
    mark "mark"
    grant "grant"
    gc "gc"
    export "export"
    double "double"
    import "import"
    eval "eval"
    @other
    "describe" verb::describe::Form,
    "test" workbench::testing::form::Form,
    "work" owner::work::form::Form,
    @printed
    "aeiou" super::command::aeiou::Form,
    "merge" verb::act::merge::Form,
    "fsck" super::command::fsck::Form,
    "tools" super::command::tools::Form,
    "providers" super::command::providers::Form,
    "servers" super::command::servers::Form,
    "resume" verb::rerun::Form,
    "replay" verb::act::replay::Form,
}

/// The version of the forms. It grows when a member goes, or means something else; not when one is
/// added.
const VERSION: u32 = 1;

impl Forms {
    /// The schema of what the command line prints with `--json`, with its name and version.
    pub(crate) fn schema(&self) -> Json {
        let mut schema = (self.printed)();
        schema["$id"] = format!("urn:duet:schema:{}:{VERSION}", self.name).into();
        schema
    }
}

/// Finds the forms of a verb.
pub(crate) fn find(name: &str) -> Option<&'static Forms> {
    TABLE.iter().find(|forms| forms.name == name)
}

/// Says whether a server hands the report of a verb over as JSON.
pub(crate) fn is_handed(name: &str) -> bool {
    find(name).is_some_and(|forms| forms.handed.is_some())
}

/// The schema of a type, in JSON Schema 2020-12.
fn schema<T: JsonSchema>() -> Json {
    SchemaGenerator::default().into_root_schema_for::<T>().to_value()
}

/// The schema of what a server's tool returns: the report, beside what a command would print.
pub(crate) fn of_tool(name: &str) -> Option<Json> {
    let mut report = find(name)?.handed?();
    // References begin at the root, where the definitions have to be then.
    let definitions = report.as_object_mut().and_then(|report| report.remove("$defs"));
    report.as_object_mut().and_then(|report| report.remove("$schema"));
    let mut schema = json!({
        "type": "object",
        "properties": {
            "exit": { "type": ["integer", "null"], "description": "the exit code of the command" },
            "output": { "type": "string", "description": "the report in words" },
            "messages": { "type": "string" },
            "truncated": { "type": "boolean" },
            "report": report,
        },
        "required": ["exit", "output", "messages", "truncated"],
    });
    if let Some(definitions) = definitions {
        schema["$defs"] = definitions;
    }
    Some(schema)
}

/// The maximum length of a report that a server hands over, in bytes; models pay for each.
const HANDED_BYTES_MAX: usize = 64 << 10;

/// The sign before the JSON of a report, because a run that went on may have printed before; a
/// terminal shows it as it is.
const BEGINS: char = '\u{241e}';

/// A report for a server: its JSON on one line, `null` if it is too long, and then its words.
pub(crate) fn handed(report: &Json, words: &str) -> String {
    let report = report.to_string();
    let report = if report.len() > HANDED_BYTES_MAX {
        "null"
    } else {
        &report
    };
    format!("{BEGINS}{report}\n{words}")
}

/// Takes what [`handed`] made apart: the report, if it is there, and the words, with what was
/// printed before.
pub(crate) fn taken(output: &str) -> (Option<Json>, String) {
    let Some((printed, (first, words))) = output
        .rsplit_once(BEGINS)
        .and_then(|(printed, rest)| Some((printed, rest.split_once('\n')?)))
    else {
        return (None, output.to_owned());
    };
    let report: Option<Json> = serde_json::from_str(first).ok();
    (report.filter(|report| !report.is_null()), format!("{printed}{words}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verb::{Answers, Row, Surfaces};

    #[test]
    fn what_is_handed_over_is_taken_apart() {
        let report = json!({ "a": "b\nc" });
        let both = handed(&report, "one\ntwo\n");
        assert_eq!(taken(&both), (Some(report.clone()), "one\ntwo\n".to_owned()));
        let after = format!("\u{241e}[1]\nprinted\n{both}");
        assert_eq!(
            taken(&after),
            (Some(report), "\u{241e}[1]\nprinted\none\ntwo\n".to_owned())
        );
        let long = handed(&"x".repeat(HANDED_BYTES_MAX).into(), "words");
        assert_eq!(taken(&long), (None, "words".to_owned()));
        assert_eq!(taken(""), (None, String::new()));
    }

    #[test]
    fn every_command_with_json_has_a_form() {
        let mut parser = crate::surface::command::parser();
        parser.build();
        let has_json = |command: &&clap::Command| command.get_arguments().any(|one| one.get_id() == "json");
        let without = parser.get_subcommands().filter(has_json).map(clap::Command::get_name);
        let without: Vec<&str> = without.filter(|name| find(name).is_none()).collect();
        assert!(
            without.is_empty(),
            "add {without:?} to the table of forms in src/surface/form.rs"
        );
    }

    #[test]
    fn every_verb_that_reports_to_all_has_a_form() {
        let reports = |row: &&Row| row.surfaces == Surfaces::All && row.answers.is_reading();
        for row in crate::verb::TABLE.iter().filter(reports) {
            let has_form = find(row.name).is_some();
            assert!(
                has_form || row.answers == Answers::Language,
                "add the verb `{}` to the table of forms in src/surface/form.rs",
                row.name
            );
        }
    }
}
