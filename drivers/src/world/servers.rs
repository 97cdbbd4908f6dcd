//! The servers of a run: they start before it when their tools are to be described, and end with
//! it.
//!
//! INVARIANT: when the world is gone, so are the programs that it started as servers.
//! It does not speak to servers; `../tool/mcp.rs` does.
//! Read next: `../tool/mcp.rs`.

use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{Engine, World};
use crate::tool::{Registry, mcp};

/// The maximum time that the end of the servers takes.
const STOP_WAIT: Duration = Duration::from_secs(3);

impl World {
    /// Starts the servers whose names satisfy `is_wanted`, and adds the tools that they have.
    ///
    /// Returns a line for each thing that is wrong. The calls of a server that does not start are
    /// attempts to start it again.
    pub fn introduce(&mut self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let wanted = self.tools.servers(is_wanted);
        let (Some(Engine { threads, .. }), false) = (&self.engine, wanted.is_empty()) else {
            return Vec::new();
        };
        let found = match threads.begin() {
            Ok(runtime) => runtime.block_on(mcp::introduce(wanted)),
            Err(error) => return vec![format!("the servers cannot be started: {error}")],
        };
        for tool in found.tools {
            self.tools.add(tool);
        }
        let masked = found.problems.iter().map(|problem| self.secrets.mask_text(problem));
        masked.collect()
    }
}

/// Ends the servers that run.
pub(super) fn stop(runtime: &Handle, tools: &Registry) {
    let servers = tools.servers(|_| true);
    if servers.is_empty() {
        return;
    }
    runtime.block_on(async {
        let mut ends: JoinSet<()> = servers
            .into_iter()
            .map(|server| async move { server.stop().await })
            .collect();
        let all = async { while ends.join_next().await.is_some() {} };
        // One that takes longer is killed with this process's threads.
        let _ = timeout(STOP_WAIT, all).await;
    });
}
