//! Seals: short checksums at the ends of rows that no hash protects.
//!
//! INVARIANT: a row of which a byte has changed no longer matches its seal. The length of a seal says how it was computed: rows that are written have
//! the cheaper kind, those that have the other stay as they are.
//!
//! It is no signature: whoever can write the file can seal it.
//! Read next: `store/sqlite/row.rs`.
//!
//! Source: `journal/FORMAT.md`, "Seals".

use twox_hash::XxHash3_64;

use crate::store::StoreError;

/// Computes the seal of a row that is to be written, of its fields.
pub(crate) fn seal(fields: &[&[u8]]) -> [u8; 8] {
    let after = |before, field: &&[u8]| XxHash3_64::oneshot_with_seed(before, field);
    fields.iter().fold(0, after).to_le_bytes()
}

/// The first kind of seal: it takes four times as long.
fn long_seal(fields: &[&[u8]]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for field in fields {
        hasher.update(&(field.len() as u64).to_le_bytes()).update(field);
    }
    let mut seal = [0; 16];
    hasher.finalize_xof().fill(&mut seal);
    seal
}

/// Requires the seal that was found in a row to be that of its fields; `what` says of which kind of row it is not.
pub(super) fn check_seal(found: &[u8], fields: &[&[u8]], what: &'static str) -> Result<(), StoreError> {
    let is_right = match found.len() {
        8 => found == seal(fields),
        16 => found == long_seal(fields),
        _ => false,
    };
    if is_right {
        Ok(())
    } else {
        Err(StoreError::Inconsistent { what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::RecordHash;

    const FIELDS: [&[u8]; 4] = [b"head", b"r", b"", b"0123456789abcdef0123456789abcdef"];

    #[track_caller]
    fn check(seal: &[u8], is_right: bool) {
        assert_eq!(check_seal(seal, &FIELDS, "").is_ok(), is_right, "{seal:?}");
    }

    #[test]
    fn both_kinds_of_seals_are_known_by_their_lengths() {
        let joined: Vec<u8> = FIELDS
            .iter()
            .flat_map(|field| [&(field.len() as u64).to_le_bytes()[..], field].concat())
            .collect();
        let (short, long) = (seal(&FIELDS), *blake3::hash(&joined).as_bytes());
        check(&short, true);
        check(&long[..16], true);
        for length in (0..=32).filter(|length| *length != 16) {
            check(&long[..length], false);
        }
        check(&short[..7], false);
        check(&[short, short].concat(), false);
        check(&[&short[..], &long[..8]].concat(), false);
        check(&[0; 8], false);
    }

    /// The example of `journal/FORMAT.md`.
    #[test]
    fn a_seal_is_what_the_format_says() {
        let name: RecordHash = "a148f21553f5647758cea13cf79bf526a22c604ec28a25d8f1d93430099e7aee"
            .parse()
            .unwrap();
        let (sequence, record) = (0_i64.to_le_bytes(), 1_i64.to_le_bytes());
        let fields: [&[u8]; 6] = [b"head", b"r", b"main", &sequence, &record, name.as_bytes()];
        assert_eq!(seal(&fields), 0x5781_3719_e9cb_c9d8_u64.to_be_bytes());
    }

    #[test]
    fn where_a_field_ends_matters() {
        assert_ne!(seal(&[b"ab", b"c"]), seal(&[b"a", b"bc"]));
        assert_ne!(seal(&[b"ab", b""]), seal(&[b"", b"ab"]));
        assert_ne!(seal(&[b"ab"]), seal(&[b"ab", b""]));
    }
}
