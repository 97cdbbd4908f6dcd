//! `duet ui`: serves the page in which runs are seen and changed.

use std::sync::Arc;

use duet_drivers::guard;
use duet_drivers::host::page::PageHost;

use crate::history::grants::drawn_name;
use crate::history::journal::Journal;
use crate::surface::ui::{FILES, Service};
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::verb::project::Project;
use crate::world::world_options::WorldArguments;

/// Serves a page in which runs are seen and, with `--act`, changed.
///
/// Duet prints the address of the page, which only browsers on this machine reach, and only with
/// the token in it. The page shows the turns of a run as a timeline and as a list, and at each turn
/// the facts, waits, conversations, output, files and variables of that moment; it follows a run
/// that goes on. With an address it opens there: at a run, a branch or a turn.
///
/// Without `--act` the page only looks. With it, the page forks, goes back, changes inputs, answers
/// and approves, resumes and stops, by the same commands as a person. Runs that it continues have
/// what the options below grant, and end with this command; `duet resume` goes on with them.
///
///   duet ui
///   duet ui review@12 --act --provider ollama
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// The address of the run, branch or turn that the page opens.
    address: Option<String>,
    /// Serves at this port; without it the system chooses one.
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Lets the page change runs.
    #[arg(long)]
    act: bool,
    #[command(flatten)]
    world: WorldArguments,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    // The person learns of wrong options and addresses here, and not in the page.
    arguments.world.read(false)?;
    let path = opened(arguments)?;
    let token = drawn_name().map_err(|error| CommandError::caused("the system gives no random bytes", &error))?;
    let host = PageHost {
        source: Arc::new(Service::new(
            arguments.journal.clone(),
            arguments.act.then(|| arguments.world.clone()),
        )),
        files: FILES,
        program: guard::program(),
        token: token.clone(),
    };
    let mut printed = Ok(());
    let served = host.serve(arguments.port, |address| {
        printed = terminal.data(format!("http://{address}/{path}?token={token}\n"));
        terminal.message(if arguments.act {
            "the page can change runs; Ctrl-C ends it"
        } else {
            "the page only looks, `--act` lets it change runs; Ctrl-C ends it"
        });
    });
    printed?;
    served.map_err(|error| CommandError::caused("the page cannot be served", &error))?;
    Ok(ExitCode::OK)
}

/// The path of the page at an address.
fn opened(arguments: &Arguments) -> Result<String, CommandError> {
    // A damaged journal is shown too: the page says what is wrong with it.
    arguments.journal.require()?;
    if arguments.address.is_none() {
        return Ok(String::new());
    }
    let mut project = Project::of(&arguments.journal);
    let look = project.look()?;
    let place = look.resolve_turn(arguments.address.as_deref())?;
    let turn = place.turn.map(|turn| format!("@{turn}")).unwrap_or_default();
    Ok(format!("{}/{}{turn}", place.run, place.branch))
}
