//! The names that a grant or a double can have, and the nearest one to a name that is none.
//!
//! INVARIANT: a name is known if it grants a capability that there is, or is granted by the name of
//! a family of tools, such as those of a server that has not been asked yet.
//! It refuses nothing. Read next: `text/similar.rs`.

use std::path::Path;

use duet_runtime::action::decide;
use duet_runtime::model::card::ToolCard;
use duet_runtime::model::manifest::{Manifest, Right};

use super::WorldOptions;
use crate::text::error::CommandError;
use crate::text::similar::nearest;
use crate::world::launch::ALWAYS;

/// The names of the tools and of the capabilities that are no tools.
pub(crate) struct KnownNames {
    tools: Vec<String>,
    capabilities: Vec<String>,
}

impl KnownNames {
    /// The names of these tools, and all capabilities that are no tools.
    pub(crate) fn of(cards: impl IntoIterator<Item = ToolCard>) -> Self {
        let rights = Right::ALL.map(Right::name);
        let others = rights.iter().chain(&ALWAYS).chain(&[decide::CAPABILITY]);
        Self {
            tools: cards.into_iter().map(|card| card.name).collect(),
            capabilities: others.map(|name| (*name).to_owned()).collect(),
        }
    }

    /// The names of the tools of a world without its doubles, in a workspace.
    ///
    /// # Errors
    /// If the workspace cannot be opened, or its configuration is wrong.
    pub(crate) fn without_doubles(options: &WorldOptions, workspace: &Path) -> Result<Self, CommandError> {
        let bare = WorldOptions {
            double: None,
            doubles: None,
            live: None,
            ..options.clone()
        };
        Ok(Self::of(bare.tools(workspace)?.cards()))
    }

    /// Whether a name, which may be a pattern, grants something that there is.
    pub(crate) fn has(&self, name: &str) -> bool {
        let named = Manifest::of(&[name]);
        let mut all = self.tools.iter().chain(&self.capabilities);
        all.any(|known| named.grants(known) || Manifest::of(&[known]).grants(name))
    }

    /// Whether a name is that of a tool, or may be that of one of a server.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|known| Manifest::of(&[known]).grants(name))
    }

    /// The name that the person may have meant; for a pattern, that of a family.
    pub(crate) fn nearest(&self, name: &str) -> Option<String> {
        let mut all = self.tools.iter().chain(&self.capabilities).map(String::as_str);
        let Some(prefix) = name.strip_suffix("/*") else {
            return nearest(name, all).map(str::to_owned);
        };
        let families = all.by_ref().filter_map(|known| Some(known.rsplit_once('/')?.0));
        let families = families.filter(|family| *family != prefix);
        nearest(prefix, families).map(|family| format!("{family}/*"))
    }

    /// The error that a name after an option is that of no tool, with those that there are.
    pub(crate) fn no_tool(&self, option: &str, name: &str) -> CommandError {
        let error = CommandError::usage(format!("`{option} {name}`: no tool is called `{name}`"));
        match nearest(name, self.tools.iter().map(String::as_str)) {
            Some(near) => error.advise(format!("did you mean `{near}`?")),
            None => error.advise(format!("the tools are {}", self.tools.join(", "))),
        }
    }

    /// Says that a name is none, and which the person may have meant.
    pub(crate) fn told(&self, name: &str) -> String {
        let meant = self.nearest(name).map(|near| format!("; did you mean `{near}`?"));
        format!("no tool is called `{name}`{}", meant.unwrap_or_default())
    }
}
