//! The JSON of reports.
//!
//! Read next: `log.rs`.

use serde::Serialize;
use serde_json::Value as Json;

/// Makes JSON of a report.
pub(crate) fn as_json<T: Serialize>(report: &T) -> Json {
    // Reports have texts, numbers, lists and members with names only, which all are JSON.
    serde_json::to_value(report).unwrap_or_default()
}
