//! Records there and back, pinned hashes, and damaged bytes.

use preserves::{IOValue, PackedWriter};
use proptest::prelude::*;

use super::*;
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
    PackedWriter::encode_iovalue(&text.parse::<IOValue>().unwrap()).unwrap()
}

const HASH: &str = "#x\"0101010101010101010101010101010101010101010101010101010101010101\"";

#[test]
fn a_record_is_the_value_that_the_schema_describes() {
    let mut header = header(3, Some(RecordHash([1; 32])));
    header.snapshot = Some(BlobHash([1; 32]));
    header.blobs = vec![BlobHash([1; 32])];
    let record = Record::new(header, packed("<turn 1>")).unwrap();
    let text = format!("<2 \"r\" \"main\" 3 {HASH} [{HASH}] <turn 1>>");
    assert_eq!(record.as_bytes(), written(&text));
    assert_eq!(record.body(), "<turn 1>".parse::<IOValue>().unwrap());
    assert_eq!(record.blobs().count(), 2);
}

#[test]
fn names_are_pinned() {
    let first = Record::new(header(0, None), packed("<turn>")).unwrap();
    let next = Record::new(header(1, Some(first.hash())), packed("<turn>")).unwrap();
    let old = Record::decode(written("<record 1 \"r\" \"main\" 0 #f #f [] <turn>>"), None).unwrap();
    assert_eq!(
        [first, next, old].map(|record| record.hash().to_string()),
        [
            "a148f21553f5647758cea13cf79bf526a22c604ec28a25d8f1d93430099e7aee",
            "09e3ca04e83a5f007db4280aefa0c4705fbea321f4a593580d23c553cf55d86a",
            "6e82e39ab4a1612f5ae7164691b38d9f3c41f16f6484eef4b3bf7a3fc52cf02c"
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

/// The bytes that a record would have in format 1.
fn in_format_1(record: &Record) -> Vec<u8> {
    let value = packed::read_value(record.as_bytes()).unwrap();
    let mut fields: Vec<IOValue> = value.iter().map(IOValue::from).collect();
    fields.insert(0, IOValue::new(1));
    let parent = record.header().parent;
    fields.insert(
        4,
        parent.map_or(IOValue::new(false), |parent| IOValue::bytes(parent.0.to_vec())),
    );
    PackedWriter::encode_iovalue(&IOValue::record(IOValue::symbol(NAMING_PARENT_LABEL), fields)).unwrap()
}

#[track_caller]
fn check_refused(text: &str, expected: RecordError) {
    assert_eq!(Record::decode(written(text), None), Err(expected), "{text}");
}

#[test]
fn what_is_not_a_record_is_named() {
    let unexpected = |expected, offset_bytes| RecordError::Unexpected { expected, offset_bytes };
    check_refused("1", unexpected("a record", 0));
    check_refused("<turn 1>", unexpected("the label of a record", 1));
    check_refused("<record>", unexpected("the format", 9));
    check_refused("<1 anything>", RecordError::UnsupportedFormat { found: 1 });
    check_refused("<3 anything>", RecordError::UnsupportedFormat { found: 3 });
    check_refused("<record 2 anything>", RecordError::UnsupportedFormat { found: 2 });
    check_refused("<-2 anything>", unexpected("the label of a record", 1));
    check_refused("<record 18446744073709551616>", unexpected("the format", 9));
    check_refused("<record -1>", unexpected("the format", 9));
    check_refused("<record 1 r>", unexpected("the run", 12));
    check_refused("<record 1 \"\">", RecordError::Identity(IdentityError::Empty));
    let too_large = IdentityError::SequenceTooLarge { found: 1 << 53 };
    check_refused(
        "<record 1 \"r\" \"b\" 9007199254740992>",
        RecordError::Identity(too_large),
    );
    check_refused(
        "<record 1 \"r\" \"b\" 0 #x\"00\">",
        unexpected("the parent's hash or #f", 20),
    );
    check_refused("<record 1 \"r\" \"b\" 0 #t>", unexpected("the parent's hash or #f", 20));
    check_refused("<record 1 \"r\" \"b\" 0 #f #f #f>", unexpected("the blobs", 22));
    check_refused("<record 1 \"r\" \"b\" 0 #f #f [1]>", unexpected("a blob's hash", 23));
    check_refused("<record 1 \"r\" \"b\" 0 #f #f []>", unexpected("the body", 24));
    check_refused(
        "<record 1 \"r\" \"b\" 0 #f #f [] 1 2>",
        RecordError::Packed(PackedError {
            offset_bytes: 27,
            fault: PackedFault::Trailing,
        }),
    );
    let sequence = Sequence::new(1).unwrap();
    check_refused(
        "<record 1 \"r\" \"b\" 1 #f #f [] 1>",
        RecordError::ParentAndSequence { sequence, parent: None },
    );
    check_refused("<2 \"r\" \"b\" 0 #t>", unexpected("the snapshot's hash or #f", 12));
    check_refused("<2 \"r\" \"b\" 0 #f #f>", unexpected("the blobs", 13));
    check_refused("<2 \"r\" \"b\" 0 #f []>", unexpected("the body", 15));
    check_refused(
        "<2 \"r\" \"b\" 1 #f [] 1>",
        RecordError::ParentAndSequence { sequence, parent: None },
    );
    check_refused(
        &format!("<record 1 \"r\" \"b\" 0 {HASH} #f [] 1>"),
        RecordError::ParentAndSequence {
            sequence: Sequence::FIRST,
            parent: Some(RecordHash([1; 32])),
        },
    );
}

#[test]
fn nothing_may_follow_a_record() {
    let mut bytes = Record::new(header(0, None), packed("1")).unwrap().as_bytes().to_vec();
    bytes.push(0x80);
    let unexpected = |offset_bytes| RecordError::Unexpected {
        expected: "the end of the record",
        offset_bytes,
    };
    assert_eq!(Record::decode(bytes.clone(), None), Err(unexpected(bytes.len() - 1)));
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
        |bytes: &[u8], relative| ClosedRecord::decode_named((name(bytes, parent), parent), bytes.to_vec(), relative);
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
        let old = in_format_1(&record);
        let read = Record::decode(old.clone(), None).unwrap();
        prop_assert_eq!(read.header(), &header);
        prop_assert_eq!(read.body_bytes(), body.as_bytes());
        prop_assert_eq!(read.hash(), RecordHash::of(&old));
        prop_assert_eq!((read.unsaid_parent(), record.unsaid_parent()), (None, header.parent));
    }

    /// A changed byte gives another hash, and if it reads as a record at all, that record is its own canonical form.
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
