//! A server beside the work of a process, on threads of its own.
//!
//! INVARIANT: it serves from [`BackgroundServer::begin`] until it is dropped, whoever else holds
//! its address.
//! It does not know what it serves. Read next: `http_server.rs`.

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

/// The maximum number of threads that may wait, as for the journal.
const BLOCKING_MAX: usize = 8;

/// A server that ends when it is dropped; its clients learn it by their broken connections.
pub(crate) struct BackgroundServer {
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl BackgroundServer {
    /// Listens at an address, and serves with what `serve` returns, on threads of this name.
    ///
    /// # Errors
    /// If the address cannot be used, or the system gives no thread.
    pub(crate) fn begin<F: Future<Output = ()> + Send + 'static>(
        address: SocketAddr,
        threads_name: &str,
        serve: impl FnOnce(TcpListener) -> F,
    ) -> io::Result<Self> {
        let mut threads = Builder::new_multi_thread();
        threads
            .worker_threads(1)
            .max_blocking_threads(BLOCKING_MAX)
            .enable_all();
        let runtime = threads.thread_name(threads_name).build()?;
        let listener = runtime.block_on(TcpListener::bind(address))?;
        let address = listener.local_addr()?;
        runtime.spawn(serve(listener));
        Ok(Self {
            address,
            runtime: Some(runtime),
        })
    }

    /// Returns the address, whose port the system may have chosen.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for BackgroundServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
