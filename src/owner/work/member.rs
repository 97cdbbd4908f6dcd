//! What a worker says of itself in the journal, for whoever sends a letter or wants to know.
//!
//! INVARIANT: a worker that ends removes what it said; what one that died has left counts no more
//! when its lease has run out.
//! Read next: `owner/work.rs`.

use std::collections::BTreeMap;

use duet_journal::{Owner, RunId, Store, StoreError};
use serde::{Deserialize, Serialize};

use crate::history::journal::owner;
use crate::text::error::CommandError;

/// A worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    /// The process, as an owner of runs.
    owner: String,
    /// Which runs it takes, by name; a `*` at the end stands for any rest. None means all.
    pub(crate) patterns: Vec<String>,
    /// The names of the workspaces that it declares.
    pub(crate) workspaces: Vec<String>,
    /// Where it takes webhooks in for all runs.
    #[serde(default)]
    pub(crate) webhooks: Option<String>,
    /// How many it executes at once.
    pub(crate) concurrency: usize,
    /// Those that it executes.
    pub(crate) running: Vec<String>,
    /// Those that it leaves to others, with the reasons.
    pub(crate) left: BTreeMap<String, String>,
}

impl Member {
    /// Describes this process.
    pub(crate) fn this(patterns: &[String], concurrency: usize) -> Self {
        Self {
            owner: owner("work"),
            patterns: patterns.to_vec(),
            workspaces: Vec::new(),
            webhooks: None,
            concurrency,
            running: Vec::new(),
            left: BTreeMap::new(),
        }
    }

    /// The process.
    pub(crate) fn process(&self) -> Option<Owner> {
        self.owner.parse().ok()
    }

    /// Whether it takes runs of a name.
    pub(crate) fn wants(&self, run: &RunId) -> bool {
        let fits = |pattern: &String| match pattern.strip_suffix('*') {
            Some(beginning) => run.as_str().starts_with(beginning),
            None => run.as_str() == pattern,
        };
        self.patterns.is_empty() || self.patterns.iter().any(fits)
    }

    /// Whether a living worker takes a run and has not left it to others.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn takes(store: &dyn Store, run: &RunId) -> Result<bool, CommandError> {
        let mut living = Self::living(store)?.into_iter();
        Ok(living.any(|member| member.wants(run) && !member.left.contains_key(run.as_str())))
    }

    /// Lists the workers that live.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub(crate) fn living(store: &dyn Store) -> Result<Vec<Self>, CommandError> {
        let (told, now_ms) = (store.workers()?, store.now_ms()?);
        let members = told.iter().filter_map(|told| serde_json::from_str::<Self>(told).ok());
        let is_alive = |member: &Self| member.process().is_some_and(|owner| owner.is_alive(now_ms));
        Ok(members.filter(is_alive).collect())
    }

    /// Says that it lives, and what it does.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub(crate) fn note(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        let Some(process) = self.process() else { return Ok(()) };
        let seen = Owner {
            seen_ms: store.now_ms()?,
            ..process
        };
        self.owner = seen.to_string();
        let told = serde_json::to_string(self).unwrap_or_default();
        store.note_worker(&seen.name(), &told)
    }

    /// Removes what it said, and what workers that died have left.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub(crate) fn forget(&self, store: &mut dyn Store) -> Result<(), StoreError> {
        let now_ms = store.now_ms()?;
        for told in store.workers()? {
            let process = serde_json::from_str::<Self>(&told)
                .ok()
                .and_then(|member| member.process());
            let own = self.process();
            let is_over = |owner: &Owner| own.as_ref().is_some_and(|own| own.is_same(owner)) || !owner.is_alive(now_ms);
            if let Some(owner) = process.filter(is_over) {
                store.note_worker(&owner.name(), "")?;
            }
        }
        Ok(())
    }
}
