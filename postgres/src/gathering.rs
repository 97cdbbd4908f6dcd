//! The gathering of commits: those that the connections of one process have ready for an address
//! while others are under way go to the server together, in one statement with one wait for its
//! disk.
//!
//! INVARIANT: no two commits of a statement touch one run; and one that was refused with others is
//! sent again alone, so that each has a verdict of its own.
//! It sends nothing itself; `writing.rs` does. Read next: `address.rs`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::value::Value;

/// The maximum number of statements that are under way at a time. With one, two runs would wait for
/// each other's commits in turn, and never share any.
const LEADERS_MAX: usize = 4;

/// The maximum number of commits in a statement: one that is refused costs as many statements.
const COMMITS_MAX: usize = 256;

/// The maximum number of bytes that commits bring into a statement of another one.
const BYTES_MAX: usize = 4 << 20;

/// The rows of a commit, in columns.
pub(crate) struct Rows {
    /// The runs whose rows the commit locks.
    pub(crate) runs: BTreeSet<String>,
    /// The columns before those of the blobs, and after them.
    pub(crate) first: Vec<Value>,
    pub(crate) rest: Vec<Value>,
    /// The blobs by their names: each statement writes them in this order, so that no two wait for
    /// each other.
    pub(crate) blobs: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The length of records and blobs.
    pub(crate) length_bytes: usize,
}

impl Rows {
    /// The values for the statement.
    pub(crate) fn into_values(self) -> Vec<Value> {
        let (names, bytes) = self.blobs.into_iter().unzip();
        let blobs = [names, bytes].map(Value::ByteStrings);
        self.first.into_iter().chain(blobs).chain(self.rest).collect()
    }

    fn fits(&self, other: &Self) -> bool {
        self.length_bytes + other.length_bytes <= BYTES_MAX && self.runs.is_disjoint(&other.runs)
    }

    fn extend(&mut self, other: Self) {
        let columns = self.first.iter_mut().chain(&mut self.rest);
        let more = other.first.into_iter().chain(other.rest);
        columns.zip(more).for_each(|(column, more)| column.extend(more));
        self.runs.extend(other.runs);
        self.blobs.extend(other.blobs);
        self.length_bytes += other.length_bytes;
    }
}

/// What has become of a commit that somebody else has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Done,
    /// It has not happened: something about one of the group.
    Refused,
    /// Nobody knows: the connection was lost.
    Unclear,
}

/// What a waiting thread hears.
enum Message {
    /// It is to send its commit, which comes back to it.
    Send(Rows),
    Sent(Fate),
}

struct Waiting {
    rows: Rows,
    tell: Sender<Message>,
}

#[derive(Default)]
struct Queue {
    /// Those that have to wait: empty unless all statements are under way that may be.
    waiting: VecDeque<Waiting>,
    leaders: usize,
}

/// The commits of a process to an address. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Gathering(Arc<Mutex<Queue>>);

impl fmt::Debug for Gathering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gathering")
    }
}

/// What a thread has to do about its commit.
pub(crate) enum Part {
    /// Send it, with those of others.
    Lead(Group),
    /// Nothing: another thread has sent it.
    Follow(Fate),
}

/// Commits that one thread sends together. Dropping it lets the next thread send.
pub(crate) struct Group {
    gathering: Gathering,
    rows: Option<Rows>,
    others: Vec<Sender<Message>>,
}

impl Gathering {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a commit: returns once another thread has sent it, or once this thread is to send it.
    pub(crate) fn join(&self, rows: Rows) -> Part {
        let mut queue = self.lock();
        if queue.leaders < LEADERS_MAX {
            queue.leaders += 1;
            return Part::Lead(self.group(queue, rows));
        }
        let (tell, told) = channel();
        queue.waiting.push_back(Waiting { rows, tell });
        drop(queue);
        match told.recv() {
            Ok(Message::Send(rows)) => Part::Lead(self.group(self.lock(), rows)),
            Ok(Message::Sent(fate)) => Part::Follow(fate),
            // Whoever has sent it has not come back.
            Err(_) => Part::Follow(Fate::Unclear),
        }
    }

    /// Takes those that wait into a group with a commit.
    fn group(&self, mut queue: MutexGuard<'_, Queue>, mut rows: Rows) -> Group {
        let mut others = Vec::new();
        for waiting in std::mem::take(&mut queue.waiting) {
            if others.len() + 1 < COMMITS_MAX && rows.fits(&waiting.rows) {
                rows.extend(waiting.rows);
                others.push(waiting.tell);
            } else {
                queue.waiting.push_back(waiting);
            }
        }
        drop(queue);
        Group {
            gathering: self.clone(),
            rows: Some(rows),
            others,
        }
    }
}

impl Group {
    /// Takes the values for the statement.
    pub(crate) fn take_values(&mut self) -> Vec<Value> {
        self.rows.take().map_or_else(Vec::new, Rows::into_values)
    }

    /// Whether the commit has no company.
    pub(crate) fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    /// Tells the others what has become of their commits.
    pub(crate) fn tell(mut self, fate: Fate) {
        for other in self.others.drain(..) {
            // It waits for this.
            let _ = other.send(Message::Sent(fate));
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let mut queue = self.gathering.lock();
        while let Some(Waiting { rows, tell }) = queue.waiting.pop_front() {
            if tell.send(Message::Send(rows)).is_ok() {
                return;
            }
        }
        queue.leaders -= 1;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "commits of one thread never wait for each other")]

    use std::thread;

    use super::*;

    fn rows(run: &str, length_bytes: usize) -> Rows {
        Rows {
            runs: BTreeSet::from([run.to_owned()]),
            first: vec![Value::Texts(vec![run.to_owned()])],
            rest: vec![Value::Integers(vec![1])],
            blobs: BTreeMap::from([(run.as_bytes().to_vec(), Vec::new())]),
            length_bytes,
        }
    }

    /// Leads as many groups as may be under way.
    fn busy(gathering: &Gathering) -> Vec<Group> {
        let lead = |place| match gathering.join(rows(&format!("busy {place}"), 1)) {
            Part::Lead(group) => group,
            Part::Follow(fate) => panic!("{fate:?} without a leader"),
        };
        (0..LEADERS_MAX).map(lead).collect()
    }

    fn wait_for(gathering: &Gathering, count: usize) {
        while gathering.lock().waiting.len() < count {
            thread::yield_now();
        }
    }

    /// The runs of the groups in which commits go that wait for others, in order of their numbers.
    fn sent(gathering: &Gathering, commits: Vec<Rows>, fate: Fate) -> Vec<Vec<String>> {
        let groups: Mutex<Vec<Vec<String>>> = Mutex::default();
        let busy = busy(gathering);
        thread::scope(|scope| {
            let count = commits.len();
            for (place, rows) in commits.into_iter().enumerate() {
                wait_for(gathering, place);
                scope.spawn(|| match gathering.join(rows) {
                    Part::Lead(mut group) => {
                        let Some(Value::Texts(runs)) = group.take_values().into_iter().next() else {
                            panic!("the first column has the runs");
                        };
                        groups.lock().unwrap().push(runs);
                        group.tell(fate);
                    }
                    Part::Follow(told) => assert_eq!(told, fate),
                });
            }
            wait_for(gathering, count);
            // The others stay under way.
            let mut busy = busy.into_iter();
            let _others: Vec<Group> = busy.by_ref().take(LEADERS_MAX - 1).collect();
            drop(busy);
            while !gathering.lock().waiting.is_empty() {
                thread::yield_now();
            }
        });
        groups.into_inner().unwrap()
    }

    #[test]
    fn commits_that_wait_go_together_and_all_hear_what_became_of_them() {
        for fate in [Fate::Done, Fate::Refused, Fate::Unclear] {
            let gathering = Gathering::default();
            let commits = ["a", "b", "c"].map(|run| rows(run, 1)).into();
            assert_eq!(sent(&gathering, commits, fate), [["a", "b", "c"]]);
            assert_eq!(gathering.lock().leaders, 0);
        }
    }

    #[test]
    fn a_run_is_once_in_a_statement_and_a_statement_has_a_maximum() {
        let gathering = Gathering::default();
        let commits = ["a", "b", "a"].map(|run| rows(run, 1)).into();
        assert_eq!(sent(&gathering, commits, Fate::Done), [vec!["a", "b"], vec!["a"]]);
        let commits = vec![rows("a", 1), rows("b", BYTES_MAX), rows("c", 1)];
        assert_eq!(sent(&gathering, commits, Fate::Done), [vec!["a", "c"], vec!["b"]]);
    }

    #[test]
    fn a_thread_that_does_not_come_back_leaves_its_group_unclear_and_lets_others_send() {
        let gathering = Gathering::default();
        let mut busy = busy(&gathering);
        thread::scope(|scope| {
            scope.spawn(|| assert!(matches!(gathering.join(rows("a", 1)), Part::Lead(_))));
            wait_for(&gathering, 1);
            scope.spawn(|| assert!(matches!(gathering.join(rows("b", 1)), Part::Follow(Fate::Unclear))));
            wait_for(&gathering, 2);
            drop(busy.pop());
        });
        drop(busy);
        assert_eq!(gathering.lock().leaders, 0);
    }

    #[test]
    fn joined_columns_have_the_blobs_of_all_in_one_order() {
        let mut all = rows("b", 1);
        all.extend(rows("a", 2));
        all.extend(rows("b", 4));
        assert_eq!(all.length_bytes, 7);
        let values = all.into_values();
        let [
            Value::Texts(runs),
            Value::ByteStrings(names),
            Value::ByteStrings(bytes),
            Value::Integers(rest),
        ] = &values[..]
        else {
            panic!("{values:?}");
        };
        assert_eq!(runs, &["b", "a", "b"]);
        assert_eq!(names, &[b"a", b"b"]);
        assert_eq!((bytes.len(), &rest[..]), (2, &[1, 1, 1][..]));
    }
}
