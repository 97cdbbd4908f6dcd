//! Duet's drivers: durable actions out to the world, inputs in.
//!
//! Owns everything asynchronous: the console, the person, tools and their processes.
//! INVARIANT: the asynchronous runtime is private to [`world`]; callers use plain methods from one
//! thread.
//! It knows neither Scheme nor journals: it receives effects and returns inputs.
//! Read next: `world.rs`; the modules below are in suggested reading order.

pub mod world;

pub mod ask;
pub mod bell;
pub mod client;
pub mod console;
mod dispatch;
pub use duet_runtime::driver::packed::framing;
pub mod door;
pub mod guard;
pub mod heart;
pub mod host;
mod input;
pub mod interrupts;
pub mod live;
mod lobby;
pub mod memory;
mod page;
pub mod prepared;
mod progress;
mod report;
pub mod serve;
pub mod text;
mod timers;

pub mod tool;
