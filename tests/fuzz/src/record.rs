//! Bytes as a record of a journal: what is read is written as the same bytes, envelope and body.

use duet_journal::{PackedValue, Record, RecordHash};
use duet_runtime::model::codec::Codec;
use duet_runtime::record::{Body, Genesis};

/// Reads the bytes as a record, and as the body of one.
pub fn run(bytes: &[u8]) {
    let parents = [None, Some(RecordHash::of(bytes))];
    for record in parents
        .into_iter()
        .filter_map(|parent| Record::decode(bytes.to_vec(), parent).ok())
    {
        assert_eq!(record.as_bytes(), bytes);
        let body = PackedValue::from_bytes(record.body_bytes().to_vec()).expect("a record's body is a value");
        let again = Record::new(record.header().clone(), body).expect("what was read can be written");
        assert_eq!(
            (again.header(), again.body_bytes()),
            (record.header(), record.body_bytes())
        );
        check_body(&record.body());
    }
    if let Ok(value) = duet_journal::packed::read_value(bytes) {
        check_body(&value);
    }
}

fn check_body(value: &preserves::IOValue) {
    match Body::decode(value) {
        Ok(Body::Turn(turn)) => assert_eq!(turn.encode(), *value, "a turn that was read is written as it was"),
        Ok(Body::Genesis(genesis)) => {
            let again = Genesis::decode(&genesis.encode()).expect("what was written can be read");
            assert_eq!(again, genesis, "how a run begins is read as it was");
        }
        Err(_) => {}
    }
}
