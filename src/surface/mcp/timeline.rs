//! Runs and turns as resources: `duet://log/RUN` and `duet://turn/RUN@TURN`.
//!
//! INVARIANT: a resource shows the journal at the time of reading.
//! It does not run commands. Read next: `tool.rs`.

use duet_drivers::host::command::Done;
use percent_encoding::percent_decode_str;
use serde_json::{Value as Json, json};

use super::{Refusal, shortened};
use crate::surface::form::taken;
use crate::verb::{self, Request};

/// The timeline of a run, newest turn first.
const LOG: &str = "duet://log/";

/// One turn in full.
const TURN: &str = "duet://turn/";

const KIND: &str = "text/plain";

/// The templates of both kinds of resources.
pub(crate) fn templates() -> Json {
    json!([
        {
            "uriTemplate": format!("{LOG}{{run}}"),
            "name": "timeline",
            "description": "the turns of a run, newest first, with its branches",
            "mimeType": KIND,
        },
        {
            "uriTemplate": format!("{TURN}{{run}}@{{turn}}"),
            "name": "turn",
            "description": "one turn in full: cause, input, actions, output",
            "mimeType": KIND,
        },
    ])
}

/// The request that lists the runs.
pub(crate) fn list() -> Request {
    verb::runs::Request::default().into()
}

/// The list of resources, from the list of runs; none if there is no journal yet.
pub(crate) fn listed(done: &Done, _: &Json) -> Json {
    let runs: Json = serde_json::from_str(&done.output).unwrap_or_default();
    let names = runs.as_array().into_iter().flatten();
    let names = names.filter_map(|run| run.get("run").and_then(Json::as_str));
    let resources = names.map(|name| {
        json!({
            "uri": format!("{LOG}{name}"),
            "name": name,
            "title": format!("the timeline of {name}"),
            "mimeType": KIND,
        })
    });
    json!({ "resources": resources.collect::<Vec<_>>() })
}

/// The request that shows a resource.
///
/// # Errors
/// If there is no resource of this kind.
pub(crate) fn read(params: &Json) -> Result<Request, Refusal> {
    let uri = params.get("uri").and_then(Json::as_str).unwrap_or_default();
    // A client that fills in a template encodes the slash of a branch, and the `@` of a turn.
    let uri = &*percent_decode_str(uri).decode_utf8_lossy();
    if let Some(run) = uri.strip_prefix(LOG) {
        return Ok(verb::log::Request {
            address: Some(run.to_owned()),
            ..verb::log::Request::default()
        }
        .into());
    }
    if let Some(turn) = uri.strip_prefix(TURN) {
        let address = Some(turn.to_owned());
        return Ok(verb::show::Request { address }.into());
    }
    Err(Refusal::parameters(format!(
        "there is no resource `{uri}`; there are {LOG}RUN and {TURN}RUN@TURN"
    )))
}

/// The contents of a resource.
pub(crate) fn contents(done: &Done, params: &Json) -> Json {
    let uri = params.get("uri").cloned().unwrap_or_default();
    if done.code != Some(0) {
        return json!({ "refused": done.messages.trim(), "uri": uri });
    }
    json!({ "contents": [{ "uri": uri, "mimeType": KIND, "text": shortened(&taken(&done.output).1) }] })
}
