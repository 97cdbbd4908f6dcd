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
    let flag = Arc::new(AtomicBool::new(false));
    watch_kind(SignalKind::interrupt(), &flag)?;
    Ok(flag)
}

/// Returns a flag that is set when the process is to end: by an interruption, or when the system or
/// a supervisor asks for it (SIGTERM).
///
/// # Errors
/// As [`watch`].
pub fn watch_ending() -> io::Result<Arc<AtomicBool>> {
    let flag = watch()?;
    watch_kind(SignalKind::terminate(), &flag)?;
    Ok(flag)
}

fn watch_kind(kind: SignalKind, flag: &Arc<AtomicBool>) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let mut signals = {
        let _inside = runtime.enter();
        signal(kind)?
    };
    let set = Arc::clone(flag);
    let wait = move || {
        runtime.block_on(async {
            while signals.recv().await.is_some() {
                set.store(true, Ordering::Relaxed);
            }
        });
    };
    #[expect(clippy::disallowed_methods, reason = "concurrency belongs to drivers")]
    // It ends with the process.
    std::thread::Builder::new()
        .name("duet-interrupts".to_owned())
        .spawn(wait)?;
    Ok(())
}
