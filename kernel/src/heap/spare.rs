//! Spare room: empty words that earlier collections left for those to come.
//!
//! Memory that is given back comes again as fresh pages, which the system fills with zeros one by one; in a small heap that takes longer than copying to them what lives.
//! INVARIANT: its rooms have no more than [`SPARE_WORDS_MAX`] words, and a heap that was let rest has none.
//! It does not know what the words were. Read next: `heap/major.rs`.

/// Two megabytes: room for the next copy, and for what must be kept of the words that it replaces.
pub(super) const SPARE_WORDS_MAX: usize = 256 * 1024;

/// What a heap keeps ready.
#[derive(Clone, Debug, Default)]
pub(super) struct Spare {
    /// Room for the survivors of the next minor collection.
    pub(super) survivors: Vec<u64>,
    /// Room that was in use by major collections, oldest first.
    rooms: Vec<Vec<u64>>,
}

impl Spare {
    /// How many words its rooms have.
    fn words(&self) -> usize {
        self.rooms.iter().map(Vec::capacity).sum()
    }

    /// Takes words that nobody needs any more, in place of older ones if there would be too many.
    pub(super) fn offer(&mut self, mut words: Vec<u64>) {
        if words.capacity() > SPARE_WORDS_MAX || words.capacity() == 0 {
            return;
        }
        words.clear();
        self.rooms.push(words);
        while self.words() > SPARE_WORDS_MAX {
            self.rooms.remove(0);
        }
    }

    /// Empty room for so many words and at most half as many again; fresh, if there is none.
    pub(super) fn take(&mut self, length: usize) -> Vec<u64> {
        let suits = |room: &Vec<u64>| (length..=length + length / 2).contains(&room.capacity());
        match self.rooms.iter().rposition(suits) {
            Some(place) => self.rooms.remove(place),
            None => Vec::with_capacity(length),
        }
    }

    /// The first `length` of these words in as much room as they need, and little more.
    pub(super) fn cut(&mut self, mut words: Vec<u64>, length: usize) -> Vec<u64> {
        words.truncate(length);
        if words.capacity() > SPARE_WORDS_MAX {
            words.shrink_to_fit();
        } else if words.capacity() - length > length / 2 {
            let mut kept = self.take(length + length / 8);
            kept.extend_from_slice(&words);
            self.offer(words);
            return kept;
        }
        words
    }
}

#[cfg(test)]
mod tests;
