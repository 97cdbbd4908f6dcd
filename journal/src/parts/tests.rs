//! Cutting and joining: whatever is cut is joined again, and equal stretches are stored once.
//!
//! INVARIANT: no part is read that the value does not name.
//! It stores nothing; `../../tests/it/conformance/parts.rs` does. Read next: `cut.rs`.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::identity::RecordHash;
use crate::store::Blob;

/// Bytes without a pattern.
fn noise(mut state: u64, length_bytes: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < length_bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        bytes.push((state >> 56) as u8);
    }
    bytes
}

#[derive(Default)]
struct Blobs(BTreeMap<BlobHash, Vec<u8>>);

impl Blobs {
    /// Keeps parts, and returns how many bytes they add.
    fn keep(&mut self, added: &[Blob]) -> usize {
        for blob in added {
            assert_eq!(BlobHash::of(blob.as_bytes()), blob.hash());
            self.0.insert(blob.hash(), blob.as_bytes().to_vec());
        }
        added.iter().map(|blob| blob.as_bytes().len()).sum()
    }

    fn fetch(&self) -> impl FnMut(&BlobHash, &mut Vec<u8>) -> Result<(), StoreError> {
        fetching(|hash| self.0.get(hash).cloned().ok_or(StoreError::NoSuchBlob { hash: *hash }))
    }

    fn join(&self, value: &InParts) -> Result<Vec<u8>, StoreError> {
        value.join(&mut self.fetch())
    }
}

fn cut_large(value: &[u8], named: &mut NamedParts) -> (InParts, Vec<Blob>) {
    cut(value, named).expect("the value is large")
}

#[test]
fn a_small_value_stays_whole() {
    assert_eq!(cut(&noise(1, LARGE_BYTES - 1), &mut NamedParts::default()), None);
    let small = b"small".to_vec();
    assert_eq!(whole(small.clone(), &mut Blobs::default().fetch()).unwrap(), small);
}

#[test]
fn a_large_value_is_joined_from_its_parts() {
    for length_bytes in [LARGE_BYTES, 100_000, 3 << 20] {
        for value in [noise(7, length_bytes), vec![0; length_bytes]] {
            let (mut in_parts, added) = cut_large(&value, &mut NamedParts::default());
            in_parts.outline = vec!["a tool".to_owned()];
            let mut blobs = Blobs::default();
            blobs.keep(&added);
            let packed = in_parts.pack().unwrap();
            assert!(packed.as_bytes().len() < 12_000, "{}", packed.as_bytes().len());
            assert_eq!(InParts::read(packed.as_bytes()).unwrap(), in_parts);
            assert!(whole(packed.into_bytes(), &mut blobs.fetch()).unwrap() == value);
        }
    }
}

#[test]
fn a_value_that_grows_adds_what_is_new() {
    let mut named = NamedParts::default();
    let mut talk = noise(3, 1 << 20);
    let (_, first) = cut_large(&talk, &mut named);
    assert!(Blobs::default().keep(&first) > 1 << 20);
    for turn in 0..50 {
        talk.extend(noise(100 + turn, 4000));
        let turn_before_and_after = [&noise(turn, 40), &talk[..], &noise(turn, 20)].concat();
        let (in_parts, added) = cut_large(&turn_before_and_after, &mut named);
        let bytes = Blobs::default().keep(&added) + in_parts.pack().unwrap().as_bytes().len();
        assert!(bytes < 24_000, "{turn}: {bytes} bytes for 4,000");
    }
}

#[test]
fn names_are_remembered_along_one_chain() {
    let [one, other] = [b"one", b"two"].map(|name| Some(RecordHash::of(name)));
    let value = noise(5, 50_000);
    let mut named = NamedParts::default();
    named.stand_on(one);
    let all = cut_large(&value, &mut named).1;
    assert_eq!(cut_large(&value, &mut named).1, []);
    named.stand_on(one);
    assert_eq!(cut_large(&value, &mut named).1, []);
    named.stand_on(other);
    assert_eq!(cut_large(&value, &mut named).1, all);
}

#[test]
fn parts_that_do_not_make_up_the_value_are_refused() {
    let value = noise(5, 1 << 20);
    let (sound, added) = cut_large(&value, &mut NamedParts::default());
    let mut blobs = Blobs::default();
    blobs.keep(&added);
    assert!(sound.levels > 0);
    let wrong: [fn(&mut InParts); 5] = [
        |value| value.length_bytes += 1,
        |value| value.levels -= 1,
        |value| value.levels += 1,
        |value| value.names.truncate(1),
        |value| value.last.clear(),
    ];
    for change in wrong {
        let mut forged = sound.clone();
        change(&mut forged);
        let error = blobs.join(&forged).unwrap_err();
        assert!(matches!(error, StoreError::Inconsistent { .. }), "{error:?}");
    }
    for missing in [&added[0], &added[added.len() - 1]] {
        blobs.0.remove(&missing.hash());
        let error = blobs.join(&sound).unwrap_err();
        assert!(matches!(error, StoreError::NoSuchBlob { hash } if hash == missing.hash()));
        blobs.keep(std::slice::from_ref(missing));
    }
    assert!(blobs.join(&sound).unwrap() == value);
}

#[test]
fn other_forms_of_a_value_in_parts_are_refused() {
    for text in [
        "<parts>",
        "<parts -1 0 #x\"\" [] #x\"\" [] []>",
        "<parts 67108865 0 #x\"\" [] #x\"\" [] []>",
        "<parts 1 4 #x\"\" [] #x\"\" [] []>",
        "<parts 1 0 #x\"\" [1] #x\"\" [] []>",
        "<parts 1 0 #x\"\" [#x\"00\"] #x\"\" [] []>",
        "<parts 1 0 #x\"00\" [] #x\"\" []>",
        "<parts 1 0 #x\"00\" [] #x\"\" [] [1]>",
        "<parts 1 0 #x\"00\" [] #x\"\" [] [] 1>",
    ] {
        let value = PackedValue::from_value(&text.parse().unwrap()).unwrap();
        assert!(InParts::is_one(value.as_bytes()));
        assert!(InParts::read(value.as_bytes()).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn joining_undoes_cutting(seed: u64, length_bytes in LARGE_BYTES..300_000, repeats in 1..4_usize) {
        let value = noise(seed, length_bytes / repeats).repeat(repeats);
        if let Some((in_parts, added)) = cut(&value, &mut NamedParts::default()) {
            let mut blobs = Blobs::default();
            blobs.keep(&added);
            prop_assert!(blobs.join(&in_parts).unwrap() == value);
        }
    }
}
