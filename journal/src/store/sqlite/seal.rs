//! Seals: short checksums at the ends of rows that no hash protects.
//!
//! INVARIANT: a row of which a byte has changed no longer matches its seal.
//!
//! It is no signature: whoever can write the file can seal it.
//! Read next: `store/sqlite/row.rs`.
//!
//! Source: `journal/FORMAT.md`, "Seals".

use twox_hash::XxHash3_64;

use crate::store::StoreError;

/// Computes the seal of a row's fields.
pub fn seal(fields: &[&[u8]]) -> [u8; 8] {
    let after = |before, field: &&[u8]| XxHash3_64::oneshot_with_seed(before, field);
    fields.iter().fold(0, after).to_le_bytes()
}

/// Requires the seal that was found in a row to be that of its fields; `what` says of which kind of
/// row it is not.
///
/// # Errors
/// [`StoreError::Inconsistent`].
pub fn check_seal(found: &[u8], fields: &[&[u8]], what: &'static str) -> Result<(), StoreError> {
    if found == seal(fields) {
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

    #[test]
    fn a_seal_has_eight_bytes() {
        let seal = seal(&FIELDS);
        let is_right = |found: &[u8]| check_seal(found, &FIELDS, "").is_ok();
        assert!(is_right(&seal));
        assert!(!is_right(&seal[..7]) && !is_right(&[seal, seal].concat()) && !is_right(&[0; 8]));
    }

    /// The example of `journal/FORMAT.md`.
    #[test]
    fn a_seal_is_what_the_format_says() {
        let name: RecordHash = "03f16194bf570ea410fc5463a99202fe2caf9e9566677775c5b066b2218c298b"
            .parse()
            .unwrap();
        let [commits, sequence, record] = [1_i64, 0, 1].map(i64::to_le_bytes);
        let fields: [&[u8]; 7] = [b"head", b"r", b"main", &commits, &sequence, &record, name.as_bytes()];
        let page = include_str!("../../../FORMAT.md");
        let seal = seal(&fields).map(|byte| format!("{byte:02x}")).join(" ");
        assert!(page.contains(&format!("`{seal}`")), "the seal of the example is {seal}");
    }

    #[test]
    fn where_a_field_ends_matters() {
        assert_ne!(seal(&[b"ab", b"c"]), seal(&[b"a", b"bc"]));
        assert_ne!(seal(&[b"ab", b""]), seal(&[b"", b"ab"]));
        assert_ne!(seal(&[b"ab"]), seal(&[b"ab", b""]));
    }
}
