//! Commits: the way from work on the tables to something durable.
//!
//! Many processes commit to one journal, one after the other: each waits its turn at the database's
//! own lock, which it holds for one transaction. A journal without a file is in memory until a
//! commit has to be durable; then it becomes the file, or, if another process has made one
//! meanwhile, its claims move there.
//! INVARIANT: work runs on a view that no other process changes before the commit, and a commit
//! that returns has happened in the files that the journal's path names.
//!
//! It does not know the work. Read next: `store/sqlite/presence.rs`.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::presence::{FilesFound, Presence};
use super::recent::Recent;
use super::row::{Run, failed};
use super::tail::Durable;
use super::{SqliteStore, Writer, file, tail, work};
use crate::identity::{BranchName, RunId};
use crate::lock::{Lock, io_error};
use crate::store::StoreError;

/// A journal that was begun in memory, where the connection still is.
pub(super) struct InMemory {
    /// Whether the file is there, and says the same or more.
    pub(super) is_written: bool,
}

impl SqliteStore {
    /// Performs `work` in one durable transaction, or leaves the journal as it was.
    pub(super) fn commit<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut Recent) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _making = self.lock_to_make()?;
        self.reach_file()?;
        let value = self.transact(work)?;
        self.write_file()?;
        self.renew_presence()?;
        Ok(value)
    }

    /// Performs `work` in one transaction, or leaves the journal as it was. The transaction does
    /// not wait for the disk; it is durable as soon as any later one is. This suits rows that mean
    /// nothing until other rows follow them.
    pub(super) fn commit_in_order<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut Recent) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.reach_file()?;
        // Not by statements that are kept: this pragma takes effect when it is compiled.
        let set = |connection: &Connection, sql| connection.execute_batch(sql).map_err(failed("choosing when to sync"));
        set(&self.linked.connection, "PRAGMA synchronous = NORMAL")?;
        let result = self.transact(work);
        let result = result.and_then(|value| self.renew_presence().map(|()| value));
        // A store that does not wait for the disk must not go on.
        let restored = set(&self.linked.connection, file::SYNCHRONOUS);
        self.in_doubt |= restored.is_err();
        result.and_then(|value| restored.map(|()| value))
    }

    /// Keeps other processes from making the file while this one may be about to.
    fn lock_to_make(&self) -> Result<Option<Lock>, StoreError> {
        let is_to_be_made = |writer: &Writer| writer.memory.as_ref().is_some_and(|memory| !memory.is_written);
        if !self.writer.as_ref().is_some_and(is_to_be_made) {
            return Ok(None);
        }
        Lock::alone_soon(&self.path, "locking the journal").map(Some)
    }

    /// Writes a database that is only in memory to a durable file. The store needs the file only
    /// when it commits again, and many never do.
    fn write_file(&mut self) -> Result<(), StoreError> {
        if let Some(Writer {
            memory: Some(memory),
            presence,
            ..
        }) = &mut self.writer
            && !memory.is_written
        {
            // If this fails, the commit is in memory and not in the file.
            self.in_doubt = true;
            file::create(&self.path, &self.linked.connection)?;
            memory.is_written = true;
            *presence = Some(Presence::note_file(&self.path)?);
            self.in_doubt = false;
        }
        Ok(())
    }

    /// Leaves the memory, if the journal has a file by now; before anything is written.
    pub(super) fn reach_file(&mut self) -> Result<(), StoreError> {
        self.check_presence()?;
        let Some(Writer {
            memory: Some(InMemory { is_written }),
            ..
        }) = self.writer
        else {
            return Ok(());
        };
        if is_written {
            let opened = file::connect_to_write(&self.path)?;
            return self.move_to(opened);
        }
        if self.in_doubt || !fs::exists(&self.path).map_err(io_error("looking for the journal"))? {
            return Ok(());
        }
        file::check_header(&self.path)?;
        let claimed = Run::list(&self.linked.connection)?;
        let linked = file::connect_to_write(&self.path)?;
        bring(&linked.connection, &claimed)?;
        self.move_to(linked)
    }

    fn move_to(&mut self, linked: super::Linked) -> Result<(), StoreError> {
        let Some(writer) = &mut self.writer else {
            return Err(StoreError::ReadOnly);
        };
        writer.recent = Recent::read(&linked.connection)?;
        writer.presence = Some(Presence::note(&self.path)?);
        writer.memory = None;
        self.linked = linked;
        Ok(())
    }

    /// Performs `work` in one transaction, which is as durable as the connection makes it, or
    /// leaves the journal as it was.
    fn transact<T>(
        &mut self,
        work: impl FnOnce(&Connection, &mut Recent) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.in_doubt {
            return Err(StoreError::InDoubt);
        }
        let Some(Writer { recent, .. }) = &mut self.writer else {
            return Err(StoreError::ReadOnly);
        };
        let connection = &self.linked.connection;
        self.linked.budget.renew();
        execute(connection, "BEGIN IMMEDIATE", "beginning a transaction")?;
        let result = recent.refresh(connection).and_then(|()| work(connection, recent));
        let committed = result.is_ok().then(|| execute(connection, "COMMIT", "committing"));
        if let Some(Ok(())) = committed {
            return result;
        }
        let rolled_back = roll_back(connection);
        self.in_doubt = committed.is_some() || rolled_back.is_err();
        match Recent::read(connection) {
            Ok(read) => *recent = read,
            Err(_) => self.in_doubt = true,
        }
        committed.unwrap_or(Ok(())).and(result)
    }

    /// Lets all reads see the journal as it is now, whatever other processes write, until
    /// [`release`](Self::release). A store that writes does not hold.
    ///
    /// # Errors
    /// As [`Store::heads`](crate::Store::heads).
    pub fn hold(&self) -> Result<(), StoreError> {
        if self.writer.is_some() {
            return Ok(());
        }
        self.linked.budget.renew();
        execute(&self.linked.connection, "BEGIN", "beginning to read")?;
        // The view is that of the first read.
        Run::list(&self.linked.connection).map(drop)
    }

    /// Lets each read see the journal as it is then.
    ///
    /// # Errors
    /// As [`Store::heads`](crate::Store::heads).
    pub fn release(&self) -> Result<(), StoreError> {
        if self.linked.connection.is_autocommit() {
            return Ok(());
        }
        roll_back(&self.linked.connection)
    }

    /// Performs `work` on one unchanging view of the file.
    pub(super) fn view<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.linked.budget.renew();
        if !self.linked.connection.is_autocommit() {
            return work(&self.linked.connection);
        }
        execute(&self.linked.connection, "BEGIN", "beginning to read")?;
        let result = work(&self.linked.connection);
        let ended = roll_back(&self.linked.connection);
        result.and_then(|value| ended.map(|()| value))
    }

    /// Checks that the journal's files are those that the store has open.
    pub(super) fn check_presence(&mut self) -> Result<(), StoreError> {
        let checked = self.look(Presence::look);
        self.in_doubt |= checked.is_err();
        checked
    }

    /// Checks the same after a commit, which is lost if the files are others by now.
    pub(super) fn renew_presence(&mut self) -> Result<(), StoreError> {
        let checked = self.look(|presence| presence.look_at_names());
        let presence = self.writer.as_mut().and_then(|writer| writer.presence.as_mut());
        let renewed = checked.and_then(|()| presence.map_or(Ok(()), Presence::renew));
        self.in_doubt |= renewed.is_err();
        renewed
    }

    fn look(&mut self, glance: impl FnOnce(&mut Presence) -> Result<FilesFound, StoreError>) -> Result<(), StoreError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let Some(presence) = &mut writer.presence else {
            return Ok(());
        };
        match glance(presence)? {
            FilesFound::Same => Ok(()),
            // Other processes move the log into the file, and give space back.
            FilesFound::Changed(how) => {
                if presence.is_still(writer.last.as_ref()) {
                    presence.renew()
                } else {
                    Err(presence.displaced(how))
                }
            }
        }
    }

    /// Notes beside the file where a branch stands that a durable commit has set, as an example of
    /// all. The first commit needs no note, because it does not go through the log.
    pub(super) fn note_tail(&mut self, set: Option<(&RunId, &BranchName)>) {
        let Some(writer) = &mut self.writer else { return };
        writer.last = set.and_then(|(run, branch)| writer.recent.standing(run, branch));
        if let (Some(last), None) = (&writer.last, &writer.memory) {
            writer.tail.note(&self.path, last);
        }
    }
}

/// Claims in a file what was claimed in memory.
fn bring(connection: &Connection, claimed: &[Run]) -> Result<(), StoreError> {
    execute(connection, "BEGIN IMMEDIATE", "beginning a transaction")?;
    let brought = work::bring_claims(connection, claimed);
    match brought {
        Ok(()) => execute(connection, "COMMIT", "committing"),
        Err(error) => roll_back(connection).and(Err(error)),
    }
}

/// Ends a transaction without a trace; a grave failure may have ended it already.
fn roll_back(connection: &Connection) -> Result<(), StoreError> {
    if connection.is_autocommit() {
        Ok(())
    } else {
        execute(connection, "ROLLBACK", "rolling back")
    }
}

fn execute(connection: &Connection, sql: &'static str, doing: &'static str) -> Result<(), StoreError> {
    let executed = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute([]));
    executed.map(drop).map_err(failed(doing))
}

/// Opens a journal anew, and counts its pages; `None` if it has not what a commit has set.
pub(super) fn pages_of(path: &Path, last: Option<&Durable>) -> Result<Option<u32>, StoreError> {
    let seen = file::open_to_read(path)?;
    let is_there = last.map_or(Ok(true), |last| tail::is_there(last, &seen.connection))?;
    let pages = seen.connection.pragma_query_value(None, "page_count", |row| row.get(0));
    let pages = pages.map_err(failed("looking for the journal"))?;
    Ok(is_there.then_some(pages))
}
