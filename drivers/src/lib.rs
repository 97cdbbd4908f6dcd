//! Duet's drivers: durable actions out to the world, inputs in.
//!
//! Owns all that is asynchronous: the console, the person, tools and their processes. It knows neither Scheme nor journals; it sees
//! effects and gives inputs. The asynchronous runtime is private to [`world`]: the core calls plain methods from its one thread.
//! In suggested reading order.

pub mod world;

pub mod ask;
pub mod console;
mod dispatch;
pub mod huge_pages;
mod inlet;
mod progress;

pub mod tool;
