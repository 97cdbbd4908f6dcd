//! Ctrl-C in a process without a world.
//!
//! INVARIANT: after [`watch`], an interruption sets the flag and does not end the process.
//! It does not know what an interruption ends.
//! Read next: `waker.rs`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// Returns a flag that each interruption sets.
///
/// # Errors
/// If the system gives no thread or no signals.
pub fn watch() -> io::Result<Arc<AtomicBool>> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let mut interrupts = {
        let _inside = runtime.enter();
        signal(SignalKind::interrupt())?
    };
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    let wait = move || {
        runtime.block_on(async {
            while interrupts.recv().await.is_some() {
                set.store(true, Ordering::Relaxed);
            }
        });
    };
    #[expect(clippy::disallowed_methods, reason = "concurrency belongs to drivers")]
    // It ends with the process.
    std::thread::Builder::new()
        .name("duet-interrupts".to_owned())
        .spawn(wait)?;
    Ok(flag)
}
