//! `duet mcp`: offers Duet to agents as a server of the Model Context Protocol.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use duet_drivers::guard;
use duet_drivers::host::Host;
use duet_drivers::host::folders::Folders;
use duet_drivers::token;

use crate::history::journal::Journal;
use crate::settings::environment::environment;
use crate::surface::mcp::Service;
use crate::surface::mcp::tool::Grants;
use crate::text::error::{CommandError, ExitCode};
use crate::text::terminal::Terminal;
use crate::world::world_options::WorldArguments;

/// Offers Duet to agents as a server of the Model Context Protocol.
///
/// An agent that starts `duet mcp` can run programs in this folder, look at every turn, go back,
/// fork, amend and answer; the timelines of runs are resources. It speaks on its standard streams,
/// with `--listen` over HTTP at http://ADDRESS/. Both eras of the protocol are understood.
///
/// The options are yours to choose and hold for all runs that a client starts or resumes: a client
/// cannot widen them, and cannot approve what needs your approval. Apart from that it may do what
/// you could do with these commands in this folder. It can name only files in this folder, in that
/// of `--workspace`, and in those of `--allow-folder`. A folder's manifest can grant more than the
/// options do, so a client can run only the folders that `--allow-folder` names; allow none that
/// its programs may write to. Only with `--allow-code` can it change the code of a run that lives,
/// with `patch`, `restart`, and `resume` with another program.
///
///   duet mcp --workspace . --provider ollama --model qwen3
///   duet mcp --listen 127.0.0.1:7777 --token MCP_TOKEN
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Serves HTTP at this address and port, instead of the standard streams.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Wants the token that this variable of the environment holds; addresses that other machines
    /// reach need one.
    #[arg(long, value_name = "VARIABLE", requires = "listen")]
    token: Option<String>,
    /// Gives the tools of new runs this directory to work in.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Lets clients run this folder with what its manifest grants; may be given several times.
    #[arg(long, value_name = "DIR")]
    allow_folder: Vec<PathBuf>,
    /// Lets clients change the code of runs, and make their actors begin anew.
    #[arg(long)]
    allow_code: bool,
    #[command(flatten)]
    world: WorldArguments,
    #[command(flatten)]
    journal: Journal,
}

pub(super) fn execute(arguments: &Arguments, terminal: &mut Terminal) -> Result<ExitCode, CommandError> {
    // The person learns of wrong options here, and not the first client.
    arguments.world.read(false)?;
    let workspace = arguments.workspace.as_ref();
    let named = [PathBuf::from(".")].into_iter().chain(workspace.cloned());
    let named: Vec<PathBuf> = named.chain(arguments.allow_folder.iter().cloned()).collect();
    let folders = Folders::open(&named).map_err(|(path, error)| {
        CommandError::caused(format!("cannot serve the folder `{}`", path.display()), &error)
    })?;
    let grants = Grants {
        project: arguments.journal.clone(),
        world: arguments.world.clone(),
        workspace: workspace.cloned(),
        folders,
        allowed: arguments.allow_folder.clone(),
        may_change_code: arguments.allow_code,
    };
    let host = Host {
        protocol: Arc::new(Service { grants }),
        program: guard::program(),
    };
    let served = match arguments.listen {
        None => host.over_lines(),
        Some(address) => {
            let token = wanted_token(arguments, address)?;
            host.over_http(address, token.as_deref(), |address| {
                terminal.message(format!("serving the Model Context Protocol at http://{address}/"));
            })
        }
    };
    served.map_err(|error| CommandError::caused("the server cannot go on", &error))?;
    Ok(ExitCode::OK)
}

/// The token that clients need.
fn wanted_token(arguments: &Arguments, address: SocketAddr) -> Result<Option<String>, CommandError> {
    let Some(variable) = &arguments.token else {
        if address.ip().is_loopback() {
            return Ok(None);
        }
        return Err(
            CommandError::usage(format!("other machines reach {address}, so clients need a token"))
                .advise("`--token VARIABLE` names a variable of the environment that holds one"),
        );
    };
    let environment = environment();
    let found = environment.iter().find(|(name, _)| *name == **variable);
    let value = found
        .and_then(|(_, value)| value.to_str())
        .filter(|value| !value.is_empty());
    let value = value.ok_or_else(|| CommandError::usage(format!("the variable {variable} is not set")))?;
    let token = token::sendable(value).map_err(|why| {
        CommandError::usage(format!("no client can send what the variable {variable} holds: {why}"))
            .advise("a token has letters, digits and signs of ASCII; blanks and line ends around it are left out")
    })?;
    Ok(Some(token.to_owned()))
}
