//! The gathering of statements: what the connections of one process have ready for an address while
//! others are under way goes to the server together, in one statement.
//!
//! INVARIANT: a part joins no statement that has been sent already; and where a statement has
//! failed, each of its parts is sent again alone, so that each has an answer of its own.
//! It sends nothing itself. Read next: `pieces.rs`.

use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of statements that are under way at a time. With one, two runs would wait for
/// each other's in turn, and never share any.
const LEADERS_MAX: usize = 4;

/// The maximum number of pieces in a statement: one that is refused costs as many statements.
const PIECES_MAX: usize = 256;

/// A part of a statement, which has its meaning whatever else goes with it.
pub(crate) trait Piece {
    /// What the threads hear whose pieces another one has sent.
    type Answer: Clone;

    /// Whether both can go together.
    fn fits(&self, other: &Self) -> bool;

    fn extend(&mut self, other: Self);
}

/// What a waiting thread hears.
enum Message<P: Piece> {
    /// It is to send its piece, which comes back to it.
    Send(P),
    Sent(P::Answer),
}

struct Waiting<P: Piece> {
    piece: P,
    tell: Sender<Message<P>>,
}

struct Queue<P: Piece> {
    /// Those that have to wait: empty unless all statements are under way that may be.
    waiting: VecDeque<Waiting<P>>,
    leaders: usize,
}

/// The statements of one kind of a process to an address. Clones share them.
pub(crate) struct Gathering<P: Piece>(Arc<Mutex<Queue<P>>>);

impl<P: Piece> Clone for Gathering<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P: Piece> Default for Gathering<P> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Queue {
            waiting: VecDeque::new(),
            leaders: 0,
        })))
    }
}

impl<P: Piece> fmt::Debug for Gathering<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gathering")
    }
}

/// What a thread has to do about its piece.
pub(crate) enum Part<P: Piece> {
    /// Send it, with those of others.
    Lead(Group<P>),
    /// Nothing: another thread has sent it; `None` if that one has not come back.
    Follow(Option<P::Answer>),
}

/// Pieces that one thread sends together. Dropping it lets the next thread send.
pub(crate) struct Group<P: Piece> {
    gathering: Gathering<P>,
    piece: Option<P>,
    others: Vec<Sender<Message<P>>>,
}

impl<P: Piece> Gathering<P> {
    fn lock(&self) -> MutexGuard<'_, Queue<P>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a piece: returns once another thread has sent it, or once this thread is to send it.
    pub(crate) fn join(&self, piece: P) -> Part<P> {
        let mut queue = self.lock();
        if queue.leaders < LEADERS_MAX {
            queue.leaders += 1;
            return Part::Lead(self.group(queue, piece));
        }
        let (tell, told) = channel();
        queue.waiting.push_back(Waiting { piece, tell });
        drop(queue);
        match told.recv() {
            Ok(Message::Send(piece)) => Part::Lead(self.group(self.lock(), piece)),
            Ok(Message::Sent(answer)) => Part::Follow(Some(answer)),
            Err(_) => Part::Follow(None),
        }
    }

    /// Takes those that wait into a group with a piece.
    fn group(&self, mut queue: MutexGuard<'_, Queue<P>>, mut piece: P) -> Group<P> {
        let mut others = Vec::new();
        for waiting in std::mem::take(&mut queue.waiting) {
            if others.len() + 1 < PIECES_MAX && piece.fits(&waiting.piece) {
                piece.extend(waiting.piece);
                others.push(waiting.tell);
            } else {
                queue.waiting.push_back(waiting);
            }
        }
        drop(queue);
        Group {
            gathering: self.clone(),
            piece: Some(piece),
            others,
        }
    }
}

impl<P: Piece> Group<P> {
    /// Takes what is to be sent, once.
    pub(crate) fn take(&mut self) -> Option<P> {
        self.piece.take()
    }

    /// Whether the thread's own piece has no company.
    pub(crate) fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    /// Tells the others what has become of their pieces.
    pub(crate) fn tell(mut self, answer: &P::Answer) {
        for other in self.others.drain(..) {
            // It waits for this.
            let _ = other.send(Message::Sent(answer.clone()));
        }
    }
}

impl<P: Piece> Drop for Group<P> {
    fn drop(&mut self) {
        let mut queue = self.gathering.lock();
        while let Some(Waiting { piece, tell }) = queue.waiting.pop_front() {
            if tell.send(Message::Send(piece)).is_ok() {
                return;
            }
        }
        queue.leaders -= 1;
    }
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::disallowed_methods,
        reason = "commits of one thread never wait for each other"
    )]

    use std::thread;

    use super::*;

    /// Letters, of which no two equal ones go together.
    #[derive(Debug)]
    struct Letters(String);

    impl Piece for Letters {
        type Answer = u8;

        fn fits(&self, other: &Self) -> bool {
            !self.0.contains(&other.0)
        }

        fn extend(&mut self, other: Self) {
            self.0.push_str(&other.0);
        }
    }

    fn join(gathering: &Gathering<Letters>, letter: &str) -> Part<Letters> {
        gathering.join(Letters(letter.to_owned()))
    }

    /// Leads as many groups as may be under way.
    fn busy(gathering: &Gathering<Letters>) -> Vec<Group<Letters>> {
        let lead = |_| match join(gathering, "busy") {
            Part::Lead(group) => group,
            Part::Follow(answer) => panic!("{answer:?} without a leader"),
        };
        (0..LEADERS_MAX).map(lead).collect()
    }

    fn wait_for(gathering: &Gathering<Letters>, count: usize) {
        while gathering.lock().waiting.len() < count {
            thread::yield_now();
        }
    }

    /// The groups in which letters go that wait for others.
    fn sent(gathering: &Gathering<Letters>, letters: &[&str]) -> Vec<String> {
        let groups: Mutex<Vec<String>> = Mutex::default();
        let mut busy = busy(gathering);
        thread::scope(|scope| {
            for (place, letter) in letters.iter().enumerate() {
                wait_for(gathering, place);
                scope.spawn(|| match join(gathering, letter) {
                    Part::Lead(mut group) => {
                        groups.lock().unwrap().extend(group.take().map(|letters| letters.0));
                        group.tell(&7);
                    }
                    Part::Follow(answer) => assert_eq!(answer, Some(7)),
                });
            }
            wait_for(gathering, letters.len());
            drop(busy.pop());
        });
        drop(busy);
        assert_eq!(gathering.lock().leaders, 0);
        groups.into_inner().unwrap()
    }

    #[test]
    fn pieces_that_wait_and_fit_go_together_and_all_hear_the_answer() {
        let gathering = Gathering::default();
        assert_eq!(sent(&gathering, &["a", "b", "c"]), ["abc"]);
        assert_eq!(sent(&gathering, &["a", "b", "a", "c"]), ["abc", "a"]);
    }

    #[test]
    fn a_thread_that_does_not_come_back_leaves_its_group_unanswered_and_lets_others_send() {
        let gathering = Gathering::default();
        let mut busy = busy(&gathering);
        thread::scope(|scope| {
            scope.spawn(|| assert!(matches!(join(&gathering, "a"), Part::Lead(_))));
            wait_for(&gathering, 1);
            scope.spawn(|| assert!(matches!(join(&gathering, "b"), Part::Follow(None))));
            wait_for(&gathering, 2);
            drop(busy.pop());
        });
        drop(busy);
        assert_eq!(gathering.lock().leaders, 0);
    }
}
