//! Duet's drivers: durable actions out to the world, inputs in.
//!
//! Owns everything asynchronous: the console, the person, tools and their processes.
//! INVARIANT: the asynchronous runtime is private to [`world`]; callers use plain methods from one
//! thread.
//! It knows neither Scheme nor journals: it receives effects and returns inputs.
//! Read next: the modules in the order in which they stand here, in which each uses those before
//! it; or `world.rs`, which joins them.

pub use duet_runtime::driver::packed::framing;

pub mod clock;
pub mod text;
pub mod timers;
pub mod progress;
pub mod console;
pub mod ask;
pub mod prepared;
mod request;
mod client_request;
mod report;
mod threads;
pub mod waker;
pub mod door;
mod pending;
pub mod token;
mod background;
mod http_server;
mod page;
pub mod guard;
pub mod live;
pub mod tool;
mod dispatch;
mod input;
pub mod serve;
pub mod client;
pub mod host;
pub mod ticker;
pub mod interrupts;
pub mod memory;

pub mod world;
