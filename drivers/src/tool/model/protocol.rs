//! The protocols of providers, as one interface.
//!
//! Owns the choice between them; `posting.rs` has what they share.
//! INVARIANT: an answer is complete only if the protocol says so; one that breaks off is an error.
//! It sends nothing; `exchange.rs` does.
//! Read next: `openai_chat.rs`, `openai_responses.rs`, `anthropic.rs`.

use super::chat::Chat;
use super::posting::{Answer, Posting};
use super::{anthropic, openai_chat, openai_responses};

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Chat completions of OpenAI, which most servers of models speak.
    OpenaiChat,
    /// Responses of OpenAI.
    OpenaiResponses,
    /// Messages of Anthropic.
    Anthropic,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic];

    /// Its name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
        }
    }

    /// Finds a protocol by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.name() == name)
    }

    pub(super) fn posting(self, chat: &Chat, model: &str) -> Posting {
        match self {
            Self::OpenaiChat => openai_chat::posting(chat, model),
            Self::OpenaiResponses => openai_responses::posting(chat, model),
            Self::Anthropic => anthropic::posting(chat, model),
        }
    }

    pub(super) fn answer(self) -> Box<dyn Answer> {
        match self {
            Self::OpenaiChat => Box::new(openai_chat::Completion::default()),
            Self::OpenaiResponses => Box::new(openai_responses::Response::default()),
            Self::Anthropic => Box::new(anthropic::Message::default()),
        }
    }
}
