//! `duet signal`: asserts a signal in a run.

use preserves::IOValue;
use serde::{Deserialize, Serialize};

use crate::owner::mail::MailArguments;
use crate::owner::owned_run::serve::OwnerRequest;
use crate::text::error::CommandError;
use crate::text::query::read_told;
use crate::verb::act::tell;
use crate::verb::project::Project;

pub(crate) use crate::text::view::Driven as Report;

/// Asserts a signal in a run.
///
/// The signal is what `(signal! 'LABEL VALUE …)` asserts: the fact `<LABEL VALUE …>`, for which
/// `(await (signal 'LABEL))` waits. It is an input of the run, a turn of its main program, and
/// needs the program's right to assert it. If another process executes the run, that one gets the
/// signal; otherwise the run continues here, as with `duet resume`.
///
///   duet signal review ready
///   duet signal review approved '"Ada"'
///   duet signal review '"done"'
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of the run or branch.
    address: String,
    /// The label of the signal: a symbol, or in quotes a string
    label: String,
    /// Values, in Preserves text; before one that begins with `-` and is no number, give `--`.
    #[arg(value_name = "VALUE", allow_negative_numbers = true)]
    values: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    mail: MailArguments,
}

/// Tells the run.
///
/// # Errors
/// If there is no such run, or it refuses.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let fields: Result<Vec<IOValue>, CommandError> = request.values.iter().map(|text| read_told(text)).collect();
    let owner_request = OwnerRequest::Tell {
        value: IOValue::record(label(&request.label)?, fields?),
        stays: true,
    };
    tell::tell(project, &request.address, owner_request, request.mail)
}

/// The label that a person gives: a symbol, or a string as Preserves writes it.
fn label(text: &str) -> Result<IOValue, CommandError> {
    if text.starts_with('"') {
        return read_told(text);
    }
    Ok(IOValue::symbol(text.to_owned()))
}
