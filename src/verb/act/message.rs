//! `duet message`: sends a message to a run.

use serde::{Deserialize, Serialize};

use crate::owner::mail::MailArguments;
use crate::owner::owned_run::serve::OwnerRequest;
use crate::text::error::CommandError;
use crate::text::query::read_told;
use crate::verb::act::tell;
use crate::verb::project::Project;

pub(crate) use crate::text::view::Driven as Report;

/// Sends a message to a run.
///
/// All observers in the run whose pattern matches receive the value once, as after `(message!
/// VALUE)`. The message is an input of the run, a turn of its main program, and needs the program's
/// right to send it. If another process executes the run, that one gets the message; otherwise the
/// run continues here, as with `duet resume`.
///
///   duet message desk '<order "tea" 2>'
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
#[command(verbatim_doc_comment)]
#[serde(default)]
pub(crate) struct Request {
    /// The address of the run or branch.
    address: String,
    /// The value, in Preserves text; before one that begins with `-` and is no number, give `--`.
    #[arg(allow_negative_numbers = true)]
    value: String,
    #[command(flatten)]
    #[serde(flatten)]
    mail: MailArguments,
}

/// Tells the run.
///
/// # Errors
/// If there is no such run, or it refuses.
pub(crate) fn perform(project: &mut Project, request: &Request) -> Result<Report, CommandError> {
    let owner_request = OwnerRequest::Tell {
        value: read_told(&request.value)?,
        stays: false,
    };
    tell::tell(project, &request.address, owner_request, request.mail)
}
