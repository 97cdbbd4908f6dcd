//! `duet describe`: prints the docstring of a procedure.

use duet_runtime::model::failure::read_file_line;
use duet_runtime::scheme::description::{Description, descriptions};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::text::error::CommandError;
use crate::text::exports::{home_of, names_elsewhere};
use crate::text::saying::{Way, say};
use crate::text::similar::nearest;
use crate::text::view::{Told, View};
use crate::verb::form::as_json;
use crate::verb::project::Project;
use crate::world::tools;

/// Describes a procedure, a form, another name of a library, or a tool.
///
/// Duet knows the forms and primitives of the kernel, the procedures of the runtime, the
/// definitions of the standard library, and the built-in tools such as process/run.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The name.
    #[arg(allow_hyphen_values = true)]
    pub(crate) name: String,
}

/// The report as JSON.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Form {
    /// The name that was asked for.
    name: String,
    descriptions: Vec<DescriptionForm>,
    /// The entry of a tool, if it is the name of one only.
    tool: Option<String>,
}

/// A description as JSON.
#[derive(Serialize, JsonSchema)]
struct DescriptionForm {
    /// The defined name; another one if a library exports it under the name that was asked for.
    name: String,
    /// Its calls, one per line; the shape of a form; only the name for anything else.
    call: String,
    /// The library to import, or the line of a file; null for what the kernel and the runtime have.
    library: Option<String>,
    documentation: String,
}

/// The descriptions of a name.
pub(crate) struct Report {
    /// The name that was asked for.
    name: String,
    descriptions: Vec<Description>,
    /// The entry of a tool, if it is the name of one only.
    tool: Option<String>,
}

/// Describes a name.
///
/// # Errors
/// If nothing is called so.
pub(crate) fn perform(_: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let name = request.name.clone();
    let descriptions = descriptions(&name, duet_stdlib::FILES);
    let tool = if descriptions.is_empty() {
        tools::entry_of(&name)?
    } else {
        None
    };
    if descriptions.is_empty() && tool.is_none() {
        let known = names_elsewhere("");
        let near = nearest(&name, known.iter().map(|export| export.name.as_str()));
        let meant = near.map(|near| format!("did you mean `{near}`? "));
        return Err(
            CommandError::problem(format!("there is no description of `{name}`")).advise(say![
                meant.unwrap_or_default(),
                Way::of("describe"),
                " knows the kernel, the runtime, the standard library and the tools",
            ]),
        );
    }
    Ok(Report {
        name,
        descriptions,
        tool,
    })
}

impl Report {
    pub(crate) fn json(&self) -> Json {
        let form = |description: &Description| DescriptionForm {
            name: description.name.clone(),
            call: description.call.clone(),
            library: description.place.as_ref().map(|place| library(place, &self.name)),
            documentation: description.documentation.clone(),
        };
        as_json(&Form {
            name: self.name.clone(),
            descriptions: self.descriptions.iter().map(form).collect(),
            tool: self.tool.clone(),
        })
    }

    pub(crate) fn tell(&self, _view: &View) -> Told {
        let entries = self
            .descriptions
            .iter()
            .map(|description| entry(&self.name, description));
        let entries: Vec<String> = entries.chain(self.tool.clone()).collect();
        Told::data(entries.join("\n"))
    }
}

/// How a primitive or a procedure of the runtime is called.
pub(crate) fn signature(name: &str) -> Option<String> {
    let found = descriptions(name, &[]);
    found.into_iter().next().map(|description| description.call)
}

/// The entry of a description, for people.
pub(crate) fn entry(asked: &str, description: &Description) -> String {
    let Description {
        name,
        call,
        place,
        documentation,
    } = description;
    let renamed = if name == asked {
        String::new()
    } else {
        format!("{asked} is {name}:\n")
    };
    let place = place
        .as_ref()
        .map(|place| format!("  in {}", library(place, asked)))
        .unwrap_or_default();
    let lines: String = documentation.lines().map(|line| format!("  {line}\n")).collect();
    format!("{renamed}{call}{place}\n{lines}")
}

/// The library to import for a name that is defined in a text of the standard library: that of the
/// text, or if it is internal, one that exports the name. A line of a person's file is its place.
fn library(path: &str, name: &str) -> String {
    if read_file_line(path).is_some() {
        return path.to_owned();
    }
    let is_internal = path.starts_with("duet/internal/");
    let own = || {
        let path = path.strip_suffix(".sld").or_else(|| path.strip_suffix(".scm"));
        let parts: Vec<&str> = path.unwrap_or_default().split('/').take(2).collect();
        format!("({})", parts.join(" "))
    };
    is_internal.then(|| home_of(name)).flatten().unwrap_or_else(own)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use duet_kernel::datum::reader::read_all;
    use duet_kernel::datum::{Node, NodeId, SourceId};

    /// A keyword that only the definition of a transformer understands.
    const KEYWORD: &str = "er-macro-transformer";

    #[test]
    fn whatever_a_library_exports_is_described() {
        let mut silent = BTreeSet::new();
        let libraries = duet_stdlib::FILES
            .iter()
            .filter(|(path, _)| path.ends_with(".sld") && !path.contains("/internal/"));
        let mut count = 0;
        for (path, text) in libraries {
            for name in exports(text) {
                count += 1;
                if name != KEYWORD && descriptions(&name, duet_stdlib::FILES).is_empty() {
                    silent.insert(format!("{name} of {path}"));
                }
            }
        }
        assert!(count > 1000, "only {count} exports were found");
        assert_eq!(silent, BTreeSet::new(), "write `;;;>` lines above their definitions");
    }

    /// The external names in the `export` declarations of a library's text, those of `all-from`
    /// left out.
    fn exports(text: &str) -> Vec<String> {
        let (reading, errors) = read_all(text, SourceId(0));
        assert!(errors.is_empty(), "{errors:?}");
        let elements = |mut id: NodeId| {
            let mut elements = Vec::new();
            while let Node::Pair(first, rest) = &reading.nodes[id.0 as usize] {
                elements.push(*first);
                id = *rest;
            }
            elements
        };
        let symbol = |id: NodeId| {
            if let Node::Symbol(name) = &reading.nodes[id.0 as usize] {
                Some(name.to_string())
            } else {
                None
            }
        };
        let declarations = elements(reading.forms[0]).into_iter().map(elements);
        let exports =
            declarations.filter(|parts| parts.first().and_then(|head| symbol(*head)).as_deref() == Some("export"));
        exports
            .flat_map(|parts| parts.into_iter().skip(1))
            .filter_map(|spec| {
                let parts = elements(spec);
                match parts.first().and_then(|head| symbol(*head)).as_deref() {
                    Some("rename") => symbol(parts[2]),
                    Some(_) => None,
                    None => symbol(spec),
                }
            })
            .collect()
    }
}
