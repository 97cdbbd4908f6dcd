//! Records there and back, pinned hashes, and damaged bytes.

use preserves::IOValue;
use proptest::prelude::*;

use super::*;
use crate::identity::IdentityError;
use crate::packed::PackedError;
use crate::packed::{MAX_DEPTH, PackedFault};

fn header(sequence: u64, parent: Option<RecordHash>) -> Header {
    Header {
        run: RunId::new("r").unwrap(),
        branch: BranchName::new("main").unwrap(),
        sequence: Sequence::new(sequence).unwrap(),
        parent,
        snapshot: None,
        blobs: Vec::new(),
    }
}

fn packed(text: &str) -> PackedValue {
    PackedValue::from_value(&text.parse().unwrap()).unwrap()
}

/// The bytes of a record written as text.
fn written(text: &str) -> Vec<u8> {
    preserves::PackedWriter::encode_iovalue(&text.parse::<IOValue>().unwrap()).unwrap()
}

const HASH: &str = "#x\"0101010101010101010101010101010101010101010101010101010101010101\"";

#[test]
fn a_record_is_the_value_that_the_schema_describes() {
    let mut header = header(3, Some(RecordHash([1; 32])));
    header.snapshot = Some(BlobHash([1; 32]));
    header.blobs = vec![BlobHash([1; 32])];
    let record = Record::new(header, packed("<turn 1>")).unwrap();
    let text = format!("<1 \"r\" \"main\" 3 {HASH} [{HASH}] <turn 1>>");
    assert_eq!(record.as_bytes(), written(&text));
    assert_eq!(record.body(), "<turn 1>".parse::<IOValue>().unwrap());
    assert_eq!(record.blobs().count(), 2);
}

#[test]
fn names_are_pinned() {
    let first = Record::new(header(0, None), packed("<turn>")).unwrap();
    let next = Record::new(header(1, Some(first.hash())), packed("<turn>")).unwrap();
    assert_eq!(
        [first, next].map(|record| record.hash().to_string()),
        [
            "03f16194bf570ea410fc5463a99202fe2caf9e9566677775c5b066b2218c298b",
            "3e2fa686582838a96b9fb52c7af4960e2d741f9352eb54d1250b779828926227",
        ]
    );
}

#[test]
fn a_name_pins_what_the_bytes_do_not_say() {
    let parents = [[1; 32], [2; 32]].map(|bytes| Some(RecordHash(bytes)));
    let records = parents.map(|parent| Record::new(header(1, parent), packed("<turn>")).unwrap());
    let [one, other] = &records;
    assert_eq!(one.as_bytes(), other.as_bytes());
    assert_ne!(one.hash(), other.hash());
    assert_ne!(one.hash(), RecordHash::of(one.as_bytes()));
}

#[test]
fn parent_and_position_must_agree() {
    for (sequence, parent) in [(0, Some(RecordHash([0; 32]))), (1, None)] {
        let expected = RecordError::ParentAndSequence {
            sequence: Sequence::new(sequence).unwrap(),
            parent,
        };
        assert_eq!(Record::new(header(sequence, parent), packed("1")), Err(expected));
    }
}

#[track_caller]
fn check_refused(text: &str, expected: RecordError) {
    assert_eq!(Record::decode(written(text), None), Err(expected), "{text}");
}

#[test]
fn what_is_not_a_record_is_named() {
    let unexpected = |expected, found, offset_bytes| {
        let fault = PackedFault::Unexpected { expected, found };
        RecordError::Packed(PackedError { offset_bytes, fault })
    };
    check_refused("1", unexpected("a record", "an integer", 0));
    check_refused("<turn 1>", unexpected("the label of a record", "a symbol", 1));
    check_refused(
        "<record 1 anything>",
        unexpected("the label of a record", "a symbol", 1),
    );
    check_refused("<-2 anything>", unexpected("the label of a record", "an integer", 1));
    check_refused(
        "<0 anything>",
        RecordError::UnsupportedFormat {
            found: 0,
            supported: FORMAT,
        },
    );
    check_refused(
        "<2 anything>",
        RecordError::UnsupportedFormat {
            found: 2,
            supported: FORMAT,
        },
    );
    check_refused("<1 r>", unexpected("the run", "a symbol", 4));
    check_refused("<1 \"\">", RecordError::Identity(IdentityError::Empty));
    let too_large = IdentityError::SequenceTooLarge { found: 1 << 53 };
    check_refused("<1 \"r\" \"b\" 9007199254740992>", RecordError::Identity(too_large));
    let is_no_hash = |found| unexpected("the snapshot's hash or #f", found, 12);
    check_refused("<1 \"r\" \"b\" 0 #x\"00\">", is_no_hash("a byte string"));
    check_refused("<1 \"r\" \"b\" 0 #t>", is_no_hash("a boolean"));
    check_refused("<1 \"r\" \"b\" 0 #f #f>", unexpected("the blobs", "a boolean", 13));
    check_refused(
        "<1 \"r\" \"b\" 0 #f [1]>",
        unexpected("a blob's hash", "an integer", 14),
    );
    check_refused("<1 \"r\" \"b\" 0 #f []>", unexpected("the body", "an end", 15));
    check_refused(
        "<1 \"r\" \"b\" 0 #f [] 1 2>",
        RecordError::Packed(PackedError {
            offset_bytes: 18,
            fault: PackedFault::Trailing,
        }),
    );
    let sequence = Sequence::new(1).unwrap();
    check_refused(
        "<1 \"r\" \"b\" 1 #f [] 1>",
        RecordError::ParentAndSequence { sequence, parent: None },
    );
    let unsupported = RecordError::UnsupportedFormat {
        found: 2,
        supported: FORMAT,
    };
    assert_eq!(
        unsupported.to_string(),
        "the record is of format 2, this program reads format 1"
    );
}

#[test]
fn nothing_may_follow_a_record() {
    let mut bytes = Record::new(header(0, None), packed("1")).unwrap().as_bytes().to_vec();
    bytes.push(0x80);
    let unexpected = PackedError {
        offset_bytes: bytes.len() - 1,
        fault: PackedFault::Unexpected {
            expected: "the end of the record",
            found: "another byte",
        },
    };
    assert_eq!(
        Record::decode(bytes.clone(), None),
        Err(RecordError::Packed(unexpected))
    );
    bytes.push(0x84);
    let trailing = PackedError {
        offset_bytes: bytes.len() - 3,
        fault: PackedFault::Trailing,
    };
    assert_eq!(Record::decode(bytes, None), Err(RecordError::Packed(trailing)));
}

#[test]
fn a_closed_record_is_the_record_until_its_body_is_looked_at() {
    let parent = Some(RecordHash([1; 32]));
    let record = Record::new(header(3, parent), packed("<turn 1>")).unwrap();
    let close =
        |bytes: &[u8], relative| ClosedRecord::decode_named(name(bytes, parent), parent, bytes.to_vec(), relative);
    let far = Header {
        run: RunId::new("s").unwrap(),
        branch: BranchName::new("side").unwrap(),
        ..header(0, None)
    };
    for relative in [None, Some(record.header()), Some(&far)] {
        let closed = close(record.as_bytes(), relative).unwrap();
        assert_eq!(closed, record.clone().close());
        assert_eq!(closed.open().as_ref(), Ok(&record));
    }
    let mut bytes = record.as_bytes().to_vec();
    let body = bytes.len() - 1 - record.body_bytes().len();
    bytes[body] = 0;
    let closed = close(&bytes, None).unwrap();
    assert_eq!((closed.header(), closed.body_bytes()[0]), (record.header(), 0));
    let unknown = PackedError {
        offset_bytes: body,
        fault: PackedFault::UnknownTag(0),
    };
    assert_eq!(closed.open(), Err(RecordError::Packed(unknown)));
}

#[test]
fn the_deepest_body_fits_into_a_record() {
    let bytes = [vec![0xb5; MAX_DEPTH], vec![0x84; MAX_DEPTH]].concat();
    let body = PackedValue::from_bytes(bytes).unwrap();
    let record = Record::new(header(0, None), body.clone()).unwrap();
    let read = Record::decode(record.as_bytes().to_vec(), None).unwrap();
    assert_eq!(read.body_bytes(), body.as_bytes());
    assert_eq!(read.body(), body.to_value());
}

proptest! {
    #[test]
    fn decoding_undoes_encoding(
        (run, branch) in ("[a-zA-Z0-9_.-]{1,64}", "[a-zA-Z0-9_.-]{1,64}"),
        sequence in prop_oneof![0..3u64, 0..=crate::identity::MAX_SEQUENCE],
        parent in any::<[u8; 32]>(),
        snapshot in any::<Option<[u8; 32]>>(),
        blobs in prop::collection::vec(any::<[u8; 32]>(), 0..4),
        body in prop::collection::vec(any::<i64>(), 0..5),
    ) {
        let header = Header {
            run: RunId::new(run).unwrap(),
            branch: BranchName::new(branch).unwrap(),
            sequence: Sequence::new(sequence).unwrap(),
            parent: (sequence > 0).then_some(RecordHash(parent)),
            snapshot: snapshot.map(BlobHash),
            blobs: blobs.into_iter().map(BlobHash).collect(),
        };
        let body = body.into_iter().map(preserves::Value::new).collect::<Vec<_>>();
        let body = PackedValue::from_value(&IOValue::new(body)).unwrap();
        let record = Record::new(header.clone(), body.clone()).unwrap();
        let read = Record::decode(record.as_bytes().to_vec(), header.parent).unwrap();
        prop_assert_eq!(read.header(), &header);
        prop_assert_eq!(read.body_bytes(), body.as_bytes());
        prop_assert_eq!(&read, &record);
    }

    /// A changed byte gives another hash, and if it reads as a record at all, that record is its
    /// own canonical form.
    #[test]
    fn a_changed_byte_changes_the_name(at in any::<prop::sample::Index>(), flip in 1u8..) {
        let parent = Some(RecordHash([7; 32]));
        let record = Record::new(header(1, parent), packed("<turn {a: [1.5 x]} \"é\">")).unwrap();
        let mut bytes = record.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        prop_assert_ne!(name(&bytes, parent), record.hash());
        if let Ok(changed) = Record::decode(bytes.clone(), parent) {
            let body = PackedValue::from_value(&changed.body()).unwrap();
            let again = Record::new(changed.header().clone(), body).unwrap();
            prop_assert_eq!(again.as_bytes(), bytes);
        }
    }
}
