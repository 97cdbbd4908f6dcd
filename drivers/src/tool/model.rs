//! `model/chat`: one exchange with a language model.
//!
//! The payload and the result are the same for all providers; one file for each protocol translates
//! them. The request and the reply are in the journal as those of every tool, so a replay and a
//! double never reach a provider. An answer is received as a stream, because a connection that is
//! silent for minutes breaks; providers that do not stream are understood as well.
//! (Rejected: a client library for each provider. Together they are fifty times as large, each
//! hides other parts of its protocol, and none takes a whole conversation from a value.)
//! INVARIANT: a key of a provider reaches its server and nothing else.
//! It keeps no conversation: the program's list of messages is all there is.
//! Read next: `model/chat.rs`, `model/protocol.rs`, `model/exchange.rs`.

use preserves::IOValue;

use super::description::Description;
use super::interface::{Call, Context, Tool};
use chat::Chat;
pub use chat::Price;
pub use protocol::Protocol;
pub use provider::{Key, Provider, Providers};

mod anthropic;
mod chat;
mod events;
mod exchange;
mod openai_chat;
mod openai_responses;
mod posting;
mod protocol;
mod provider;
#[cfg(test)]
mod tests;

/// The tool.
pub struct Model {
    providers: Providers,
}

impl Model {
    /// Makes the tool.
    pub fn new(providers: Providers) -> Self {
        Self { providers }
    }
}

impl Tool for Model {
    fn description(&self) -> &Description {
        &chat::DESCRIPTION
    }

    fn call(&self, payload: IOValue, context: Context) -> Call {
        let providers = self.providers.clone();
        Box::pin(async move {
            let chat = Chat::read(&payload)?;
            let (provider, model) = providers.of(&chat)?;
            let posting = provider.protocol.posting(&chat, model);
            let live = context.live.until_dropped();
            let reply = exchange::perform(provider, &posting, &live).await?;
            drop(live);
            let price = provider.prices.get(model).copied();
            chat.result(&reply, price)
        })
    }
}
